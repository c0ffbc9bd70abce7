/** Takes the events of a run while they come. */

/** Of a stream of server-sent events: the data of each, as it comes. */
export const follow = async (
  { body, url }: { readonly url: string; readonly body?: unknown },
  each: (name: string, data: string) => void
): Promise<void> => {
  const asked: RequestInit =
    body === undefined
      ? {}
      : { method: "POST", body: JSON.stringify(body), headers: { "content-type": "application/json" } }
  const response = await fetch(url, { ...asked, headers: { ...asked.headers, accept: "text/event-stream" } })
  if (!response.ok || response.body === null) throw new Error(`The server answers ${response.status}`)
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
  let kept = ""
  for (;;) {
    // each chunk after the other
    // oxlint-disable-next-line no-await-in-loop -- one stream
    const { done, value = "" } = await reader.read()
    kept += value
    if (done) kept += "\n\n"
    const blocks = kept.split(/\r\n\r\n|\n\n|\r\r/)
    kept = blocks.pop() ?? ""
    for (const block of blocks) read(block, each)
    if (done) return
  }
}

const read = (block: string, each: (name: string, data: string) => void): void => {
  const data: Array<string> = []
  let name = "message"
  for (const line of block.split(/\r\n|\n|\r/)) {
    if (line.startsWith("data:")) data.push(line.slice(line.startsWith("data: ") ? 6 : 5))
    else if (line.startsWith("event:")) name = line.slice(6).trim()
  }
  if (data.length > 0) each(name, data.join("\n"))
}
