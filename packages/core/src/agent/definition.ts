/** What an agent is made of: its type, its definition, and the function that a definition becomes. */
import * as Effect from "effect/Effect"
import * as Inspectable from "effect/Inspectable"
import type * as Layer from "effect/Layer"
import { type Pipeable, Prototype } from "effect/Pipeable"
import type * as Redacted from "effect/Redacted"
import type * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import type * as Stream from "effect/Stream"
import type * as AgentEvent from "../event/AgentEvent.ts"
import * as Budget from "../budget/Budget.ts"
import * as LlmTable from "../model/LlmTable.ts"
import type * as Model from "../model/Model.ts"
import * as Sharing from "../model/Sharing.ts"
import type { Prepared } from "../run/Preparing.ts"
import * as Reader from "../run/Reader.ts"
import * as Run from "../run/Run.ts"
import * as Skill from "../run/Skill.ts"
import type * as Tool from "../tool/Tool.ts"
import { type ChoiceError, type ChoiceServices, type NoModel, type Skilled, toolsOf, workOf } from "./skills.ts"
import type { CallError, CallServices, ModelError, ModelServices, Deciders } from "./types.ts"
import type { Composed, Part, Runner } from "./composition/run.ts"
import { type Means, Reads } from "../recovery/FixerInput.ts"
import * as Handle from "../run/Handle.ts"
import type { Resumes } from "../run/Resumed.ts"
import type { Nesting, Suspendable } from "../tool/ToolDefinition.ts"
import * as Frame from "../run/Frame.ts"
import * as Message from "../data/Message.ts"
import * as Thrown from "../errors/Thrown.ts"
import { once } from "../data/Once.ts"
import { areUnsafe, MayBeUnsafe, mayBeUnsafe as startsUnsafe } from "../tool/Unsafe.ts"
import { Cost, type Estimated, free } from "../recovery/Cost.ts"

export const TypeId: unique symbol = Symbol.for("~@kintsugi/core/Agent")

/**
 * An agent: a function from its input to an effect of its output. `E` and `R` are the failures and the needs of the agent itself. Calling
 * the agent adds those of its tools `T` and of its model, and then removes what its tables handle, so the order of a pipe changes nothing.
 * `ModelTable` says why an agent without model calls has none (`NoModel`, `OnlyFunctions`, `HasUnsafe`). `Choice` is `undefined` for an
 * agent with fewer than two skills. `Name` is the name of the tool that `Agent.asTool` makes of the agent.
 */
export interface Agent<
  in I,
  out O,
  out E,
  out R,
  out T extends Tool.AnyTool = never,
  in out ByTool = {},
  in out Defaults = {},
  ModelTable = NoModel,
  Choice = undefined,
  out Name extends string = string
> extends Pipeable {
  // the first member: if it does not fit, the compiler compares no further
  readonly [TypeId]: Inside<T, ModelTable, Choice>
  readonly name: Name
  /** Runs the agent. Its models answer unstreamed. */
  (
    input: I
  ): Effect.Effect<
    O,
    E | ModelError<ModelTable> | CallError<T, ByTool, Defaults> | ChoiceError<Choice>,
    | R
    | ModelServices<ModelTable>
    | CallServices<T, ByTool, Defaults>
    | ChoiceServices<Choice>
    | Deciders<T, ByTool, Defaults>
  >
  /** Runs the agent as a stream of events, with text while the model writes it. The stream fails as the run fails. */
  readonly stream: (
    input: I
  ) => Stream.Stream<
    AgentEvent.AgentEvent,
    E | ModelError<ModelTable> | CallError<T, ByTool, Defaults> | ChoiceError<Choice>,
    | R
    | ModelServices<ModelTable>
    | CallServices<T, ByTool, Defaults>
    | ChoiceServices<Choice>
    | Deciders<T, ByTool, Defaults>
  >
  /**
   * Starts a run in the current scope and returns its handle. If a person has to decide, the run is suspended instead of waiting:
   * `Agent.resume` goes on from its snapshot.
   */
  readonly start: (
    input: I
  ) => Effect.Effect<
    Handle.Run<O, E | ModelError<ModelTable> | CallError<T, ByTool, Defaults> | ChoiceError<Choice>>,
    never,
    R | ModelServices<ModelTable> | CallServices<T, ByTool, Defaults> | ChoiceServices<Choice> | Scope.Scope
  >
}

