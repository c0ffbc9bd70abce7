/** What the outcomes say, as numbers. */
import type { Evaluation } from "./evaluate.ts"
import type { Outcome } from "./play.ts"
import type { Class } from "./scenario.ts"
import { mean, type Share, share } from "./statistics.ts"

/** What a run takes, on average. */
export interface Amounts {
  readonly turns: number
  readonly modelCalls: number
  readonly tokens: number
  /** In US dollars. */
  readonly cost: number
}

/** One policy over all scenarios. */
export interface PolicyRow {
  readonly policy: string
  readonly runs: number
  /** Of the runs in which the fault has happened. */
  readonly healed: Share
  /** Runs in which something was done that the user had not asked for. */
  readonly wrong: number
  /** The same for each kind of fault. */
  readonly classes: Readonly<Record<Class, Share>>
  /** Runs that were not healed, and whose model claims a success although the last that it was told was a failure. */
  readonly claimed: number
  /** Other runs that ended with an answer and without an error, and have not done what they were asked for. */
  readonly silent: number
  /** Of healed runs: what they took beyond the same scenarios without a fault; `undefined` where none was healed. */
  readonly extra: Amounts | undefined
  /** Of healed runs: milliseconds that the policy has waited. */
  readonly waited: number | undefined
  /** All tokens of all runs with a fault, healed or not, for each that was healed. */
  readonly tokensPerHealed: number | undefined
  readonly costPerHealed: number | undefined
  /** How often runs have failed, by the tag of the error. */
  readonly failures: Readonly<Record<string, number>>
}

/** One scenario: how often it was healed under each policy, in the order of the rows. */
export interface ScenarioRow {
  readonly scenario: string
  readonly healed: ReadonlyArray<Share>
  /** The same of runs in which something was done that was not asked for. */
  readonly wrong: ReadonlyArray<number>
}

export interface Report {
  readonly policies: ReadonlyArray<PolicyRow>
  readonly scenarios: ReadonlyArray<ScenarioRow>
  /** Runs without a fault that have done what they were asked for. */
  readonly sound: Share
  /** What a run without a fault takes. */
  readonly plain: Amounts | undefined
  readonly spent: { readonly runs: number; readonly planned: number; readonly tokens: number; readonly cost: number }
}

interface Names {
  readonly scenarios: ReadonlyArray<{ readonly name: string; readonly of: Class }>
  readonly policies: ReadonlyArray<{ readonly name: string }>
}

export const reportOf = ({ outcomes, planned, spent }: Evaluation, { policies, scenarios }: Names): Report => {
  const plain = outcomes.filter(({ policy }) => policy === undefined)
  // beside a run without a fault that went wrong by itself, nothing can be measured
  const sound = plain.filter(({ isHealed }) => isHealed)
  const beside = new Map(
    scenarios.map(({ name }) => [name, amountsOf(sound.filter(({ scenario }) => scenario === name))] as const)
  )
  return {
    policies: policies.map(({ name }) =>
      rowOf(
        name,
        outcomes.filter(({ policy }) => policy === name),
        beside,
        scenarios
      )
    ),
    scenarios: scenarios.map(({ name }) => {
      const under = policies.map((policy) =>
        outcomes.filter((one) => one.scenario === name && one.policy === policy.name)
      )
      return { scenario: name, healed: under.map(healedOf), wrong: under.map(wrongOf) }
    }),
    sound: share(sound.length, plain.length),
    plain: amountsOf(sound),
    spent: { runs: outcomes.length, planned, ...spent }
  }
}

const rowOf = (
  policy: string,
  outcomes: ReadonlyArray<Outcome>,
  beside: ReadonlyMap<string, Amounts | undefined>,
  scenarios: Names["scenarios"]
): PolicyRow => {
  const met = outcomes.filter(({ isMet }) => isMet)
  const healed = met.filter(({ isHealed }) => isHealed)
  const failures: Record<string, number> = {}
  for (const { failure } of met) if (failure !== undefined) failures[failure] = (failures[failure] ?? 0) + 1
  const unhealed = met.filter(({ failure, isHealed }) => failure === undefined && !isHealed)
  const claimed = unhealed.filter(({ isClaimed }) => isClaimed).length
  const inClass = (of: Class) => new Set(scenarios.filter((one) => one.of === of).map(({ name }) => name))
  return {
    policy,
    runs: outcomes.length,
    healed: healedOf(outcomes),
    classes: ofEach((of) => healedOf(outcomes.filter(({ scenario }) => inClass(of).has(scenario)))),
    claimed,
    silent: unhealed.length - claimed,
    wrong: wrongOf(outcomes),
    extra: extraOf(healed, beside),
    waited: mean(healed.map(({ waited }) => waited)),
    tokensPerHealed: healed.length === 0 ? undefined : sumOf(met, "tokens") / healed.length,
    costPerHealed: healed.length === 0 ? undefined : sumOf(met, "cost") / healed.length,
    failures
  }
}

const ofEach = (shareOf: (of: Class) => Share): Readonly<Record<Class, Share>> => ({
  arguments: shareOf("arguments"),
  tools: shareOf("tools"),
  network: shareOf("network"),
  model: shareOf("model"),
  output: shareOf("output"),
  fixer: shareOf("fixer")
})

const healedOf = (outcomes: ReadonlyArray<Outcome>): Share => {
  const met = outcomes.filter(({ isMet }) => isMet)
  return share(met.filter(({ isHealed }) => isHealed).length, met.length)
}

const wrongOf = (outcomes: ReadonlyArray<Outcome>): number =>
  outcomes.filter(({ isMet, isWrong }) => isMet && isWrong).length

/** Each run beside the mean of its own scenario without a fault. */
const extraOf = (
  healed: ReadonlyArray<Outcome>,
  beside: ReadonlyMap<string, Amounts | undefined>
): Amounts | undefined => {
  const differences = healed.flatMap((outcome) => {
    const plain = beside.get(outcome.scenario)
    return plain === undefined ? [] : [amounts((key) => outcome[key] - plain[key])]
  })
  return amountsOf(differences)
}

const amountsOf = (outcomes: ReadonlyArray<Amounts>): Amounts | undefined =>
  outcomes.length === 0 ? undefined : amounts((key) => mean(outcomes.map((outcome) => outcome[key])) ?? 0)

const amounts = (of: (key: keyof Amounts) => number): Amounts => ({
  turns: of("turns"),
  modelCalls: of("modelCalls"),
  tokens: of("tokens"),
  cost: of("cost")
})

const sumOf = (outcomes: ReadonlyArray<Outcome>, key: "tokens" | "cost"): number =>
  outcomes.reduce((sum, outcome) => sum + outcome[key], 0)
