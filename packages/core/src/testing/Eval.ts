/**
 * Compares recovery policies on scenarios of your own. `compare` plays each scenario under each policy, on a virtual clock and with the same
 * random numbers. A check, which knows nothing of the policies, judges each run.
 */
import * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Random from "effect/Random"
import * as Schema from "effect/Schema"
import { tagOf } from "../data/ErrorCause.ts"
import * as Usage from "../data/Usage.ts"
import type * as AgentEvent from "../event/AgentEvent.ts"
import { endedWithin, onVirtualClock } from "./clocks.ts"
import * as RecordedEvents from "./RecordedEvents.ts"

/** Identifies one run of a scenario. */
interface Run {
  readonly seed: number
  readonly scenario: string
  /** The number of the run, from 0. Runs with the same number draw the same random numbers under every policy. */
  readonly run: number
}

/** A run that has ended, as `check` gets it. */
interface Ended<out World, out O> {
  /** The world after the run, with everything that the tools did to it. */
  readonly world: World
  /** The output of the run; `undefined` if the run failed. */
  readonly output: O | undefined
  /** The error of the run; `undefined` if the run has an output. */
  readonly error: unknown
  readonly events: ReadonlyArray<AgentEvent.AgentEvent>
}

/** A task in which something goes wrong. */
interface Scenario<in out World, in out I, in out O> {
  readonly name: string
  readonly input: I
  /** Makes the world of a run: the state that tools read and change, and the faults. Each run gets a new world. */
  readonly world: (run: Run) => World
  /** Whether the run did its task. The check does not know which policy was used. */
  readonly check: (ended: Ended<World, O>) => boolean
}

/** A recovery policy under comparison: a function that adds the recovery to an agent. */
interface Policy<in A, in I, out O, out R> {
  readonly name: string
  readonly guard: (agent: A) => (input: I) => Effect.Effect<O, unknown, R>
}

interface Options<World, I, O, A, P extends Policy<A, I, O, unknown>> {
  readonly scenarios: ReadonlyArray<Scenario<World, I, O>>
  readonly policies: ReadonlyArray<P & Policy<A, I, O, unknown>>
  /** Makes the agent for a world, without any policy. */
  readonly agent: (world: World) => A
  /** How many times each scenario is run under each policy; 10 by default. */
  readonly runs?: number
  /** The seed of the random numbers in all runs; 1 by default. `world` gets it too. */
  readonly seed?: number
  /**
   * The clock of the runs. `virtual`, the default: waits take no time. `real`: for models and tools that wait for a network or a disk,
   * whose time limits would end at once on a virtual clock.
   */
  readonly clock?: "virtual" | "real"
  /** The time limit of a run, which fails with `Hung` beyond it; a day by default. The finalizers of the run have the same time again. */
  readonly limit?: Duration.Input
}

/** A number of successes and its share of all runs, with a confidence interval. */
interface Share extends Schema.Schema.Type<typeof Share> {}

const Share = Schema.Struct({
  count: Schema.Finite,
  of: Schema.Finite,
  /** `count / of`; 0 if `of` is 0. */
  rate: Schema.Finite,
  /** The lower end of the 95 % confidence interval of Wilson (1927). `low` is 0 and `high` is 1 if `of` is 0. */
  low: Schema.Finite,
  high: Schema.Finite
})

/** The results of one policy over all scenarios. Amounts are means over its runs, and include the amounts of fixers and failed attempts. */
const PolicyRow = Schema.Struct({
  policy: Schema.String,
  passed: Share,
  /** How many runs have an output that did not pass the check. */
  silent: Schema.Finite,
  /** How many runs failed, by the tag of their error, or by `Defect`, `Interrupted` or `Hung`. */
  failures: Schema.Record(Schema.String, Schema.Finite),
  modelCalls: Schema.Finite,
  tokens: Schema.Finite,
  /** The mean time in milliseconds that the policy waited before retries. */
  waitMillis: Schema.Finite
})

/** The report of a comparison. */
export interface EvalReport extends Schema.Schema.Type<typeof EvalReport> {}

