/** The text that a reader has seen of a broken reply: it is continued, replaced or discarded. */
import * as Effect from "effect/Effect"
import * as RunContext from "../event/RunContext.ts"
import type { Calling } from "./modelCallState.ts"

/** Whether another attempt may follow, given the text that the reader has seen of this attempt. */
export const admits = (call: Calling): boolean => {
  const { onPartial } = call.options
  if (typeof onPartial === "object") return onPartial.admits(call)
  const { shown } = call.state
  return shown === undefined || shown.text === "" || onPartial === "restart"
}

/** The reason for no further attempt, if the failure does not show it. */
export const whyNot = ({ options: { onPartial } }: Calling): { readonly why?: "no-continuation" } =>
  // Mutant `true` survives: a word does not keep the text
  typeof onPartial === "object" && onPartial.keepsText ? { why: "no-continuation" } : {}

/** Before another attempt: continues the shown text, or discards it. */
export const goOn = (call: Calling): Effect.Effect<void> =>
  Effect.suspend(() => {
    const { onPartial } = call.options
    return (typeof onPartial === "object" ? onPartial.goOn(call) : undefined) ?? discard(call)
  })

/** Discards the shown text of the reply. */
export const discard = (call: Calling): Effect.Effect<void> =>
  Effect.suspend(() => {
    const { attempts: attempt, shown = call.prefix } = call.state
    if (shown === undefined) return Effect.void
    call.state = { type: "Idle", attempts: attempt, shown: undefined }
    if (call.prefix !== undefined) call.prefix = undefined
    call.options.conversation?.show(undefined)
    return RunContext.emit(call.options.run, () => ({ type: "attempt-discarded", attempt, text: shown.text }))
  })
