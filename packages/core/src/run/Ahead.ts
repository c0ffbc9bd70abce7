/** `Agent.compactAt`: the conversation is shortened at a safe point, before it is too long for the model. */
import * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { end, type Meter } from "../budget/Meter.ts"
import type * as Message from "../data/Message.ts"
import * as Returned from "../data/Returned.ts"
import * as Usage from "../data/Usage.ts"
import { ContextTooLongError } from "../errors/LlmError.ts"
import { helping } from "../event/Helping.ts"
import * as RunContext from "../event/RunContext.ts"
import * as Interception from "../model/Interception.ts"
import type * as Model from "../model/Model.ts"
import { count, counterOf, estimateOf, windowOf } from "../model/ModelCall.ts"
import * as Compacting from "../recovery/Compacting.ts"
import type { Compacted, Compaction, CompactEvent, Overflow } from "../recovery/Node.ts"
import { errorOf } from "./Limits.ts"
import type { Ahead, Shortening } from "./plan.ts"
import type { RunState } from "./state.ts"

/** When `Agent.compactAt` shortens a conversation, and how. */
interface Options {
  readonly share: number
  readonly window: number | undefined
  readonly compaction: Compaction
}

/**
 * Shortens the conversation before a turn if it fills the given share of the model's window. Its size is the token count of the last reply
 * plus an estimate of the messages added since. If four times that estimate would reach the share, a model that can count tokens counts the
 * request instead. A run that goes on from a transcript has no reply yet, so all of its size is an estimate. The run goes on whether or not
 * the compaction succeeds. After a compaction, the size is measured again only once another reply has reported its usage.
 */
export const make = ({ compaction, share, window }: Options): Ahead => {
  /** Runs whose provider could not count the tokens of a request: this run does not ask it again. */
  const uncounted = new WeakSet<RunState>()
  return {
    compaction,
    shorten: (running, request) =>
      Effect.suspend(() => {
        const { run, state } = running
        const { visible } = state
        const counted = run.ledger.entries.findLast(isReply(run.runId))
        const limit = window ?? declared(running, counted)
        if (limit === undefined) return withoutWindow(running, counted, compaction)
        const last = visible.findLastIndex(isWhole)
        const measured = measure(visible, last, counted, state.ahead?.turn)
        if (measured === undefined) return Effect.void
        const at = share * limit
        const decide = (tokens: number) =>
          tokens < at ? Effect.void : shortened(running, { compaction, counted, last, limit, tokens })
        const model = measured.most < at || uncounted.has(state) ? undefined : counting(running, counted)
        if (model === undefined) return decide(measured.tokens)
        return Effect.flatMap(countBy(model, request), (tokens) => {
          if (tokens === null) uncounted.add(state)
          return decide(tokens ?? measured.tokens)
        })
      })
  }
}

interface Near {
  readonly compaction: Compaction
  readonly counted: Entry | undefined
  readonly last: number
  readonly limit: number
  readonly tokens: number
}

const shortened = (running: Shortening, { compaction, counted, last, limit, tokens }: Near): Effect.Effect<void> => {
  const { run, state } = running
  const meter = limited(run.meter)
  const within = helping<CompactEvent>(compaction, { ...run, meter }, { isCompacting: true }, (event) => ({
    ...event,
    ahead: { tokens, window: limit }
  }))
  // an agent that shortens a conversation for a run does not compact its own conversation meanwhile
  if (within.isAtWork) return Effect.void
  const { turn } = state
  state.ahead = { turn, made: 0 }
  const { model, provider } = counted ?? { model: running.model.name, provider: running.model.provider }
  const overflow: Overflow = {
    transcript: state.visible,
    error: ContextTooLongError.make({ model, provider, actual: tokens, limit }),
    input: state.inputMessage
  }
  const shortening = Compacting.run(keeping(compaction, last + 1), overflow, within, (messages) => {
    state.compact(messages)
    state.ahead = { turn, made: 1 }
  })
  return Effect.flatMap(surviving(shortening, running, meter), (done) =>
    done.type === "shorter"
      ? Effect.void
      : RunContext.emit(run, () => ({
          type: "not-compacted",
          compaction: compaction.name,
          ...("error" in done ? { why: "failed", error: done.error } : { why: "not-shorter" })
        }))
  )
}

/**
 * The model that can count the tokens of the request. After a resumption, a model that `prepareTurn` chose before the suspension no longer
 * exists: then there is none.
 */
const counting = (running: Shortening, counted: Entry | undefined): Model.Service | undefined =>
  isUnbuilt(running, counted) ? undefined : counterOf(running.prepare?.model ?? running.model, counted?.model)

