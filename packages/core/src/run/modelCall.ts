/** One model call of a run: attempts, until one gives a reply or the table gives up. */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import * as Result from "effect/Result"
import * as ErrorCause from "../data/ErrorCause.ts"
import { approachable } from "../data/Foreign.ts"
import type * as Message from "../data/Message.ts"
import * as Usage from "../data/Usage.ts"
import { isLlmError, type LlmError } from "../errors/LlmError.ts"
import * as RunContext from "../event/RunContext.ts"
import * as Interception from "../model/Interception.ts"
import * as Model from "../model/Model.ts"
import { ask as askEach, type Asker, empty, named, refused, rejected, sound } from "../model/ModelCall.ts"
import * as Driver from "../recovery/Driver.ts"
import {
  type Answered,
  type Bounds,
  type Compactions,
  type Ends,
  type Layer,
  type Leaves,
  type Repairs,
  type Row,
  rowOf,
  type Trace,
  untouchable
} from "../recovery/Layer.ts"
import { trailOf } from "../recovery/VerdictTrail.ts"
import type { VerdictRecord } from "../recovery/Node.ts"
import { adapting, behindCut } from "./adapting.ts"
import { book, countable, interrupted } from "./booking.ts"
import * as RunBudget from "./budget.ts"
import type { Guards } from "./guards.ts"
import { untilSaid } from "./hearing.ts"
import * as Jobs from "./jobs.ts"
import type { Answer, Asked, Attempting, Calling, Hold, Idle, Job, ModelCallOptions, Prefix } from "./modelCallState.ts"
import { received } from "./received.ts"
import type { Looping } from "./running.ts"
import { compact } from "./shortening.ts"
import { admits, discard, goOn, whyNot } from "./shown.ts"

/** Calls the model of a run. The reply stays unfinished until its tool calls are settled. */
export const callModel = (running: Looping, request: Model.Request, isOnce = false): Effect.Effect<Asked, unknown> => {
  const { guards } = running.plan
  return guards === undefined
    ? answering(running, request, isOnce, undefined)
    : guarded(guards, running, request, isOnce)
}

const guarded = (guards: Guards, running: Looping, request: Model.Request, isOnce: boolean) =>
  guards.around(running, isOnce, (hold) => answering(running, request, isOnce, hold))

const answering = (running: Looping, request: Model.Request, isOnce: boolean, hold: Hold | undefined) => {
  const { model, plan, run, sent, state: conversation } = running
  const { onLlmError: rows, transport } = plan
  const { isStreamed = false } = run
  // a caller that streams an ancestor of this run has not asked to see this text, so the attempt may be repeated
  const { onPartial = running.mode.isStreamed ? "fail" : "restart" } = plan
  const isAside = !running.mode.isStreamed && onPartial === "restart"
  const how = {
    model,
    request,
    sent,
    adaptsParts: running.toolset.adaptsParts,
    rows,
    onPartial,
    transport,
    isStreamed,
    isAside,
    run,
    input: conversation.inputMessage,
    conversation,
    mayBeEmpty: () => hold?.isEmptied === true || (plan.output !== undefined && Result.isSuccess(plan.output.read(""))),
    isOnce,
    hold
  }
  const taking = (answer: Answer): Effect.Effect<Asked> => {
    if (answer.type === "answered") return Effect.succeed(answer)
    const { reply, type } = answer
    const calls = conversation.take(reply)
    return RunBudget.spent(run, () => Effect.succeed({ type, reply, calls }))
  }
  const inbox = isOnce ? undefined : run.tree.inbox
  return running.prefix === undefined
    ? hearing(how, inbox, taking)
    : goingOn(running.prefix(model, request), how, inbox, taking)
}

type Taking = (answer: Answer) => Effect.Effect<Asked>
type Inbox = RunContext.Inbox | undefined

/** Calls the model, unless a message to the run interrupts the call. */
const hearing = (how: ModelCallOptions, inbox: Inbox, taking: Taking): Effect.Effect<Asked, unknown> =>
  inbox === undefined ? ask(how, taking) : interruptible(how, inbox, taking)

