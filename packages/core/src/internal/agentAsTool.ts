/** An agent as a tool of another agent: what its model may say, what the calling model reads, and what it may cost. */
import type * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as SchemaGetter from "effect/SchemaGetter"
import type * as Coercion from "../Coercion.ts"
import * as Completion from "../Completion.ts"
import type * as Recovery from "../Recovery.ts"
import * as Tool from "../Tool.ts"
import type { TypeId } from "./agentDefinition.ts"
import { Cost, costOf } from "./verdictBounds.ts"

/** An agent, seen as what a tool needs of it: its own failures and needs are those of the call. */
export interface Runnable<in I, out O, out E, out R> {
  (input: I): Effect.Effect<O, E, R>
  readonly name: string
  readonly [TypeId]: unknown
}

/** What a model says to an agent that takes text. */
export interface TextInput {
  readonly input: string
}

export interface ToolOptions<Name, S, A> {
  /** The agent's name by default. Only a tool whose name is given here has rows of its own in `onToolError`. */
  readonly name?: Name
  /** What the agent does, for the model that may call it. */
  readonly description: string
  /** What calling it twice would do; `undeclared` by default. */
  readonly sideEffects?: S
  readonly coercion?: ReadonlyArray<Coercion.Step>
  /** The longest answer that the calling model reads, in characters; unlimited by default. */
  readonly maxResultChars?: number
  /** The schema of the agent's answers, completions aside; text by default. */
  readonly success?: Schema.Codec<A, unknown>
}

/** What the calling model says, where it is not one text, and what the agent takes of that. */
export interface ToolInput<Params, I> {
  readonly parameters: Schema.Codec<Params, unknown>
  readonly toInput: (params: NoInfer<Params>) => NoInfer<I>
}

/** The schema of answers has to know all of them, so `A` bounds `O`. Without one, they are text. */
interface AsTool {
  <
    E,
    R,
    A = string,
    O extends A | Completion.Completion = A,
    const Name extends string = string,
    const S extends Recovery.SideEffects = "undeclared"
  >(
    agent: Runnable<string, O, E, R>,
    options: ToolOptions<Name, S, A> & { readonly parameters?: never }
  ): Tool.Tool<Name, TextInput, A | Extract<O, Completion.Completion>, E, R, {}, S>
  <
    I,
    E,
    R,
    Params,
    A = string,
    O extends A | Completion.Completion = A,
    const Name extends string = string,
    const S extends Recovery.SideEffects = "undeclared"
  >(
    agent: Runnable<I, O, E, R>,
    options: ToolOptions<Name, S, A> & ToolInput<Params, I>
  ): Tool.Tool<Name, Params, A | Extract<O, Completion.Completion>, E, R, {}, S>
}

/**
 * A tool whose run is the agent. The agent's failures are the tool's, for its tables to recover; its events nest under the
 * call, and what it spends, its caller spends. The end of the caller's budget is no failure of the tool, that of the agent's
 * own is. Of a completion the calling model reads the summary, the reason and the result; of one without success, as an error.
 */
export const asTool: AsTool = (
  agent: Runnable<never, unknown, unknown, unknown>,
  options: ToolOptions<string, Recovery.SideEffects, unknown> & Partial<ToolInput<unknown, unknown>>
) => {
  const { name = agent.name, parameters = Text, success = Schema.String, toInput = inputOf, ...others } = options
  // what the parameters decode to is what the agent takes, by the types of those who call this
  const run = (params: unknown) => agent(toInput(params) as never)
  Object.defineProperty(run, Cost, { get: () => costOf(agent) })
  const tool = Tool.make(name, {
    ...others,
    parameters: parameters as Schema.Codec<unknown, unknown>,
    success: Schema.Union([success, Told]),
    isError: (value) => Completion.isCompletion(value) && !value.isSuccess,
    run
  })
  // its types are computed from those of the agent and the options
  return tool as never
}

const Text = Schema.Struct({
  input: Schema.String.annotate({ description: "What to do, with all that has to be known for it" })
})

const inputOf = (params: unknown): unknown => (Predicate.hasProperty(params, "input") ? params.input : params)

/** What the calling model reads of a completion. */
const textOf = ({ metadata, result, summary }: Completion.Completion): string => {
  const { reason } = metadata
  const why = Predicate.isString(reason) && reason !== summary ? [`Reason: ${reason}`] : []
  const what = result === undefined ? [] : [`Result: ${Predicate.isString(result) ? result : JSON.stringify(result)}`]
  return [summary, ...why, ...what].join("\n")
}

const Told = Schema.String.pipe(
  Schema.decodeTo(Schema.instanceOf(Completion.Completion), {
    decode: SchemaGetter.forbidden(() => "No text is a completion"),
    encode: SchemaGetter.transform(textOf)
  })
)
