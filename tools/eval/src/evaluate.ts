/** Plays all scenarios under all policies, run by run, until all is played or the money is spent. */
import type { Budget, Model } from "@kintsugi/core"
import { Data, Effect } from "effect"
import { type Outcome, onVirtualClock, play } from "./play.ts"
import type { Policy } from "./policies.ts"
import type { Rates } from "./rates.ts"
import type { Scenario } from "./scenario.ts"
import { drawOf } from "./seeds.ts"
import * as StandIn from "./standIn.ts"

/** What is evaluated. */
export interface Plan {
  readonly scenarios: ReadonlyArray<Scenario>
  readonly policies: ReadonlyArray<Policy>
  /** How often each scenario is played under each policy. */
  readonly runs: number
  readonly seed: number
  readonly rates: Rates
  /** Of the model that answers. */
  readonly price: Budget.Price | undefined
  /** Of all runs together; live runs have such limits. */
  readonly limits: { readonly maxTokens: number; readonly maxCost: number }
  /** Hears how far it is, after each scenario of a round. */
  readonly heard?: (line: string) => void
}

/** What came of it. */
export interface Evaluation {
  readonly outcomes: ReadonlyArray<Outcome>
  /** How many runs were planned; fewer outcomes mean that a limit was reached. */
  readonly planned: number
  /** By all runs, one that was cut off at a limit included. */
  readonly spent: { readonly tokens: number; readonly cost: number }
}

/** The model cannot be asked at all: no run would tell anything. */
export class ModelUnusable extends Data.TaggedError("ModelUnusable")<{ readonly message: string }> {}

/** The next run would meet these again. */
const lasting: ReadonlySet<string> = new Set(["AuthenticationError", "QuotaExhaustedError", "ModelNotFoundError"])

/** And these, where they come without any fault. */
const fundamental: ReadonlySet<string> = new Set(["CapabilityMismatchError", "InvalidRequestError"])

/** And these, where the very first run meets them: no model answers. */
const unreachable: ReadonlySet<string> = new Set(["NetworkError", "RequestTimeoutError"])

const isUnusable = ({ failure }: Outcome, isFaulty: boolean, isFirst: boolean): boolean => {
  if (failure === undefined) return false
  if (lasting.has(failure)) return true
  return !isFaulty && (fundamental.has(failure) || (isFirst && unreachable.has(failure)))
}

/** With the stand-in, each run on a virtual clock of its own. */
export const offline = (plan: Plan): Effect.Effect<Evaluation, ModelUnusable> =>
  evaluate(plan, (scenario, run, playing) =>
    onVirtualClock(playing(StandIn.make(scenario, plan.rates, drawOf(plan.seed, scenario.name, run, "model"))))
  )

/** With a real model, or a server in its place, in real time. */
export const live = (plan: Plan, model: Model.Service): Effect.Effect<Evaluation, ModelUnusable> =>
  evaluate(plan, (_scenario, _run, playing) => playing(model))

type Calling = (
  scenario: Scenario,
  run: number,
  playing: (model: Model.Service) => Effect.Effect<Outcome>
) => Effect.Effect<Outcome>

const evaluate = Effect.fnUntraced(function* (plan: Plan, calling: Calling) {
  const { limits, policies, price, rates, runs, scenarios, seed } = plan
  const outcomes: Array<Outcome> = []
  const spent = { tokens: 0, cost: 0 }
  const [first] = policies
  const planned = first === undefined ? 0 : runs * scenarios.length * (policies.length + 1)
  // run by run, so that all have had their turn when the money is spent
  for (let run = 0; run < runs; run++) {
    for (const scenario of scenarios) {
      const breaks = drawOf(seed, scenario.name, run, "breaks").chance(rates.breaks)
      for (const policy of [undefined, ...policies]) {
        const left = { tokens: limits.maxTokens - spent.tokens, cost: limits.maxCost - spent.cost }
        if (left.tokens < 1 || left.cost <= 0 || first === undefined) return { outcomes, planned, spent }
        const budget: Budget.Limits = {
          maxTokens: left.tokens,
          ...(price === undefined ? {} : { maxCost: left.cost, prices: { "*": price } })
        }
        const isFaulty = policy !== undefined && breaks
        // without a fault no policy has anything to do, so any of them will do
        const played = { scenario, policy: policy ?? first, isFaulty, seed, run, budget }
        const outcome = yield* calling(scenario, run, (model) => play(played, model))
        spent.tokens += outcome.tokens
        spent.cost += outcome.cost
        if (isUnusable(outcome, isFaulty, outcomes.length === 0)) {
          return yield* new ModelUnusable({ message: outcome.message ?? "the model cannot be asked" })
        }
        const isOver = spent.tokens >= limits.maxTokens || spent.cost >= limits.maxCost
        // what our own limit has cut off tells nothing of the policy
        if (isOver && outcome.failure === "BudgetExceededError") return { outcomes, planned, spent }
        // a run that its fault has spared is one more without a fault, under the policy that it had
        outcomes.push({ ...outcome, policy: policy?.name })
      }
      plan.heard?.(`${outcomes.length} of ${planned} runs, ${spent.tokens} tokens: ${scenario.name}`)
    }
  }
  return { outcomes, planned, spent }
})
