/** An agent: a function from an input to an effect of an output. Its type has every failure that remains. */
import type * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"
import { dual } from "effect/Function"
import * as Predicate from "effect/Predicate"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { demand } from "../data/Demand.ts"
import * as Redaction from "../data/Redaction.ts"
import * as Budget from "../budget/Budget.ts"
import * as LlmTable from "../model/LlmTable.ts"
import * as Sharing from "../model/Sharing.ts"
import * as Recovery from "../recovery/Recovery.ts"
import type { CheckDefaults, DefaultRows } from "./tables.ts"
import { type Agent, blank, type Definition, fromDefinition, TypeId } from "./definition.ts"
import { definitionOf } from "./parts.ts"
import type { AnyPart } from "./partTypes.ts"
import type * as AgentSkills from "./skills.ts"
import type { Running } from "./skills.ts"
import { going } from "./resuming.ts"
import { lifted } from "../errors/Thrown.ts"
import type { FunctionError } from "../errors/ToolError.ts"
import type { SnapshotRefusedError } from "../errors/DoorError.ts"
import type { Resumption } from "../run/Start.ts"
import { reader } from "../run/Input.ts"
import { make as outputOf } from "../run/Output.ts"
import type * as Model from "../model/Model.ts"
import type { BudgetExceededError, InvalidOutputError, UnknownPriceError } from "../errors/RunError.ts"
import type { Siblings } from "../run/Run.ts"
import * as Skill from "../run/Skill.ts"
import * as Tool from "../tool/Tool.ts"
import type { PutAside } from "../tool/ToolDefinition.ts"
import type { May, Present } from "../recovery/TableTypes.ts"
import type { Elsewhere, PresentLimits, PriceErrorOf } from "./elsewhere.ts"

export type { Agent, Inside } from "./definition.ts"
// the declarations of programs name these types
export type { AnswerOf, Choosing, EndOf, Routed, Running } from "./skills.ts"
export type { Answers, FitsOutput, HasTools } from "./fitting.ts"
export type { CommonAnswer, GuardedTools, Named, NeedsModel } from "./types.ts"
export type {
  Adapted,
  AnyPart,
  AgentError,
  AgentInput,
  MadeOf,
  AgentOutput,
  AgentPart,
  Safe,
  AgentServices,
  UnsafeOf
} from "./partTypes.ts"

export type { Outcome, Run } from "../run/Handle.ts"
export type { Resumption } from "../run/Start.ts"
export { asTool } from "./asTool.ts"
export type { TextInput } from "./asTool.ts"
export { compactAt } from "./compactAt.ts"
export { explain } from "./explaining.ts"
export { type BudgetExceeded, onBudgetExceeded, route, toolPolicy } from "./deciding.ts"
export { type Checked, guard, guardInput, guardOutput, onGuardrail } from "./guarding.ts"
export { type Escaped, onEvent, onFailure, onToolUse, type ToolResult } from "./listeners.ts"
export { type Any, seal } from "./sealing.ts"
/** @internal */
export { isAgent } from "./sealing.ts"
export { type Partially, partials } from "./partials.ts"
export { prepareTurn } from "./preparing.ts"
export type { Turn } from "../run/Preparing.ts"
export { resilient } from "./resilient.ts"
export { onLlmError, onToolError, toolDefaults } from "./tables.ts"
export * from "./Composition.ts"

/** The options of an agent; each may be absent. */
export interface Options<
  Skills,
  ModelLayer,
  Input = undefined,
  Output = undefined,
  Tools = readonly [],
  Defaults = {},
  ModelRows = {}
> {
  /** The system prompt; none by default. */
  readonly prompt?: string
  /** The tools that it can call; none by default. */
  readonly tools?: Tools
  /**
   * Skills, instead of `tools`. With several skills, the run chooses one at its start: see `route`. The functions of `Skill` bring the code
   * for the choice, so at least one of several skills has to be made by them.
   */
  readonly skills?: Skills
  /** The first rows of `Agent.toolDefaults`, for these `tools`. A later row for the same tag replaces them. */
  readonly toolDefaults?: Defaults
  /** The first rows of `Agent.onLlmError`, or a function that replaces the rows. */
  readonly onLlmError?: ModelRows
  /** When long results are put aside (`Tool.putAside`), for tools without this option of their own and without `maxResultChars`. */
  readonly putAside?: PutAside
  /** Limits of one run; see `Budget` for the defaults. */
  readonly budget?: Budget.Limits
  /**
   * What happens to the other calls of a reply when one call ends the run. They begin nothing new: work in progress runs to its end, or is
   * interrupted.
   */
  readonly siblings?: Siblings
  /**
   * The agent's own model, also under a parent with another model. Without it, `Model` stays in `R`. The layer is built at the first run.
   * Later runs and other agents with this very layer share it. It is closed with the runtime around the run: a `ManagedRuntime`, or an
   * `Effect.provide` of a layer.
   */
  readonly model?: ModelLayer
  /**
   * How long the agent's layers stay open after a run if no runtime closes them, as under a bare `Effect.runPromise`. 5 minutes by default;
   * zero closes them after the last concurrent run.
   */
  readonly modelIdle?: Duration.Input
  /**
   * The schema of its input; a text by default. The model reads the encoded string, or the JSON of the encoded value. With
   * `Message.UserContent` it takes texts, images and files.
   */
  readonly input?: Input
  /**
   * The schema of the output; by default the output is the model's last text. If the text does not fit, the model reads what is wrong and
   * answers anew (`outputRetries`). Then the run fails with `InvalidOutputError`.
   */
  readonly output?: Output
}

