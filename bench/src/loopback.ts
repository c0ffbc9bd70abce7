/** A server of chat completions on loopback, in a thread of its own, so that only the asking is timed. */
import { createServer, type ServerResponse } from "node:http"
import { fileURLToPath } from "node:url"
import { isMainThread, parentPort, Worker } from "node:worker_threads"

export const deltas = 20_000
export const text = " word"
export const answer = "fine"

const chunk = (fields: object) =>
  `data: ${JSON.stringify({ id: "chatcmpl-1", object: "chat.completion.chunk", created: 0, model: "m", ...fields })}\n\n`

const streamed = (): Buffer => {
  const delta = chunk({ choices: [{ index: 0, delta: { content: text }, finish_reason: null }] })
  const end = chunk({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }] })
  return Buffer.from(`${delta.repeat(deltas)}${end}data: [DONE]\n\n`)
}

const whole = Buffer.from(
  JSON.stringify({
    id: "chatcmpl-1",
    object: "chat.completion",
    created: 0,
    model: "m",
    choices: [{ index: 0, message: { role: "assistant", content: answer }, finish_reason: "stop" }],
    usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 }
  })
)

const serve = () => {
  const stream = streamed()
  const send = (response: ServerResponse, type: string, body: Buffer) => {
    response.writeHead(200, { "content-type": type, "content-length": body.length })
    response.end(body)
  }
  const server = createServer((request, response) => {
    let asked = ""
    request.setEncoding("utf8")
    request.on("data", (part: string) => {
      asked += part
    })
    request.on("end", () => {
      if (/"stream":\s*true/.test(asked)) send(response, "text/event-stream", stream)
      else send(response, "application/json", whole)
    })
  })
  server.keepAliveTimeout = 60_000
  server.listen(0, "127.0.0.1", () => {
    const address = server.address()
    // a port of a thread knows no origins
    // oxlint-disable-next-line unicorn/require-post-message-target-origin
    parentPort?.postMessage(typeof address === "object" && address !== null ? address.port : 0)
  })
}

/** Gives the address of a server for as long as `use` lasts. */
export const withServer = async (use: (url: string) => Promise<void>): Promise<void> => {
  const worker = new Worker(fileURLToPath(import.meta.url))
  const port = await new Promise<number>((resolve) => worker.once("message", resolve))
  try {
    await use(`http://127.0.0.1:${port}`)
  } finally {
    await worker.terminate()
  }
}

if (!isMainThread) serve()