/** The schema of a report, which reads it from JSON. */
export const EvalReport = Schema.Struct({
  type: Schema.tag("kintsugi-eval"),
  seed: Schema.Finite,
  runs: Schema.Finite,
  policies: Schema.Array(PolicyRow),
  /** For each scenario the share of its passed runs under each policy, in the order of `policies`. */
  scenarios: Schema.Array(Schema.Struct({ scenario: Schema.String, passed: Schema.Array(Share) }))
})

interface Outcome {
  readonly scenario: string
  readonly policy: string
  readonly isPassed: boolean
  readonly failure: string | undefined
  readonly modelCalls: number
  readonly tokens: number
  readonly waitMillis: number
}

/**
 * Plays each scenario under each policy. The same seed gives the same report, if the agents and the models draw from `Random` alone. An
 * invalid number of runs, seed or limit is a `RangeError`; two scenarios or two policies with one name are a `TypeError`. If `world`,
 * `agent`, `guard` or `check` throws, the comparison ends with that defect.
 *
 * @example
 * ```ts
 * import { Agent, Recovery, Tool } from "@kintsugi/core"
 * import { Eval, ScriptedModel } from "@kintsugi/core/testing"
 * import { Effect, Schema } from "effect"
 *
 * const { answering, call, calls, text } = ScriptedModel
 * const model = answering(({ messages }) => (messages.length === 1 ? calls(call("look", {})) : text("found")))
 *
 * // the world of a run: how often the tool is still to fail
 * const clerkIn = (world: { failures: number }) => {
 *   const look = Tool.make("look", {
 *     description: "Looks.",
 *     parameters: Schema.Struct({}),
 *     success: Schema.String,
 *     run: () => (world.failures-- > 0 ? Effect.fail(new Error("busy")) : Effect.succeed("found"))
 *   })
 *   return Agent.make("clerk", { tools: [look], model })
 * }
 * const program = Eval.compare({
 *   agent: clerkIn,
 *   scenarios: [
 *     {
 *       name: "busy",
 *       input: "Look it up",
 *       world: () => ({ failures: 1 }),
 *       check: ({ output, world }) => output === "found" && world.failures < 0
 *     }
 *   ],
 *   policies: [
 *     { name: "none", guard: (clerk) => clerk },
 *     { name: "retry", guard: (clerk) => clerk.pipe(Agent.toolDefaults({ orElse: Recovery.retry({ retries: 1 }) })) }
 *   ]
 * })
 *
 * Effect.runPromise(Effect.map(program, (report) => Eval.passed(report, "retry").rate)) // => 1
 * ```
 */
export const compare = <World, I, O, A, P extends Policy<A, I, O, unknown>>({
  agent,
  clock = "virtual",
  limit = "1 day",
  policies,
  runs = 10,
  scenarios,
  seed = 1
}: Options<World, I, O, A, P>): Effect.Effect<EvalReport, never, Needs<P>> => {
  if (!(Number.isSafeInteger(runs) && runs >= 1)) {
    throw new RangeError(`Eval.compare: runs must be a whole number of at least 1, got ${runs}`)
  }
  if (!Number.isFinite(seed)) throw new RangeError(`Eval.compare: seed must be a number, got ${seed}`)
  const longest = Option.getOrUndefined(Duration.fromInput(limit))
  if (longest === undefined || !Duration.isFinite(longest) || !Duration.isPositive(longest)) {
    throw new RangeError(`Eval.compare: limit must be a finite duration above 0, got ${String(limit)}`)
  }
  distinct("scenarios", scenarios)
  distinct("policies", policies)
  return Effect.gen(function* () {
    // Mutant `["Stryker was here"]` survives: a text is an outcome of no policy
    const outcomes: Array<Outcome> = []
    for (let run = 0; run < runs; run++) {
      for (const scenario of scenarios) {
        for (const policy of policies) {
          const of: Run = { seed, scenario: scenario.name, run }
          const played = play(scenario, policy, agent, of, longest)
          // each policy has requirements of its own, which the type of this loop cannot express
          outcomes.push(
            yield* (clock === "real" ? played : onVirtualClock(played)) as Effect.Effect<Outcome, never, Needs<P>>
          )
        }
      }
    }
    return reportOf(outcomes, { policies, runs, scenarios, seed })
  })
}

/** The union of the services that the policies need. */
type Needs<P> = P extends Policy<never, never, unknown, infer R> ? R : never

