/** What was asked about a limit that a run has reached. */
import type * as Deferred from "effect/Deferred"
import type { LimitAction } from "./Budget.ts"

export interface Asked {
  readonly limit: number
  readonly answer: Deferred.Deferred<LimitAction | undefined>
  /** What `onExceeded` has decided, as far as it is possible. */
  action: LimitAction["type"] | undefined
}