/**
 * The marks of an agent in its type. A mapped type makes the compiler compare agents member by member: an agent without a table may get a
 * wider mark, a table may not change.
 */
type RowsIn<Table> = { readonly [K in keyof Table]-?: Table[K] }

/**
 * What an agent has besides its function: the types of its parts, and its definition.
 *
 * @hidden
 */
export interface Inside<out T, ModelTable, out Choice> {
  readonly _T: () => T
  readonly _ModelTable: () => ModelTable
  /** Keeps the tables of an agent in its type: an assignment cannot drop a row. */
  readonly _Rows: (rows: RowsIn<Extract<ModelTable, object>>) => void
  readonly _Choice: () => Choice
  readonly definition: Definition
  readonly part: Part
  readonly nest?: Nest | undefined
}

/** What an agent is at run time. */
export interface Definition
  extends Skilled, Omit<Run.Plan, "agent" | "work" | "onPartial" | "outputRetries" | "prepare"> {
  /** The schema of the input, for programs that ask a person for it; absent if the input is a text. */
  readonly input?: Schema.Codec<unknown, unknown>
  /** How often the model answers anew after a misfit: once by default, twice for a `resilient` agent. */
  readonly outputRetries: number | undefined
  /** What happens to a streamed reply that breaks off. By default it fails, unless the agent is `resilient`. */
  readonly onPartial: Run.Plan["onPartial"]
  readonly budget: Budget.Budget
  /** Makes the run id, see `Agent.withRunId`. For a run that goes on, the input is a resumption. */
  readonly identified?: (run: Runner, goesOn: boolean) => Runner
  /** For an agent that `Agent.resume` made: how it goes on. */
  readonly going?: (plan: Run.Plan, around: Run.Around | undefined, agent: Suspendable) => Runner
  /** The registered secrets. They live as long as the agent: see `Agent.secrets`. */
  readonly secrets: ReadonlyArray<Redacted.Redacted>
  /** Wrappers around a whole run; the first one is the innermost. */
  readonly layers: ReadonlyArray<Layer.Layer<unknown, unknown>>
  /** The functions of `Agent.prepareTurn`. */
  readonly prepare?: Prepared
  /** Decides about limits, see `Agent.onBudgetExceeded`. It surrounds the loop. */
  readonly around?: Run.Around
  /** The plain function of an agent without a model; it replaces the loop. */
  readonly body?: (input: unknown) => Effect.Effect<unknown, unknown>
  /** The composition of an agent that is made of agents; it replaces the loop. */
  readonly composed?: Composed
}

/** The definition of an agent with only a name. */
export const blank = (name: string): Definition => ({
  name,
  // Mutant `"Stryker was here!"` survives: `Agent.make` replaces the text. What else starts from the blank definition
  // is a function or a composition, which has no prompt
  prompt: "",
  budget: Budget.make(),
  model: undefined,
  modelIdle: Sharing.defaultIdle,
  skills: [],
  byTool: new Map(),
  defaults: new Map(),
  onLlmError: new Map(),
  onPartial: undefined,
  transport: undefined,
  siblings: undefined,
  listeners: [],
  onExceeded: undefined,
  readInput: plain,
  output: undefined,
  outputRetries: undefined,
  secrets: [],
  layers: []
})

/** Without an input schema, the input is the text. */
const plain: Run.ReadInput = (input) => {
  const text = String(input)
  return { message: Message.user(text), text }
}