type AnySchema = Schema.Codec<unknown, unknown>

/** The type of a schema, or `string` without a schema. */
type TypeOf<S> = S extends AnySchema ? S["Type"] : string

type LayerError<L> = L extends Layer.Layer<Model.Model, infer E, unknown> ? E : never
type LayerServices<L> = L extends Layer.Layer<Model.Model, unknown, infer R> ? R : Model.Model

/** What the handlers in the tables see. */
interface Seen<T extends Tool.AnyTool, Answer> {
  readonly toolDefaults?: DefaultRows<T>
  readonly onLlmError?: LlmTable.LlmRows<Answer> | LlmTable.LlmHandler<Answer>
}

/** Options with tools, with skills, or with neither. */
type OneOf<Skills, Tools> = Skills extends readonly []
  ? unknown
  : Tools extends readonly []
    ? unknown
    : { readonly tools: "an agent takes tools, or skills that have them" }

/**
 * Makes an agent: a function from its input to an effect of its output. Each execution of the effect is a run: the model answers, and calls
 * tools until it does. The output is its last text, or the value of a schema (`output`). With several skills, the run chooses one first.
 *
 * The type says what can still go wrong: the failures of tools that no row handles, those of the model, and a limit of the budget.
 * Throws a `TypeError` on tools beside skills, on tools or skills that are no list, and on several skills that `Skill` has not made.
 *
 * @example
 * ```ts
 * import { Agent, Tool } from "@kintsugi/core"
 * import { ScriptedModel } from "@kintsugi/core/testing"
 * import { Effect, Schema } from "effect"
 *
 * const add = Tool.make("add", {
 *   description: "Adds two numbers.",
 *   parameters: Schema.Struct({ a: Schema.Finite, b: Schema.Finite }),
 *   success: Schema.Finite,
 *   run: ({ a, b }) => Effect.succeed(a + b)
 * })
 * const clerk = Agent.make("clerk", { prompt: "You do sums.", tools: [add], budget: { maxTurns: 5 } })
 *
 * const program = Effect.gen(function* () {
 *   const { call, calls, make, text } = ScriptedModel
 *   const model = yield* make(calls(call("add", { a: 2, b: 2 })), text("It is 4."))
 *   return yield* Effect.provide(clerk("What is 2 + 2?"), model.layer)
 * })
 * Effect.runPromise(Effect.scoped(program)) // => "It is 4."
 * ```
 */
export const make = <
  const Name extends string,
  const Skills extends ReadonlyArray<Skill.AnySkill> = readonly [],
  ModelLayer extends Layer.Layer<Model.Model, unknown, unknown> | undefined = undefined,
  Input extends AnySchema | undefined = undefined,
  Output extends AnySchema | undefined = undefined,
  const Tools extends ReadonlyArray<Tool.AnyTool> = readonly [],
  const Defaults extends DefaultRows<Tools[number]> = {},
  const ModelRows extends LlmTable.LlmRows<TypeOf<Output>> | LlmTable.LlmHandler<TypeOf<Output>> = {},
  Given = {},
  GivenLimits = {}
>(
  name: Name,
  options: Present<Given, keyof Options<unknown, unknown>, Elsewhere> & {
    readonly budget?: PresentLimits<GivenLimits>
  } & Options<
      Skills,
      ModelLayer,
      Input,
      Output,
      Tools,
      Defaults & CheckDefaults<Tools[number], Defaults>,
      ModelRows & LlmTable.CheckRows<ModelRows>
    > &
    OneOf<Skills, Tools> &
    Seen<Tools[number], TypeOf<Output>>
): Agent<
  TypeOf<Input>,
  | AgentSkills.AnswerOf<Skills, TypeOf<Output | May<Given, "output", undefined>>>
  | AgentSkills.EndOf<AgentSkills.ToolsOf<Skills> | Tools[number]>, // one by one, so that hovers show them
  | BudgetExceededError
  | PriceErrorOf<GivenLimits>
  | LayerError<ModelLayer>
  | AgentSkills.ErrorOf<Skills>
  | AgentSkills.InvalidOf<Skills, Output>,
  AgentSkills.ServicesOf<Skills, LayerServices<ModelLayer | May<Given, "model", undefined>>>,
  AgentSkills.ToolsOf<Skills> | Tools[number] | AgentSkills.NeedsModelOf<Skills>,
  {},
  Defaults | May<Given, "toolDefaults", {}>,
  LlmTable.First<AgentSkills.ModelTableOf<Skills>, ModelRows | May<Given, "onLlmError", {}>>,
  AgentSkills.ChoiceOf<Skills, LayerServices<ModelLayer | May<Given, "model", undefined>>>,
  Name