const interruptible = (how: ModelCallOptions, inbox: RunContext.Inbox, taking: Taking) =>
  untilSaid(inbox, how.run, (take) => ask(how, take), taking)

/** Asks for the rest of a reply, if the run continues an incomplete one. */
const goingOn = (
  prefix: Effect.Effect<Prefix> | undefined,
  how: ModelCallOptions,
  inbox: Inbox,
  taking: Taking
): Effect.Effect<Asked, unknown> =>
  prefix === undefined
    ? hearing(how, inbox, taking)
    : Effect.flatMap(prefix, (prefix) => hearing({ ...how, prefix }, inbox, taking))

/** Calls the model, recovers by the table, books the usage of each attempt, and continues with `next`. */
export const ask = <A, E>(
  options: ModelCallOptions,
  next: (answer: Answer) => Effect.Effect<A, E>
): Effect.Effect<A, unknown> => {
  if (!Jobs.mayBegin(options.model)) return Driver.drive(() => new ModelCall(options, next))
  return Effect.suspend(() => {
    const call = new ModelCall(options, next)
    return Effect.onExitPrimitive(
      Driver.drive(() => call),
      () => Jobs.leave(call)
    )
  })
}

const idle = { type: "Idle", attempts: 0, shown: undefined } as const

/** A model call: the layer whose table handles its failures, and the part that sends a request to each single model. */
class ModelCall<A> implements Layer<Message.Reply, A, unknown, never>, Asker<Message.Reply, never>, Calling {
  readonly options: ModelCallOptions
  readonly next: (answer: Answer) => Effect.Effect<A, unknown>
  state: Idle | Attempting = idle
  readonly compactions: Compactions
  readonly extra = { made: 0 }
  /** The request, whose conversation a compaction may have shortened since. */
  request: Model.Request
  /** The text that the next attempt continues. Most calls have none, and no such field. */
  declare prefix?: Prefix | undefined
  declare jobs?: Map<Model.Service, Job> | undefined
  /** Whether the call was repeated after an empty reply. That happens once without a row. */
  hasRepeated = false
  /** The last failure that no row handles. */
  unguarded: unknown

  constructor(options: ModelCallOptions, next: (answer: Answer) => Effect.Effect<A, unknown>) {
    this.options = options
    this.next = next
    this.request = options.request
    if (options.prefix !== undefined) this.prefix = options.prefix
    this.compactions = { made: options.conversation?.compactionsAhead ?? 0, gate: options.hold?.gate }
  }

  ask(model: Model.Service, request: Model.Request): Effect.Effect<Message.Reply, LlmError> {
    return attempt(this, model, request)
  }

  given(reply: Message.Reply): Message.Reply {
    return reply
  }

  isShown(): boolean {
    return this.options.isAside !== true && this.state.shown !== undefined
  }

  within(
    model: Model.Service,
    generating: Effect.Effect<Message.Reply, LlmError>,
    { generate }: Model.Surrounding,
    request: Model.Request
  ): Effect.Effect<Message.Reply, LlmError> {
    return generate(generating, request, model)
  }

  attempt(): Effect.Effect<Message.Reply, LlmError> {
    const asked = askModels(this)
    return this.options.transport === "off" ? Model.sendingOnce(asked) : asked
  }

  repeat(error: unknown): Effect.Effect<Message.Reply, LlmError> | undefined {
    const isEmpty = ErrorCause.tagOf(error) === "EmptyReplyError"
    if (!isEmpty || this.hasRepeated || this.options.isOnce === true || !admits(this)) return undefined
    this.hasRepeated = true
    return this.attempt()
  }

  row(error: unknown): Row | undefined {
    const row = rowOf(this.options.rows, error, () => admits(this))
    if (row === undefined) this.unguarded = error
    return row && { ...row, ...whyNot(this) }
  }

  get repairs(): Repairs<never> {
    return { compactions: this.compactions, compact: (rung, error) => compact(this, rung, error) }
  }

