/** The output of an agent while it is being written. */
import type * as Brand from "effect/Brand"
import type * as Effect from "effect/Effect"
import * as Equal from "effect/Equal"
import * as Schema from "effect/Schema"
import * as SchemaAST from "effect/SchemaAST"
import * as Stream from "effect/Stream"
import type * as AgentEvent from "../AgentEvent.ts"
import { type Definition, TypeId } from "./agentDefinition.ts"
import { type Grown, type Growth, PartialJson } from "./coercionPartial.ts"
import type { Passing } from "./compositionRun.ts"
import type { Output } from "./runOutput.ts"
import { decoder } from "./toolDefinition.ts"

/**
 * A value of which fields, items and ends of texts may still be missing. Plain structs, records, lists and tuples are partial; all
 * else is there as a whole or not at all: numbers, dates, durations, bytes, instances that have methods. A branded text is a plain one here,
 * since a part of an id is no id.
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

/** What has methods, or is marked by symbols, is more than its fields; so are functions and errors. */
type IsPlain<A> = A extends ((...args: ReadonlyArray<never>) => unknown) | Error
  ? false
  : Extract<keyof A, symbol> extends never
    ? true extends { readonly [K in keyof A]-?: IsMethod<A[K]> }[keyof A]
      ? false
      : true
    : false

/** `any` is none. */
type IsMethod<A> = 0 extends A & 1
  ? false
  : Extract<A, (...args: ReadonlyArray<never>) => unknown> extends never
    ? false
    : true

interface Streaming<in I, out O, out E, out R> {
  (input: I): Effect.Effect<O, E, R>
  readonly stream: (input: I) => Stream.Stream<AgentEvent.AgentEvent, E, R>
  readonly [TypeId]: { readonly definition: Definition }
}

/**
 * Runs an agent, and gives its output while the model writes it: at most one value for each part of the text, and only where it
 * is another one than before. Objects, lists and plain texts grow; numbers, dates and the like come when they are complete. The
 * last value is the output. When the model is asked again, the values begin anew. Fails as the run fails.
 *
 * Of a composition it is the output alone, but for `provide`, `withBudget` and `fallback`, whose output is that of a part.
 */
export const partials =
  <I, O, E, R>(self: Streaming<I, O, E, R>) =>
  (input: I): Stream.Stream<Partially<O>, E, R> =>
    Stream.suspend(() => {
      const watcher = new Watcher(self[TypeId].definition)
      // what the watcher gives is made by the output schema
      return self.stream(input).pipe(
        Stream.map((event) => watcher.hear(event)),
        Stream.filter((seen): seen is Seen => seen !== undefined),
        Stream.map(({ value }) => value as Partially<O>)
      )
    })

interface Seen {
  readonly value: unknown
}

/** A run whose output is that of the run above it, and how many runs it has started. */
interface Watched {
  readonly runId: string
  readonly of: Passing
  started: number
}

class Watcher {
  readonly #agent: Passing
  /** The run itself, then those below it whose output is its own, each below the one before it. */
  #watched: ReadonlyArray<Watched> = []
  #reader: PartialJson | undefined
  #text = ""
  #last: Seen | undefined

  constructor(agent: Passing) {
    this.#agent = agent
  }

  hear(event: AgentEvent.AgentEvent): Seen | undefined {
    if (event.type === "run-start") this.#started(event)
    const { runId, type } = event
    if (type === "run-completed" && runId === this.#watched[0]?.runId) {
      return this.#last !== undefined && Equal.equals(this.#last.value, event.output)
        ? undefined
        : { value: event.output }
    }
    const writing = this.#watched.at(-1)
    if (runId !== writing?.runId) return undefined
    switch (type) {
      case "model-start":
        this.#text = ""
        this.#reader = readerOf(writing.of.output)
        return undefined
      case "text-delta":
        return this.#read(event.text)
      default:
        return undefined
    }
  }

  #started({ parent, runId }: AgentEvent.AgentEvent): void {
    const [first] = this.#watched
    if (first === undefined) {
      this.#watched = [{ runId, of: this.#agent, started: 0 }]
      return
    }
    const index = this.#watched.findIndex((one) => one.runId === parent?.runId)
    const above = this.#watched[index]
    const of = above?.of.composed?.passes?.[above.started++]
    if (of !== undefined) this.#watched = [...this.#watched.slice(0, index + 1), { runId, of, started: 0 }]
  }

  #read(text: string): Seen | undefined {
    if (text === "") return undefined
    if (this.#reader === undefined) {
      this.#text += text
      return (this.#last = { value: this.#text })
    }
    return this.#reader.push(text) ? (this.#last = { value: this.#reader.seen }) : undefined
  }
}

