/** What a run begins with: its input, its transcript so far, and its limits. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as Budget from "../budget/Budget.ts"
import { end, Exceeded } from "../budget/Meter.ts"
import * as Message from "../data/Message.ts"
import * as RunContext from "../event/RunContext.ts"
import type { LateCheckpoint, Snapshot } from "../event/Checkpoint.ts"
import { Inbox } from "../event/Inbox.ts"
import * as Interception from "../model/Interception.ts"
import * as Model from "../model/Model.ts"
import * as Sharing from "../model/Sharing.ts"
import * as Render from "../recovery/Render.ts"
import * as RunBudget from "./budget.ts"
import { capture, endAt, restore } from "./checkpoint.ts"
import * as Frame from "./Frame.ts"
import type { Guards } from "./guards.ts"
import { unlessSaid } from "./hearing.ts"
import * as Limits from "./Limits.ts"
import type { Choice, Loop as Looped, Plain, Plan, ReadInput, Said, Skilled, Work } from "./plan.ts"
import * as Router from "./Router.ts"
import type { Choice as Chosen, Routing } from "./Routing.ts"
import type { Beginning, End, Heard, Loop, Looping, Running } from "./running.ts"
import type { Saying, Start } from "./Start.ts"
import { sayings } from "./Saying.ts"
import { settleAdmitted } from "./settle.ts"
import { RunState } from "./state.ts"
import { read, turn } from "./turn.ts"

interface Resumed {
  readonly agent: string
  readonly readInput: ReadInput
}

/** Makes the beginning of a run. Throws on an input that does not fit, and on a snapshot of another agent. */
const of = (start: Start, { agent, readInput }: Resumed, says: string | undefined): Beginning => {
  if (start.kind === "input") {
    const said = readInput(start.input)
    const messages = (prompt: string) => headed(prompt, [said.message])
    return { said, from: undefined, isNew: true, heard: nothing, messages, messagesFor: messages }
  }
  const { from, input: given } = start
  const say = sayings(agent, start.say ?? [])
  const snapshot = "version" in from ? from : undefined
  if (snapshot !== undefined && snapshot.agent !== agent) {
    throw new TypeError(`Agent '${agent}' cannot resume a snapshot of agent '${snapshot.agent}'`)
  }
  // while calls wait, a further input is one of the messages that wait for the next safe point
  const isWaiting = snapshot?.unfinished !== undefined
  const input = isWaiting ? undefined : given
  const heard = [
    ...(snapshot?.inbox ?? []),
    ...(isWaiting && given !== undefined ? [readInput(given)] : []),
    ...say.map(toHear)
  ]
  const latest = isWaiting || say.length === 0 ? undefined : heard.at(-1)
  const before = "version" in from ? from.transcript : from
  const said =
    input !== undefined
      ? readInput(input)
      : latest !== undefined
        ? { message: latest.message, text: Message.textOf(latest.message) }
        : lastOf(before, says, snapshot?.inputIndex)
  const isAdded = input !== undefined
  const all = isAdded ? [...before, said.message] : latest === undefined ? goingOn(before) : before
  const messages = (prompt: string) => (all.some(({ role }) => role === "system") ? [...all] : headed(prompt, all))
  const messagesFor = (prompt: string) =>
    headed(
      prompt,
      all.filter(({ role }) => role !== "system")
    )
  const isNew = input !== undefined || latest !== undefined
  return { said, from: snapshot, isNew, heard, messages, messagesFor }
}

/** Adds a user message after a stopped answer, because many providers refuse a request that ends with a model's message. */
const goingOn = (before: Message.Transcript): Message.Transcript => {
  const last = before.at(-1)
  return last?.role === "assistant" && (last.incomplete === true || last.withheld === true)
    ? [...before, Message.user(Render.stopped)]
    : before
}
const nothing: ReadonlyArray<Heard> = []

const toHear = ({ message, supersede = false }: Saying): Heard => ({
  message: Message.user(message),
  ...(supersede ? { supersede } : {})
})

const headed = (prompt: string, messages: ReadonlyArray<Message.Message>): Array<Message.Message> =>
  prompt === "" ? [...messages] : [Message.system(prompt), ...messages]

