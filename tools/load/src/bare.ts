/**
 * The bare server: node:http and fetch, which streams the same replies of the model and runs the same tool. It mends nothing: a fault ends
 * the run with a failure, and one line in the log. `PORT` and `OPENAI_BASE_URL` are in the environment.
 */
import { randomUUID } from "node:crypto"
import { createServer, type ServerResponse } from "node:http"

interface Message {
  readonly role: string
  readonly content?: string | null
  readonly tool_calls?: ReadonlyArray<Call>
  readonly tool_call_id?: string
}

interface Call {
  readonly id: string
  readonly type: "function"
  readonly function: { readonly name: string; readonly arguments: string }
}

interface Delta {
  readonly content?: string | null
  readonly tool_calls?: ReadonlyArray<Call>
}

const url = `${process.env["OPENAI_BASE_URL"]}/chat/completions`
const system = "You help customers of a shop. Look an order up before you pay anything back."
const parameters = { type: "object", properties: { orderId: { type: "string" } }, required: ["orderId"] }
const tools = [{ type: "function", function: { name: "findOrder", description: "Looks up an order.", parameters } }]
const orders = new Map([["A-17", { id: "A-17", item: "a lamp", cents: 4900 }]])

class Failed extends Error {}

/** The deltas of a streamed reply. */
const deltasOf = async function* (messages: ReadonlyArray<Message>): AsyncGenerator<Delta> {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${process.env["OPENAI_API_KEY"]}` },
    body: JSON.stringify({ model: process.env["MODEL"], messages, tools, stream: true })
  })
  if (!response.ok) {
    await response.body?.cancel()
    throw new Failed(`STATUS-${response.status}`)
  }
  const decoder = new TextDecoder()
  let rest = ""
  for await (const bytes of response.body ?? []) {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split("\n")
    rest = lines.pop() ?? ""
    for (const line of lines) {
      if (!line.startsWith("data: ") || line === "data: [DONE]") continue
      const delta: Delta | undefined = JSON.parse(line.slice(6)).choices[0]?.delta
      if (delta !== undefined) yield delta
    }
  }
}

const argumentsOf = (call: Call): { readonly orderId: string } => {
  try {
    return JSON.parse(call.function.arguments)
  } catch {
    throw new Failed("MALFORMED-CALL")
  }
}

const resultOf = (call: Call): Message => {
  const order = orders.get(argumentsOf(call).orderId)
  return { role: "tool", tool_call_id: call.id, content: JSON.stringify(order ?? "There is no such order.") }
}

const run = async (input: string, say: (chunk: object) => void): Promise<void> => {
  const messages: Array<Message> = [
    { role: "system", content: system },
    { role: "user", content: input }
  ]
  for (let turn = 0; turn < 6; turn++) {
    let [call, content]: [Call | undefined, string] = [undefined, ""]
    say({ type: "start-step" })
    for await (const delta of deltasOf(messages)) {
      call = delta.tool_calls?.[0] ?? call
      if (typeof delta.content !== "string") continue
      if (content === "") say({ type: "text-start", id: "1" })
      content += delta.content
      say({ type: "text-delta", id: "1", delta: delta.content })
    }
    if (content !== "") say({ type: "text-end", id: "1" })
    say({ type: "finish-step" })
    if (call === undefined) return say({ type: "finish" })
    messages.push({ role: "assistant", content, tool_calls: [call] }, resultOf(call))
  }
  throw new Failed("TOO-MANY-TURNS")
}

const respond = async (body: string, response: ServerResponse): Promise<void> => {
  const messageId = randomUUID()
  const say = (chunk: object) => void response.write(`data: ${JSON.stringify(chunk)}\n\n`)
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" })
  say({ type: "start", messageId })
  try {
    await run(JSON.parse(body).messages.at(-1).parts[0].text, say)
  } catch (error) {
    const errorText = error instanceof Failed ? error.message : "CONNECTION"
    console.log(`${messageId} has failed: ${errorText}`)
    say({ type: "error", errorText })
  }
  response.end("data: [DONE]\n\n")
}

createServer((request, response) => {
  if (request.url === "/health") return void response.end("ok")
  let body = ""
  request.setEncoding("utf8")
  request.on("data", (part: string) => (body += part))
  request.on("end", () => void respond(body, response))
}).listen(Number(process.env["PORT"]), "127.0.0.1")
