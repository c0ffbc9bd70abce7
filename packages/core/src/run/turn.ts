/** The safe point between two turns, where every call of the last reply has a settlement, and the end of a turn. */
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
 * The safe point between two turns. In this order: (1) The run takes the results of deferred calls. (2) It reads the messages said to it.
 * (1 and 2 may come earlier, before the limits of calls are checked.) (3) It checks the limits of tokens, cost and turns, and counts the
 * turn. (4) The guardrails check new messages. (5) The turn begins for listeners. (6) `Agent.compactAt` may shorten the conversation. (7)
 * The request is made: the conversation as the model reads it, and the choices of `Agent.prepareTurn`. Withheld tools and tools that their
 * server has changed are left out. Where tools are off, the request forbids calls.
 */
export const safePoint = (running: Looping): Effect.Effect<Model.Request, unknown> => {
  const { state } = running
  const heard = state.mayRead(running.run) && state.heardAfter !== state.turn ? hearNow(running) : undefined
  return heard === undefined ? nextTurn(running) : after(heard, nextTurn, running)
}

/** Begins the next turn after the guardrails have passed. */
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

/** Begins a turn: the conversation is shortened if it is near the window, then the request is made. */
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

/** Continues after an optional effect. A turn without that effect allocates nothing for it. */
const after = <A>(
  effect: Effect.Effect<void, unknown>,
  next: (running: Looping) => Effect.Effect<A, unknown>,
  running: Looping
): Effect.Effect<A, unknown> => Effect.flatMap(effect, () => next(running))

/** The request with the current definitions of pinned tools. */
export const offered = (
  { run, state, toolset: { pinned } }: Looping,
  request: Model.Request
): Effect.Effect<Model.Request> => pinned?.[0].pin?.offer(pinned, state.pins, run, request) ?? Effect.succeed(request)

/** Counts a turn, emits its start and continues, unless a limit forbids it. */
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
  const { uncompacted } = state
  const asked = uncompacted === undefined ? usual : { ...usual, uncompacted }
  const plain = providerCalls === undefined ? asked : { ...asked, providerCalls }
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

/** The request with the output schema, if the answer is JSON. */
const withOutput = (request: Model.Request, output: Output): Model.Request => {
  const wanted = output.wanted()
  return wanted.kind === "json" ? { ...request, output: wanted.spec } : request
}

/** The output of a reply without a call, if it fits the schema. */
export const answer = (running: Looping, reply: Message.Reply): Effect.Effect<End, InvalidOutputError> => {
  const { run, state } = running
  state.finish = reply.finish
  // a paused reply goes back to its provider
  const next = () => (reply.finish === "paused" ? Effect.undefined : read(running))
  return RunBudget.warn(run, () => close(running, Message.settle(reply, []), next))
}

/** Reads the last text as the output. `undefined` if it does not fit: then the model is told why, and has another turn. */
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

/** Adds the message of a turn to the transcript, ends the turn, and continues with `next`. */
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
 * Adds the text of an interrupted model call to the transcript as an incomplete message, if a reader has seen any, ends the turn, and
 * continues with `next`.
 */
export const keepShown = <A, E>(running: Running, next: () => Effect.Effect<A, E>): Effect.Effect<A, E> => {
  const message = running.state.incomplete()
  return message === undefined ? next() : close(running, message, next)
}

/** In a text that was cut off, the last number may lack digits, so such an answer is refused. So is JSON within an unfinished block. */
const whole = (answer: Answer): Result.Result<Answer, ReadonlyArray<Issue.Issue>> =>
  Predicate.isNumber(answer.value) || answer.changes.some(isWithin) ? Result.fail([incomplete]) : Result.succeed(answer)

const isWithin = ({ after, before }: Answer["changes"][number]): boolean =>
  Predicate.isString(before) &&
  Predicate.isString(after) &&
  /[[{]/.test(before.slice(0, Math.max(0, before.indexOf(after))))

const incomplete: Issue.Issue = { path: [], expected: "Expected a whole answer", actual: "a text that was cut off" }
