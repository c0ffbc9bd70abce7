/** Sub-agents that are suspended with the run whose tools they are. */
import type * as RunContext from "../event/RunContext.ts"
import type { Snapshot } from "../event/Snapshot.ts"
import type { Meter } from "../budget/Meter.ts"
import type { Beginning } from "./beginning.ts"
import type { Mode } from "./Frame.ts"
import type { Resuming, Start } from "./Start.ts"
import type { RunState } from "./state.ts"
import type { Place } from "../tool/Toolset.ts"

/** A run with calls to settle. */
interface Calling {
  readonly start: Start
  readonly beginning: Beginning
  readonly state: RunState
  readonly run: RunContext.RunContext
  readonly mode: Mode
}

/** Where the sub-agent of a call stands, where the run can be suspended or goes on. */
export const placeOf = (
  { beginning, mode, run, start, state }: Calling,
  index: number,
  key: string
): Place | undefined => {
  const nested = beginning.from?.open?.nested?.find((one) => one.key === key)
  if (!mode.isSuspendable && nested === undefined) return undefined
  const above = [run.meter, ...(mode.nesting?.above ?? [])]
  return {
    nested,
    nesting: (from, args) => ({
      isSuspendable: mode.isSuspendable,
      above,
      resumption: from === undefined || start.kind === "input" ? undefined : resumptionOf(start, from),
      started: (capture) => {
        const captured: (typeof state.captures)[number] = (now) => {
          const snapshot = capture(now)
          if (snapshot === undefined) return undefined
          return { requests: snapshot.open?.requests ?? [], nested: { key, arguments: args, snapshot } }
        }
        state.captures[index] = captured
      }
    }),
    over: () => {
      state.captures[index] = undefined
    }
  }
}

const resumptionOf = ({ recall, resumption: { decisions = [] } }: Resuming, from: Snapshot) => ({
  from,
  decisions,
  recall
})

/** What the sub-agents had spent that are suspended with it is among what the run had spent. */
export const paid = (meter: Meter, { open }: Snapshot): void => {
  for (const { snapshot } of open?.nested ?? []) {
    meter.paidFor(snapshot.runId, snapshot.spent)
    paid(meter, snapshot)
  }
}
