/** What a run begins with: its input, its transcript so far, and its limits. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import { end, Exceeded } from "../budget/Meter.ts"
import * as Message from "../data/Message.ts"
import type { Snapshot } from "../event/Checkpoint.ts"
import * as RunContext from "../event/RunContext.ts"
import * as Interception from "../model/Interception.ts"
import * as Model from "../model/Model.ts"
import * as Sharing from "../model/Sharing.ts"
import * as RunBudget from "./budget.ts"
import { capture, endAt } from "./checkpoint.ts"
import * as Frame from "./Frame.ts"
import type { Guards } from "./guards.ts"
import * as Limits from "./Limits.ts"
import type { Loop as Looped, Plain, Plan, Skilled, Work } from "./plan.ts"
import type { Beginning, Choose, Heard, Loop, Running, Start } from "./running.ts"
import { RunState } from "./state.ts"

/** Makes the beginning of a run. Throws on an input that does not fit, and on a snapshot of another agent. */
const of = (start: Start, plan: Plan, says: string | undefined): Beginning => {
  if (start.kind === "resumption") return start.by.begin(start, plan, says)
  const said = plan.readInput(start.input)
  const messages = (prompt: string) => headed(prompt, [said.message])
  return { said, from: undefined, isNew: true, heard: nothing, messages, messagesFor: messages }
}

const nothing: ReadonlyArray<Heard> = []

/** The conversation with a prompt at its head. */
export const headed = (prompt: string, messages: ReadonlyArray<Message.Message>): Array<Message.Message> =>
  prompt === "" ? [...messages] : [Message.system(prompt), ...messages]

/** The answer of a conversation that ends with one and has no new input. */
export const answeredBy = (
  start: Start,
  from: Snapshot | undefined,
  messages: Message.Transcript
): string | undefined => {
  const last = messages.at(-1)
  // with unfinished calls, the text before them is no answer
  // Mutant `false` for `start.kind === "input" || from?.unfinished !== undefined` survives: before both come words of the user or calls
  if (start.kind === "input" || from?.unfinished !== undefined || last?.role !== "assistant" || last.paused === true)
    return undefined
  // Mutant `false` survives: a run that goes on has put words of the user behind such an answer
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
    const { budget = plan.budget, from, said } = beginning
    const state = new RunState(plan.agent, budget, said.message, beginning.messages(plan.work.prompt))
    if (start.kind === "resumption") start.by.restoreState(state, beginning)
    state.guarded = plan.guards?.begin(beginning, state.messages)
    const input = start.kind === "input" ? start.input : said.text
    const resumed =
      from === undefined ? undefined : { runId: from.runId, seed: from.seed ?? from.runId, elapsed: from.spent.millis }
    const { agent, listeners, onExceeded } = plan
    return Frame.within({ agent, listeners, onExceeded, budget, input, sink, mode, state, resumed }, (run) => {
      const running: Running = {
        plan: beginning.budget === undefined ? plan : { ...plan, budget },
        start,
        beginning,
        state,
        run,
        mode
      }
      if (start.kind === "resumption") start.by.restore(running)
      mode.started?.({ state, run, from })
      mode.nesting?.started(capture(running))
      return limited(running, loop)
    })
  })

const limited = (running: Running, loop: Loop): Effect.Effect<unknown, unknown, Model.Model> =>
  Limits.within(
    running.run,
    running.state,
    () => {
      const { start } = running
      return start.kind === "input" ? work(running, loop) : start.by.hear(running, () => work(running, loop))
    },
    (exceeded, isOwn) => endAt(exceeded, isOwn, running)
  )

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
  // the cast is safe: `choosing.ts` alone makes choosers
  work.kind === "choice" ? (work.chooser.choose as Choose)(running, work, loop) : working(running, work, loop)

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