  get bounds(): Bounds {
    const { run } = this.options
    const wait: Bounds["wait"] = (delay) => Interception.wait(run, delay)
    return { ...RunContext.bounds(run), wait, extra: this.extra }
  }

  observe(decision: VerdictRecord): Effect.Effect<void> {
    const { options } = this
    const decided = RunContext.emit(options.run, () => ({ type: "verdict", layer: "model", ...decision }))
    const isRepeated = !decision.gaveUp && (decision.verdict === "retry" || decision.verdict === "compact")
    return isRepeated ? Effect.andThen(decided, goOn(this)) : decided
  }

  get end(): Ends<Message.Reply, A, unknown, never> {
    return this
  }

  succeeded(reply: Message.Reply): Effect.Effect<A, unknown> {
    return this.next({ type: "reply", reply })
  }

  answered({ value }: Answered): Effect.Effect<A, unknown> {
    return instead(this, { type: "answered", value })
  }

  left({ error, isLate }: Leaves, { trail }: Trace): Effect.Effect<A, unknown> {
    const { options } = this
    // the run is out of time, so its error is about the limit and not about the policy
    if (isLate === true) return RunContext.endOfTime(options.run, { cause: error, trail: trailOf(trail) })
    const call = error === this.unguarded ? rejected(error, options.request, options.run.turn()) : undefined
    if (call === undefined) return Effect.fail(error)
    const reply: Message.Reply = { content: [call], finish: "tool-calls", usage: Usage.empty }
    return instead(this, { type: "reply", reply })
  }
}

const askModels = (call: ModelCall<unknown>) => {
  const { model, sent } = call.options
  return askEach(model, sent?.(call.request) ?? call.request, call)
}

/** Replaces the shown text of the last attempt by the answer of a row. */
const instead = <A>(call: ModelCall<A>, answer: Answer): Effect.Effect<A, unknown> =>
  Effect.flatMap(discard(call), () => call.next(answer))

/** Makes an attempt with one of the single models. */
const attempt = (
  call: ModelCall<unknown>,
  model: Model.Service,
  request: Model.Request
): Effect.Effect<Message.Reply, LlmError> =>
  Effect.withFiber((fiber) =>
    RunContext.begins(call.options.run, () =>
      isReplaced(call)
        ? Effect.flatMap(discard(call), () => begun(call, model, request, fiber))
        : begun(call, model, request, fiber)
    )
  )

/** Whether what a previous model has shown of its reply is discarded. */
const isReplaced = ({ options, state: { attempts } }: ModelCall<unknown>): boolean =>
  // Mutant `attempts >= 0` survives: before the first attempt nothing is shown
  options.isAside === true && attempts > 0

const begun = (
  call: ModelCall<unknown>,
  model: Model.Service,
  asked: Model.Request,
  fiber: Fiber.Fiber<unknown, unknown>
): Effect.Effect<Message.Reply, LlmError> => {
  const { options } = call
  const job = call.jobs?.get(model)
  if (job !== undefined && Jobs.isBehind(job, call.prefix))
    return Effect.flatMap(Jobs.left(call, model), () => begun(call, model, asked, fiber))
  if (job?.base !== undefined) call.prefix ??= job.base
  const prefix = job === undefined ? call.prefix : call.prefix?.within(job.base)
  const { hold, isStreamed, run } = options
  const attempts = call.state.attempts + 1
  const spent = { usage: Usage.empty }
  const request = prefix === undefined ? asked : prefix.request(model, asked)
  const attempting: Attempting = { type: "Attempting", attempts, shown: undefined, model, request, spent }
  const interceptor = fiber.getRef(Interception.Current)
  const continues = typeof options.onPartial === "object" ? options.onPartial.afterDeath : undefined
  // Mutant `true` survives: speed only. Each step of the model then looks for an interceptor, and finds none
  const stepped =
    interceptor === undefined ? model : Interception.model(Jobs.recording(call, model), continues?.(call, model))
  const within = prefix === undefined ? stepped : prefix.around(stepped)
  // the next attempt of a durable run continues the text that was shown
  hold?.begin(prefix?.text ?? "", continues !== undefined && interceptor?.wait !== undefined)
  const whole = received(call, attempting, within)
  const sent = model.adapts === undefined ? whole : adapting(run, model, model.adapts, request, whole)
  const replied = Effect.flatMap(sent, (came) => {
    const put = isStreamed ? came : Model.collected(came)
    const counted = sound(put, request, put.content)
    const own = model === options.model ? counted : named(model, counted)
    const reply = prefix === undefined ? own : prefix.joined(own)
    if (hold === undefined) return ended(call, attempting, own, reply)
    return Effect.flatMap(hold.passed(call, { ...attempting, spent: own }, reply), (reply) =>
      ended(call, attempting, own, reply)
    )
  })
  const { name, provider } = model
  call.state = attempting
  const started = RunContext.begin(
    run,
    () => ({ type: "model-start", model: name, provider, attempt: attempts }),
    replied
  )
  return Effect.onExitPrimitive(started, (exit) =>
    Exit.isFailure(exit) && call.state.type === "Attempting" ? broken(call, call.state, exit.cause) : undefined
  )
}

