/** A fake MCP server whose tools a test changes, and which says so on its stream of notices. */
import { Effect } from "effect"
import { calm } from "../../../_support/dialogue.ts"
import { clientOf, refusing, text } from "./fakeServer.ts"

/** A tool as a server describes it. */
export interface Described {
  readonly name: string
  readonly title?: string
  readonly description?: string
  readonly inputSchema: object
  readonly outputSchema?: object
  readonly annotations?: object
}

export const sell: Described = {
  name: "sell",
  description: "Sells.",
  inputSchema: { type: "object", properties: { n: { type: "number" }, to: { type: "string" } } },
  annotations: { readOnlyHint: true, title: "Sell" }
}

/** The same, with the keys in another order. */
export const reordered: Described = {
  annotations: { title: "Sell", readOnlyHint: true },
  inputSchema: { properties: { to: { type: "string" }, n: { type: "number" } }, type: "object" },
  description: "Sells.",
  name: "sell"
}

export const changing = (...first: ReadonlyArray<Described>) => {
  let tools = first
  let isBroken = false
  let held: Promise<void> | undefined
  let letGo: (() => void) | undefined
  let notices: ReadableStreamDefaultController<Uint8Array> | undefined
  /** The calls that ran, by the names of their tools. */
  const ran: Array<string> = []
  let lists = 0
  const layer = clientOf(async (request) => {
    if (request.method === "GET") {
      const body = new ReadableStream<Uint8Array>({ start: (controller) => void (notices = controller) })
      return new Response(body, { headers: { "content-type": "text/event-stream" } })
    }
    const { id, method, params } = await request.json()
    if (id === undefined) return new Response(null, { status: 202 })
    const found = (result: object) => Response.json({ jsonrpc: "2.0", id, result })
    switch (method) {
      case "initialize":
        return found({
          protocolVersion: "2025-11-25",
          capabilities: { tools: { listChanged: true } },
          serverInfo: { name: "another name", version: "1" }
        })
      case "tools/list":
        lists++
        await held
        return isBroken ? new Response(null, { status: 500 }) : found({ tools })
      case "tools/call":
        ran.push(params.name)
        return found({ content: text(`did ${params.name}`) })
      default:
        return Response.json({ jsonrpc: "2.0", id, error: refusing(-32_601).rpcError })
    }
  })
  const quiet = Effect.forEach([1, 2, 3, 4], () => calm, { discard: true })
  const set = (...next: ReadonlyArray<Described>) =>
    Effect.sync(() => {
      tools = next
    })
  const notice = Effect.suspend(() => {
    const message = { jsonrpc: "2.0", method: "notifications/tools/list_changed" }
    notices?.enqueue(new TextEncoder().encode(`data: ${JSON.stringify(message)}\n\n`))
    return quiet
  })
  return {
    layer,
    ran,
    lists: () => lists,
    /** Changes the tools silently. */
    set,
    /** Changes the tools, and says so. */
    change: (...next: ReadonlyArray<Described>) => Effect.andThen(Effect.andThen(quiet, set(...next)), notice),
    /** From here on it gives no list, until it is released. */
    hold: Effect.sync(() => {
      held = new Promise((resolve) => void (letGo = resolve))
    }),
    release: Effect.sync(() => letGo?.()),
    /** From here on it has no list. */
    breakDown: Effect.sync(() => {
      isBroken = true
    })
  }
}
