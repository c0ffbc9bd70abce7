/** The output of an agent while it is being written. */
import type * as Brand from "effect/Brand"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { memoize } from "effect/Function"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as SchemaAST from "effect/SchemaAST"
import * as Stream from "effect/Stream"
import type * as AgentEvent from "../event/AgentEvent.ts"
import { type Definition, TypeId } from "./definition.ts"
import { type Grown, type Growth, PartialJson } from "../coercion/PartialJson.ts"
import type { Part, Passing } from "./composition/run.ts"
import { Progress, type Reader, unseen } from "./progress.ts"
import type { Output } from "../run/Output.ts"
import { decoder, modelSchema } from "../tool/ToolSchema.ts"

/**
 * A value while it is written: fields, items and ends of texts may be missing. Plain structs, records, lists and tuples are partial.
 * Everything else is complete or absent: numbers, dates, durations, bytes and instances with methods. A branded text counts as complete or
 * absent, because a part of an id is no id.
 *
 * @hidden
 */
export type Partially<A> = A extends string
  ? A extends Marked
    ? string
    : A
  : A extends ReadonlyArray<infer Item>
    ? number extends A["length"]
      ? ReadonlyArray<Partially<Item>>
      : { readonly [K in keyof A]?: Partially<A[K]> }
    : A extends object
      ? IsPlain<A> extends true
        ? { readonly [K in keyof A as K extends keyof Marked ? never : K]?: Partially<A[K]> }
        : A
      : A

type Marked = Brand.Brand<string>

/** Values that are more than their fields: those with methods or symbol keys, functions and errors. */
type IsPlain<A> = A extends ((...args: ReadonlyArray<never>) => unknown) | Error
  ? false
  : Extract<keyof A, symbol> extends never
    ? true extends { readonly [K in keyof A]-?: IsMethod<A[K]> }[keyof A]
      ? false
      : true
    : false

/** Whether a type is `any`, which is never partial. */
type IsMethod<A> = 0 extends A & 1
  ? false
  : Extract<A, (...args: ReadonlyArray<never>) => unknown> extends never
    ? false
    : true

interface Streaming<in I, out O, out E, out R> {
  (input: I): Effect.Effect<O, E, R>
  readonly [TypeId]: { readonly definition: Definition; readonly part: Part }
}

/** How often a partial output is emitted. */
export interface PartialsOptions {
  /**
   * The longest wait for a value that shows more than the last one, however little the text has grown; 100 ms by default. With 0 each part
   * of the text gives a value. Throws a `RangeError` for a negative or invalid duration.
   */
  readonly interval?: Duration.Input
}

/**
 * Gives the output of an agent while the model writes it. A new value comes when the text has grown by a sixteenth, or after `interval`, if
 * it shows more than the last one. Objects, lists and plain texts grow; numbers, dates and branded texts come when they are complete. The
 * last value is the output. A slow reader gets the newest value, and no values queue up. When the model is called again, the values begin
 * anew. It fails as the run fails.
 *
 * Of a composition it gives the output alone, except for `provide`, `withBudget` and `fallback`, whose output is that of a part.
 *
 * ```ts
 * import { Agent } from "@kintsugi/core"
 * import { Effect, Schema, Stream } from "effect"
 *
 * const writer = Agent.make("writer", { output: Schema.Struct({ title: Schema.String }) })
 *
 * export const titles = Agent.partials(writer, { interval: "1 second" })("Write.").pipe(
 *   Stream.map(({ title = "" }) => title)
 * )
 * ```
 */
export const partials = <I, O, E, R>(
  self: Streaming<I, O, E, R>,
  options: PartialsOptions = {}
): ((input: I) => Stream.Stream<Partially<O>, E, R>) => {
  const interval = intervalOf(options.interval)
  const { definition, part } = self[TypeId]
  return (input) => {
    const running = Effect.suspend(() => {
      const progress = new Progress(interval)
      const run = part.run(input, watching(definition, progress), { isStreamed: true, isSuspendable: false })
      const ended = Effect.onExit(run, (exit) => Effect.sync(() => progress.end(exit)))
      return Effect.as(Effect.forkScoped(ended), Stream.fromPull(Effect.succeed(progress.next)))
    })
    // what the run needs and fails with is in the agent's type; the values are made by its output schema
    return Stream.unwrap(running) as Stream.Stream<Partially<O>, E, R>
  }
}

const intervalOf = (input: Duration.Input = "100 millis"): number => {
  const interval = Option.map(Duration.fromInput(input), Duration.toMillis)
  // `Duration` reads NaN as zero
  if (Option.isSome(interval) && interval.value >= 0 && !Number.isNaN(input)) return interval.value
  throw new RangeError(`Agent.partials: interval must be a duration of at least 0, got ${String(input)}`)
}