const play = <World, I, O, A, R>(
  { check, input, name, world: worldOf }: Scenario<World, I, O>,
  policy: Policy<A, I, O, R>,
  agent: (world: World) => A,
  of: Run,
  limit: Duration.Duration
): Effect.Effect<Outcome, never, R> =>
  Effect.gen(function* () {
    const world = worldOf(of)
    const events = RecordedEvents.makeUnsafe()
    const run = policy.guard(agent(world))
    const exit = yield* Effect.suspend(() => run(input)).pipe(
      (self) => endedWithin(self, limit),
      Effect.provide(events.layer),
      Random.withSeed(`${of.seed}/${name}/${of.run}`),
      Effect.exit
    )
    const error = Exit.isSuccess(exit) ? undefined : Cause.squash(exit.cause)
    const output = Exit.isSuccess(exit) ? exit.value : undefined
    // a policy may start several runs of its agent, and a resumed run has its id again: the last ledger of each run counts
    const ledgers = new Map(
      events.all.flatMap((event) =>
        event.parent === undefined && "ledger" in event ? [[event.runId, event.ledger] as const] : []
      )
    )
    const ledger = [...ledgers.values()].flat()
    return {
      scenario: name,
      policy: policy.name,
      isPassed: check({ world, output, error, events: events.all }),
      failure: Exit.isSuccess(exit) ? undefined : nameOf(exit.cause),
      modelCalls: ledger.length,
      tokens: sum(ledger.map(({ usage }) => Usage.total(usage))),
      waitMillis: sum(events.of("verdict").map(({ delay }) => Duration.toMillis(delay)))
    }
  })

/** The name of a failure in the report: the tag of its error, or else the name of its class. */
const nameOf = (cause: Cause.Cause<unknown>): string => {
  const found = cause.reasons.find(Cause.isFailReason)
  if (found === undefined) return Cause.hasInterruptsOnly(cause) ? "Interrupted" : "Defect"
  const { error } = found
  return error instanceof Error && !Predicate.hasProperty(error, "_tag") ? error.name : tagOf(error)
}

const distinct = (what: string, named: ReadonlyArray<{ readonly name: string }>): void => {
  const names = named.map(({ name }) => name)
  if (new Set(names).size < names.length || names.length === 0) {
    throw new TypeError(`Eval.compare: the ${what} need names that tell them apart, got ${names.join(", ") || "none"}`)
  }
}

interface Names {
  readonly policies: ReadonlyArray<{ readonly name: string }>
  readonly scenarios: ReadonlyArray<{ readonly name: string }>
  readonly runs: number
  readonly seed: number
}

const reportOf = (outcomes: ReadonlyArray<Outcome>, { policies, runs, scenarios, seed }: Names): EvalReport => ({
  type: "kintsugi-eval",
  seed,
  runs,
  policies: policies.map(({ name }) =>
    rowOf(
      name,
      outcomes.filter(({ policy }) => policy === name)
    )
  ),
  scenarios: scenarios.map(({ name }) => ({
    scenario: name,
    passed: policies.map((one) =>
      passedOf(outcomes.filter(({ policy, scenario }) => policy === one.name && scenario === name))
    )
  }))
})

const rowOf = (policy: string, outcomes: ReadonlyArray<Outcome>): EvalReport["policies"][number] => {
  const failures = new Map<string, number>()
  for (const { failure } of outcomes) if (failure !== undefined) failures.set(failure, (failures.get(failure) ?? 0) + 1)
  const mean = (of: (outcome: Outcome) => number) => sum(outcomes.map(of)) / outcomes.length
  return {
    policy,
    passed: passedOf(outcomes),
    silent: outcomes.filter(({ failure, isPassed }) => failure === undefined && !isPassed).length,
    // `Object.fromEntries` is safe for keys such as `constructor`
    failures: Object.fromEntries(failures),
    modelCalls: mean(({ modelCalls }) => modelCalls),
    tokens: mean(({ tokens }) => tokens),
    waitMillis: mean(({ waitMillis }) => waitMillis)
  }
}

const passedOf = (outcomes: ReadonlyArray<Outcome>): Share =>
  share(outcomes.filter(({ isPassed }) => isPassed).length, outcomes.length)

