/** What a reader has seen of a reply that broke off, and what becomes of it before another attempt. */
import * as Effect from "effect/Effect"
import type { Happening } from "../event/Happening.ts"
import * as RunContext from "../event/RunContext.ts"
import type { Calling, Shown } from "./modelCallState.ts"

/** What a reader has seen of the reply, where the last attempt has added to it. */
export const added = ({ prefix, state: { shown } }: Calling): Shown | undefined =>
  shown === undefined || shown.text === (prefix?.text ?? "") ? undefined : shown

/** Whether another attempt may be made after what a reader has seen of this one. */
export const admits = (call: Calling): boolean => {
  const { model, onPartial } = call.options
  const shown = added(call)
  if (shown === undefined || onPartial === "restart") return true
  return onPartial !== "fail" && onPartial.admits(model, call.request, shown.text)
}

export const whyNot = (call: Calling): { readonly why?: "no-continuation" } =>
  call.options.onPartial === "fail" || admits(call) ? {} : { why: "no-continuation" }

/** Before another attempt: it replaces what the last one has shown, or goes on from its text. Thoughts are not continued. */
export const carryOn = (call: Calling): Effect.Effect<void> =>
  Effect.suspend(() => {
    const { prefix, options, state } = call
    const { onPartial } = options
    const shown = added(call)
    const goesOn = shown === undefined ? prefix : typeof onPartial === "object" ? onPartial.keep(shown.text) : undefined
    if (goesOn === undefined) return discard(call)
    call.prefix = goesOn
    if (state.shown === undefined) return Effect.void
    const dropped = state.shown.of.content.flatMap((part) =>
      part.type === "tool-call" ? [{ callId: part.id, tool: part.name }] : []
    )
    const also = dropped.length === 0 ? {} : { dropped }
    return forget(call, (attempt) => ({ type: "attempt-continued", attempt, kept: goesOn.text, ...also }))
  })

/** Discards the shown text of the reply. */
export const discard = (call: Calling): Effect.Effect<void> =>
  Effect.suspend(() => {
    const shown = call.state.shown ?? call.prefix
    if (shown === undefined) return Effect.void
    call.prefix = undefined
    call.options.conversation?.show(undefined)
    return forget(call, (attempt) => ({ type: "attempt-discarded", attempt, text: shown.text }))
  })

/** From here on the last attempt has shown nothing. */
const forget = (call: Calling, make: (attempt: number) => Happening): Effect.Effect<void> => {
  const { attempts } = call.state
  call.state = { type: "Idle", attempts, shown: undefined }
  return RunContext.emit(call.options.run, () => make(attempts))
}