> => {
  check(name, options)
  return fromDefinition({
    ...blank(name),
    prompt: options.prompt ?? "",
    budget: Budget.make(options.budget),
    siblings: options.siblings,
    putAside: options.putAside,
    // the type of the agent has the needs of this function
    model: options.model as Layer.Layer<Model.Model, unknown> | undefined,
    ...(options.modelIdle === undefined ? {} : { modelIdle: Sharing.idleOf(name, options.modelIdle) }),
    skills: skillsOf(name, options),
    ...(options.toolDefaults === undefined ? {} : { defaults: Recovery.rowsOf(options.toolDefaults, "a tool") }),
    ...(options.onLlmError === undefined ? {} : { onLlmError: LlmTable.rowsAfter(new Map(), options.onLlmError) }),
    ...(options.input === undefined ? {} : { input: options.input, readInput: reader(name, options.input) }),
    ...(options.output === undefined ? {} : { output: outputOf(name, options.output) })
  })
}

/** Throws a `TypeError` that names an unknown option of an agent. */
const check = (
  name: string,
  options: { readonly [Name in "input" | "model" | "output" | "prompt"]?: unknown }
): void => {
  demand("Agent.make: the name", "a text", name, Predicate.isString(name))
  demand(`Agent '${name}'`, "given options", options, Predicate.isObject(options))
  const { input, model, output, prompt = "" } = options
  demand(`Agent '${name}': prompt`, "a text", prompt, Predicate.isString(prompt))
  demand(`Agent '${name}': model`, "a Layer", model, model === undefined || Layer.isLayer(model))
  for (const [option, schema] of Object.entries({ input, output }))
    demand(`Agent '${name}': ${option}`, "a Schema of Effect", schema, schema === undefined || Schema.isSchema(schema))
}

/** The tools of an agent without skills are one skill without a name. */
const skillsOf = (
  name: string,
  {
    skills = [],
    tools = []
  }: { readonly skills?: ReadonlyArray<Skill.AnySkill>; readonly tools?: ReadonlyArray<Tool.AnyTool> }
): ReadonlyArray<Skill.AnySkill> => {
  for (const [option, list] of Object.entries({ skills, tools })) {
    if (!Array.isArray(list))
      throw new TypeError(`Agent '${name}': ${option} must be a list, as in ${option}: [one, two]`)
  }
  for (const tool of tools) demand(`Agent '${name}': each of its tools`, "a tool", tool, Tool.isTool(tool))
  for (const skill of skills) demand(`Agent '${name}': each of its skills`, "a skill", skill, Skill.isSkill(skill))
  if (tools.length === 0) return skills
  // Mutant `"Stryker was here!"` survives: only a router, which chooses among several skills, reads a description
  if (skills.length === 0) return [{ name, description: "", tools }]
  throw new TypeError(`Agent '${name}': an agent takes tools, or skills that have them`)
}

/**
 * Makes an agent of a plain function, without a loop or a model. Such an agent is the cheapest fixer, or a step of a composition. A value
 * that the function throws is a defect that names the agent, except an `EscalationError` and a `ToolExecutionError`: these are failures of
 * the agent. For a function that throws, use `Agent.fromFunction`.
 *
 * @example
 * ```ts
 * import { Agent } from "@kintsugi/core"
 * import { Effect } from "effect"
 *
 * const shout = Agent.deterministic("shout", (text: string) => Effect.succeed(text.toUpperCase()))
 * Effect.runPromise(shout("hello")) // => "HELLO"
 * ```
 */
export const deterministic = <I, O, E, R, const Name extends string = string>(
  name: Name,
  body: (input: I) => Effect.Effect<O, E, R>
): Agent<I, O, E, R, never, {}, {}, AgentSkills.NoModel, undefined, Name> =>
  // input, failures and needs are in the agent's type
  fromDefinition({ ...blank(name), body: body as NonNullable<Definition["body"]> })

