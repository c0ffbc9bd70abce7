/** What a renderer is told besides the failure. */
import type { Recovery } from "@kintsugi/core"
import { Duration } from "effect"

/** Of the first attempt of a call of `fetch`, unless `known` says otherwise. */
export const contextOf = (
  sideEffects: Recovery.SideEffects,
  overrides: Partial<Recovery.FailureContext> = {}
): Recovery.FailureContext => ({
  attempt: 1,
  previous: [],
  elapsed: Duration.zero,
  failingBatches: 0,
  failuresInARow: 0,
  tool: "fetch",
  callId: "c1",
  sideEffects,
  kind: "local",
  ...overrides
})
