/**
 * The model server: chat completions that stream, with seeded faults. It keeps no conversation: what a request holds decides what it
 * answers. `PORT`, `SEED` and `MEAN`, the milliseconds that the model calls of a run take on average, are in the environment.
 */
import { createServer, type ServerResponse } from "node:http"
import { setTimeout as wait } from "node:timers/promises"
import { answering } from "./answering.ts"
import { chunk, ending } from "./chunks.ts"
import { answerOf, item, orderId, piecesOf, runOf } from "./conversation.ts"
import { type Fault, faultOf, type Pace, paceOf, type Step } from "./faults.ts"

/** What the model server knows of a run. */
export interface Served {
  readonly run: number
  /** Milliseconds from each request to the end of its reply, together. */
  own: number
  /** Replies that came to their end. */
  turns: number
  readonly faults: Array<Fault>
}

const [port, seed, mean] = [process.env["PORT"], process.env["SEED"], process.env["MEAN"]].map(Number)
if (port === undefined || seed === undefined || mean === undefined) throw new TypeError("PORT, SEED, MEAN")

const all = new Map<number, Served & { readonly met: Set<Step> }>()

const servedOf = (run: number) => {
  const served = all.get(run) ?? { run, own: 0, turns: 0, faults: [], met: new Set() }
  all.set(run, served)
  return served
}

const usage = { prompt_tokens: 100, completion_tokens: 30, total_tokens: 130 }

const calling = (run: number, args: string): ReadonlyArray<string> => [
  chunk({ role: "assistant", content: null }),
  chunk({
    tool_calls: [{ index: 0, id: `call-${run}`, type: "function", function: { name: "findOrder", arguments: args } }]
  }),
  ending("tool_calls", usage)
]

const replies: Readonly<Record<Step, (run: number, fault: Fault | undefined) => ReadonlyArray<string>>> = {
  call: (run, fault) => {
    const args = JSON.stringify({ orderId })
    return calling(run, fault === "malformed" ? `${args.slice(0, -1)}, "or` : args)
  },
  answer: (run) => [...piecesOf(answerOf(run)).map((content) => chunk({ content })), ending("stop", usage)]
}

/** Writes the parts in equal steps of time, or only half of them before the connection ends. */
const stream = async (
  response: ServerResponse,
  parts: ReadonlyArray<string>,
  { first, rest }: Pace,
  isCut: boolean
): Promise<void> => {
  const shown = isCut ? parts.slice(0, Math.ceil(parts.length / 2)) : parts
  await wait(first)
  response.writeHead(200, { "content-type": "text/event-stream" })
  for (const [index, part] of shown.entries()) {
    if (index > 0) await wait(rest / (parts.length - 1))
    if (response.destroyed) return
    response.write(part)
  }
  if (isCut) response.destroy()
  else response.end()
}

const refuse = (response: ServerResponse, status: 429 | 503): void => {
  const said = status === 429 ? { code: "rate_limit_exceeded", message: "Slow down." } : { message: "Overloaded." }
  const hint = status === 429 ? { "retry-after": "1" } : {}
  response.writeHead(status, { "content-type": "application/json", ...hint })
  response.end(JSON.stringify({ error: { type: "server_error", ...said } }))
}

const respond = async (body: string, started: number, response: ServerResponse): Promise<void> => {
  const run = runOf(body)
  const step = body.includes(item) ? "answer" : "call"
  const served = servedOf(run)
  const fault = served.met.has(step) ? undefined : faultOf(seed, run, step)
  served.met.add(step)
  if (fault !== undefined) served.faults.push(fault)
  response.once("close", () => (served.own += performance.now() - started))
  if (fault === "429" || fault === "503") return refuse(response, fault === "429" ? 429 : 503)
  await stream(response, replies[step](run, fault), paceOf(seed, run, step, mean), fault === "reset")
  if (response.writableEnded) served.turns++
}

const server = createServer((request, response) => {
  const started = performance.now()
  if (request.url === "/health") return void response.end("ok")
  let body = ""
  request.setEncoding("utf8")
  request.on("data", (part: string) => (body += part))
  request.on("end", () => void respond(body, started, response))
})

answering({
  turns: () => [...all.values()].reduce((sum, { turns }) => sum + turns, 0),
  served: (): ReadonlyArray<Served> => [...all.values()]
})
server.listen(port, "127.0.0.1")