/**
 * Makes an agent of a function that may throw or return a promise. What it throws is an `ExecutionError`, of category `invocation` by
 * default. As a fixer it escalates with a thrown `EscalationError`, and ends the run with a `ToolExecutionError`. The `signal` is aborted
 * when the run is stopped.
 *
 * @example
 * ```ts
 * import { Agent, Recovery } from "@kintsugi/core"
 *
 * const quotes = Agent.fromFunction("quotes", (raw: string) => JSON.stringify(JSON.parse(raw.replaceAll("'", '"'))))
 * const rows = { InvalidArgs: Recovery.ladder(Recovery.fix(quotes), Recovery.escalate()) }
 * ```
 */
export const fromFunction = <I, O, const Name extends string = string>(
  name: Name,
  f: (input: I, context: { readonly signal: AbortSignal }) => O | Promise<O>
): Agent<I, O, FunctionError, never, never, {}, {}, AgentSkills.NoModel, undefined, Name> =>
  deterministic(name, lifted(name, f))

/**
 * Sets how often the model answers anew after a misfit. An answer is a misfit if it does not fit the output schema; 1 retry is the default.
 * The model reads what is wrong with its answer. Retries of tables do not count; each further model call is a turn of the budget.
 */
export const outputRetries: {
  (retries: number): <A>(self: A & AnyPart & ReadsOutput<A>) => A
  <A>(self: A & AnyPart & ReadsOutput<A>, retries: number): A
} = dual(2, <A>(self: AnyPart, retries: number): A => {
  const definition = definitionOf(self)
  if (Number.isSafeInteger(retries) && retries >= 0) return fromDefinition({ ...definition, outputRetries: retries })
  throw new RangeError(`Agent '${definition.name}': outputRetries must be a whole number of at least 0, got ${retries}`)
})

/** Refuses an agent without an output schema: only answers that have to fit a schema can be retried. */
type ReadsOutput<A> =
  A extends Agent<never, unknown, infer E, unknown, infer _T, infer _B, infer _D, infer M, infer _C>
    ? [M, InvalidOutputError] extends [object, E]
      ? unknown
      : NoOutput
    : NoOutput

type NoOutput = "No answer of its model is refused: Agent.outputRetries is for agents with an output"

/**
 * Registers secrets, such as the key that a tool uses. As long as the agent is in memory, no error, event, span or log of this process
 * shows them, nor does a text about a failure, a denial or an approval. The result of a tool is data and stays as it is. The keys of models
 * and of MCP servers are registered already. See `Redaction.know`.
 *
 * @example
 * ```ts
 * import { Agent, Skill } from "@kintsugi/core"
 * import { Redacted } from "effect"
 *
 * const key = Redacted.make("crm-9f31-KEY-77aa")
 * const agent = Agent.make("clerk", { skills: [Skill.make("answer", { description: "Answers" })] }).pipe(
 *   Agent.secrets([key])
 * )
 * agent.name // => "clerk"
 * ```
 */
export const secrets: {
  (values: ReadonlyArray<Redacted.Redacted>): <A extends AnyPart>(self: A) => A
  <A>(self: A & AnyPart, values: ReadonlyArray<Redacted.Redacted>): A
} = dual(2, <A>(self: AnyPart, values: ReadonlyArray<Redacted.Redacted>): A => {
  const definition = definitionOf(self)
  // the invalid value may be the secret itself, so the message does not show it
  if (!areSecrets(values)) throw new TypeError(`Agent '${definition.name}': secrets must be a list of Redacted`)
  for (const secret of values) Redaction.know(secret)
  return fromDefinition({ ...definition, secrets: [...definition.secrets, ...values] })
})

const areSecrets = (given: unknown): boolean => Array.isArray(given) && given.every(Redacted.isRedacted)

/**
 * Makes an agent that goes on from a snapshot or a transcript. A snapshot is that of a suspended run; a transcript may get new input of the
 * user. A call that has a settlement there never runs again. A transcript that ends with an answer, without new input, gives that answer.
 *
 * A snapshot resumes once, by the `Snapshot.Claims` of the program: the second resumption fails with `SnapshotRefusedError`, unless it
 * says `repeat: true`. A snapshot of another agent fails in the same way, and so does an unsigned one where the program has a
 * `Snapshot.Signing`. There is no run then, and no event. New limits may have a `maxCost`, for which a price is unknown.
 */
export const resume = <
  I,
  O,
  E,
  R,
  T extends Tool.AnyTool,
  ByTool,
  Defaults,
  ModelTable extends Running,
  Choice,
  Name extends string
>(
  self: Agent<I, O, E, R, T, ByTool, Defaults, ModelTable, Choice, Name>
): Agent<
  Resumption<I>,
  O,
  E | SnapshotRefusedError | UnknownPriceError,
  R,
  T,
  ByTool,
  Defaults,
  ModelTable,
  Choice,
  Name
> => fromDefinition({ ...self[TypeId].definition, going })
