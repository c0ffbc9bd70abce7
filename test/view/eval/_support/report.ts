/** A report as `Eval.compare` gives it. */
import type { EvalReport } from "@kintsugi/core/testing/Eval"
import { share } from "../../../../packages/core/src/testing/Eval.ts"

/** The first policy passes where it is lucky, the others more often. */
export const reportOf = (
  policies: ReadonlyArray<string>,
  scenarios: ReadonlyArray<string>,
  failure = "Busy"
): EvalReport => ({
  type: "kintsugi-eval",
  seed: 3,
  runs: 10,
  policies: policies.map((policy, index) => ({
    policy,
    passed: share(index === 0 ? 5 : 15, 20),
    silent: 3,
    failures: { [failure]: index === 0 ? 12 : 2 },
    modelCalls: 2.5,
    tokens: 120.4,
    waitMillis: 1500
  })),
  scenarios: scenarios.map((scenario, at) => ({
    scenario,
    passed: policies.map((_, index) => share(at > 0 ? 5 : index === 0 ? 0 : 10, 10))
  }))
})
