/** The decision about a reached limit, and the failures before it. */
import type * as Deferred from "effect/Deferred"
import type { Trail } from "../errors/Trail.ts"
import type { LimitAction } from "./Budget.ts"

export interface Asked {
  readonly limit: number
  readonly answer: Deferred.Deferred<LimitAction | undefined>
  /** The decision of `onExceeded`, or `stop` if that decision is not possible. */
  action: LimitAction["type"] | undefined
}

/** The failures before the end: what was decided about them, and the one before a wait for which there was no time. */
export interface Because {
  readonly trail: Trail
  readonly cause?: unknown
}