/** How long the run waits for the provider to count tokens. */
const patience = Duration.seconds(10)

/** The tokens of a request, as the provider counts them; `null` if the provider gives no count. A failed count does not fail the run. */
const countBy = (model: Model.Service, request: () => Model.Request): Effect.Effect<number | null> =>
  Interception.step<number | null, never, never>(
    () => ({ type: "token count", model: model.name }),
    () =>
      Effect.catchCause(
        Effect.map(
          Effect.timeoutOption(
            Effect.suspend(() => count(model, request())),
            patience
          ),
          (said) => (Option.isSome(said) && Usage.isAmount(said.value) ? said.value : null)
        ),
        (cause) => {
          const error = Cause.squash(cause)
          return Cause.hasInterrupts(cause) || RunContext.isLimit(error) || RunContext.isHalt(error)
            ? Effect.failCause(cause as Cause.Cause<never>)
            : Effect.succeed(null)
        }
      )
  )

/** The limits of a compaction: one turn and the reserve for the final answer stay with the run. */
const limited = (meter: Meter): Meter => {
  const leftOf = (reason: "maxTokens" | "maxCost"): number => {
    const left = meter.chain.map((one) => one.limits[reason] - one.spent(reason, 0) - (one.reserve?.(reason) ?? 0))
    return meter.spent(reason, 0) + Math.min(...left)
  }
  return meter.contender({
    maxTurns: Math.max(0, meter.left("maxTurns") - 1),
    maxToolCalls: meter.left("maxToolCalls"),
    maxTokens: leftOf("maxTokens"),
    maxCost: leftOf("maxCost")
  })
}

/** If the compaction alone reaches a limit, the compaction fails and the run goes on. If the run's own time is over, the run ends. */
const surviving = (
  shortening: Effect.Effect<Compacted>,
  { run, state }: Shortening,
  meter: Meter
): Effect.Effect<Compacted> =>
  Effect.catchCause(shortening, (cause) => {
    const { ended } = meter
    if (Cause.hasInterrupts(cause) || ended === undefined || !meter.endedAlone || run.meter.ended !== undefined)
      return Effect.failCause(cause)
    if (ended.reason === "maxDuration") return end(run.meter, ended)
    return Effect.succeed({ type: "gave up", error: errorOf(ended, run, state) })
  })

/**
 * The estimated tokens of a conversation, and an upper bound: text in a script other than Latin may have four times as many tokens as
 * estimated.
 */
interface Measured {
  readonly tokens: number
  readonly most: number
}

/** The tokens of the conversation; `undefined` if nothing is known about them, or if nothing was added since the compaction in `turn`. */
const measure = (
  visible: Message.Transcript,
  last: number,
  counted: Entry | undefined,
  turn = 0
): Measured | undefined => {
  // without a reply there is no measured size
  if (counted === undefined) return last < 0 || turn > 0 ? undefined : measured(0, estimateOf(visible))
  if (!isCounted(counted) || counted.turn < turn) return undefined
  return measured(
    Usage.total(counted.usage) - Usage.total(counted.resent ?? Usage.empty),
    estimateOf([...resultsOf(visible[last]), ...visible.slice(last + 1)])
  )
}

const measured = (counted: number, estimate: number): Measured => ({
  tokens: counted + estimate,
  most: counted + 4 * estimate
})

type Entry = RunContext.RunContext["ledger"]["entries"][number]

/** Whether a message is a reply that the loop of this run has received. */
const isReply =
  (runId: string) =>
  ({ outcome, purpose, runId: of }: Entry): boolean =>
    of === runId && outcome === "used" && purpose !== "routing"

const isCounted = ({ isEstimated, usage }: Entry): boolean => isEstimated === undefined && Usage.total(usage) > 0

/** The context window that the model of the last reply declares. */
const declared = (running: Shortening, counted: Entry | undefined): number | undefined =>
  isUnbuilt(running, counted)
    ? running.beginning.from?.prepared?.contextWindow
    : windowOf(running.prepare?.model ?? running.model, counted?.model)

/** Whether the last reply came from a model that `prepareTurn` chose before the run was suspended. Such a model no longer exists. */
const isUnbuilt = ({ beginning: { from } }: Shortening, counted: Entry | undefined): boolean =>
  from?.prepared?.model !== undefined && counted?.turn === from.turn