// only the type of an agent has its type parameters
export function fromDefinition<A>(definition: Definition): A {
  const { body, composed, name, skills } = definition
  const made = runner(definition)
  const run = within(definition, definition.identified?.(made, definition.going !== undefined) ?? made)
  const cost = estimated(definition)
  const isUnsafe = () => mayBeUnsafe(definition)
  const isPlain = body !== undefined || (skills.length > 0 && skills.every(Skill.isDeterministic))
  const reads: Reads = composed?.reads ?? (isPlain ? "arguments" : meansOf(definition))
  const part: Part = { name, run, cost, mayBeUnsafe: isUnsafe, reads }
  const agent = (input: unknown) => run(input, undefined, whole)
  const stream = (input: unknown) => Reader.reading((sink) => run(input, sink, streamed))
  const start = (input: unknown) => Handle.start((sink, mode) => run(input, sink, mode))
  Object.defineProperties(agent, { name: { value: name }, [Cost]: { value: cost }, [MayBeUnsafe]: { get: isUnsafe } })
  const inside = { definition, part, nest: nesting(definition) }
  return Object.assign(agent, { ...Proto, stream, start, [TypeId]: inside, [Reads]: reads }) as A
}

/** What a model-driven fixer can do about a report, by its tools: answer, escalate, or both. */
const meansOf = ({ skills }: Definition): Means => {
  const tools = skills.flatMap(toolsOf)
  if (!tools.some(({ isBuiltIn, name }) => isBuiltIn && name !== "complete")) return "answer"
  return tools.every(({ isBuiltIn }) => isBuiltIn) ? "end" : "answer-or-end"
}

const Proto = {
  ...Inspectable.BaseProto,
  ...Prototype,
  toJSON(this: { readonly [TypeId]: { readonly definition: Definition } }) {
    const { composed, name, skills } = this[TypeId].definition
    return composed === undefined
      ? { _id: "Agent", name, skills: skills.map(shown) }
      : { _id: "Agent", name, parts: composed.parts.map((part) => part.name) }
  }
}

const shown = (skill: Skill.AnySkill) => ({ name: skill.name, tools: toolsOf(skill).map(({ name }) => name) })

/** A sub-agent that can be suspended with its parent, within the snapshot of the parent. */
export interface Nest extends Suspendable {
  readonly run: (input: unknown, nesting: Nesting, by: Resumes) => Effect.Effect<unknown, unknown, Model.Model>
}

/** The run of an agent, with the layers that it provides. */
const within = (definition: Definition, run: Runner): Runner =>
  definition.layers.length === 0
    ? run
    : (input, sink, mode) => {
        const running = provided(definition, run(input, sink, mode))
        // no interruption reaches the fiber of a handle until its run begins; building a layer may take long, so it can be interrupted
        return mode.isForked === true ? Effect.interruptible(running) : running
      }

const provided = ({ layers, modelIdle }: Definition, running: ReturnType<Runner>): ReturnType<Runner> =>
  layers.reduce<ReturnType<Runner>>(
    (inner, layer) => Sharing.within(layer, modelIdle, (services) => Effect.provideContext(inner, services)),
    running
  )

/** `undefined` for agents that cannot be suspended: functions, compositions, and agents that go on from a snapshot themselves. */
const nesting = (definition: Definition): Nest | undefined => {
  const { body, composed, going, identified } = definition
  if (body !== undefined || composed !== undefined || going !== undefined) return undefined
  const plan = once(() => planOf(definition))
  return {
    ...suspendable(definition),
    run: (input, nesting, by) => {
      const { isSuspendable, resumption } = nesting
      const start: Run.Start =
        resumption === undefined ? { kind: "input", input } : { kind: "resumption", by, ...resumption }
      const run: Runner = (_, sink, mode) => Run.run(plan(), start, sink, mode, aroundOf(definition))
      const named = resumption === undefined ? (identified?.(run, false) ?? run) : run
      return provided(definition, named(input, undefined, { isStreamed: false, isSuspendable, nesting, branch }))
    }
  }
}