/** A run whose output is its parent's output, and the number of runs that it has started. */
interface Watched {
  readonly runId: string
  readonly of: Passing
  started: number
}

/** Feeds the progress from the events of a run. */
const watching = (agent: Passing, progress: Progress): ((event: AgentEvent.AgentEvent) => void) => {
  /** A chain of runs: the run itself, then the child whose output it returns, and so on. */
  const watched: Array<Watched> = []
  return (event) => {
    const { parent, runId, type } = event
    if (type === "run-start") {
      const outer = watched.find((one) => one.runId === parent?.runId)
      const of = watched.length === 0 ? agent : outer?.of.composed?.passes?.[outer.started++]
      if (of !== undefined) watched.push({ runId, of, started: 0 })
    }
    if (type === "run-completed" && runId === watched[0]?.runId) progress.complete(event.output)
    const writing = watched.at(-1)
    if (runId !== writing?.runId) return
    if (type === "model-start") progress.begin(readerOf(writing.of.output))
    if (type === "text-delta" && event.text !== "") progress.add(event.text, event.at)
  }
}

const readerOf = (output: Output | undefined): Reader => {
  if (output === undefined) return asItIs()
  const wanted = output.wanted()
  const grown = grow(modelSchema(output.schema).ast)
  if (wanted.kind === "text") return grown(signs.text).kind === "text" ? asItIs() : unseen
  const json = new PartialJson(grown, wanted.shape === "list" ? signs.list : signs.object)
  return { push: (piece) => json.push(piece), seen: () => json.seen }
}

const asItIs = (): Reader => {
  let text = ""
  return {
    push: (piece) => {
      text += piece
      return true
    },
    seen: () => text
  }
}

const never: Growth = { kind: "whole", decode: decoder(Schema.Never) }

/** Caches, per schema, how its value begins. */
const grow = memoize((ast: SchemaAST.AST): Grown => {
  if (ast.encoding !== undefined) return always(wholeOf(ast))
  if (SchemaAST.isString(ast)) return always({ kind: "text" })
  if (SchemaAST.isSuspend(ast)) return (first) => grow(ast.thunk())(first)
  if (SchemaAST.isObjects(ast)) return always(objectOf(ast))
  if (SchemaAST.isArrays(ast) && ast.rest.length <= 1) {
    return always({ kind: "list", item: (index) => growIfAny(ast.elements[index] ?? ast.rest[0]) })
  }
  return SchemaAST.isUnion(ast) ? among(ast) : always(wholeOf(ast))
})

const growIfAny = (ast: SchemaAST.AST | undefined) => (ast === undefined ? undefined : grow(ast))

const always =
  (growth: Growth): Grown =>
  // a value of the wrong kind is not shown
  (first) =>
    growth.kind === "whole" || signs[growth.kind] === first ? growth : never

/** The first JSON characters of a value that can be shown while it grows. */
const signs = { text: '"', object: "{", list: "[" } as const

const wholeOf = (ast: SchemaAST.AST): Growth => ({
  kind: "whole",
  decode: decoder(Schema.make<Schema.Codec<unknown, unknown>>(ast))
})

const objectOf = (ast: SchemaAST.Objects): Growth => {
  const fields = new Map(ast.propertySignatures.map(({ name, type }) => [name, type]))
  const index = ast.indexSignatures.find(
    ({ parameter }) => SchemaAST.isString(parameter) && parameter.encoding === undefined
  )
  return { kind: "object", field: (key) => growIfAny(fields.get(key) ?? index?.type) }
}

/** How the members of a union are shown. A member whose first character no other member has grows; the others are shown when complete. */
const among = (ast: SchemaAST.Union): Grown => {
  const whole = wholeOf(ast)
  return (first) => {
    const [only, ...others] = ast.types.filter((member) => mayBegin(SchemaAST.toEncoded(member), first))
    return only !== undefined && others.length === 0 ? grow(only)(first) : whole
  }
}

/** Whether a value of this schema may begin in JSON with this character. */
const mayBegin = (ast: SchemaAST.AST, first: string): boolean => {
  if (SchemaAST.isString(ast) || SchemaAST.isLiteral(ast)) return first === signs.text
  if (SchemaAST.isObjects(ast)) return first === signs.object
  if (SchemaAST.isArrays(ast)) return first === signs.list
  if (SchemaAST.isUnion(ast)) return ast.types.some((member) => mayBegin(member, first))
  const isNone = SchemaAST.isNull(ast) || SchemaAST.isNumber(ast) || SchemaAST.isBoolean(ast)
  return !isNone && Object.values<string>(signs).includes(first)
}
