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

/** When the conversation is shortened, and how. */
interface Options {
  readonly share: number
  readonly window: number | undefined
  readonly compaction: Compaction
}

/**
 * Shortens what the model reads once the tokens of its last reply, and an estimate of what was added since, reach the share of the window; where
 * four times that estimate would reach it, a model that can counts the tokens of the request instead. Before
 * the first reply of a run that goes on from a transcript, all tokens are an estimate. The run goes on in any case. It is not asked again before
 * another reply has told its usage.
 */
export const make = ({ compaction, share, window }: Options): Ahead => {
  /** The runs whose provider has not said how many tokens a request has: it is not asked again. */
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
  // an agent that shortens a conversation does not shorten its own by itself
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

/** The model that counts tokens. The one of a turn before the run was suspended is not built any more. */
const counting = (running: Shortening, counted: Entry | undefined): Model.Service | undefined =>
  isUnbuilt(running, counted) ? undefined : counterOf(running.prepare?.model ?? running.model, counted?.model)

/** How long a count may take. */
const patience = Duration.seconds(10)

/** The tokens of a request, as the provider counts them; `null` if it does not say. A failure of it is none of the run. */
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

/** What is left for a compaction: the run keeps a turn, and what it keeps for its answer. */
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

/** A limit that the compaction alone has reached is a failure of it; the end of the time of the run is none. */
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

/** The tokens of a conversation, and how many there may be: a text without Latin letters has up to four times its estimate. */
interface Measured {
  readonly tokens: number
  readonly most: number
}

/** The tokens of the conversation; `undefined` where nothing is known about them, or nothing new since it was shortened in `turn`. */
const measure = (
  visible: Message.Transcript,
  last: number,
  counted: Entry | undefined,
  turn = 0
): Measured | undefined => {
  // without a reply there is nothing to be measured by
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

/** A reply of the loop of this run. */
const isReply =
  (runId: string) =>
  ({ outcome, purpose, runId: of }: Entry): boolean =>
    of === runId && outcome === "used" && purpose !== "routing"

const isCounted = ({ isEstimated, usage }: Entry): boolean => isEstimated === undefined && Usage.total(usage) > 0

/** The window that the model of the last reply declares. */
const declared = (running: Shortening, counted: Entry | undefined): number | undefined =>
  isUnbuilt(running, counted)
    ? running.beginning.from?.prepared?.contextWindow
    : windowOf(running.prepare?.model ?? running.model, counted?.model)

/** Whether the model of the last reply was chosen for a turn before the run was suspended: it is not built any more. */
const isUnbuilt = ({ beginning: { from } }: Shortening, counted: Entry | undefined): boolean =>
  from?.prepared?.model !== undefined && counted?.turn === from.turn

/** Without a window nothing is shortened. That is said once in a run. */
const withoutWindow = (
  { beginning, prepare, run, state }: Shortening,
  counted: Entry | undefined,
  { name: compaction }: Compaction
): Effect.Effect<void> => {
  // which model is called first is chosen after this
  if (state.ahead !== undefined || (prepare !== undefined && counted === undefined)) return Effect.void
  state.ahead = { turn: 0, made: 0 }
  if (beginning.from !== undefined) return Effect.void
  return RunContext.emit(run, () => ({ type: "not-compacted", compaction, why: "no-window" }))
}

/** A reply that came to its end: the tokens that it has told are those of the conversation up to it. */
const isWhole = (message: Message.Message): boolean => message.role === "assistant" && message.incomplete === undefined

/** The results of its calls: the model has not read them yet. */
const resultsOf = (message: Message.Message | undefined): ReadonlyArray<string> =>
  message?.role === "assistant"
    ? message.content.flatMap((part) => (part.type === "settled-call" ? [part.settlement.text] : []))
    : []

/**
 * The compaction of what comes before the messages that the model has not read. Of that, the prompt, the run's input, the calls whose
 * results are to come, and the calls of the last reply stay, also if the compaction drops them. The results of the last reply may become shorter.
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

/** A function of a compaction that throws has failed. Interruptions and the end of the run are no failures of it. */
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
 * The last reply as the compaction has left it, if it has all of its calls, perhaps with shorter results. A form that lacks some of them is
 * taken out of the messages.
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
      // ids come again in other turns
      !before.some((one) => one !== last && isSame(one, message))
  )
  const isWhole = other !== undefined && ids.every((id) => callIdsOf(other).includes(id))
  return isWhole
    ? { messages, last: other }
    : { messages: messages.filter((message) => message !== other), last: undefined }
}

const callIdsOf = (message: Message.Message): ReadonlyArray<string> =>
  message.role === "assistant"
    ? message.content.flatMap((part) => (part.type === "settled-call" ? [part.call.id] : []))
    : []

const isNeeded = (message: Message.Message, input: Message.User | undefined): boolean => {
  if (message.role === "assistant") return message.content.some(isToCome)
  return message.role === "system" || (input !== undefined && isSame(message, input))
}

const isToCome = (part: Message.Assistant["content"][number]): boolean =>
  part.type === "settled-call" && part.settlement.kind === "deferred"

/** These messages, with those that are missing at their places. */
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

/** By content: what was recorded, or comes from a snapshot, is another object. */
const isSame = (a: Message.Message, b: Message.Message): boolean =>
  a === b || (a.role === b.role && JSON.stringify(a) === JSON.stringify(b))
