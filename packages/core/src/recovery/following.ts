/** How a policy follows verdicts that change the input of the next attempt: fixers, persons and compactions. */
import * as Effect from "effect/Effect"
import { attemptCap, maxAttemptsPerCall, maxCompactions, maxRepairs } from "./bounds.ts"
import type { Compactions } from "./Layer.ts"
import type { Ask, Compact, Fix } from "./Node.ts"
import type { Failure, Follow, Policy } from "./policy.ts"
import { repeat, type Step } from "./repairing.ts"

/** Runs a fixer if the row admits it. */
export const fixing: Follow<Fix> = (policy, node, failure) =>
  failure.row.admits(node) ? fix(policy, node, failure) : policy.gaveUp(node, failure)

export const compacting: Follow<Compact> = (policy, node, failure) => {
  const { compact, compactions = { made: 0 } as Compactions } = policy.layer.repairs
  const isCapped = compactions.made >= maxCompactions || policy.made >= maxAttemptsPerCall
  if (compact === undefined || isCapped) return policy.gaveUp(node, failure)
  const { gate = Effect.void } = compactions
  const compacting = Effect.andThen(gate, () => compact(node, failure.error))
  return Effect.flatMap(compacting, (compacted) => {
    if (compacted.type === "shorter") {
      compactions.made++
      return policy.record(node.kind, failure, Effect.succeed(repeat))
    }
    if ("error" in compacted) policy.remember(policy.failures, compacted.error)
    return policy.gaveUp(node, failure, undefined, false, compacted.why)
  })
}

export const consulting: Follow<Ask> = (policy, node, failure) => {
  const { site } = policy.layer.repairs
  if (site === undefined) return policy.gaveUp(node, failure)
  return Effect.flatMap(node.isReachable(site), (isReachable) =>
    isReachable ? fix(policy, node, failure) : policy.gaveUp(node, failure, undefined, false, "no-approver")
  )
}

/** Runs a fixer or asks a person, until an answer fits or the rung gives up. */
const fix = <R>(
  policy: Policy<R>,
  node: Fix | Ask,
  failure: Failure,
  unfit?: unknown
): Effect.Effect<Step, never, R> => {
  const { fix: run } = policy.layer.repairs
  const slot = policy.slotOf(node.kind, failure)
  const { wasAsked = false, ...later } = failure
  const runs = slot.count + (wasAsked ? 0 : 1)
  if (run === undefined || policy.isHalted || runs > node.maxRuns) return policy.gaveUp(node, failure)
  if (policy.made >= maxAttemptsPerCall) return policy.gaveUp(node, failure, attemptCap)
  if (policy.repairs >= maxRepairs && !wasAsked) return policy.gaveUp(node, failure, `${maxRepairs} repairs per call`)
  slot.count = runs
  if (!wasAsked) policy.repairs++
  const { error, row } = failure
  const fixRun = { run: runs, maxRuns: node.maxRuns, context: policy.context(failure), error, unfit, wasAsked }
  const fixed = Effect.flatMap(
    Effect.suspend(() => run(node, row.seen, fixRun)),
    (fixed): Effect.Effect<Step, never, R> => {
      switch (fixed.type) {
        case "not-counted":
          return fix(policy, node, later, fixed.unfit)
        case "skipped":
          return policy.gaveUp(node, later)
        case "repaired":
          return Effect.succeed(repeat)
        case "failed": {
          policy.remember(policy.failures, fixed.error)
          const { next } = fixed
          return fix(policy, node, "next" in fixed ? { ...later, error: next, row: { ...row, seen: next } } : later)
        }
        default:
          return Effect.succeed(fixed)
      }
    }
  )
  // the decision of this rung was recorded before the run was suspended
  return wasAsked ? fixed : policy.record(node.kind, failure, fixed)
}
