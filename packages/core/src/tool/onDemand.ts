/** `Tool.onDemand`: tools that requests do not list. A model finds them with `search_tools`, and calls them with `call_tool`. */
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import { callTool, passedOn } from "../coercion/Unwrapped.ts"
import { demand, options as checkOptions } from "../data/Demand.ts"
import type * as Message from "../data/Message.ts"
import { once } from "../data/Once.ts"
import * as Returned from "../data/Returned.ts"
import { ExecutionError } from "../errors/ToolError.ts"
import * as Recovery from "../recovery/Recovery.ts"
import { bm25 } from "./bm25.ts"
import { define } from "./define.ts"
import { type AnyTool, fromDefinition, isTool } from "./shape.ts"
import type { OnDemand, ToolDefinition } from "./ToolDefinition.ts"

/**
 * Finds tools. It gets the tools on demand of an agent when a model searches for the first time, and returns a function that gives the names
 * of the tools that fit a query, the best one first. The model reads that a search has failed; names of other tools do not count.
 */
export type Search = (
  tools: ReadonlyArray<Message.ToolSpec>
) => (query: string) => Effect.Effect<ReadonlyArray<string>, unknown>

/** Options of `Tool.onDemand`. */
interface OnDemandOptions {
  /** Finds the tools that fit a query. By default BM25 over names, descriptions and parameters, in this process. */
  readonly search?: Search
  /** How many tools one search gives at most; 5 by default. */
  readonly limit?: number
}

/**
 * Takes tools out of the requests of an agent. In their place the model has `search_tools`, which gives the schemas of the tools that fit a
 * query, and `call_tool`, which calls one of them. So requests with hundreds of tools stay short, and each begins like the one before it: a
 * provider's cache keeps counting. A call is one of the tool itself: its table, gates, limits, events and idempotency key are those of a
 * direct call. A search leaves out tools that may not be called in its turn. A tool that `Agent.prepareTurn` demands is listed in that turn.
 *
 * Tools of several calls of `onDemand` are searched together. Throws a `TypeError` for a tool that a provider runs, and a `RangeError` for a
 * `limit` below 1. An agent whose tools on demand have different options is a `TypeError`.
 *
 * @example
 * ```ts
 * import { Agent, Tool } from "@kintsugi/core"
 * import { Effect, Schema } from "effect"
 *
 * const tool = <const Name extends string>(name: Name, description: string) =>
 *   Tool.make(name, {
 *     description,
 *     parameters: Schema.Struct({ order: Schema.String }),
 *     success: Schema.String,
 *     run: ({ order }) => Effect.succeed(`${name}: ${order}`)
 *   })
 * const seldom = Tool.onDemand([tool("refund", "Pays an order back."), tool("track", "Where a parcel is.")])
 * const desk = Agent.make("desk", { tools: [tool("status", "The status of an order."), ...seldom] })
 * desk.name // => "desk"
 * ```
 */
export const onDemand = <const Tools extends ReadonlyArray<AnyTool>>(
  tools: Tools,
  options: OnDemandOptions = byDefault
): Tools => {
  checkOptions("Tool.onDemand", options, ["search", "limit"])
  const { limit = 5, search = bm25 } = options
  demand("Tool.onDemand: search", "a function", search, Predicate.isFunction(search))
  if (!Number.isSafeInteger(limit) || limit < 1) {
    throw new RangeError(`Tool.onDemand: limit must be a whole number of at least 1, got ${String(limit)}`)
  }
  const among: OnDemand["among"] = (all) => {
    const catalogue = all.filter((tool) => tool.onDemand !== undefined)
    if (catalogue.some((tool) => tool.onDemand?.options !== options)) {
      throw new TypeError("Tool.onDemand: an agent has one search, so all of its tools on demand need the same options")
    }
    return [searchOf(catalogue, search, limit), caller]
  }
  const demanded: OnDemand = { options, among, unwrap: passedOn }
  const made = tools.map((tool: unknown) => {
    demand("Tool.onDemand: tools", "made by this module", tool, isTool(tool))
    const { definition } = tool as AnyTool
    if (definition.isProvided === true) {
      throw new TypeError(
        `Tool.onDemand: '${definition.name}' is called by its provider, which has to know it from the start`
      )
    }
    return fromDefinition<AnyTool>({ ...definition, onDemand: demanded })
  })
  // each tool keeps its type
  return made as unknown as Tools
}

const byDefault: OnDemandOptions = {}

