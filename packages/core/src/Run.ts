/** One invocation of an agent: ask, settle the calls, ask again, until the model answers or a limit is reached. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Budget from "./Budget.ts"
import type * as FailureHistory from "./FailureHistory.ts"
import { Exceeded, type OnExceeded } from "./internal/budgetMeter.ts"
import * as RunBudget from "./internal/runBudget.ts"
import * as Frame from "./internal/runFrame.ts"
import { RunState } from "./internal/runState.ts"
import { trailOf } from "./internal/trail.ts"
import * as Message from "./Message.ts"
import * as Model from "./Model.ts"
import type * as Recovery from "./Recovery.ts"
import * as Router from "./Router.ts"
import * as RunContext from "./RunContext.ts"
import type * as Toolset from "./Toolset.ts"
import * as Turn from "./Turn.ts"

/** All that the loop has to know of an agent. */
export interface Plan {
  readonly agent: string
  readonly work: Work
  readonly budget: Budget.Budget
  /** The agent's own model. It is for this run's loop alone: what the tools need, they get from outside. */
  readonly model: Layer.Layer<Model.Model, unknown> | undefined
  readonly onLlmError: Recovery.Rows
  readonly onPartial: Turn.OnPartial
  readonly siblings: Turn.Siblings
  readonly listeners: ReadonlyArray<Frame.Listener>
  /** What is done about a limit of the budget that was reached; it ends the run where nobody decides. */
  readonly onExceeded: OnExceeded | undefined
}

/** What a run has to do: the work of its only skill, or that of the one that it chooses. */
export type Work = Skilled | Choice

/** The work of one skill. */
export type Skilled = Loop | Plain

/** The model works, with these tools. */
export interface Loop {
  readonly kind: "loop"
  readonly prompt: string
  readonly toolset: Toolset.Toolset
}

/** A function works, and no model is asked. */
export interface Plain {
  readonly kind: "function"
  readonly prompt: string
  readonly run: (input: string) => Effect.Effect<unknown, unknown>
}

/** First a skill has to be chosen. */
export interface Choice {
  readonly kind: "choice"
  readonly prompt: string
  readonly router: Router.Definition
  readonly candidates: ReadonlyArray<Router.Candidate>
  /** By the names of the candidates. */
  readonly works: ReadonlyMap<string, Skilled>
}

/** Runs a plan. With a sink, replies are asked for in parts and every event goes there. */
export const run = (
  plan: Plan,
  input: string,
  sink: Frame.Sink | undefined
): Effect.Effect<unknown, unknown, Model.Model> =>
  Effect.suspend(() => {
    const { work } = plan
    const state = new RunState(plan.agent, plan.budget, opening(work.prompt, input))
    return Frame.within({ ...plan, input, sink, state }, (run) => {
      const running: Running = { plan, input, state, run, isStreamed: sink !== undefined }
      const working =
        work.kind === "loop"
          ? withModel(plan, (model) => RunBudget.inTime(loop(running, work, model), run))
          : RunBudget.inTime(work.kind === "choice" ? choosing(running, work) : applying(running, work), run)
      return Effect.mapError(working, (error) => state.leaving(error, run))
    })
  })

/** A run at work. */
interface Running {
  readonly plan: Plan
  readonly input: string
  readonly state: RunState
  readonly run: RunContext.RunContext
  readonly isStreamed: boolean
}

const opening = (prompt: string, input: string): Array<Message.Message> =>
  prompt === "" ? [Message.user(input)] : [Message.system(prompt), Message.user(input)]

const withModel = <A, E>(
  { model }: Plan,
  use: (model: Model.Service) => Effect.Effect<A, E>
): Effect.Effect<A, unknown, Model.Model> =>
  model === undefined
    ? Effect.flatMap(Effect.service(Model.Model), use)
    : Effect.scopedWith((scope) =>
        Effect.flatMap(Layer.buildWithScope(model, scope), (built) => use(Context.get(built, Model.Model)))
      )

/** A rule is asked first, and needs no model; where it names no skill, the model does. */
const choosing = Effect.fnUntraced(function* (
  running: Running,
  choice: Choice
): Effect.fn.Return<unknown, unknown, Model.Model> {
  const { input, plan, run } = running
  if (run.depth > run.deepest) return yield* Effect.fail(tooDeep(running))
  const place: Router.Place = { input, candidates: choice.candidates, run }
  const ruled = yield* Router.rule(choice.router, place)
  if (ruled === undefined) return yield* withModel(plan, (model) => asking(running, choice, place, model))
  const work = yield* taking(running, choice, ruled)
  return yield* work.kind === "loop" ? withModel(plan, (model) => loop(running, work, model)) : applying(running, work)
})

/** The model chooses: that is a turn of the run. */
const asking = Effect.fnUntraced(function* (
  running: Running,
  choice: Choice,
  place: Router.Place,
  model: Model.Service
): Effect.fn.Return<unknown, unknown> {
  const { run, state } = running
  const { meter } = run
  RunBudget.demandPrice(run, model)
  const noTurn = meter.takeTurn()
  if (noTurn !== undefined) yield* RunBudget.passing(noTurn, () => meter.takeTurn(), run)
  state.turn++
  yield* RunContext.emit(run, () => ({ type: "turn-start" }))
  const chosen = yield* Router.ask(choice.router, model, place)
  const overspent = meter.passed(spending)
  if (overspent !== undefined) yield* RunBudget.passing(overspent, () => meter.passed(spending), run)
  yield* RunBudget.warn(run)
  const work = yield* taking(running, choice, chosen)
  return yield* work.kind === "loop" ? loop(running, work, model) : applying(running, work)
})