/** Without a known window nothing is shortened. The run warns once about that. */
const withoutWindow = (
  { beginning, prepare, run, state }: Shortening,
  counted: Entry | undefined,
  { name: compaction }: Compaction
): Effect.Effect<void> => {
  // `prepareTurn` chooses the first model later, so its window is not known yet
  if (state.ahead !== undefined || (prepare !== undefined && counted === undefined)) return Effect.void
  state.ahead = { turn: 0, made: 0 }
  if (beginning.from !== undefined) return Effect.void
  return RunContext.emit(run, () => ({ type: "not-compacted", compaction, why: "no-window" }))
}

/** Whether a reply is complete: only then does its token count cover the conversation up to it. */
const isWhole = (message: Message.Message): boolean => message.role === "assistant" && message.incomplete === undefined

/** The tool results after the last reply, which the model has not read yet. */
const resultsOf = (message: Message.Message | undefined): ReadonlyArray<string> =>
  message?.role === "assistant"
    ? message.content.flatMap((part) => (part.type === "settled-call" ? [part.settlement.text] : []))
    : []

/**
 * The compaction of the messages that the model has read. Some of them stay even if the compaction drops them: the prompt, the run's input,
 * calls without a result, and the calls of the last reply. The results of the last reply may become shorter.
 */
const keeping = (compaction: Compaction, read: number): Compaction => ({
  ...compaction,
  compact: (overflow) => {
    const { input } = overflow
    const before = overflow.transcript.slice(0, read)
    const last = before.at(-1)
    const shorten = Interception.step(
      () => ({ type: "compaction", compaction: compaction.name, isAgent: compaction.agent !== undefined }),
      () => failing(compaction, { ...overflow, transcript: [...before] })
    )
    return Effect.map(shorten, (messages) => {
      const kept = last === undefined ? { messages, last } : withCalls(messages, last, before)
      const needed = before.flatMap((message) => {
        if (message === last && resultsOf(last).length > 0) return [kept.last ?? message]
        return isNeeded(message, input) ? [message] : []
      })
      return [...withAll(kept.messages, needed), ...overflow.transcript.slice(read)]
    })
  }
})

/** Runs a compaction. A function that throws counts as a failed compaction; an interruption and the end of the run pass through. */
const failing = ({ compact, name }: Compaction, overflow: Overflow): Effect.Effect<Message.Transcript, unknown> =>
  Effect.catchCause(
    Effect.suspend(() => Returned.effect(compact(overflow), "The function of compaction", name)),
    (cause) => {
      const error = Cause.squash(cause)
      return Cause.hasInterrupts(cause) || RunContext.isLimit(error) || RunContext.isHalt(error)
        ? Effect.failCause(cause)
        : Effect.fail(error)
    }
  )

/**
 * Finds the last reply after the compaction, if all of its calls are still there. A reply that lost some calls is removed from the
 * messages.
 */
const withCalls = (
  messages: Message.Transcript,
  last: Message.Message,
  before: Message.Transcript
): { readonly messages: Message.Transcript; readonly last: Message.Message | undefined } => {
  const ids = callIdsOf(last)
  const other = messages.findLast(
    (message) =>
      callIdsOf(message).some((id) => ids.includes(id)) &&
      // ids of calls may repeat in other turns
      // Mutant `true` survives: a last reply that is as it was is then found by its content
      !before.some((one) => one !== last && isSame(one, message))
  )
  const isWhole = other !== undefined && ids.every((id) => callIdsOf(other).includes(id))
  return isWhole
    ? { messages, last: other }
    : { messages: messages.filter((message) => message !== other), last: undefined }
}

const callIdsOf = (message: Message.Message): ReadonlyArray<string> => {
  // Mutants `false`, `["Stryker was here"]` survive: no other message has calls, and no call has this id
  if (message.role !== "assistant") return []
  return message.content.flatMap((part) => (part.type === "settled-call" ? [part.call.id] : []))
}

const isNeeded = (message: Message.Message, input: Message.User | undefined): boolean => {
  if (message.role === "assistant") return message.content.some(isToCome)
  return message.role === "system" || (input !== undefined && isSame(message, input))
}

const isToCome = (part: Message.Assistant["content"][number]): boolean =>
  part.type === "settled-call" && part.settlement.kind === "deferred"

/** The messages, with the needed ones that are missing put back at their places. */
const withAll = (messages: Message.Transcript, needed: Message.Transcript): Message.Transcript => {
  const all = [...messages]
  let at = 0
  for (const message of needed) {
    const found = all.findIndex((other, index) => index >= at && isSame(other, message))
    if (found < 0) all.splice(at, 0, message)
    at = found < 0 ? at + 1 : found + 1
  }
  return all
}

/** Compares by content: a message from a record or a snapshot is another object. */
const isSame = (a: Message.Message, b: Message.Message): boolean =>
  a === b || (a.role === b.role && JSON.stringify(a) === JSON.stringify(b))
