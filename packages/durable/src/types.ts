/** Derives the types of a workflow (input, output, failures) from the type of its agent. */
import type * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import type { Agent, KintsugiError, Tool, ToolError } from "@kintsugi/core"

type InputOf<A> = A extends (input: infer I) => unknown ? I : never
type OutputOf<A> = A extends (input: never) => Effect.Effect<infer O, unknown, unknown> ? O : never
export type ServicesOf<A> = A extends (input: never) => Effect.Effect<unknown, unknown, infer R> ? R : never

/** The tools of an agent, as far as its type has them. The type of a composition lacks the tools of its parts. */
type ToolsOf<A> =
  A extends Agent.Agent<never, unknown, unknown, unknown, infer T, infer _B, infer _D, infer _M, infer _C> ? T : never

/** The failures of an agent in memory, and `OutcomeUnknownError` if it has unsafe tools, which may have run when a process died. */
export type ErrorOf<A> = A extends (input: never) => Effect.Effect<unknown, infer E, unknown>
  ? E | ([Agent.UnsafeOf<A>] extends [never] ? never : ToolError.OutcomeUnknownError)
  : never

/** The failures that are not errors of this library. */
type Foreign<E> = Exclude<E, KintsugiError.KintsugiError>

/**
 * The requirements on the options for an agent of type `A`. If the agent is made in the place of the argument, `A` is `unknown` at first,
 * and nothing is required: TypeScript infers such an argument in a second pass, which only comes if the first one has no errors.
 */
export type For<A, Input extends Schema.Top, Output extends Schema.Top, Failure> = unknown extends A
  ? unknown
  : CheckTools<A> & Fits<A, Input, Output> & Errors<Foreign<ErrorOf<A>>, Failure>

/** Names of options elsewhere, and the sentence that says what to use here. */
interface Elsewhere {
  readonly payload: "its name here is input"
  readonly inputSchema: "its name here is input"
  readonly success: "its name here is output"
  readonly outputSchema: "its name here is output"
  readonly failure: "its name here is error"
  readonly onEvent: "listeners are added to the agent, with Agent.onEvent"
  readonly instructions: "the agent has a prompt"
  readonly system: "the agent has a prompt"
  readonly maxSteps: "the agent has budget: { maxTurns }"
  readonly timeout: "the agent has budget: { maxDuration }"
}

/** Rejects options that do not exist. The type of such an option is a sentence that names it, so the compiler shows the sentence. */
export type Present<Given, Declared> = {
  readonly [K in keyof Given]: K extends Declared
    ? unknown
    : Refused<`There is no option '${K & string}'${K extends keyof Elsewhere ? `: ${Elsewhere[K]}` : ""}`>
}

/**
 * A type without values, which carries a sentence for the compiler's message. A literal type would not do, because editors offer its value
 * as a completion.
 */
interface Refused<Sentence> {
  readonly [refused]: Sentence
}

declare const refused: unique symbol

/**
 * The `error` option: the schema of the agent's failures that are not errors of this library. The type checks that the schema covers all of
 * them.
 */
type Errors<E, Failure> = [E] extends [never]
  ? { readonly error?: undefined }
  : Failure extends Schema.Top
    ? [E] extends [Failure["Type"]]
      ? unknown
      : ErrorSchemaMisses<Exclude<E, Failure["Type"]>>
    : { readonly error: Schema.Codec<E, unknown> }

interface ErrorSchemaMisses<E> {
  readonly ErrorSchemaMisses: E
}

/** The table of a tool's policy. Its type has marks of the tool's options, such as whether its failures have a schema. */
type TableOf<T> = T extends Tool.Tool<string, infer _P, unknown, unknown, unknown, infer Table, unknown> ? Table : never

/** The names of the tools whose failures cannot be stored, as they have no schema. */
type Unstorable<T> = T extends Tool.AnyTool
  ? [Foreign<Tool.ErrorOf<T>>] extends [never]
    ? never
    : TableOf<T> extends { readonly "~storedFailures": true }
      ? never
      : Tool.NameOf<T>
  : never

/** Rejects an agent if one of its tools has failures of its own, and no schema for them. */
type CheckTools<A> = A extends Agent.AnyPart
  ? [Unstorable<ToolsOf<A>>] extends [never]
    ? unknown
    : ToolsNeedAFailureSchema<Unstorable<ToolsOf<A>>>
  : OnlyAgentsBecomeWorkflows

interface ToolsNeedAFailureSchema<Name> {
  readonly ToolsNeedAFailureSchema: Name
}

interface OnlyAgentsBecomeWorkflows {
  readonly OnlyAgentsBecomeWorkflows: never
}

/** Requires that the schemas of the options fit the agent's input and output. */
type Fits<A, Input extends Schema.Top, Output extends Schema.Top> = ([Input["Type"]] extends [InputOf<A>]
  ? unknown
  : { readonly input: Schema.Codec<InputOf<A>, unknown> }) &
  ([OutputOf<A>] extends [Output["Type"]] ? unknown : OutputSchemaMisses<Exclude<OutputOf<A>, Output["Type"]>>)

interface OutputSchemaMisses<O> {
  readonly OutputSchemaMisses: O
}
