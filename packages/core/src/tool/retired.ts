/** `Tool.retired`: tools that an agent no longer has, for the calls of its runs that began before. */
import { passedOn } from "../coercion/Unwrapped.ts"
import { demand } from "../data/Demand.ts"
import { type AnyTool, fromDefinition, isTool } from "./shape.ts"

/**
 * A tool that requests no longer list. It settles the calls that models made before: with their recorded results, and by its `run` for a
 * call that has none yet. So keep its schemas, table and side effects, and have `run` say why there is no such tool any more. Remove it when
 * no durable run or snapshot of before is left. A `durable` workflow whose agent loses a tool needs an entry in its `migrations` too.
 *
 * @example
 * ```ts
 * import { Agent, Tool } from "@kintsugi/core"
 * import { Effect, Schema } from "effect"
 *
 * const fax = Tool.make("fax", {
 *   description: "Sends a fax.",
 *   parameters: Schema.Struct({ text: Schema.String }),
 *   success: Schema.String,
 *   run: () => Effect.succeed("Nothing was sent: there is no fax any more.")
 * })
 * const clerk = Agent.make("clerk", { tools: [Tool.retired(fax)] })
 * clerk.name // => "clerk"
 * ```
 */
export const retired = <T extends AnyTool>(tool: T): T => {
  demand("Tool.retired: the tool", "made by this module", tool, isTool(tool))
  // it is listed nowhere, so no search finds it, and its server may be gone
  const { onDemand: _, pin: __, ...definition } = tool.definition
  return fromDefinition<T>({ ...definition, isRetired: true, unwrap: passedOn })
}
