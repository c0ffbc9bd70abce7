/**
 * Implements `Agent.prepareTurn`: choices for a turn before its first attempt. Only this combinator imports this file, so other programs do
 * not contain it.
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as Message from "../data/Message.ts"
import { once } from "../data/Once.ts"
import * as Returned from "../data/Returned.ts"
import { TurnChoice } from "../data/TurnChoice.ts"
import type * as Usage from "../data/Usage.ts"
import * as RunContext from "../event/RunContext.ts"
import * as Interception from "../model/Interception.ts"
import type * as Model from "../model/Model.ts"
import { windowOf } from "../model/ModelCall.ts"
import * as Toolset from "../tool/Toolset.ts"
import { built } from "./beginning.ts"
import * as RunBudget from "./budget.ts"
import type { Loop, Looping, Preparing } from "./running.ts"

/**
 * A turn that is about to begin, for `Agent.prepareTurn`. `messages` is lent to the function: a function that stores it has to copy it.
 */
export interface Turn<out Name extends string = string> {
  /** The number of the turn in its run, from 1. */
  readonly turn: number
  /** Whether this is the last turn of a run that has reached a limit: no tool can be called in it. */
  readonly answerTurn: boolean
  /** What the model reads of the conversation. */
  readonly messages: Message.Transcript
  /** The tools that are left, by their names. */
  readonly tools: ReadonlyArray<Name>
  /** The system prompt; empty for none. */
  readonly prompt: string
  /** What the run and its descendants have spent so far. */
  readonly usage: Usage.Usage
  /** The choices of the functions before this one. */
  readonly chosen: Chosen<Name, unknown, unknown>
}

/** The choices of a function for one turn; an absent field stays as it is. */
export type Chosen<Name extends string, E, R> = {
  readonly model?: Layer.Layer<Model.Model, E, R> | undefined
  readonly tools?: ReadonlyArray<Name> | undefined
  readonly toolChoice?: "auto" | "none" | "required" | { readonly tool: Name } | undefined
  readonly prompt?: string | undefined
  readonly options?: Model.Request["options"] | undefined
}

type AnyChosen = Chosen<string, unknown, unknown>

/** A function of an agent. Its needs are in the type of the agent. */
export type Prepare = (turn: Turn) => Effect.Effect<AnyChosen, unknown>

/** The functions of an agent, in their order. */
export interface Prepared {
  readonly functions: ReadonlyArray<Prepare>
  /** Wraps the loop: each turn is prepared. */
  readonly around: (loop: Loop) => Loop
}

/** Runs the functions in order; each one sees the choices of the earlier ones. */
export const preparing = (functions: ReadonlyArray<Prepare>): Prepared => ({
  functions,
  around: (loop) => (running) => loop({ ...running, prepare: new PreparingBy(functions) })
})

/** Prepares the turns of one run. */
class PreparingBy implements Preparing {
  readonly #functions: ReadonlyArray<Prepare>
  model: Model.Service | undefined

  constructor(functions: ReadonlyArray<Prepare>) {
    this.#functions = functions
  }

  ask(running: Looping, usual: Model.Request, answerTurn: boolean): Effect.Effect<Model.Request, unknown> {
    return Effect.map(recorded(running, this.#functions, usual, answerTurn), ({ choice, model }) => {
      running.state.prepared = { choice, model }
      return narrowed(running, usual, choice)
    })
  }

  through<A>(
    running: Looping,
    request: Model.Request,
    call: (running: Looping, request: Model.Request) => Effect.Effect<A, unknown>
  ): Effect.Effect<A, unknown> {
    const { plan, run, state } = running
    // a guardrail has blocked the words of the user before the turn began
    if (state.prepared === undefined) return call(running, request)
    const { choice, model: layer } = state.prepared
    const sent = prompted(choice.prompt)
    const calling = (model: Model.Service, chosen: TurnChoice) =>
      RunContext.emitThen(
        run,
        () => ({ type: "turn-prepared", ...chosen }),
        () => call({ ...running, model, sent }, fitted(request))
      )
    this.model = undefined
    if (layer === undefined) return calling(running.model, choice)
    // its failures and needs are in the type of the agent
    return built(layer as Layer.Layer<Model.Model, unknown>, plan.modelIdle, (model) => {
      const contextWindow = windowOf(model)
      const chosen = { ...choice, model: model.name, ...(contextWindow === undefined ? {} : { contextWindow }) }
      state.prepared = { choice: chosen }
      this.model = model
      return RunBudget.priced(run, model, () => calling(model, chosen))
    })
  }
}

