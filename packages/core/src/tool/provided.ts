/** `Tool.provider`: tools that answer calls which the provider itself declares. Only this function brings this file into a program. */
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as Demand from "../data/Demand.ts"
import type * as Recovery from "../recovery/Recovery.ts"
import { define } from "./define.ts"
import * as Names from "./names.ts"
import { requireApproval } from "./requireApproval.ts"
import { fromDefinition, type Tool } from "./shape.ts"
import type { ToolContext } from "./ToolDefinition.ts"
import type { NeedsApproval, WithoutScope } from "./ToolTypes.ts"

/** The fields of a call as the provider writes them, without the type, the ids and the status of the call. */
type Fields = Schema.JsonObject

/** Options of `Tool.provider`. */
interface ProviderOptions<S> {
  /** What running the tool twice would do; `undeclared` by default. */
  readonly sideEffects?: S
}

const approval = "mcp_approval_request"

/**
 * Makes the tool that answers calls of a provider's own kind. Such a kind is declared in `providerTools` of the model: `computer_call`,
 * `shell_call`, `local_shell_call`, `apply_patch_call`, `custom_tool_call` of OpenAI's Responses; of Anthropic the name of the declared
 * tool, such as `bash`. `run` gets the fields of the call, and gives the `output` of the provider's answer item, or an object with all
 * fields of that item, such as `{ output, acknowledged_safety_checks }`. Tables, approval, keys and events treat the calls like all others.
 * Without such a tool, a reply with such a call is a `CapabilityMismatchError`.
 *
 * The kind `mcp_approval_request` needs no `run`: each request of the provider for the approval of a call of its MCP server becomes an
 * approval request of the run. The decision goes back; fields that the approver has edited go back as a refusal that states them.
 *
 * Throws a `TypeError` for a kind that is no name of a tool. Kinds: npm's `openai` 7.57.0.
 *
 * @example
 * ```ts
 * import { Tool } from "@kintsugi/core"
 * import { Effect } from "effect"
 *
 * const sql = Tool.provider("custom_tool_call", ({ input }) => Effect.succeed(`no rows for ${String(input)}`))
 * Effect.runPromise(Tool.call(sql, { name: "sql", input: "select 1" })) // => "no rows for select 1"
 * ```
 */
export function provider(
  kind: "mcp_approval_request"
): Tool<"mcp_approval_request", Fields, Schema.Json, never, never, NeedsApproval>
export function provider<
  const Kind extends string,
  E = never,
  R = never,
  const S extends Recovery.SideEffects = "undeclared"
>(
  kind: Kind,
  run: (call: Schema.JsonObject, context: ToolContext) => Effect.Effect<Schema.Json, E, R>,
  options?: ProviderOptions<S>
): Tool<Kind, Fields, Schema.Json, E, WithoutScope<R>, {}, S>
export function provider(
  kind: string,
  given?: (call: Schema.JsonObject, context: ToolContext) => Effect.Effect<Schema.Json, unknown, unknown>,
  options: ProviderOptions<Recovery.SideEffects> = {}
): unknown {
  Names.check(kind)
  const run = given ?? (kind === approval ? approved : undefined)
  Demand.demand(`Tool.provider of kind '${kind}'`, "given a function", run, Predicate.isFunction(run))
  const definition = define(kind, {
    description: `Answers calls of the kind ${kind} of the provider.`,
    parameters,
    success: Schema.Json,
    coercion: [],
    // Mutant `false` survives: `undefined` is read like no option
    ...(options.sideEffects === undefined ? {} : { sideEffects: options.sideEffects }),
    // `demand` above has checked `run`; the services that it needs are in the type of the tool
    run: run as typeof approved
  })
  const tool = fromDefinition<Tool<string, Fields, Schema.Json, never, never>>({ ...definition, isProvided: true })
  return given === undefined
    ? requireApproval(tool, { reason: "the provider asks before it calls an MCP server" })
    : tool
}

const parameters = Schema.Record(Schema.String, Schema.Json)

/** Returns the fields of an approved call. The codec compares them to find the fields that the approver has edited. */
const approved = (fields: Fields): Effect.Effect<Schema.Json> => Effect.succeed({ ...fields, approve: true })