const suspendable = ({ name, skills }: Definition): Suspendable => ({ name, tools: () => skills.flatMap(toolsOf) })

/** All tools that a run may use: the agent's own, those of its fixers and compacting agents, and those of all parts of a composition. */
const mayBeUnsafe = ({ ahead, byTool, composed, defaults, onLlmError, router, skills }: Definition): boolean => {
  if (composed !== undefined) return composed.parts.some((part) => part.mayBeUnsafe())
  return (
    skills.flatMap(toolsOf).some(({ rows, sideEffects }) => sideEffects === "unsafe" || areUnsafe(rows)) ||
    startsUnsafe(ahead?.compaction.agent) ||
    areUnsafe(defaults, onLlmError, ...byTool.values(), ...(router === undefined ? [] : [router.rows]))
  )
}

const estimated =
  (definition: Definition): Estimated =>
  (estimate) => {
    if (definition.body !== undefined) return free
    if (definition.composed === undefined) return estimate(planOf(definition))
    const { budget, cost } = definition.composed
    const { modelCalls, ...each } = cost(estimate)
    // the parts share the turns of the composition
    const turns = each.perTurn === 0 ? 0 : (budget?.maxTurns ?? Infinity) * each.perTurn
    return { ...each, modelCalls: Math.min(modelCalls, turns) }
  }

const branch = Frame.ofAgent

/** How the run of a sub-agent is watched if it cannot be suspended. */
export const asTool: Frame.Mode = { isStreamed: false, isSuspendable: false, branch }

const whole: Frame.Mode = { isStreamed: false, isSuspendable: false }
const streamed: Frame.Mode = { isStreamed: true, isSuspendable: false }

const runner = (definition: Definition): Runner => {
  const { body, composed, going, listeners, name } = definition
  if (composed !== undefined) return composed.runner(name, composed, listeners)
  if (body !== undefined) {
    const state: Frame.State = { turn: 0, transcript: () => [], said: () => [], unfinished: () => undefined }
    return (input, sink, mode) =>
      Frame.within({ agent: name, input, sink, mode, state, listeners }, (run) => {
        mode.started?.({ state, run })
        return Thrown.effect(() => body(input), "The function of agent", name)
      })
  }
  const plan = planOf(definition)
  const around = aroundOf(definition)
  return going === undefined
    ? (input, sink, mode) => Run.run(plan, { kind: "input", input }, sink, mode, around)
    : going(plan, around, suspendable(definition))
}

/** Prepares each turn, also the last turn at a limit. */
const aroundOf = ({ around, prepare }: Definition): Run.Around | undefined =>
  prepare === undefined
    ? around
    : { ...around, loop: (loop) => prepare.around(around === undefined ? loop : around.loop(loop)) }

export const planOf = (definition: Definition): Run.Plan => {
  const { budget, name, onLlmError, onPartial, outputRetries, resilient, transport } = definition
  const plan = {
    ...definition,
    agent: name,
    budget: Budget.patient(budget, patienceOf(definition)),
    outputRetries: outputRetries ?? resilient?.outputRetries ?? 1,
    onPartial: onPartial ?? (resilient === undefined ? undefined : "restart")
  }
  const work = workOf(definition)
  if (resilient === undefined) return { ...plan, work }
  return {
    ...plan,
    work,
    onLlmError: LlmTable.behind(onLlmError, resilient.model),
    transport: transport ?? "off"
  }
}

/** How many failed calls in a row the tables accept, if one of them sets a number. */
const patienceOf = ({ byTool, defaults, skills }: Definition): number | undefined => {
  const tables = [defaults, ...byTool.values(), ...skills.flatMap(toolsOf).map(({ rows }) => rows)]
  const all = tables.flatMap((rows) => Array.from(rows.values()).flatMap(({ patience }) => patience ?? []))
  return all.length === 0 ? undefined : Math.max(...all)
}