/** A choice as a durable run records it: the layer of its model is no data. */
// Mutant `{}` survives: only this module writes what it reads
const record = once(() => Schema.Struct({ choice: TurnChoice, hasModel: Schema.Boolean }))

type Found = { readonly choice: TurnChoice; readonly model: AnyChosen["model"] }

const recorded = (
  running: Looping,
  functions: ReadonlyArray<Prepare>,
  usual: Model.Request,
  answerTurn: boolean
): Effect.Effect<Found, unknown> => {
  let found: Found | undefined
  const step = Interception.step(
    () => ({ type: "choice", about: "turn", schema: record() }),
    () =>
      Effect.map(chosenBy(running, functions, usual, answerTurn), (now) => {
        found = now
        return { choice: now.choice, hasModel: now.model !== undefined }
      })
  )
  return Effect.flatMap(step, ({ choice, hasModel }) => {
    const model = found?.model
    // a replay has run the functions again for the layer of the model, which is no data
    return hasModel && model === undefined ? Effect.die(lost(running)) : Effect.succeed({ choice, model })
  })
}

const lost = ({ run: { agent } }: Looping): TypeError =>
  new TypeError(
    `Agent '${agent}': prepareTurn has chosen a model for this turn before, and chooses none in a replay of the run`
  )

const chosenBy = Effect.fnUntraced(function* (
  running: Looping,
  functions: ReadonlyArray<Prepare>,
  usual: Model.Request,
  answerTurn: boolean
): Effect.fn.Return<Found, unknown> {
  const { plan, run, state } = running
  let chosen: AnyChosen = {}
  for (const prepare of functions) {
    const { prompt = promptOf(usual) } = chosen
    const { tools } = narrowed(running, usual, choiceOf(chosen))
    const given = Effect.suspend(() =>
      Returned.valueOf(
        prepare({
          turn: state.turn,
          answerTurn,
          messages: usual.messages,
          tools: tools.map(({ name }) => name),
          prompt,
          usage: run.ledger.usage,
          chosen
        }),
        aChoice,
        "The function of Agent.prepareTurn of agent",
        plan.agent
      )
    )
    const next: AnyChosen = yield* given
    check(running, next)
    chosen = after(plan.agent, chosen, next)
  }
  return { choice: choiceOf(chosen), model: chosen.model }
})

/** Combines two choices. A later function may only narrow: no tool comes back, and a demanded call stays demanded. */
const after = (agent: string, before: AnyChosen, next: AnyChosen): AnyChosen => {
  const { options } = next
  const tools = both(before.tools, next.tools, (one, other) => one.filter((name) => other.includes(name)))
  const toolChoice = both(before.toolChoice, next.toolChoice, (one, other) => narrower(agent, one, other))
  const wanted = Predicate.isObject(toolChoice) ? toolChoice.tool : undefined
  if (wanted !== undefined && tools?.includes(wanted) === false) {
    throw new TypeError(`Agent '${agent}': prepareTurn demands a call of '${wanted}', which it leaves out of the tools`)
  }
  if (toolChoice === "required" && tools?.length === 0) {
    throw new TypeError(`Agent '${agent}': prepareTurn demands a call, and leaves out all tools`)
  }
  return {
    model: next.model ?? before.model,
    prompt: next.prompt ?? before.prompt,
    tools,
    toolChoice,
    options: options === undefined ? before.options : { ...before.options, ...options }
  }
}

const both = <A>(one: A | undefined, other: A | undefined, join: (one: A, other: A) => A): A | undefined =>
  one === undefined ? other : other === undefined ? one : join(one, other)

type ToolChoice = NonNullable<AnyChosen["toolChoice"]>