/** The last input in the transcript. Later user messages may be the run's own, about an answer that does not fit. */
const lastOf = (transcript: Message.Transcript, says: string | undefined, inputIndex = -1): Said => {
  const candidate = transcript[inputIndex]
  const own = new Set<string | undefined>([says, Render.stopped])
  const isOfUser = (one: Message.Message) =>
    one.role === "user" && !own.has(Message.textOf(one)) && !Message.isWithheld(one)
  // by its role, it is a message of a user
  const last = candidate?.role === "user" ? candidate : transcript.findLast(isOfUser)
  const message = last?.role === "user" ? last : Message.user("")
  return { message, text: Message.textOf(message) }
}

/** The limits of a resumption, which replace the agent's own. */
const limitsOf = (start: Start): Budget.Limits | undefined => (start.kind === "resumption" ? start.budget : undefined)

/** The answer of a conversation that ends with one and has no new input. */
export const answeredBy = (
  start: Start,
  from: Snapshot | undefined,
  messages: Message.Transcript
): string | undefined => {
  const last = messages.at(-1)
  // with unfinished calls, the text before them is no answer
  if (start.kind === "input" || from?.unfinished !== undefined || last?.role !== "assistant" || last.paused === true)
    return undefined
  if (last.withheld === true) return undefined
  return last.content.some(({ type }) => type === "settled-call") ? undefined : Message.textOf(last)
}

/** Runs the work of a plan, `loop` where a model does it. Every event goes to the sink, if there is one. */
export const within = (
  plan: Plan,
  start: Start,
  sink: Frame.Sink | undefined,
  mode: Frame.Mode,
  loop: Loop,
  says?: string
): Effect.Effect<unknown, unknown, Model.Model> =>
  Effect.suspend(() => {
    const beginning = of(start, plan, says)
    const { from, said } = beginning
    const limits = limitsOf(start)
    const budget = limits === undefined ? plan.budget : Budget.over(plan.budget, limits)
    const state = new RunState(plan.agent, budget, beginning, beginning.messages(plan.work.prompt))
    state.guarded = plan.guards?.begin(beginning, state.messages)
    const input = start.kind === "input" ? start.input : said.text
    const resumed =
      from === undefined ? undefined : { runId: from.runId, seed: from.seed ?? from.runId, elapsed: from.spent.millis }
    const { agent, listeners, onExceeded } = plan
    return Frame.within({ agent, listeners, onExceeded, budget, input, sink, mode, state, resumed }, (run) => {
      const running: Running = {
        plan: limits === undefined ? plan : { ...plan, budget },
        start,
        beginning,
        state,
        run,
        mode
      }
      if (from !== undefined) restore(run, from, limits ?? {}, plan)
      for (const digest of from?.withdrawn ?? []) run.tree.inbox?.withdraw(digest)
      mode.started?.({ state, run, from })
      mode.nesting?.started(capture(running))
      return (beginning.heard.length === 0 ? work(running, loop) : hearing(running, loop)).pipe(
        Limits.inTime(run),
        Limits.ending(run, state, (exceeded, isOwn) => endAt(exceeded, isOwn, running)),
        Limits.undoing(run)
      )
    })
  })

/** A resumed run reads the messages that came while it was suspended. */
const hearing = (running: Running, loop: Loop): Effect.Effect<unknown, unknown, Model.Model> =>
  Effect.withFiber((fiber) => {
    const { beginning, plan, run } = running
    const inbox = (run.tree.inbox ??= new Inbox())
    inbox.begin(run, Infinity)
    for (const { id, ...said } of beginning.heard) {
      inbox.add(fiber, run.runId, {
        said: { ...said, id: id ?? RunContext.drawId(fiber) },
        isEmitted: id !== undefined
      })
    }
    inbox.begin(run, plan.budget.maxUnread)
    return work(running, loop)
  })

