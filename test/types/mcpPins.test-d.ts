/** What agents with tools of MCP servers need. */
import { Agent, type Approval, type Tool } from "@kintsugi/core"
import * as Mcp from "@kintsugi/interop/Mcp"
import type { Effect } from "effect"
import { test } from "vitest"
import type { Equal, Expect } from "./_support/Identity.ts"

declare const plain: Effect.Success<ReturnType<typeof connectPlain>>
declare const wantsApproval: Effect.Success<ReturnType<typeof connectNeedsApproval>>

const way = Mcp.http({ url: "http://mcp.test/mcp" })
const connectPlain = () => Mcp.connect("shop", way, { onChange: "accept", onNew: "refuse" })
const connectNeedsApproval = () => Mcp.connect("shop", way, { onChange: "ask" })
const connectNewNeedsApproval = () => Mcp.connect("shop", way, { onNew: "ask" })

type Needs<A> = A extends (input: string) => Effect.Effect<unknown, unknown, infer R> ? R : never

test("agents with tools of a connection that asks need an Approver, all others do not", () => {
  type _plain = Expect<Equal<typeof plain, Mcp.McpConnection>>
  type _wantsApproval = Expect<Equal<typeof wantsApproval, Mcp.McpConnection<Tool.NeedsApproval>>>
  type _new = Expect<
    Equal<Effect.Success<ReturnType<typeof connectNewNeedsApproval>>, Mcp.McpConnection<Tool.NeedsApproval>>
  >
  const withTools = (tools: ReadonlyArray<Mcp.McpTool>) => Agent.make("clerk", { tools })
  const withApproval = (tools: ReadonlyArray<Mcp.McpTool<Tool.NeedsApproval>>) => Agent.make("clerk", { tools })
  type _without = Expect<Equal<Extract<Needs<ReturnType<typeof withTools>>, Approval.Approver>, never>>
  type _with = Expect<Equal<Extract<Needs<ReturnType<typeof withApproval>>, Approval.Approver>, Approval.Approver>>
})

test("options that are not known to ask cannot ask, and both kinds of connections have tools together", () => {
  const options: Mcp.Options = { onChange: "refuse" }
  Mcp.connect("shop", way, options)
  // @ts-expect-error -- options that ask are of another type, with which agents need an Approver
  const wrong: Mcp.Options = { onChange: "ask" }
  void wrong
  // @ts-expect-error -- there is no such answer
  Mcp.connect("shop", way, { onChange: "offer" })
  const both = (a: Mcp.McpConnection, b: Mcp.McpConnection<Tool.NeedsApproval>) => Mcp.toolsOf([a, b])
  type _both = Expect<
    Equal<Effect.Success<ReturnType<typeof both>>, ReadonlyArray<Mcp.McpTool | Mcp.McpTool<Tool.NeedsApproval>>>
  >
})