// Mutant `{}` survives: a struct without fields lets all of them pass, and no answer replaces a result of this tool
const Found = Schema.Struct({
  // Mutant `{}` survives: as above
  tools: Schema.Array(Schema.Struct({ name: Schema.String, description: Schema.String, parameters: Schema.Json })),
  hint: Schema.optionalKey(Schema.String)
})

const none = "No tool fits these words. Try other words for what it should do."

/** How many characters of schemas one search gives; the best tool is always among them. */
const room = 50_000

/** The longest query in characters. A model may write a query of any length. */
const longest = 2000

const name = "search_tools"

/** The tool `search_tools`, which gives the schemas of tools on demand. No table of an agent applies to it. */
const searchOf = (catalogue: ReadonlyArray<ToolDefinition>, search: Search, limit: number): ToolDefinition => {
  const tools = new Map(catalogue.map((tool) => [tool.name, tool]))
  const find = once(() => search(catalogue.map((tool) => tool.spec())))
  const finding =
    (isCallable: (tool: ToolDefinition) => boolean) =>
    ({ query }: { readonly query: string }) =>
      Effect.gen(function* () {
        const given = yield* Effect.try({ try: () => find()(query.slice(0, longest)), catch: (error) => error })
        const found = yield* Returned.valueOf(given, names, "The search of Tool.onDemand")
        const wanted = [...new Set(found)].flatMap((one) => tools.get(one) ?? [])
        const specs = yield* Effect.forEach(wanted.filter(isCallable).slice(0, limit), specNow)
        const shown = specs.filter((spec) => spec !== undefined)
        return shown.length === 0 ? { tools: [], hint: none } : { tools: within(shown) }
      })
  const tool = added(
    define(name, {
      description:
        "Finds tools that are not listed here. It gives their names and parameters: call them with call_tool.",
      parameters: Schema.Struct({
        query: Schema.String.annotate({ description: "What the tool should do, in a few words" })
      }),
      success: Found,
      sideEffects: "none",
      run: finding(() => true)
    })
  )
  // the schema of the tool has decoded what `run` gets
  const among: ToolDefinition["among"] = (isCallable) => ({
    ...tool,
    run: finding(isCallable) as ToolDefinition["run"]
  })
  return { ...tool, among }
}

/** The definition of a tool as its server has it now; `undefined` if that is refused, or gone. */
const specNow = (tool: ToolDefinition): Effect.Effect<Message.ToolSpec | undefined> => {
  const { pin } = tool
  if (pin === undefined) return Effect.succeed(tool.spec())
  return Effect.flatMap(pin.look(pin.digest), ({ now, verdict }) =>
    // Mutant `false` for `now === null` survives: what is gone is refused
    now === null || verdict === "refuse"
      ? Effect.undefined
      : Effect.map(pin.current(tool, now), (current) => current.spec())
  )
}

const names: Returned.Kind = {
  name: "a list of names",
  is: (value) => Array.isArray(value) && value.every(Predicate.isString)
}

/** What the model reads of these tools, as far as there is room. */
const within = (specs: ReadonlyArray<Message.ToolSpec>): (typeof Found.Type)["tools"] => {
  let left = room
  return specs
    .filter((spec, index) => {
      left -= JSON.stringify(spec).length
      return left >= 0 || index === 0
    })
    .map(({ description, name, parameters }) => ({ name, description, parameters }))
}

/** The tool `call_tool`. Its calls are settled as those of the tools that they name, so `run` gets only calls that it cannot pass on. */
const caller: ToolDefinition = added(
  define(callTool, {
    description: "Calls a tool that search_tools has found.",
    parameters: Schema.Struct({
      name: Schema.String.annotate({ description: "The name of the tool" }),
      arguments: Schema.Record(Schema.String, Schema.Unknown).annotate({ description: "The arguments of the tool" })
    }),
    success: Schema.String,
    sideEffects: "none",
    run: ({ name }, { callId }) =>
      Effect.fail(
        ExecutionError.make({
          tool: callTool,
          callId,
          kind: "local",
          category: "validation",
          args: { name },
          message:
            "Give call_tool the name and the arguments of a tool that search_tools finds. Call any other tool by its own name."
        })
      )
  })
)

/** A tool that comes with others. The model reads its failures. */
function added(tool: ToolDefinition): ToolDefinition {
  const rows = { ExecutionError: Recovery.tell(({ message }: ExecutionError) => message), orElse: Recovery.tell() }
  return { ...tool, rows: Recovery.rowsOf(rows, "a tool"), isAdded: true }
}
