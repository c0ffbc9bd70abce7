/** An agent as a tool of another agent: its parameters, its result, and its limits. */
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as SchemaGetter from "effect/SchemaGetter"
import * as Completion from "../data/Completion.ts"
import type { KintsugiError } from "../errors/KintsugiError.ts"
import type * as Recovery from "../recovery/Recovery.ts"
import type { Present } from "../recovery/TableTypes.ts"
import * as Tool from "../tool/Tool.ts"
import { asTool as mode, type Inside, type Nest, TypeId } from "./definition.ts"
import type { EffectsOf, AgentPart, TimeoutsOf } from "./partTypes.ts"
import { resumes } from "../run/Resumed.ts"
import { Suspension } from "../run/Start.ts"
import type { Nested } from "../tool/ToolDefinition.ts"
import { Waits } from "../tool/CallSite.ts"
import type {
  CallLimit,
  MayGiveUp,
  ServicesOfVerify,
  WithoutScope,
  Storable as StorableFailures,
  NoVerify,
  OneLength,
  Limits,
  Stored as ToolStored
} from "../tool/ToolTypes.ts"
import { mayBeUnsafe } from "../tool/Unsafe.ts"
import { Cost, costOf, type Estimate } from "../recovery/Cost.ts"

/**
 * The parameters of an agent that takes text.
 *
 * @hidden
 */
export interface TextInput {
  readonly input: string
}

type Passed = "description" | "sideEffects" | "kind" | "coercion" | "maxCalls" | "maxResultChars" | "putAside"

/** The options of `Agent.asTool`. Those that `Tool.make` has mean the same here; the calling model reads `description`. */
interface ToolOptions<
  Name,
  S extends Recovery.SideEffects,
  A,
  T = undefined,
  C = undefined,
  VR = NoVerify,
  Stored = unknown
>
  extends
    Pick<Tool.Options<unknown, A, unknown, unknown, S>, Passed>,
    Limits<T, C, A, VR>,
    ToolStored<Schema.Codec<Stored, unknown>> {
  /** The agent's name by default. */
  readonly name?: Name
  /** The schema of the agent's answers, completions aside; text by default. */
  readonly success?: Schema.Codec<A, unknown>
}

/** Options of tools that are agents, by their names in other libraries. */
interface Elsewhere {
  readonly instructions: "the agent has a prompt, and the tool a description"
  readonly system: "the agent has a prompt, and the tool a description"
  readonly prompt: "the agent has a prompt, and the tool a description"
  readonly maxSteps: "the agent has budget: { maxTurns }"
  readonly maxTurns: "the agent has budget: { maxTurns }"
  readonly inputSchema: "its name here is parameters"
  readonly schema: "its name here is parameters"
  readonly input: "its name here is parameters"
  readonly outputSchema: "its name here is success"
  readonly output: "its name here is success"
  readonly execute: "the agent is what runs"
  readonly run: "the agent is what runs"
  readonly toolName: "its name here is name"
  readonly toolDescription: "its name here is description"
  readonly needsApproval: "approval is added with Tool.requireApproval"
  readonly onError: "rows are added with Tool.onError"
}

/** The names of all options. */
type Declared = keyof ToolOptions<never, never, never> | keyof ToolInput<never, never>

/** The options that make the agent's input from the parameters of the tool. */
export interface ToolInput<Params, I> {
  readonly parameters: Schema.Codec<Params, unknown>
  readonly toInput: (params: NoInfer<Params>) => NoInfer<I>
}

/** The type `A`, without inference from the place where the tool is written. */
type Answer<A> = [A] extends [infer Value] ? Value : never

/** Without a schema of failures, `Stored` is `unknown`; those of this library need none. */
type Storable<E, Stored> = unknown extends Stored ? {} : StorableFailures<Exclude<E, KintsugiError>, true>

/**
 * The types of the two schemas. `success` has to know every answer, so `A` bounds `O`; without the schema, answers are text. `failure`
 * bounds `E` in the same way. TypeScript infers nothing from the place where the tool is written, because a list of tools expects any tool.
 */
