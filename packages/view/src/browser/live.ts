/** Receives the events of a run at work, as server-sent events. */
import { fieldOf, textAt } from "../recording/Fields.ts"
import type * as Recording from "../recording/Recording.ts"
import { messageOf, tagOf } from "../recording/ErrorWords.ts"
import { clip } from "../text/Words.ts"

/** The name of the server-sent event with which a failed stream of Effect ends. Its data is the cause. */
const failure = "effect/http-api/stream/failure"

type Taking = ReturnType<typeof Recording.start>

/** Collects the events so far, and keeps the last other message of the server. */
export class Listening {
  readonly #taking: Taking
  /** The last message of the server that is not an event of the run, such as the reason why the stream failed. */
  said: string | undefined
  isConnected = true

  constructor(taking: Taking) {
    this.#taking = taking
  }

  take(name: string, data: string): void {
    const value = parsed(data)
    if (name === failure) this.said = `The run has failed: ${reasonsIn(value) ?? clip(data, 300)}`
    else if (value === undefined)
      this.said = `The server says: ${name === "message" ? "" : `${name}: `}${clip(data, 300)}`
    else this.#taking.event(value)
  }

  /** The recording so far. While the stream is connected, a run without an end is not a problem. */
  recording(): Recording.Recording {
    const { events, problems } = this.#taking.recording()
    return { events, problems: this.isConnected ? problems.filter(({ kind }) => kind !== "end") : problems }
  }
}

const parsed = (data: string): unknown => {
  try {
    return JSON.parse(data)
  } catch {
    return undefined
  }
}

/** The reasons in an error, in a cause or in a problem document: the code or the tag, and the message of each. */
const reasonsIn = (value: unknown): string | undefined => {
  const reasons = (Array.isArray(value) ? value : [value]).flatMap((reason: unknown) => {
    if (textAt(reason, "_tag") === "Interrupt") return ["it was interrupted"]
    const error = fieldOf(reason, "error") ?? fieldOf(reason, "defect") ?? reason
    if (typeof error !== "object") return error === undefined ? [] : [clip(messageOf(error), 300)]
    return [`${textAt(error, "code") ?? tagOf(error)}: ${clip(textAt(error, "detail") ?? messageOf(error), 300)}`]
  })
  return reasons.length === 0 ? undefined : reasons.join("; ")
}

/** Requests a stream of server-sent events, and calls `each` with the name and the data of each. */
export const follow = async (
  { body, url }: { readonly url: string; readonly body?: unknown },
  each: (name: string, data: string) => void
): Promise<void> => {
  const asked: RequestInit =
    body === undefined
      ? {}
      : { method: "POST", body: JSON.stringify(body), headers: { "content-type": "application/json" } }
  await hear(await fetch(url, { ...asked, headers: { ...asked.headers, accept: "text/event-stream" } }), each)
}

/** Reads a response to its end, and calls `each` for each server-sent event. */
export const hear = async (response: Response, each: (name: string, data: string) => void): Promise<void> => {
  if (!response.ok || response.body === null) {
    const reasons = reasonsIn(parsed(await response.text()))
    throw new Error(`The server answers ${response.status}${reasons === undefined ? "" : `, ${reasons}`}`)
  }
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
  /** The pieces of a block that has not ended. `tail` has the last characters, in which the end may have begun. */
  let unfinished: Array<string> = []
  let tail = ""
  for (;;) {
    // one chunk after the other
    // oxlint-disable-next-line no-await-in-loop -- one stream
    const { done, value = "" } = await reader.read()
    const blocks = `${tail}${value}${done ? "\n\n" : ""}`.split(/\r\n\r\n|\n\n|\r\r/)
    const last = blocks.pop() ?? ""
    for (const block of blocks) {
      read(`${unfinished.join("")}${block}`, each)
      unfinished = []
    }
    // the end of a block has at most four characters, so the last three may be its beginning
    tail = last.slice(-3)
    unfinished.push(last.slice(0, last.length - tail.length))
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
