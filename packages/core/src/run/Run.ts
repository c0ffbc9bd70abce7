/** One invocation of an agent: ask, settle the calls, ask again, until the model answers or a limit is reached. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as Budget from "../budget/Budget.ts"
import type * as AgentEvent from "../event/AgentEvent.ts"
import type { Snapshot } from "../event/Snapshot.ts"
import type * as FailureHistory from "../budget/FailureHistory.ts"
import type { Exceeded } from "../budget/Meter.ts"
import * as Beginning from "./beginning.ts"
import * as RunBudget from "./budget.ts"
import * as Frame from "./Frame.ts"
import * as Nesting from "./nesting.ts"
import * as Rereading from "./rereading.ts"
import * as Undoing from "./Undoing.ts"
import type { Start, Suspension } from "./Start.ts"
import { suspended } from "./suspending.ts"
import type { Choice, Loop, Plain, Plan, Skilled } from "./plan.ts"
import type { Choice as Chosen, Place } from "./routerPlace.ts"
import { RunState } from "./state.ts"
import * as Interception from "../model/Interception.ts"
import * as Message from "../data/Message.ts"
import * as Model from "../model/Model.ts"
import * as Router from "./Router.ts"
import * as RunContext from "../event/RunContext.ts"
import type { Resumed } from "../tool/Resumed.ts"
import type * as Toolset from "../tool/Toolset.ts"
import * as Turn from "./turn.ts"

export type { Plain, Plan, Skilled, Work } from "./plan.ts"
export type { OnPartial, Siblings } from "./turn.ts"

/** Runs a plan. Every event goes to the sink, if there is one. */
export const run = (
  plan: Plan,
  start: Start,
  sink: Frame.Sink | undefined,
  mode: Frame.Mode
): Effect.Effect<unknown, unknown, Model.Model> =>
  Effect.suspend(() => {
    const { work } = plan
    const beginning = Beginning.of(start, plan)
    const { from } = beginning
    const limits = Beginning.limitsOf(start)
    const budget = limits === undefined ? plan.budget : Budget.over(plan.budget, limits)
    const state = new RunState(plan.agent, budget, beginning.messages(work.prompt))
    state.asked = beginning.said.message
    if (from !== undefined) state.restore(from)
    const resumed = from === undefined ? undefined : { runId: from.runId, elapsed: from.spent.millis }
    const input = start.kind === "input" ? start.input : beginning.said.text
    const { agent, listeners, onExceeded } = plan
    return Frame.within({ agent, listeners, onExceeded, budget, input, sink, mode, state, resumed }, (run) => {
      const running: Running = {
        plan: limits === undefined ? plan : { ...plan, budget },
        start,
        beginning,
        resumed: resumedOf(start, from),
        state,
        run,
        mode
      }
      if (from !== undefined) {
        run.ledger.restore(from.ledger)
        run.meter.restore(from.runId, from.spent)
        run.meter.warnedBefore(from.warned ?? [])
        run.meter.takeOver(from.limits, limits ?? {})
        Nesting.paid(run.meter, from)
      }
      mode.started?.({ state, run })
      mode.nesting?.started((now) => (isLoop(running) ? state.snapshot(run, now) : undefined))
      const working =
        work.kind === "loop"
          ? withModel(plan, (model) => loop(running, work, model))
          : work.kind === "choice"
            ? choosing(running, work)
            : applying(running, work)
      return RunBudget.inTime(working, run).pipe(Effect.catch((error) => ended(running, error)))
    })
  })

/** The end of the run's own budget may be a checkpoint; whatever else is failed with leaves the run. */
const ended = (running: Running, error: unknown): Effect.Effect<Suspension, unknown> =>
  isCheckpoint(running, error)
    ? suspended(running, [])
    : Undoing.before(running.run, error, Effect.fail(running.state.leaving(error, running.run)))

/** Whether a limit was reached of this run, or of one above that is suspended with it, and whoever decides wants that. */
const isCheckpoint = (running: Running, error: unknown): boolean => {
  const { mode, run } = running
  const owner = RunBudget.ownerOf(error, run)
  if (!mode.isSuspendable || owner?.isCheckpoint !== true) return false
  return owner === run.meter || (mode.nesting?.above.includes(owner) === true && isLoop(running))
}

