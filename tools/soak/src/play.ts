/** Plays a scenario, without a fault and with each of its faults, and holds the invariants of the library against each run. */
import { FaultPlan, FaultSweep, Invariants } from "@kintsugi/core/testing"
import { Effect } from "effect"
import { build } from "./build.ts"
import { type FaultData, type Scenario } from "./scenario.ts"

type Step = Effect.Success<ReturnType<typeof FaultPlan.steps>>["steps"][number]

type Violation = Parameters<typeof FaultSweep.format>[0]

/** The result of one scenario. */
export interface Result {
  readonly runs: number
  /** How many faults were injected. */
  readonly injected: number
  readonly events: number
  readonly violations: ReadonlyArray<Violation>
}

/** All its runs, one after the other, each on a clock of its own. */
export const playAll = (
  scenario: Scenario,
  invariants: Readonly<Record<string, Invariants.Invariant>> = Invariants.all
): Effect.Effect<Result> =>
  Effect.gen(function* () {
    const violations: Array<Violation> = []
    let [runs, injected, events] = [0, 0, 0]
    const run = Effect.fnUntraced(function* (mode: Violation["mode"], step?: Step, plan?: FaultPlan.FaultPlan) {
      const built = build(scenario)
      const { recording, steps } = yield* FaultSweep.play(built.agent, built.scenario, mode, plan, built.around)
      runs++
      events += recording.events.length
      const found = Object.entries(invariants).flatMap(([invariant, holds]) =>
        holds(recording).map((message) => ({ invariant, message }))
      )
      if (found.length > 0) violations.push({ mode, step, fault: plan?.fault, found, events: recording.events })
      return steps
    })
    const clean = { whole: yield* run("whole"), streamed: yield* run("streamed") }
    for (const fault of scenario.faults) {
      const steps = clean[fault.mode]
      const step = steps[Math.floor(fault.at * steps.length)]
      if (step === undefined) continue
      injected++
      yield* run(fault.mode, step, planOf(step, fault.kind))
    }
    return { runs, injected, events, violations }
  })

/** Steps that are the user's own work, and can be interrupted amid it. */
const working: ReadonlySet<Step["type"]> = new Set(["tool attempt", "look-up", "fixer run"])

/** Not every fault fits every step: a listener has no failures, and a wait runs no code. */
const planOf = ({ type: at, number }: Step, kind: FaultData["kind"]): FaultPlan.FaultPlan => {
  if (at === "wait") return FaultPlan.interruption(number)
  switch (kind) {
    case "error":
      return at === "listener" || at === "approval" ? FaultPlan.defect(number) : FaultPlan.error(number)
    case "defect":
      return FaultPlan.defect(number)
    case "latency":
      return FaultPlan.latency(number, "1 minute")
    case "before":
      return FaultPlan.interruption(number)
    case "within":
      return FaultPlan.interruption(number, working.has(at) ? "within" : "before")
    case "after":
      // a reply that came and was not handed over leaves no trace
      return FaultPlan.interruption(number, at === "tool attempt" ? "after" : "before")
  }
}

/** All that is needed to see it again: the seed, the scenario, and what was found. */
export const format = (scenario: Scenario, { violations }: Pick<Result, "violations">): string =>
  [
    `seed ${scenario.seed}: ${violations.length} runs go against an invariant`,
    `scenario ${JSON.stringify(scenario)}`,
    ...violations.map(FaultSweep.format)
  ].join("\n")
