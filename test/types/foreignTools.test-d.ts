/** What tools need that are served over MCP. */
import { Agent, type Approval, type Model, Recovery, Skill, Tool } from "@kintsugi/core"
import * as AiSdk from "@kintsugi/interop/AiSdk"
import type { ExecutionError } from "@kintsugi/core/ToolError"
import type * as Mcp from "@kintsugi/interop/Mcp"
import * as McpServer from "@kintsugi/interop/McpServer"
import { Context, Effect, type Layer, Schema } from "effect"
import type { HttpRouter } from "effect/http/HttpRouter"
import type { Stdio } from "effect/Stdio"
import { describe, it } from "vitest"
import { sameType } from "./_support/Identity.ts"

class Db extends Context.Service<Db, { readonly rows: number }>()("Db") {}

const options = { description: "", parameters: Schema.Struct({}), success: Schema.Finite }
const plain = Tool.make("plain", { ...options, run: () => Effect.succeed(1) })
const query = Tool.make("query", { ...options, run: () => Effect.map(Db, ({ rows }) => rows) })
const approving = plain.pipe(Tool.requireApproval())
const fixer = Agent.make("fixer", { skills: [Skill.make("fix", { description: "" })] })
const mended = query.pipe(Tool.onError({ InvalidArgs: Recovery.fix(fixer) }))

const served = <T extends Tool.AnyTool>(...tools: ReadonlyArray<T>) =>
  McpServer.stdio({ name: "ours", version: "1", tools })

interface City {
  readonly city: string
}
const foreign = { inputSchema: {}, execute: async ({ city }: City) => city.length }

describe("foreign tools", () => {
  it("a server needs what its tools need, and who approves, and the model of its fixers [P1107]", () => {
    sameType<Layer.Layer<never, never, Stdio>>()(served(plain))
    sameType<Layer.Layer<never, never, Stdio | Db>>()(served(query))
    sameType<Layer.Layer<never, never, Stdio | Approval.Approver>>()(served(approving))
    sameType<Layer.Layer<never, never, Stdio | Db | Model.Model>>()(served(mended))
    sameType<Layer.Layer<never, never, HttpRouter | Db>>()(
      McpServer.http({ name: "ours", version: "1", path: "/mcp", tools: [plain, query] })
    )
  })

  it("the hints of a server are known at run time only, so that a retry has to be acknowledged [P1107]", () => {
    // @ts-expect-error -- the tool may be unsafe
    void ((tool: Mcp.McpTool) => tool.pipe(Tool.onError({ ExecutionError: Recovery.retry({ retries: 1 }) })))
    void ((tool: Mcp.McpTool) =>
      tool.pipe(Tool.onError({ ExecutionError: Recovery.retry({ retries: 1, acknowledge: "may run twice" }) })))
  })

  it("the name of a foreign tool is only a string where some provider refuses its own [P1107 P1304]", () => {
    sameType<"count">()(AiSdk.tool("count", foreign).name)
    sameType<string>()(AiSdk.tool("two words", foreign).name)
    sameType<string>()(AiSdk.tool("complete", foreign).name)
    type A16 = "aaaaaaaaaaaaaaaa"
    type A64 = `${A16}${A16}${A16}${A16}`
    type Names = [Tool.NameFor<"A-z_0">, Tool.NameFor<A64>, Tool.NameFor<"a" | "b.c">, Tool.NameFor<string>]
    sameType<["A-z_0", A64, string, string]>()({} as Names)
    sameType<[string, string, string]>()({} as [Tool.NameFor<`${A64}a`>, Tool.NameFor<"">, Tool.NameFor<"é">])
    const [first] = AiSdk.tools({ "two.words": foreign, count: foreign })
    sameType<string | undefined>()(first?.name)
  })

  it("a tool of the AI SDK is typed by what its execute takes and gives [P1107]", () => {
    sameType<Tool.Tool<"count", City, AiSdk.AiToolResult<number>, ExecutionError, never, {}, "undeclared">>()(
      AiSdk.tool("count", foreign)
    )
    sameType<Tool.Tool<"count", City, AiSdk.AiToolResult<number>, ExecutionError, never, {}, "none">>()(
      AiSdk.tool("count", foreign, { sideEffects: "none" })
    )
  })
})