/** A function would begin anew. */
const isLoop = ({ plan: { work }, state: { skill } }: Running): boolean =>
  work.kind === "choice" ? skill === undefined || works(work, skill) : work.kind === "loop"

const works = ({ works: all }: Choice, skill: string): boolean => all.get(skill)?.kind === "loop"

/** A run at work. */
interface Running {
  readonly plan: Plan
  readonly start: Start
  readonly beginning: Beginning.Beginning
  readonly resumed: Resumed | undefined
  readonly state: RunState
  readonly run: RunContext.RunContext
  readonly mode: Frame.Mode
}

/** What is known of the calls that were open where the run was suspended. */
const resumedOf = (start: Start, from: Snapshot | undefined): Resumed | undefined =>
  start.kind === "input" || from?.open === undefined
    ? undefined
    : start.recall(from.open, start.resumption.decisions ?? [])

const withModel = <A, E>(
  { model }: Plan,
  use: (model: Model.Service) => Effect.Effect<A, E>
): Effect.Effect<A, unknown, Model.Model> =>
  model === undefined
    ? Effect.contextWith((context: Context.Context<Model.Model>) => use(Context.get(context, Model.Model)))
    : Effect.flatMap(Interception.Current, (interceptor) =>
        interceptor?.model === undefined
          ? Effect.scopedWith((scope) =>
              Effect.flatMap(Layer.buildWithScope(model, scope), (built) => use(Context.get(built, Model.Model)))
            )
          : use(interceptor.model)
      )

/** A rule is asked first, and needs no model; where it names no skill, the model does. */
const choosing = Effect.fnUntraced(function* (
  running: Running,
  choice: Choice
): Effect.fn.Return<unknown, unknown, Model.Model> {
  const { beginning, plan, run } = running
  if (run.depth > run.deepest) return yield* Effect.fail(tooDeep(running))
  const said = Beginning.answeredBy(running.start, beginning.from, running.state.messages)
  if (said !== undefined && plan.output === undefined) return said
  // an answer that fits is one, whoever gave it; one that does not is asked for again, by the skill that is chosen
  if (said !== undefined && plan.output !== undefined && Result.isSuccess(plan.output.read(said))) {
    running.state.partial = said
    const read = yield* reading(running)
    if (read !== undefined) return read.value
  }
  // a new word is routed afresh: it need not be about what the last one was about
  const chosenBefore = beginning.isNew ? undefined : beginning.from?.skill
  const known = chosenBefore === undefined ? undefined : choice.works.get(chosenBefore)
  if (chosenBefore !== undefined && known === undefined) {
    return yield* Effect.die(new TypeError(`Agent '${plan.agent}' has no skill '${chosenBefore}' to go on with`))
  }
  if (known !== undefined) {
    running.state.skill = chosenBefore
    return yield* known.kind === "loop"
      ? withModel(plan, (model) => loop(running, known, model))
      : applying(running, known)
  }
  const place: Place = {
    input: beginning.said.text,
    candidates: choice.candidates,
    run,
    transcript: () => running.state.transcript()
  }
  const ruled = yield* Router.rule(choice.router, place)
  if (ruled === undefined) return yield* withModel(plan, (model) => asking(running, choice, place, model))
  const work = yield* taking(running, choice, ruled)
  return yield* work.kind === "loop" ? withModel(plan, (model) => loop(running, work, model)) : applying(running, work)
})