/** Does the work of a run, `loop` where a model does it. */
const work = (running: Running, loop: Loop): Effect.Effect<unknown, unknown, Model.Model> => {
  const { plan, run } = running
  if (run.depth > run.deepest) return end(run.meter, new Exceeded(run.meter, "maxDepth", run.deepest, run.depth))
  const { guards, work } = plan
  // a loop checks the words of the user beside its first model call
  return guards === undefined || work.kind === "loop"
    ? doing(running, work, loop)
    : guards.first(running, does(work, loop))
}

const doing = (running: Running, work: Work, loop: Loop): Effect.Effect<unknown, unknown, Model.Model> =>
  work.kind === "choice" ? work.chooser.choose(running, work, loop) : working(running, work, loop)

const does = (work: Work, loop: Loop) => (running: Running) => doing(running, work, loop)

/** The work of one skill. */
export const working = (running: Running, skilled: Skilled, loop: Loop): Effect.Effect<unknown, unknown, Model.Model> =>
  skilled.kind === "function"
    ? applying(running, skilled)
    : withModel(running.plan, (model) => looping(running, skilled, loop, model))

export const applying = (running: Running, work: Plain): Effect.Effect<unknown, unknown> => {
  const { beginning, plan, run } = running
  const applied = Effect.suspend(() => RunContext.begins(run, () => work.run(beginning.said.text)))
  return plan.guards === undefined ? applied : Effect.flatMap(applied, passing(running, plan.guards))
}

const passing = (running: Running, guards: Guards) => (value: unknown) => guards.given(running, value)

export const looping = (running: Running, { toolset }: Looped, loop: Loop, model: Model.Service) =>
  RunBudget.priced(running.run, model, () => loop({ ...running, toolset, model }))

export const withModel = <A, E>(
  { model, modelIdle }: Plan,
  use: (model: Model.Service) => Effect.Effect<A, E>
): Effect.Effect<A, unknown, Model.Model> =>
  model === undefined
    ? Effect.contextWith((context: Context.Context<Model.Model>) => use(Context.get(context, Model.Model)))
    : built(model, modelIdle, use)

/** With the model of a layer, unless the interceptor of the program replaces all models. */
export const built = <A, E>(
  layer: Layer.Layer<Model.Model, unknown>,
  idle: number,
  use: (model: Model.Service) => Effect.Effect<A, E>
): Effect.Effect<A, unknown> =>
  Effect.flatMap(Interception.Current, (interceptor) =>
    interceptor?.model === undefined
      ? Sharing.within(layer, idle, (built) => use(Context.get(built, Model.Model)))
      : use(interceptor.model)
  )

/** The first step of a resumed run: the answer that its conversation ends with, if it fits, or its unfinished calls. */
export const resume = (running: Looping): Effect.Effect<End, unknown> => {
  const late = running.beginning.from?.late
  return late === undefined ? resumed(running) : resumedLate(running, late)
}

const resumedLate = (running: Looping, late: ReadonlyArray<LateCheckpoint>): Effect.Effect<End, unknown> =>
  Effect.flatMap(
    Effect.forEach(late, (one) => restoreLate(running, one), { discard: true }),
    () => resumed(running)
  )

const restoreLate = ({ run, start, state, toolset }: Looping, late: LateCheckpoint): Effect.Effect<void> => {
  const tool = toolset.entries.get(late.tool)?.tool
  const decisions = start.kind === "input" ? undefined : start.decisions
  const restored = tool?.deferral?.restore?.(tool, late, run, decisions)
  return restored === undefined
    ? Effect.die(new TypeError(`Agent '${run.agent}' has no tool '${late.tool}' to go on with`))
    : Effect.map(restored, (call) => void (state.late = call.join(state.late, { type: "deferred", ...late })))
}

const resumed = (running: Looping): Effect.Effect<End, unknown> => {
  const { beginning, run, start, state } = running
  const unfinished = beginning.from?.unfinished
  if (unfinished !== undefined) {
    const wanted = Math.min(Message.callsOf(unfinished.reply).length, unfinished.admittedInARow)
    return settleAdmitted(
      running,
      unfinished.reply,
      unfinished,
      unfinished.admitted < wanted ? RunBudget.callsExceeded(run) : undefined
    )
  }
  const said = answeredBy(start, beginning.from, state.messages)
  if (said === undefined) return Effect.undefined
  state.partial = said
  return read(running)
}
