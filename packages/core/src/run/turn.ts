/** The place between two turns at which every call of the last reply has a settlement. */
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import type * as FailureHistory from "../budget/FailureHistory.ts"
import type * as Issue from "../data/Issue.ts"
import * as Message from "../data/Message.ts"
import { InvalidOutputError } from "../errors/RunError.ts"
import * as RunContext from "../event/RunContext.ts"
import type * as Model from "../model/Model.ts"
import * as Render from "../recovery/Render.ts"
import * as RunBudget from "./budget.ts"
import type { Guards } from "./guards.ts"
import { hearNow } from "./hearing.ts"
import type { Answer, Output } from "./Output.ts"
import type { End, Looping, Running } from "./running.ts"

/**
 * What is done between two turns, in this order, and nowhere else: (1) the run takes the results of deferred calls that have come, and (2) it
 * reads what was said to it, unless it has done both before the limits of its calls; (3) the limits of tokens, cost and turns are checked, and
 * the turn is counted; (4) the guardrails check what was said; (5) the turn begins for listeners; (6) the conversation is shortened, if the
 * agent does so before it is too long; (7) the request is made: of what the model reads of the conversation, with what `Agent.prepareTurn` chooses, without tools that are withheld or that
 * their server has changed, and with the demand to call none where tools are off.
 */
export const safePoint = (running: Looping): Effect.Effect<Model.Request, unknown> => {
  const { state } = running
  const heard = state.mayRead(running.run) && state.heardAfter !== state.turn ? hearNow(running) : undefined
  return heard === undefined ? nextTurn(running) : after(heard, nextTurn, running)
}

/** Takes the next turn, which begins when the guardrails of the run have passed what they check before it. */
const nextTurn = (running: Looping): Effect.Effect<Model.Request, unknown> => {
  const { guards } = running.plan
  return guards === undefined ? turn(running, () => begun(running)) : guardedTurn(running, guards)
}

const guardedTurn = (running: Looping, guards: Guards): Effect.Effect<Model.Request, unknown> => {
  const { run, state } = running
  const otherwise = () => {
    state.prepared = undefined
    return usualRequest(running)
  }
  return RunBudget.takeTurn(run, () =>
    guards.before(running, () => beginning(running, () => begun(running)), otherwise)
  )
}

/** What a turn begins with: the conversation is shortened before it is too long, then the request is made. */
const begun = (running: Looping): Effect.Effect<Model.Request, unknown> => {
  const { ahead } = running.plan
  return ahead === undefined
    ? requested(running)
    : after(
        ahead.shorten(running, () => usualRequest(running)),
        requested,
        running
      )
}

/** Goes on behind another effect. By itself, so that a turn without one makes nothing for it. */
const after = <A>(
  effect: Effect.Effect<void, unknown>,
  next: (running: Looping) => Effect.Effect<A, unknown>,
  running: Looping
): Effect.Effect<A, unknown> => Effect.flatMap(effect, () => next(running))

/** The request, with the tools that have a pin as they are offered now. */
export const offered = (
  { run, state, toolset: { pinned } }: Looping,
  request: Model.Request
): Effect.Effect<Model.Request> => pinned?.[0].pin?.offer(pinned, state.pins, run, request) ?? Effect.succeed(request)

/** Begins a turn, for listeners too, and goes on with it, unless a limit forbids it. */
export const turn = <A, E>(
  running: Pick<Looping, "run" | "state">,
  next: () => Effect.Effect<A, E>
): Effect.Effect<A, E> => RunBudget.takeTurn(running.run, () => beginning(running, next))

const beginning = <A, E>(
  { run, state }: Pick<Looping, "run" | "state">,
  next: () => Effect.Effect<A, E>
): Effect.Effect<A, E> => {
  state.turn++
  state.finish = undefined
  state.prepared = undefined
  return RunContext.emitThen(run, () => ({ type: "turn-start" }), next)
}

/** The request of a turn in which the model may call any tool. */
export const usualRequest = ({ plan: { output }, state, toolset }: Looping): Model.Request => {
  const { providerCalls, specs } = toolset
  const usual: Model.Request = { messages: state.visible, tools: specs, toolChoice: "auto" }
  const plain = providerCalls === undefined ? usual : { ...usual, providerCalls }
  return output === undefined ? plain : withOutput(plain, output)
}

