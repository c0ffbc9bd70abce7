/** A fake MCP server with sessions, which it forgets when a test says so. */
import { clientOf, inputSchema, refusing } from "./fakeServer.ts"

interface Sent {
  readonly method: string
  readonly session: string | null
}

/** What a call is answered; `undefined` for an answer in its default form. */
type Answer = (call: { readonly id: number; readonly session: string }) => Response | Promise<Response> | undefined

export const version = "2025-11-25"

export const answered = (id: number, text: string) =>
  Response.json({ jsonrpc: "2.0", id, result: { content: [{ type: "text", text }] } })

/** The stream of an answer, of which the test decides when what is sent. */
export const streamed = () => {
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined
  const body = new ReadableStream<Uint8Array>({ start: (given) => void (controller = given) })
  return {
    response: new Response(body, { headers: { "content-type": "text/event-stream" } }),
    send: (message: object) =>
      controller?.enqueue(new TextEncoder().encode(`data: ${JSON.stringify({ jsonrpc: "2.0", ...message })}\n\n`)),
    end: () => controller?.close()
  }
}

export const sessions = (
  answer: Answer = () => undefined,
  get: (session: string | null) => Response = () => new Response(null, { status: 405 })
) => {
  const alive = new Set<string>()
  const sent: Array<Sent> = []
  /** The sessions in which the tool has run, in order. */
  const ran: Array<string> = []
  let last = 0
  /** The tools; a test may change them. */
  const tools = [{ name: "sell", inputSchema }]
  let isForgetful = false
  const layer = clientOf(async (request) => {
    const session = request.headers.get("mcp-session-id")
    const { id, method = "reply" } = request.method === "POST" ? await request.json() : { method: request.method }
    sent.push({ method, session })
    if (isForgetful && method === "tools/call") alive.clear()
    if (session !== null && !alive.has(session)) {
      const error = { code: -32_001, message: "Session not found" }
      return Response.json({ jsonrpc: "2.0", id: null, error }, { status: 404 })
    }
    if (method === "GET") return get(session)
    if (method === "DELETE") return new Response(null, { status: 405 })
    const found = (result: object, headers = {}) => Response.json({ jsonrpc: "2.0", id, result }, { headers })
    switch (method) {
      case "server/discover":
        return Response.json({ jsonrpc: "2.0", id, error: refusing(-32_601).rpcError })
      case "initialize": {
        const name = `s${++last}`
        alive.add(name)
        const result = {
          protocolVersion: version,
          capabilities: { tools: {} },
          serverInfo: { name: "f", version: "1" }
        }
        return found(result, { "mcp-session-id": name })
      }
      case "tools/list":
        return found({ tools })
      case "tools/call": {
        ran.push(session ?? "")
        return (await answer({ id, session: session ?? "" })) ?? answered(id, `in ${session}`)
      }
      default:
        return new Response(null, { status: 202 })
    }
  })
  return {
    layer,
    sent,
    ran,
    tools,
    forget: () => alive.clear(),
    /** From here on, each session is forgotten when a call comes. */
    forgetCalls: () => {
      isForgetful = true
    }
  }
}