/** A reply has ended. Its usage belongs to this attempt alone. */
const ended = (
  call: ModelCall<unknown>,
  attempting: Attempting,
  own: Attempting["spent"],
  reply: Message.Reply
): Effect.Effect<Message.Reply, LlmError> => {
  const { options } = call
  const { model } = attempting
  const spent: Attempting = { ...attempting, shown: call.state.shown, spent: own }
  const refusal = refused(model, reply) ?? (options.mayBeEmpty?.() === true ? undefined : empty(model, reply))
  // a refused answer leaves the conversation: the model would refuse again if it read the refusal
  if (refusal !== undefined) options.conversation?.show(undefined)
  const booked =
    refusal === undefined
      ? book(call, spent, "used", (asked) => ({ type: "model-end", reply, ...asked }), Effect.succeed(reply))
      : book(
          call,
          spent,
          "failed",
          (asked) => ({ type: "model-failed", error: refusal, ...asked }),
          // an empty reply is taken back with its thoughts, and the next model may be called
          Effect.andThen(
            refusal._tag === "EmptyReplyError" ? discard(call) : Effect.void,
            Effect.fail<LlmError>(refusal)
          )
        )
  return behindCut(options.run, model, reply, booked)
}

const broken = (call: ModelCall<unknown>, state: Attempting, cause: Cause.Cause<LlmError>): Effect.Effect<unknown> => {
  // a guardrail check that ends during the wait before the next attempt shows nothing of this one
  call.options.hold?.begin("")
  // if the wait would outlast the run, the attempt fails as at the end of the run's time
  const defect = Cause.squash(cause)
  if (Cause.hasInterrupts(cause) || RunContext.isLimit(defect) || RunContext.isHalt(defect)) {
    if (call.jobs?.has(state.model) !== true) return interrupted(call, state)
    return Effect.flatMap(Jobs.cancelled(call, state.model), (usage) =>
      interrupted(call, usage === undefined ? state : { ...state, spent: { usage } })
    )
  }
  const error = approachable(Cause.squash(untouchable(cause) ?? cause))
  const { shown } = state
  const job = call.jobs?.get(state.model)
  if (job !== undefined) job.shown = shown?.text ?? call.prefix?.text ?? ""
  if (isLlmError(error) && error.isJobOver === true) call.jobs?.delete(state.model)
  const staysShown = whyNot(call).why !== undefined && shown?.text.trim() !== ""
  const isDiscarded = !Cause.hasDies(cause) && shown !== undefined && !staysShown && admits(call)
  const spent = isLlmError(error) && error.usage !== undefined ? { usage: error.usage } : state.spent
  return book(
    call,
    countable(state, spent),
    isDiscarded ? "discarded" : "failed",
    (asked) => ({ type: "model-failed", error, ...asked }),
    Effect.void
  )
}
