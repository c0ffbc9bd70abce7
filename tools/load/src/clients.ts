/**
 * The clients: each run is a connection of its own, as if of another browser, and stays open until its stream ends. `URL` is the address
 * of the server.
 */
import { request } from "node:http"
import { setTimeout as wait } from "node:timers/promises"
import { answering } from "./answering.ts"
import { inputOf } from "./conversation.ts"
import { type End, endOf } from "./ends.ts"

export interface Ended {
  readonly run: number
  readonly end: End
  /** Milliseconds from the request to the end of the stream. */
  readonly took: number
}

const url = `${process.env["URL"]}/chat`
const streams = new Set<number>()
const ended: Array<Ended> = []
let becomesIdle = (): void => {}

const ask = (run: number): void => {
  const started = performance.now()
  streams.add(run)
  const conclude = (end: End) => {
    if (!streams.delete(run)) return
    ended.push({ run, end, took: performance.now() - started })
    if (streams.size === 0) becomesIdle()
  }
  const sending = request(url, { method: "POST", agent: false, headers: { "content-type": "application/json" } })
  const lose = (error: Error) => conclude({ type: "lost", why: error.message })
  sending.on("error", lose)
  sending.on("response", (response) => {
    let body = ""
    response.setEncoding("utf8")
    response.on("data", (part: string) => (body += part))
    response.on("error", lose)
    response.on("end", () => conclude(endOf(run, response.statusCode ?? 0, body)))
  })
  const parts = [{ type: "text", text: inputOf(run) }]
  sending.end(JSON.stringify({ id: `chat-${run}`, messages: [{ id: `message-${run}`, role: "user", parts }] }))
}

answering({
  streams: () => streams.size,
  /** All ends, once there are all, or after so many milliseconds. */
  ended: async (patience): Promise<ReadonlyArray<Ended>> => {
    const idle = new Promise<void>((resolve) => (becomesIdle = resolve))
    if (streams.size > 0) await Promise.race([idle, wait(Number(patience))])
    const late = [...streams].map((run): Ended => ({ run, end: { type: "lost", why: "it is still open" }, took: 0 }))
    return [...ended, ...late]
  }
})
process.on("message", (message: { readonly run?: number }) => {
  if (message.run !== undefined) ask(message.run)
})
process.channel?.ref()