const sum = (values: ReadonlyArray<number>): number => values.reduce((total, value) => total + value, 0)

/** The 97.5th percentile of the normal distribution, for a 95 % confidence interval. */
const z = 1.959963984540054

/**
 * The share of `count` in `of`, with the interval of Wilson at 95 %. Unlike the usual interval it has a width if all or none succeeded, and
 * it stays between 0 and 1. A count that is not a whole number, or above `of`, is a `RangeError`.
 *
 * Source: E. B. Wilson, "Probable Inference, the Law of Succession, and Statistical Inference", 1927.
 *
 * @internal
 */
export const share = (count: number, of: number): Share => {
  if (!(isCount(count) && isCount(of) && count <= of))
    throw new RangeError(`Eval.share: there are no ${count} of ${of}`)
  if (of === 0) return { count, of, rate: 0, low: 0, high: 1 }
  const rate = count / of
  const scale = 1 + z ** 2 / of
  const middle = (rate + z ** 2 / (2 * of)) / scale
  const half = (z * Math.sqrt((rate * (1 - rate)) / of + z ** 2 / (4 * of ** 2))) / scale
  return {
    count,
    of,
    rate,
    // if no run or every run counts, the exact bound equals the rate, and rounding could miss it
    low: count === 0 ? 0 : Math.max(0, middle - half),
    high: count === of ? 1 : Math.min(1, middle + half)
  }
}

const isCount = (value: number): boolean => Number.isSafeInteger(value) && value >= 0

/**
 * The share of runs that passed under a policy. It counts all scenarios, or one. It has `count` of `of`, `rate`, and the bounds `low` and
 * `high` of the interval. An unknown name is a `TypeError`.
 */
export const passed = ({ policies, scenarios }: EvalReport, policy: string, scenario?: string): Share => {
  const index = policies.findIndex((row) => row.policy === policy)
  // Mutant `false` survives: no scenario lacks a name
  const row = scenario === undefined ? undefined : scenarios.find((one) => one.scenario === scenario)
  const found = scenario === undefined ? policies[index]?.passed : row?.passed[index]
  if (found !== undefined) return found
  const hasPolicy = index >= 0
  const names = hasPolicy ? scenarios.map((one) => one.scenario) : policies.map((one) => one.policy)
  const what = hasPolicy ? `scenario '${scenario}'` : `policy '${policy}'`
  throw new TypeError(`Eval.passed: there is no ${what}, only ${names.join(", ")}`)
}

/** A report as text for terminals. It has a line for each policy and a line for each scenario. */
export const format = ({ policies, runs, scenarios, seed }: EvalReport): string =>
  [
    `${runs} runs of each scenario under each policy, seed ${seed}`,
    "",
    ...columns([
      ["policy", "passed (95 %)", "silent", "failed with", "calls", "tokens", "waited"],
      ...policies.map(({ failures, modelCalls, passed, policy, silent, tokens, waitMillis }) => [
        policy,
        formatShare(passed),
        String(silent),
        Object.entries(failures)
          .map(([tag, count]) => `${tag} ${count}`)
          .join(", ") || "–",
        modelCalls.toFixed(1),
        tokens.toFixed(0),
        `${(waitMillis / 1000).toFixed(1)} s`
      ])
    ]),
    "",
    ...columns([
      ["passed, in per cent", ...policies.map(({ policy }) => policy)],
      ...scenarios.map(({ passed, scenario }) => [scenario, ...passed.map(({ rate }) => percent(rate))])
    ])
  ].join("\n")

/**
 * A share as text: its rate and the bounds of its interval, in per cent.
 *
 * @internal
 */
export const formatShare = ({ high, low, of, rate }: Share): string =>
  of === 0 ? "–" : `${percent(rate)} % (${percent(low)}–${percent(high)})`

const percent = (rate: number): string => String(Math.round(rate * 100))

/** Aligns texts in columns: the first column to the left, all others to the right. */
const columns = (lines: ReadonlyArray<ReadonlyArray<string>>): ReadonlyArray<string> => {
  const widths = (lines[0] ?? []).map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)))
  return lines.map((line) =>
    line
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0)))
      .join("  ")
      .trimEnd()
  )
}
