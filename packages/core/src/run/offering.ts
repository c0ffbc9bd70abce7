/** What the model is offered of tools whose servers may change them. */
import * as Effect from "effect/Effect"
import type * as Model from "../model/Model.ts"
import type { Looping } from "./running.ts"

/** The request, without the tools that may not be offered as they are now, and with the definitions of the others. */
export const offer = (
  { run, state, toolset: { pinned } }: Looping,
  request: () => Model.Request
): Effect.Effect<Model.Request> => {
  const pin = pinned?.[0].pin
  if (pinned === undefined || pin === undefined) return Effect.succeed(request())
  return Effect.map(pin.offer(pinned, state.pins, run), (offered) => {
    const usual = request()
    const tools = usual.tools.flatMap((spec) => (offered.has(spec.name) ? (offered.get(spec.name) ?? []) : spec))
    return { ...usual, tools }
  })
}