/** The work of a skill that was chosen; the transcript begins with its prompt. */
const taking = (
  { input, run, state }: Running,
  { works }: Choice,
  chosen: Router.Choice
): Effect.Effect<Skilled, unknown> => {
  const work = works.get(chosen.skill)
  if (work === undefined) return Effect.die(new TypeError(`Run: '${chosen.skill}' is not among the skills`))
  state.messages.splice(0, state.messages.length, ...opening(work.prompt, input))
  return Effect.as(
    RunContext.emit(run, () => ({ type: "skill-chosen", ...chosen })),
    work
  )
}

const applying = (running: Running, work: Plain): Effect.Effect<unknown, unknown> =>
  running.run.depth > running.run.deepest
    ? Effect.fail(tooDeep(running))
    : Effect.suspend(() => work.run(running.input))

const tooDeep = ({ run, state }: Running): Exceeded => state.own("maxDepth", run.deepest, run.depth, run)

const loop = Effect.fnUntraced(function* (
  running: Running,
  { toolset }: Loop,
  model: Model.Service
): Effect.fn.Return<unknown, unknown> {
  const { isStreamed, plan, run, state } = running
  const { budget, onLlmError: rows, onPartial, siblings } = plan
  const { toolConcurrency: concurrency } = budget
  const { history } = state
  const { meter } = run
  const usual: Model.Request = { messages: state.messages, tools: toolset.specs, toolChoice: "auto" }
  if (run.depth > run.deepest) return yield* Effect.fail(tooDeep(running))
  RunBudget.demandPrice(run, model)
  while (true) {
    const noTurn = meter.takeTurn()
    if (noTurn !== undefined) yield* RunBudget.passing(noTurn, () => meter.takeTurn(), run)
    state.turn++
    yield* RunContext.emit(run, () => ({ type: "turn-start" }))
    const request = history.isCalm ? usual : restricted(usual, history)
    const answer = yield* Turn.ask({ model, request, rows, onPartial, isStreamed, run })
    if (answer.type === "answered") return answer.value
    const { reply } = answer
    const calls = state.open(reply)
    const wasOff = history.isToolsOff
    const overspent = meter.passed(spending)
    if (overspent !== undefined) yield* RunBudget.passing(overspent, () => meter.passed(spending), run)
    const inARow = state.inARow(calls)
    let admitted = calls.length === 0 ? 0 : meter.takeCalls(calls.length)
    let tooMany = admitted < calls.length ? meter.passed(counting) : undefined
    if (tooMany !== undefined && (yield* RunBudget.isExtended(tooMany, () => meter.passed(counting), run))) {
      admitted = calls.length
      tooMany = undefined
    }
    admitted = Math.min(admitted, inARow)
    yield* RunBudget.warn(run)
    const { settlements } = state
    const batch = yield* Turn.settle({ toolset, reply, admitted, concurrency, siblings, settlements, history, run })
    // closed and told of at once: whatever comes in between would be told of twice, or never
    if (run.emit === undefined) state.close(batch.message)
    else yield* RunContext.emit(run, () => ({ type: "turn-end", message: state.close(batch.message) }))
    if (batch.failure !== undefined) return yield* Effect.fail(state.attach(batch.failure, run))
    if (batch.output !== undefined) return batch.output.value
    if (calls.length === 0) return state.partial
    if (tooMany !== undefined) return yield* Effect.fail(tooMany)
    if (inARow < calls.length) {
      const limit = budget.maxConsecutiveSameTool
      return yield* Effect.fail(state.own("maxConsecutiveSameTool", limit, limit + 1, run))
    }
    // a model that calls tools although there are none is asked once more
    if (wasOff && ++state.callsWhileOff > 1) {
      return yield* Effect.fail(state.own("toolsOff", 1, state.callsWhileOff, run))
    }
    const repeated = history.record(batch.outcomes.map(({ settled }) => settled))
    if (repeated !== undefined) return yield* Effect.fail(repeatedFailure(budget, repeated, batch, run))
  }
})

const spending = ["maxTokens", "maxCost"] as const
const counting = ["maxToolCalls"] as const

/** One tool failed too often in the same way: what was decided about its last failures comes along. */
const repeatedFailure = (
  { repeatedFailures }: Budget.Budget,
  { repeats, tool }: { readonly tool: string; readonly repeats: number },
  { outcomes }: Turn.Batch,
  run: RunContext.RunContext
): Exceeded => {
  const last = outcomes.filter(({ settled }) => settled.tool === tool).flatMap(({ trail }) => trail ?? [])
  return new Exceeded(run.meter, "repeatedFailure", repeatedFailures.stop, repeats, trailOf(last))
}

/** A request without the tools that are withheld, or with the demand to call none. */
const restricted = (usual: Model.Request, { isToolsOff, withheld }: FailureHistory.FailureHistory): Model.Request =>
  isToolsOff
    ? { ...usual, toolChoice: "none" }
    : { ...usual, tools: usual.tools.filter(({ name }) => !withheld.has(name)) }
