/** What the types of an agent say about its runs as a workflow. */
import type * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import type { Agent, KintsugiError, Tool, ToolError } from "@kintsugi/core"

type InputOf<A> = A extends (input: infer I) => unknown ? I : never
type OutputOf<A> = A extends (input: never) => Effect.Effect<infer O, unknown, unknown> ? O : never
export type ServicesOf<A> = A extends (input: never) => Effect.Effect<unknown, unknown, infer R> ? R : never

/** Its tools, as far as its type has them: it lacks those of the parts of a composition. */
type ToolsOf<A> =
  A extends Agent.Agent<never, unknown, unknown, unknown, infer T, infer _B, infer _D, infer _M, infer _C> ? T : never

/** The failures of an agent in memory, and the one of its unsafe tools after the death of a process. */
export type ErrorOf<A> = A extends (input: never) => Effect.Effect<unknown, infer E, unknown>
  ? E | ([Agent.UnsafeOf<A>] extends [never] ? never : ToolError.OutcomeUnknownError)
  : never

/** The failures that are not this library's. */
type Foreign<E> = Exclude<E, KintsugiError.KintsugiError>

/**
 * What the options have to be for an agent of this type. An agent that is made in the place of the argument is `unknown` at first: its
 * function gives a function, and the compiler leaves such an argument for a second pass, which only comes where the first goes well.
 */
export type For<A, Input extends Schema.Top, Output extends Schema.Top, Failure> = unknown extends A
  ? unknown
  : CheckTools<A> & Fits<A, Input, Output> & Errors<Foreign<ErrorOf<A>>, Failure>

/** Options of workflows by their names elsewhere. */
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

/** Refuses options that there are not, with a sentence. */
export type Present<Given, Declared> = {
  readonly [K in keyof Given]: K extends Declared
    ? unknown
    : Refused<`There is no option '${K & string}'${K extends keyof Elsewhere ? `: ${Elsewhere[K]}` : ""}`>
}

/** What no value has. Editors offer the values of a literal type, and would offer the sentence. */
interface Refused<Sentence> {
  readonly [refused]: Sentence
}

declare const refused: unique symbol

/** The schema of failures that are not this library's. It has to cover all of them: a schema of fewer would pass the compiler too. */
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

/** The table of a tool, with the marks that its options leave there. */
type TableOf<T> = T extends Tool.Tool<string, infer _P, unknown, unknown, unknown, infer Table, unknown> ? Table : never

/** The names of tools whose failures cannot be stored. */
type Unstorable<T> = T extends Tool.AnyTool
  ? [Foreign<Tool.ErrorOf<T>>] extends [never]
    ? never
    : TableOf<T> extends { readonly "~storedFailures": true }
      ? never
      : Tool.NameOf<T>
  : never

/** Requires an agent whose tools each have the schema of their own failures. */
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

/** Requires the schemas of the agent's input and output. */
type Fits<A, Input extends Schema.Top, Output extends Schema.Top> = ([Input["Type"]] extends [InputOf<A>]
  ? unknown
  : { readonly input: Schema.Codec<InputOf<A>, unknown> }) &
  ([OutputOf<A>] extends [Output["Type"]] ? unknown : OutputSchemaMisses<Exclude<OutputOf<A>, Output["Type"]>>)

interface OutputSchemaMisses<O> {
  readonly OutputSchemaMisses: O
}
