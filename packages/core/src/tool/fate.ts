/** How a call is settled if it is ended from outside: by its run, a limit, another call, or a message of the user. */
import * as Message from "../data/Message.ts"
import * as Redaction from "../data/Redaction.ts"
import type { CallCheckpoint } from "../event/Checkpoint.ts"
import type { SideEffects } from "../recovery/Node.ts"
import * as Render from "../recovery/Render.ts"

/** The fields of an unsettled call that this module reads. */
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
 * What is known of an unsettled call. Its tool has not begun (`not-begun`), or waits for a person (`unapproved`); or the tool has begun
 * (`begun`); or an unsafe tool has begun, and nothing says that it took no effect (`unknown`).
 */
type Fate = "not-begun" | "unapproved" | "begun" | "unknown"

const fateOf = (call: LiveCall | undefined): Fate => {
  if (call === undefined) return "not-begun"
  const { entry, isAsked, state } = call
  if (state.mayHaveActed && entry.tool.sideEffects === "unsafe") return "unknown"
  if (state.runs > 0 || state.mayHaveActed) return "begun"
  return isAsked === true || state.type === "Waiting" || state.why?.type === "waits" ? "unapproved" : "not-begun"
}

// `Message` is not destructured: a bundler would then keep all of its module
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

/** The settlement of a call that is ended before it has one: by its run, or by a message of the user that interrupts or supersedes. */
export const ended = (call: LiveCall | undefined, by: keyof typeof settlements = "run"): Message.Settlement =>
  settlements[by][fateOf(call)]

/** The settlement of a call that a limit or another call has cut off. `why` is part of the text for the model. */
export const cutOff = (call: LiveCall, why: string): Message.Settlement => {
  const text = `ERROR: the call was stopped, for ${why}`
  return mayHaveActed(call)
    ? { kind: "unknown", text: Redaction.own(Render.withCutOff(text)) }
    : { kind: "interrupted", text: Redaction.own(text) }
}

export const mayHaveActed = (call: LiveCall): boolean => fateOf(call) === "unknown"

export const isUnapproved = (call: LiveCall): boolean => fateOf(call) === "unapproved"

/** What is known of a call that waited in a snapshot and that its resumed run has not reached yet. */
export const liveFrom = (from: CallCheckpoint, sideEffects: SideEffects): LiveCall => {
  const failed = from.type === "decision" ? from.request.failed : undefined
  const hasBegun = from.type !== "decision" || (from.progress?.executions ?? 0) > 0
  return {
    entry: { tool: { sideEffects: failed?.sideEffects ?? sideEffects } },
    state: { type: "Waiting", runs: hasBegun ? 1 : 0, mayHaveActed: hasBegun && failed?.verified !== "no-effect" }
  }
}
