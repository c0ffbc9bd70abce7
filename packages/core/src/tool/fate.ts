/** How a call is settled that is ended from outside: by its run, a limit, another call, or a message of the user. */
import * as Message from "../data/Message.ts"
import * as Redaction from "../data/Redaction.ts"
import type { CallCheckpoint } from "../event/Checkpoint.ts"
import type { SideEffects } from "../recovery/Node.ts"
import * as Render from "../recovery/Render.ts"

/** A call that is not settled, as far as this reads it. */
export interface LiveCall {
  readonly entry: { readonly tool: { readonly sideEffects: SideEffects } }
  readonly state: {
    readonly type: string
    readonly runs: number
    readonly mayHaveActed: boolean
    readonly why?: { readonly type: string }
  }
  /** Whether a person is asked about its failure just now. */
  readonly isAsked?: boolean
}

/**
 * What is known of a call: its tool has not begun, and perhaps waits for a person; it has begun, and it does not matter whether it took
 * effect; or it is `unsafe`, has begun, and nothing says that it took no effect.
 */
type Fate = "not-begun" | "unapproved" | "begun" | "unknown"

const fateOf = (call: LiveCall | undefined): Fate => {
  if (call === undefined) return "not-begun"
  const { entry, isAsked, state } = call
  if (state.mayHaveActed && entry.tool.sideEffects === "unsafe") return "unknown"
  if (state.runs > 0 || state.mayHaveActed) return "begun"
  return isAsked === true || state.type === "Waiting" || state.why?.type === "waits" ? "unapproved" : "not-begun"
}

// not destructured: a bundler would keep all of the module then
const settlements = {
  run: {
    "not-begun": Message.interrupted,
    unapproved: Message.unapproved,
    begun: Message.interrupted,
    unknown: Message.unknown
  },
  interrupt: {
    "not-begun": Message.passedOver,
    unapproved: Message.passedOver,
    begun: Message.interrupted,
    unknown: Message.unknown
  },
  supersede: {
    "not-begun": Message.superseded,
    unapproved: Message.superseded,
    begun: Message.supersededAtWork,
    unknown: Message.unknown
  }
} satisfies Record<string, Record<Fate, Message.Settlement>>

/** The settlement of an open call that its run ends now, or a message that interrupts or supersedes. */
export const ended = (call: LiveCall | undefined, by: keyof typeof settlements = "run"): Message.Settlement =>
  settlements[by][fateOf(call)]

/** The same where a limit or another call ends it; `why` is what the model reads. */
export const cutOff = (call: LiveCall, why: string): Message.Settlement => {
  const text = `ERROR: the call was stopped, for ${why}`
  return mayHaveActed(call)
    ? { kind: "unknown", text: Redaction.own(Render.withCutOff(text)) }
    : { kind: "interrupted", text: Redaction.own(text) }
}

export const mayHaveActed = (call: LiveCall): boolean => fateOf(call) === "unknown"

export const isUnapproved = (call: LiveCall): boolean => fateOf(call) === "unapproved"

/** Of a call that waited in a snapshot, before its turn comes. */
export const liveFrom = (from: CallCheckpoint, sideEffects: SideEffects): LiveCall => {
  const failed = from.type === "decision" ? from.request.failed : undefined
  const hasBegun = from.type !== "decision" || (from.progress?.executions ?? 0) > 0
  return {
    entry: { tool: { sideEffects: failed?.sideEffects ?? sideEffects } },
    state: { type: "Waiting", runs: hasBegun ? 1 : 0, mayHaveActed: hasBegun && failed?.verified !== "no-effect" }
  }
}