/** The tool choice that both functions admit. `none` wins over a demanded call, as it does when tools are off. */
const narrower = (agent: string, one: ToolChoice, other: ToolChoice): ToolChoice => {
  const either = (choice: ToolChoice) => one === choice || other === choice
  if (either("none")) return "none"
  if (!Predicate.isObject(one)) return other === "auto" ? one : other
  if (!Predicate.isObject(other) || other.tool === one.tool) return one
  throw new TypeError(`Agent '${agent}': prepareTurn demands a call of '${other.tool}' after one of '${one.tool}'`)
}

const choiceOf = ({ options, prompt, toolChoice, tools }: AnyChosen): TurnChoice => ({
  ...(tools === undefined ? {} : { tools }),
  ...(toolChoice === undefined ? {} : { toolChoice }),
  ...(prompt === undefined ? {} : { prompt }),
  ...(options === undefined ? {} : { options })
})

const aChoice: Returned.Kind = {
  name: "what it chooses for a turn",
  is: (value) =>
    Predicate.isObject(value) &&
    Object.entries(value).every(([key, chosen]) => chosen === undefined || kinds[key]?.(chosen) === true)
}

const kinds: Readonly<Record<string, ((chosen: unknown) => boolean) | undefined>> = {
  model: Layer.isLayer,
  tools: (tools) => Array.isArray(tools) && tools.every(Predicate.isString),
  toolChoice: (choice) =>
    choice === "auto" ||
    choice === "none" ||
    choice === "required" ||
    (Predicate.hasProperty(choice, "tool") && Predicate.isString(choice.tool)),
  prompt: Predicate.isString,
  options: Predicate.isObject
}

/** Throws a `TypeError` for a name that is no tool of the agent. Tools of other skills are ignored. */
const check = ({ plan, toolset }: Looping, { toolChoice, tools = [] }: AnyChosen): void => {
  const named = Predicate.isObject(toolChoice) ? [...tools, toolChoice.tool] : tools
  if (named.every((name) => toolset.entries.has(name))) return
  const { work } = plan
  const toolsets = work.kind === "choice" ? Array.from(work.works.values()) : [work]
  const own = new Set(toolsets.flatMap((one) => (one.kind === "loop" ? [...one.toolset.entries.keys()] : [])))
  const wrong = named.find((name) => !own.has(name))
  if (wrong === undefined) return
  const available = own.size === 0 ? "it has no tools" : `its tools are: ${[...own].join(", ")}`
  throw new TypeError(
    `Agent '${plan.agent}': prepareTurn names '${wrong}', which is no tool of the agent; ${available}`
  )
}

const narrowed = (
  { toolset }: Looping,
  usual: Model.Request,
  { options, toolChoice, tools }: TurnChoice
): Model.Request => {
  const left = tools === undefined ? usual.tools : usual.tools.filter(({ name }) => isLeft(toolset, tools, name))
  const demanded = Predicate.isObject(toolChoice) ? toolset.entries.get(toolChoice.tool)?.tool : undefined
  return {
    ...usual,
    // providers refuse a demand for a tool that the request does not list
    tools: demanded?.onDemand === undefined ? left : [...left, demanded.spec()],
    ...(toolChoice === undefined ? {} : { toolChoice }),
    ...(options === undefined ? {} : { options })
  }
}

const isLeft = ({ entries }: Toolset.Toolset, offered: ReadonlyArray<string>, name: string): boolean => {
  const entry = entries.get(name)
  return entry !== undefined && Toolset.isOffered({ offered }, entry.tool)
}

/** Drops a demand for a tool that is not in the request, because providers refuse it. */
const fitted = (request: Model.Request): Model.Request => {
  const { toolChoice, tools } = request
  const isMissing = Predicate.isObject(toolChoice)
    ? !tools.some(({ name }) => name === toolChoice.tool)
    : toolChoice === "required" && tools.length === 0
  return isMissing ? { ...request, toolChoice: "auto" } : request
}

const promptOf = ({ messages: [head] }: Model.Request): string => (head?.role === "system" ? head.text : "")

/** The request with another prompt. What shortens the conversation still has the transcript's own. */
const prompted = (prompt: string | undefined): Looping["sent"] =>
  prompt === undefined
    ? undefined
    : (request) => {
        const others = request.messages.filter(({ role }) => role !== "system")
        return { ...request, messages: prompt === "" ? others : [Message.system(prompt), ...others] }
      }
