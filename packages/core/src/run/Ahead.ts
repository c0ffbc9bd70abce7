/** `Agent.compactAt`: the conversation is shortened at a safe point, before it is too long for the model. */
import * as Effect from "effect/Effect"
import type * as Message from "../data/Message.ts"
import * as Usage from "../data/Usage.ts"
import { ContextTooLongError } from "../errors/LlmError.ts"
import { helping } from "../event/Helping.ts"
import * as RunContext from "../event/RunContext.ts"
import * as Interception from "../model/Interception.ts"
import type * as Model from "../model/Model.ts"
import { estimateOf, leavesOf } from "../model/ModelCall.ts"
import * as Compacting from "../recovery/Compacting.ts"
import type { Compaction, CompactEvent, Overflow } from "../recovery/Node.ts"
import type { Ahead, Shortening } from "./plan.ts"

/** When the conversation is shortened, and how. */
interface Options {
  readonly share: number
  readonly window: number | undefined
  readonly compaction: Compaction
}

/**
 * Shortens what the model reads once the tokens of its last reply, and an estimate of what was added since, reach the share of the window. The
 * run goes on in any case. It is not asked again before another reply has told its usage.
 */
export const make = ({ compaction, share, window }: Options): Ahead => ({
  compaction,
  shorten: (running) =>
    Effect.suspend(() => {
      const { beginning, prepare, run, state } = running
      // the model of the last turn has told the tokens that are counted
      const model = prepare?.model ?? running.model
      const counted = run.ledger.entries.findLast(isReply(run.runId))
      const limit = window ?? declared(model, counted?.model)
      if (limit === undefined) return withoutWindow(running, compaction)
      if (counted === undefined || !isCounted(counted) || counted.turn < (state.ahead?.turn ?? 0)) return Effect.void
      const { visible } = state
      const last = visible.findLastIndex(isWhole)
      const tokens = Usage.total(counted.usage) + estimateOf([...resultsOf(visible[last]), ...visible.slice(last + 1)])
      if (tokens < share * limit) return Effect.void
      const within = helping<CompactEvent>(compaction, run, { isCompacting: true }, (event) => ({
        ...event,
        ahead: { tokens, window: limit }
      }))
      // an agent that shortens a conversation does not shorten its own by itself
      if (within.isAtWork) return Effect.void
      const { turn } = state
      state.ahead = { turn, made: 0 }
      const { model: name, provider } = counted
      const overflow: Overflow = {
        transcript: visible,
        error: ContextTooLongError.make({ model: name, provider, actual: tokens, limit }),
        input: beginning.said.message
      }
      const shortening = Compacting.run(keeping(compaction, last + 1), overflow, within, (messages) => {
        state.compact(messages)
        state.ahead = { turn, made: 1 }
      })
      return Effect.flatMap(shortening, (done) =>
        done.type === "shorter"
          ? Effect.void
          : RunContext.emit(run, () => ({
              type: "not-compacted",
              compaction: compaction.name,
              ...("error" in done ? { why: "failed", error: done.error } : { why: "not-shorter" })
            }))
      )
    })
})

type Entry = RunContext.RunContext["ledger"]["entries"][number]

/** A reply of the loop of this run. */
const isReply =
  (runId: string) =>
  ({ outcome, purpose, runId: of }: Entry): boolean =>
    of === runId && outcome === "used" && purpose !== "routing"

const isCounted = ({ isEstimated, usage }: Entry): boolean => isEstimated === undefined && Usage.total(usage) > 0

/** The window that the model declares: that of the single model which has answered last, else the smallest one. */
const declared = (model: Model.Service, name: string | undefined): number | undefined => {
  const windows = leavesOf(model).flatMap((leaf) =>
    isWindow(leaf.contextWindow) ? [{ name: leaf.name, window: leaf.contextWindow }] : []
  )
  const own = windows.find((leaf) => leaf.name === name)
  return own?.window ?? (windows.length === 0 ? undefined : Math.min(...windows.map(({ window }) => window)))
}

const isWindow = (window: number | undefined): window is number =>
  window !== undefined && Number.isFinite(window) && window > 0

/** Without a window nothing is ever shortened. That is said once in a run. */
const withoutWindow = (
  { beginning, run, state }: Shortening,
  { name: compaction }: Compaction
): Effect.Effect<void> => {
  if (state.ahead !== undefined) return Effect.void
  state.ahead = { turn: Infinity, made: 0 }
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
 * The compaction of what comes before the messages that the model has not read. Of that, the prompt, the run's input and the calls whose
 * results are to come stay, also if the compaction drops them.
 */
const keeping = (compaction: Compaction, read: number): Compaction => ({
  ...compaction,
  compact: (overflow) => {
    const { input } = overflow
    const before = overflow.transcript.slice(0, read)
    const shorten = Interception.step(
      () => ({ type: "compaction", compaction: compaction.name, isAgent: compaction.agent !== undefined }),
      () => compaction.compact({ ...overflow, transcript: [...before] })
    )
    const needed = before.filter((message) => isNeeded(message, input))
    return Effect.map(shorten, (messages) => [...withAll(messages, needed), ...overflow.transcript.slice(read)])
  }
})

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