/** Nothing for a text that is taken as it is. */
const readerOf = (output: Output | undefined): PartialJson | undefined => {
  if (output === undefined) return undefined
  const wanted = output.wanted()
  if (wanted.kind === "text") return isText(output) ? undefined : new PartialJson(nothing, "{")
  return new PartialJson(grownBy(output), wanted.shape === "list" ? "[" : "{")
}

const isText = ({ schema }: Output): boolean => {
  const { ast } = Schema.toCodecJson(schema)
  return SchemaAST.isString(ast) && ast.encoding === undefined
}

const never: Growth = { kind: "whole", decode: decoder(Schema.Never) }
const nothing: Grown = () => never

const known = new WeakMap<Output, Grown>()

/** A schema is looked at once. */
const grownBy = (output: Output): Grown => {
  const before = known.get(output)
  if (before !== undefined) return before
  const grown = grow(Schema.toCodecJson(output.schema).ast)
  known.set(output, grown)
  return grown
}

const growths = new WeakMap<SchemaAST.AST, Grown>()

const grow = (ast: SchemaAST.AST): Grown => {
  const before = growths.get(ast)
  if (before !== undefined) return before
  const grown = growthOf(ast)
  growths.set(ast, grown)
  return grown
}

const growthOf = (ast: SchemaAST.AST): Grown => {
  if (ast.encoding !== undefined) return always(wholeOf(ast))
  if (SchemaAST.isString(ast)) return always({ kind: "text" })
  if (SchemaAST.isSuspend(ast)) return (first) => grow(ast.thunk())(first)
  if (SchemaAST.isObjects(ast)) return always(objectOf(ast))
  if (SchemaAST.isArrays(ast) && ast.rest.length <= 1) {
    return always({
      kind: "list",
      item: (index) => {
        const item = ast.elements[index] ?? ast.rest[0]
        return item === undefined ? undefined : grow(item)
      }
    })
  }
  return SchemaAST.isUnion(ast) ? among(ast) : always(wholeOf(ast))
}

const always = (growth: Growth): Grown => {
  const whole: Growth | undefined = growth.kind === "whole" ? growth : undefined
  // a value of another kind than what is wanted is not shown
  return (first) => (whole !== undefined || kinds[growth.kind] === first ? growth : never)
}

const kinds: Record<Growth["kind"], string> = { text: '"', object: "{", list: "[", whole: "" }

const wholeOf = (ast: SchemaAST.AST): Growth => ({
  kind: "whole",
  decode: decoder(Schema.make<Schema.Codec<unknown, unknown>>(ast))
})

const objectOf = (ast: SchemaAST.Objects): Growth => {
  const fields = new Map(ast.propertySignatures.map(({ name, type }) => [name, type]))
  const index = ast.indexSignatures.find(
    ({ parameter }) => SchemaAST.isString(parameter) && parameter.encoding === undefined
  )
  return {
    kind: "object",
    field: (key) => {
      const field = fields.get(key) ?? index?.type
      return field === undefined ? undefined : grow(field)
    }
  }
}

/** Of a union, what begins as no other member does grows; for all else it has to be complete. */
const among = (ast: SchemaAST.Union): Grown => {
  const whole = wholeOf(ast)
  return (first) => {
    const possible = ast.types.filter((member) => mayBegin(member, first))
    const [only] = possible
    return possible.length === 1 && only !== undefined && mayGrow(only) ? grow(only)(first) : whole
  }
}

const mayGrow = (ast: SchemaAST.AST): boolean =>
  ast.encoding === undefined && (SchemaAST.isString(ast) || SchemaAST.isObjects(ast) || SchemaAST.isArrays(ast))

const mayBegin = (ast: SchemaAST.AST, first: string): boolean => {
  if (ast.encoding !== undefined) return true
  if (SchemaAST.isObjects(ast)) return first === "{"
  if (SchemaAST.isArrays(ast)) return first === "["
  if (SchemaAST.isString(ast) || SchemaAST.isLiteral(ast)) return first !== "{" && first !== "["
  return !(SchemaAST.isNull(ast) || SchemaAST.isUndefined(ast) || SchemaAST.isNumber(ast) || SchemaAST.isBoolean(ast))
}