const requested = (running: Looping): Effect.Effect<Model.Request, unknown> => {
  const { prepare } = running
  const usual = usualRequest(running)
  return prepare === undefined
    ? allowed(running, usual)
    : Effect.flatMap(prepare.ask(running, usual, false), allows(running))
}

const allows = (running: Looping) => (request: Model.Request) => allowed(running, request)

const allowed = (running: Looping, request: Model.Request): Effect.Effect<Model.Request> => {
  const { state } = running
  return offered(running, state.isCalm ? request : restricted(request, state.history))
}

const restricted = (usual: Model.Request, { isToolsOff, withheld }: FailureHistory.FailureHistory): Model.Request =>
  isToolsOff
    ? { ...usual, toolChoice: "none" }
    : { ...usual, tools: usual.tools.filter(({ name }) => !withheld.has(name)) }

/** The request, with what is wanted for an answer where that is JSON. */
const withOutput = (request: Model.Request, output: Output): Model.Request => {
  const wanted = output.wanted()
  return wanted.kind === "json" ? { ...request, output: wanted.spec } : request
}

/** A reply without a call: the output of the run, if it fits. */
export const answer = (running: Looping, reply: Message.Reply): Effect.Effect<End, InvalidOutputError> => {
  const { run, state } = running
  state.finish = reply.finish
  // a provider that is at work on its own side wants the reply back
  const next = () => (reply.finish === "paused" ? Effect.undefined : read(running))
  return RunBudget.warn(run, () => close(running, Message.settle(reply, []), next))
}

/** The last text as the output; `undefined` where the model has been told what does not fit, and has another turn. */
export const read = ({ plan, run, state }: Running): Effect.Effect<End, InvalidOutputError> => {
  const { output, outputRetries } = plan
  if (output === undefined) return Effect.succeed({ value: state.partial })
  const text = state.partial
  const isCut = state.finish === "length"
  const read = isCut ? Result.flatMap(output.read(text), whole) : output.read(text)
  if (Result.isSuccess(read)) {
    const emit = (change: Answer["changes"][number]) => RunContext.emit(run, () => ({ type: "output-coerced", change }))
    return Effect.as(Effect.forEach(read.success.changes, emit, { discard: true }), read.success)
  }
  const issues = read.failure
  const rejected = { type: "output-rejected", text, issues, ...(isCut ? { isCut } : {}) } as const
  if (state.outputsRejected >= outputRetries) {
    const fields = { transcript: state.transcript(), usage: run.ledger.usage, ...(isCut ? { isCut } : {}) }
    const failing = Effect.fail(InvalidOutputError.make({ agent: run.agent, text, issues, ...fields }))
    return RunContext.emitThen(
      run,
      () => rejected,
      () => failing
    )
  }
  const demand = () => {
    state.outputsRejected++
    const message = Message.user(Render.invalidOutput(issues, output.wanted().kind, isCut))
    state.add(message)
    return message
  }
  return RunContext.record(
    run,
    demand,
    (message) => ({ ...rejected, message }),
    () => Effect.undefined
  )
}

/** Takes the message of a turn into the transcript, ends the turn, and goes on with `next`. */
export const close = <A, E>(
  { run, state }: Running,
  message: Message.Assistant,
  next: () => Effect.Effect<A, E>
): Effect.Effect<A, E> =>
  RunContext.record(
    run,
    () => state.close(message),
    () => ({ type: "turn-end", message }),
    next
  )

/**
 * Takes what a reader has seen of a model call that was stopped into the transcript, as an incomplete message, ends the turn, and goes on
 * with `next`. Nothing is taken where nothing was seen.
 */
export const keepShown = <A, E>(running: Running, next: () => Effect.Effect<A, E>): Effect.Effect<A, E> => {
  const message = running.state.incomplete()
  return message === undefined ? next() : close(running, message, next)
}

/** Of a text that was cut off, a number may lack digits, and a block within another is not the answer. */
const whole = (answer: Answer): Result.Result<Answer, ReadonlyArray<Issue.Issue>> =>
  Predicate.isNumber(answer.value) || answer.changes.some(isWithin) ? Result.fail([incomplete]) : Result.succeed(answer)

const isWithin = ({ after, before, step }: Answer["changes"][number]): boolean =>
  step === "first-block" &&
  Predicate.isString(before) &&
  Predicate.isString(after) &&
  /[[{]/.test(before.slice(0, Math.max(0, before.indexOf(after))))

const incomplete: Issue.Issue = { path: [], expected: "Expected a whole answer", actual: "a text that was cut off" }