interface AsTool {
  <
    R,
    A = string,
    O extends A | Completion.Completion = A,
    Own extends string = string,
    const Name extends string = Own,
    const S extends Recovery.SideEffects = "undeclared",
    T extends Duration.Input | undefined = undefined,
    C extends Duration.Input | undefined = undefined,
    VR = NoVerify,
    Stored = unknown,
    E extends Stored | KintsugiError = Stored | KintsugiError,
    Inside = unknown,
    Given = {}
  >(
    agent: AgentPart<string, O, E, R, Inside, Own>,
    options: Present<Given, Declared, Elsewhere> &
      ToolOptions<Name, S, A, T, C, VR, Stored> &
      OneLength<Given> & { readonly parameters?: never }
  ): Tool.Tool<
    Name,
    TextInput,
    Answer<A> | Extract<O, Completion.Completion>,
    E | TimeoutsOf<Inside, S, T, VR>,
    WithoutScope<R> | ServicesOfVerify<VR>,
    CallLimit<C> & Storable<E, Stored> & MayGiveUp<E>,
    EffectsOf<Inside, NoInfer<S>>
  >
  <
    I,
    R,
    Params,
    A = string,
    O extends A | Completion.Completion = A,
    Own extends string = string,
    const Name extends string = Own,
    const S extends Recovery.SideEffects = "undeclared",
    T extends Duration.Input | undefined = undefined,
    C extends Duration.Input | undefined = undefined,
    VR = NoVerify,
    Stored = unknown,
    E extends Stored | KintsugiError = Stored | KintsugiError,
    Inside = unknown,
    Given = {}
  >(
    agent: AgentPart<I, O, E, R, Inside, Own>,
    options: Present<Given, Declared, Elsewhere> &
      ToolOptions<Name, S, A, T, C, VR, Stored> &
      OneLength<Given> &
      ToolInput<Params, I>
  ): Tool.Tool<
    Name,
    Params,
    Answer<A> | Extract<O, Completion.Completion>,
    E | TimeoutsOf<Inside, S, T, VR>,
    WithoutScope<R> | ServicesOfVerify<VR>,
    CallLimit<C> & Storable<E, Stored> & MayGiveUp<E>,
    EffectsOf<Inside, NoInfer<S>>
  >
}

/**
 * Makes a tool of an agent. A call of the tool runs the agent as a child of the calling run. The failures of the agent are those of the
 * tool, for its tables. The events nest under the call, and the calling run pays. The tool is `unsafe` if a tool of the agent is, unless
 * `sideEffects` says otherwise. A limit of the agent's own budget is a failure of the tool; a limit of the caller ends the caller. The
 * calling model reads the summary, the reason and the result of a completion; a completion without success is an error to it.
 */
export const asTool: AsTool = (
  agent: AgentPart<never, unknown, unknown, unknown>,
  options: AnyOptions & Partial<ToolInput<unknown, unknown>>
) => {
  const { name = agent.name, parameters = Text, success = Schema.String, toInput = inputOf, ...others } = options
  // by the types of the callers, the decoded parameters are an input of the agent; the agent's type has its needs
  const { nest, part } = agent[TypeId] as Inside<never, unknown, unknown>
  const run = (params: unknown) => part.run(toInput(params), undefined, mode)
  Object.defineProperty(run, Cost, { value: (estimate: Estimate) => costOf(agent, estimate) })
  const tool = Tool.make(name, {
    ...(mayBeUnsafe(agent) ? { sideEffects: "unsafe" } : {}),
    // `Tool` refuses a tool with both options of length
    ...(others as Omit<typeof others, "putAside">),
    parameters: parameters as Schema.Codec<unknown, unknown>,
    success: Schema.Union([success, CompletionText]),
    isError: (value) => Completion.isCompletion(value) && !value.isSuccess,
    run
  })
  const nested = nest && nestedIn(nest, toInput)
  // its types are computed from those of the agent and the options
  return (nested === undefined ? tool : Tool.fromDefinition({ ...tool.definition, nested })) as never
}

/**
 * The run of an agent inside a tool call. If the agent is suspended, the call waits with its snapshot. An agent that resumes has its input
 * already, so the parameters do not count.
 */
const nestedIn = ({ name, run, tools }: Nest, toInput: (params: unknown) => unknown): Nested => ({
  name,
  tools,
  run: (params, nesting) => {
    const running = Effect.suspend(() =>
      run(nesting.resumption === undefined ? toInput(params) : undefined, nesting, resumes)
    )
    // the needs of an agent are in the type of its tool
    return Effect.flatMap(running, (value) =>
      value instanceof Suspension
        ? Effect.fail(new Waits({ type: "agent", snapshot: value.snapshot }))
        : Effect.succeed(value)
    ) as Effect.Effect<unknown, unknown>
  }
})

type Limit = Duration.Input | undefined

type AnyOptions = ToolOptions<string, Recovery.SideEffects, unknown, Limit, Limit, unknown>

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

const CompletionText = Schema.String.pipe(
  Schema.decodeTo(Schema.instanceOf(Completion.Completion), {
    // Mutant `""` survives: wording only. A completion without text still fails, and no rule promises the words
    decode: SchemaGetter.forbidden(() => "No text is a completion"),
    encode: SchemaGetter.transform(textOf)
  })
)
