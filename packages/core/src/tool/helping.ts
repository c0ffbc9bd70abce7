/** A fixer at work: a part of the run whose call it repairs. */
import { helping } from "../event/Helping.ts"
import type * as RunContext from "../event/RunContext.ts"
import * as Interception from "../model/Interception.ts"
import type { Fix, FixEvent, FixRound, Helping } from "../recovery/Node.ts"

export const helpingCall = (
  { fixer }: Fix,
  seen: unknown,
  round: FixRound,
  call: { readonly callId: string; readonly tool: string },
  run: RunContext.RunContext
): Helping<FixEvent> => {
  const at = { ...call, round: round.run }
  const repairing = { error: seen, attempts: round.context.attempt }
  const { within, ...others } = helping<FixEvent>(fixer, run, { repairing }, (event) => ({ ...event, ...at }))
  return { ...others, within: (start) => within(() => Interception.step(() => ({ kind: "fixer run", ...at }), start)) }
}
