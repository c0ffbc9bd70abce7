/**
 * The sentences, columns and rows that the drawing and the page of a comparison share.
 *
 * @internal
 */
import type { EvalReport } from "@kintsugi/core/testing/Eval"
import type { Column } from "../page/StillPage.ts"
import { count, duration } from "../text/Words.ts"

/** The results of one policy. */
export type PolicyRow = EvalReport["policies"][number]

/** The share of runs that passed, with its interval. */
export type Share = PolicyRow["passed"]

/** A rate in whole per cent. */
export const percent = (rate: number): string => `${Math.round(rate * 100)} %`

/** A share in per cent, with the bounds of its interval. */
export const shareText = ({ high, low, of, rate }: Share): string =>
  of === 0 ? "–" : `${percent(rate)} (${percent(low)} to ${percent(high)})`

/** One sentence about what was compared. */
export const sentence = ({ policies, runs, scenarios, seed }: EvalReport): string =>
  `${count(policies.length, "policy", "policies")} on ${count(scenarios.length, "scenario")}, ${count(runs, "run")} of each, seed ${seed}.`

/** The columns of the table of policies. */
export const policyColumns: ReadonlyArray<Column> = [
  { heading: "policy" },
  { heading: "passed (95 %)", isNumber: true },
  { heading: "silent", isNumber: true },
  { heading: "failed with" },
  { heading: "model calls", isNumber: true },
  { heading: "tokens", isNumber: true },
  { heading: "waited", isNumber: true }
]

/** A row of the table for each policy. Model calls, tokens and waits are means over its runs. */
export const policyRows = ({ policies }: EvalReport): ReadonlyArray<ReadonlyArray<string>> =>
  policies.map(({ failures, modelCalls, passed, policy, silent, tokens, waitMillis }) => [
    policy,
    shareText(passed),
    String(silent),
    Object.entries(failures)
      .map(([tag, many]) => `${tag} ${many}`)
      .join(", ") || "–",
    modelCalls.toFixed(1),
    tokens.toFixed(0),
    duration(waitMillis)
  ])

/** The columns of the table of scenarios: the scenario, and one column for each policy. */
export const scenarioColumns = ({ policies }: EvalReport): ReadonlyArray<Column> => [
  { heading: "scenario" },
  ...policies.map(({ policy }) => ({ heading: policy, isNumber: true }))
]

/** A row of the table for each scenario. */
export const scenarioRows = ({ scenarios }: EvalReport): ReadonlyArray<ReadonlyArray<string>> =>
  scenarios.map(({ passed, scenario }) => [scenario, ...passed.map(shareText)])
