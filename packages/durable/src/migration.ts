/** Migrations of workflows, as users write them: how the calls of earlier tools become calls of current ones. */
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { Tool } from "@kintsugi/core"
import * as Coercion from "@kintsugi/core/Coercion"
import * as ErrorCause from "@kintsugi/core/ErrorCause"
import * as Issue from "@kintsugi/core/Issue"
import * as Redaction from "@kintsugi/core/Redaction"

/** One change of an agent, for the runs that began before it. */
export interface Migration {
  /** How calls of earlier tools become calls of current ones. Absent if all tools that were called are still there, as they were. */
  readonly calls?: ReadonlyArray<CallMigration>
}

/** What becomes of the calls of one tool, made by `Durable.migrateCall`. */
export interface CallMigration {
  /** The name of the tool that was called. */
  readonly from: string
  /** The name of the current tool. */
  readonly to: string
  /** Migrates the arguments that a model wrote, or says which part does not fit. */
  readonly migrate: (given: Schema.Json) => Result.Result<MigratedArguments, Misfit>
}

/** The arguments for the current tool, and the numbers in the given text that the earlier tool took as texts. */
interface MigratedArguments {
  readonly arguments: Schema.Json
  readonly numbers: ReadonlyArray<string>
}

/** The part of the arguments that does not fit: its path with dots between, and what was expected there. */
interface Misfit {
  readonly field: string
  readonly expected: string
}

/** What `run` of a tool takes. */
type ParamsOf<T> =
  T extends Tool.Tool<string, infer Params, unknown, unknown, unknown, infer _Table, unknown> ? Params : never

/** How a call of an earlier tool becomes a call of a current one. */
interface CallOptions<Old, To extends Tool.AnyTool> {
  /** The earlier tool: its name, and the schema of its parameters. */
  readonly from: { readonly tool: string; readonly parameters: Schema.Codec<Old, unknown> }
  /** The current tool, which has another name or other parameters. */
  readonly to: To
  /** Gives the parameters of the current tool. It must be pure. */
  readonly migrate: (old: Old) => ParamsOf<To>
}

/**
 * Makes calls of an earlier tool calls of a current one, for `migrations` of `Durable.workflow`. The schema of the earlier tool reads the
 * arguments, and the schema of the current tool checks what `migrate` gives. The result of a call that has ended stays: the `success` and
 * `failure` of the current tool must read it. The run ends with a `MigrationError` if `migrate` throws or gives what does not fit.
 *
 * @example
 * ```ts
 * import { Agent, Tool } from "@kintsugi/core"
 * import { Durable } from "@kintsugi/durable"
 * import { Effect, Schema } from "effect"
 *
 * const find = Tool.make("find", {
 *   description: "Finds orders.",
 *   parameters: Schema.Struct({ ids: Schema.Array(Schema.String) }),
 *   success: Schema.String,
 *   run: ({ ids }) => Effect.succeed(`${ids.length} found`)
 * })
 * const clerk = Durable.workflow(Agent.make("clerk", { tools: [find] }), {
 *   name: "clerk",
 *   input: Schema.String,
 *   output: Schema.String,
 *   migrations: [
 *     {
 *       calls: [
 *         Durable.migrateCall({
 *           from: { tool: "look", parameters: Schema.Struct({ id: Schema.String }) },
 *           to: find,
 *           migrate: ({ id }) => ({ ids: [id] })
 *         })
 *       ]
 *     }
 *   ]
 * })
 * clerk.workflow._tag // => "clerk"
 * ```
 */
export const migrateCall = <Old, To extends Tool.AnyTool>({
  from,
  migrate,
  to
}: CallOptions<Old, To>): CallMigration => {
  const { coercion, parameters } = to.definition
  const old = readerOf(from.parameters)
  const current = readerOf(parameters)
  const encode = Schema.encodeUnknownResult(Schema.toCodecJson(parameters))
  return {
    from: from.tool,
    to: to.name,
    migrate: (given) => {
      const parsed = Coercion.parse(given === "" || given === null ? {} : given, coercion)
      // neither tool can read the text
      if (Result.isFailure(parsed)) return Result.succeed({ arguments: given, numbers: [] })
      const read = Coercion.decode(parsed.success, old, coercion)
      if (Result.isFailure(read)) {
        // the earlier tool refused these arguments, so the current one must not take them
        const isRefused = Result.isFailure(Coercion.decode(parsed.success, current, coercion))
        return isRefused ? Result.succeed({ arguments: given, numbers: [] }) : Result.fail(misfit(read.failure))
      }
      const { changes, decoded } = read.success
      const numbers = changes.flatMap(({ after, step }) =>
        step === "convert-number" && Predicate.isString(after) ? [after] : []
      )
      const made = Result.try({
        try: () => migrate(decoded),
        catch: (thrown) => ({
          field: "",
          expected: `migrate threw: ${Redaction.foreign(ErrorCause.messageOf(thrown))}`
        })
      })
      return Result.flatMap(made, (params) => {
        const encoded = Result.mapError(encode(params), ({ issue }) => misfit(issue))
        return Result.flatMap(encoded, (json) => {
          // cast: the JSON codec of a schema encodes to JSON
          const args = json as Schema.Json
          return Result.mapBoth(current(args), { onSuccess: () => ({ arguments: args, numbers }), onFailure: misfit })
        })
      })
    }
  }
}

type SchemaIssue = Parameters<typeof Issue.fromSchema>[0]

const misfit = (issue: SchemaIssue): Misfit => {
  const [first] = Issue.fromSchema(issue, undefined)
  // Mutant `first.expected` survives: an issue has a first part, which its type does not say
  return { field: first?.path.join(".") ?? "", expected: first?.expected ?? "Expected other arguments" }
}

const readerOf = <A>(schema: Schema.Codec<A, unknown>) => {
  const read = Schema.decodeUnknownResult(Schema.toCodecJson(schema), { onExcessProperty: "error" })
  return (value: Schema.Json): Result.Result<A, SchemaIssue> => Result.mapError(read(value), ({ issue }) => issue)
}