/** The model chooses: that is a turn of the run. */
const asking = Effect.fnUntraced(function* (
  running: Running,
  choice: Choice,
  place: Place,
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

/** The work of a skill that was chosen; the transcript begins with its prompt, and has that of no other skill. */
const taking = (
  { beginning, run, state }: Running,
  { works }: Choice,
  chosen: Chosen
): Effect.Effect<Skilled, unknown> => {
  const work = works.get(chosen.skill)
  if (work === undefined) return Effect.die(new TypeError(`Run: '${chosen.skill}' is not among the skills`))
  const { prompt } = work
  const take = () => {
    state.skill = chosen.skill
    state.begin(beginning.messagesFor(prompt))
    return work
  }
  if (run.emit === undefined) return Effect.sync(take)
  // taken and told of at once
  const tell = (): AgentEvent.Happening => {
    take()
    return { type: "skill-chosen", ...chosen, prompt }
  }
  return RunContext.emitThen(run, tell, () => Effect.succeed(work))
}

const applying = (running: Running, work: Plain): Effect.Effect<unknown, unknown> =>
  running.run.depth > running.run.deepest
    ? Effect.fail(tooDeep(running))
    : Effect.suspend(() => work.run(running.beginning.said.text))

const tooDeep = ({ run, state }: Running): Exceeded => state.own("maxDepth", run.deepest, run.depth, run)

const loop = Effect.fnUntraced(function* (
  running: Running,
  { toolset }: Loop,
  model: Model.Service
): Effect.fn.Return<unknown, unknown> {
  const { beginning, mode, plan, run, start, state } = running
  const { onLlmError: rows, onPartial, output } = plan
  const { history } = state
  const { meter } = run
  const plain: Model.Request = { messages: state.messages, tools: toolset.specs, toolChoice: "auto" }
  const usual = output === undefined ? plain : Rereading.asking(plain, output)
  const input = beginning.said.message
  const compacted = (messages: Message.Transcript) => state.compact(messages)
  if (run.depth > run.deepest) return yield* Effect.fail(tooDeep(running))
  RunBudget.demandPrice(run, model)
  const said = Beginning.answeredBy(start, beginning.from, state.messages)
  if (said !== undefined) {
    state.partial = said
    const read = yield* reading(running)
    if (read !== undefined) return read.value
  }
  const waiting = beginning.from?.open
  if (waiting !== undefined) {
    const calls = Message.callsOf(waiting.reply)
    const { admitted, inARow, reply, wasOff } = waiting
    const tooMany = admitted < Math.min(calls.length, inARow) ? meter.passed(counting) : undefined
    const done = yield* settling(running, toolset, { reply, calls, admitted, tooMany, inARow, wasOff })
    if (done !== undefined) return done.value
  }
  while (true) {
    const noTurn = meter.takeTurn()
    if (noTurn !== undefined) yield* RunBudget.passing(noTurn, () => meter.takeTurn(), run)
    state.turn++
    state.finish = undefined
    if (run.emit !== undefined) yield* RunContext.emit(run, () => ({ type: "turn-start" }))
    const request = state.asking(history.isCalm ? usual : restricted(usual, history))
    const answer = yield* Turn.ask({
      model,
      request,
      rows,
      onPartial,
      isStreamed: mode.isStreamed,
      run,
      input,
      compacted
    })
    if (answer.type === "answered") return answer.value
    const { reply } = answer
    const calls = state.open(reply)
    const wasOff = history.isToolsOff
    const overspent = meter.passed(spending)
    if (overspent !== undefined) yield* RunBudget.passing(overspent, () => meter.passed(spending), run)
    if (calls.length === 0) {
      if (run.emit !== undefined) yield* RunBudget.warn(run)
      state.finish = reply.finish
      yield* closing(running, Message.settle(reply, []), () => Effect.void)
      // the provider is at work on its own side, and wants the reply back
      if (reply.finish === "paused") continue
      if (output === undefined) return state.partial
      const read = yield* reading(running)
      if (read !== undefined) return read.value
      continue
    }
    const inARow = state.inARow(calls)
    let admitted = meter.takeCalls(calls.length)
    let tooMany = admitted < calls.length ? meter.passed(counting) : undefined
    if (tooMany !== undefined) {
      yield* Effect.ignore(RunBudget.passing(tooMany, () => meter.passed(counting), run))
      // one that was extended, but not far enough, admits more than before
      tooMany = meter.passed(counting)
      admitted = Math.max(admitted, meter.admitted(calls.length))
    }
    admitted = Math.min(admitted, inARow)
    if (run.emit !== undefined) yield* RunBudget.warn(run)
    const done = yield* settling(running, toolset, { reply, calls, admitted, tooMany, inARow, wasOff })
    if (done !== undefined) return done.value
  }
})

/** Closed and told of at once: whatever comes in between would be told of twice, or never. Goes on with `then`. */
const closing = <A, E>(
  { run, state }: Running,
  message: Message.Assistant,
  then: () => Effect.Effect<A, E>
): Effect.Effect<A, E> => {
  if (run.emit === undefined) {
    state.close(message)
    return then()
  }
  return RunContext.emitThen(run, () => ({ type: "turn-end", message: state.close(message) }), then)
}

/** The answer in the last text; nothing where it does not fit, and the model is asked for another. */
const reading = ({ plan, run, state }: Running) =>
  plan.output === undefined
    ? Effect.succeed({ value: state.partial })
    : Rereading.read(plan.output, plan.outputRetries, state, run)

/** The calls of a reply, and how many of them may run. */
interface Calls {
  readonly reply: Message.Reply
  readonly calls: ReadonlyArray<Message.ToolCall>
  readonly admitted: number
  /** The limit of calls, if there are more. */
  readonly tooMany?: Exceeded | undefined
  readonly inARow: number
  /** Whether tools were switched off when the model was asked. */
  readonly wasOff: boolean
}

/**
 * Settles the calls of a reply. Gives what the run ends with, a suspension when some of them wait for a decision, or the value of
 * a built-in tool; nothing when the loop goes on.
 */
const settling = (
  running: Running,
  toolset: Toolset.Toolset,
  called: Calls
): Effect.Effect<{ readonly value: unknown } | undefined, unknown> => {
  const { beginning, mode, plan, resumed, run, state } = running
  const { admitted, inARow, reply, wasOff } = called
  const { siblings } = plan
  const { history, settlements } = state
  const { toolConcurrency: concurrency } = plan.budget
  const open = beginning.from?.open
  const known = open?.reply === reply ? open.settled.map((one) => one ?? undefined) : none
  state.begun = { admitted, inARow, wasOff }
  const { pending } = state
  const place = (index: number, key: string) => Nesting.placeOf(running, index, key)
  const { isSuspendable } = mode
  const around = { concurrency, siblings, settlements, pending, place, history, run, isSuspendable, resumed, known }
  return Effect.flatMap(Turn.settle(toolset, reply, admitted, around), (batch) => {
    if (batch.isWaiting && batch.failure === undefined) {
      const settled = batch.outcomes.map((outcome) => (outcome.pending === undefined ? outcome.settled : null))
      return Effect.map(suspended(running, settled), (value) => ({ value }))
    }
    // what was asked for is not lost to a limit: the run is suspended
    if (batch.isWaiting && isCheckpoint(running, batch.failure?.error)) return Effect.fail(batch.failure?.error)
    return closing(running, batch.message, () => settled(running, batch, called))
  })
}

/** What a batch that is closed means for the run. */
const settled = (
  { plan: { budget }, run, state }: Running,
  batch: Turn.Batch,
  { calls, inARow, tooMany, wasOff }: Calls
): Effect.Effect<{ readonly value: unknown } | undefined, unknown> => {
  if (batch.failure !== undefined) return Effect.fail(state.attach(batch.failure, run))
  if (batch.output !== undefined) return Effect.succeed(batch.output)
  if (tooMany !== undefined) return Effect.fail(tooMany)
  if (inARow < calls.length) {
    const limit = budget.maxConsecutiveSameTool
    return Effect.fail(state.own("maxConsecutiveSameTool", limit, limit + 1, run))
  }
  // a model that calls tools although there are none is asked once more
  if (wasOff && ++state.callsWhileOff > 1) return Effect.fail(state.own("toolsOff", 1, state.callsWhileOff, run))
  const repeated = state.history.record(batch.outcomes.map(({ settled }) => settled))
  return repeated === undefined
    ? Effect.undefined
    : Effect.fail(RunBudget.repeatedFailure(budget, repeated, batch, run))
}

const none: Turn.Settling["known"] = []

const spending = ["maxTokens", "maxCost"] as const
const counting = ["maxToolCalls"] as const

/** A request without the tools that are withheld, or with the demand to call none. */
const restricted = (usual: Model.Request, { isToolsOff, withheld }: FailureHistory.FailureHistory): Model.Request =>
  isToolsOff
    ? { ...usual, toolChoice: "none" }
    : { ...usual, tools: usual.tools.filter(({ name }) => !withheld.has(name)) }
