/** Injects every fault once into a scripted run. It checks the invariants on each of these runs. */
import * as Cause from "effect/Cause"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Metric from "effect/Metric"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import type * as AgentEvent from "../event/AgentEvent.ts"
import { canonical, Digest } from "../data/Digest.ts"
import * as Model from "../model/Model.ts"
import * as FaultPlan from "./FaultPlan.ts"
import * as Invariants from "./Invariants.ts"
import * as RecordedEvents from "./RecordedEvents.ts"
import type { Fault, FaultStep } from "./faults.ts"
import { Recorder, type Recording } from "./recorder.ts"
import type * as ScriptedModel from "./ScriptedModel.ts"

/** The members of an agent that a sweep uses. */
interface Runnable<in I, out O, out E, out R> {
  (input: I): Effect.Effect<O, E, R>
  readonly stream: (input: I) => Stream.Stream<AgentEvent.AgentEvent, E, R>
  readonly name: string
}

/** A scenario of a sweep: an input, the replies of the models, and the faults to inject. */
interface Scenario<out I, in Services = never> {
  readonly input: I
  /**
   * The replies of the model, one for each turn. A repeated model call in a turn gets the same reply, and the last reply repeats. If there
   * are several agents, each has its replies under its name. The sweep ignores the models that agents have of their own: the script answers
   * for them too.
   */
  readonly script:
    | ReadonlyArray<ScriptedModel.ScriptedStep>
    | Readonly<Record<string, ReadonlyArray<ScriptedModel.ScriptedStep>>>
  /** The services that the agent needs, except a model. Each run builds them anew. */
  readonly layer?: Layer.Layer<Services, unknown>
  /** The failure to inject into a tool, by the tool's name. Other tools fail with an `InjectedError`. */
  readonly failures?: Readonly<Record<string, () => unknown>>
  /** The delays to inject into each step, one per run; 1 minute and 10 minutes by default. */
  readonly latencies?: ReadonlyArray<Duration.Input>
  /** Names of unsafe tools that you allow to run twice in one call. */
  readonly mayRunTwice?: ReadonlyArray<string>
  /** The invariants to check; `Invariants.all` by default. */
  readonly invariants?: Readonly<Record<string, Invariants.Invariant>>
}

/** How the runs of a sweep are started: `whole` for the output, `streamed` for the events. */
type Mode = "whole" | "streamed"

/** One run that broke an invariant. */
interface Violation {
  readonly mode: Mode
  /** The step at which the fault was injected; `undefined` in a run without a fault. */
  readonly step: FaultStep | undefined
  readonly fault: Fault | undefined
  /** The invariants that the run broke, each with a message. */
  readonly found: ReadonlyArray<{ readonly invariant: string; readonly message: string }>
  readonly events: ReadonlyArray<AgentEvent.AgentEvent>
}

/** The report of a sweep without violations. */
interface Report {
  readonly runs: number
  /** How many faults the sweep injected, by the kind of their step. */
  readonly injections: ReadonlyMap<FaultStep["type"], number>
}

/** The violations of a sweep; `message` shows the first three. */
class FaultSweepError extends Data.TaggedError("FaultSweepError")<{
  readonly message: string
  readonly violations: ReadonlyArray<Violation>
  readonly runs: number
}> {}

/** The script does not fit the agent. The sweep fails with it before it injects a fault. */
class ScenarioError extends Data.TaggedError("ScenarioError")<{ readonly message: string }> {}

/**
 * A violation as text: the step, the fault, the broken invariants, and the events of the run.
 *
 * @internal
 */
export const format = ({ events, fault, found, mode, step }: Violation): string =>
  [
    step === undefined ? `${mode}, nothing injected` : `${mode}, ${FaultPlan.format(step)}, ${nameOf(fault)}`,
    ...found.map(({ invariant, message }) => `  ✗ ${invariant}: ${message}`),
    ...events.map((event) => `    ${RecordedEvents.format(event)}`)
  ].join("\n")

const nameOf = (fault: Fault | undefined): string => {
  if (fault?.type === "latency") return `latency of ${Duration.format(fault.by)}`
  if (fault?.type === "interruption") return `interruption ${whens[fault.when]}`
  return fault?.type ?? "nothing"
}

const whens = { before: "as it begins", within: "while it is at work", after: "when it is done" }

/**
 * Plays a scenario once per step and fault. The first play has no fault: it counts the steps. Then each step gets each fault that can occur
 * there, in a whole and in a streamed run, each time on a clock of its own. Everything outside the agent must be a fake on Effect's
 * `Clock`, because runs do not wait for real time.
 *
 * The report counts the runs and the injected faults. If an invariant does not hold, the sweep fails with a `FaultSweepError` that has every
 * violation. If the script does not fit the agent, it fails with a `ScenarioError`.
 */
export const run = <I, O, E, R, Services = never>(
  agent: Runnable<I, O, E, R>,
  scenario: Scenario<I, Services>
): Effect.Effect<Report, FaultSweepError | ScenarioError, Exclude<R, Model.Model | Services>> =>
  Effect.gen(function* () {
    const { invariants = Invariants.all } = scenario
    const violations: Array<Violation> = []
    const injections = new Map<FaultStep["type"], number>()
    let runs = 0
    const look = (mode: Mode, { recording }: Played, step?: FaultStep, fault?: Fault) => {
      runs++
      const found = Object.entries(invariants).flatMap(([invariant, holds]) =>
        holds(recording).map((message) => ({ invariant, message }))
      )
      if (found.length > 0) violations.push({ mode, step, fault, found, events: recording.events })
    }
    for (const mode of ["whole", "streamed"] as const) {
      const clean = yield* play(agent, scenario, mode)
      const misfit = misfitOf(agent.name, scenario.script, clean)
      if (misfit !== undefined) return yield* new ScenarioError({ message: `${mode}: ${misfit}` })
      look(mode, clean)
      for (const step of clean.steps) {
        for (const fault of faultsOf(step, scenario)) {
          look(mode, yield* play(agent, scenario, mode, { at: step.number, fault }), step, fault)
          injections.set(step.type, (injections.get(step.type) ?? 0) + 1)
        }
      }
    }
    if (violations.length === 0) return { runs, injections }
    const shown = violations.slice(0, 3).map(format)
    const message = [`${violations.length} of ${runs} runs go against an invariant`, ...shown].join("\n\n")
    return yield* new FaultSweepError({ message, violations, runs })
  })

/**
 * The faults that can occur at a step. A listener and an approval get no failure, because they cannot fail; a wait runs no code, so it can
 * only be interrupted.
 */
const faultsOf = (
  step: FaultStep,
  { failures = {}, latencies = ["1 minute", "10 minutes"] }: Pick<Scenario<unknown>, "failures" | "latencies">
): ReadonlyArray<Fault> => {
  const interruption = FaultPlan.interruption(1).fault
  if (step.type === "wait") return [interruption]
  const delays = latencies.map((by) => FaultPlan.latency(1, by).fault)
  const always = [FaultPlan.defect(1).fault, ...delays, interruption]
  if (step.type === "listener" || step.type === "approval") return always
  // Mutant `step.of.type` survives: only a wait is not intercepted
  const own = step.of?.type === "tool attempt" ? failures[step.of.tool] : undefined
  // other steps are scripted and end at once, so an interruption within them would come at a later step
  const within = working.has(step.type) ? [FaultPlan.interruption(1, "within").fault] : []
  const after = step.type === "tool attempt" ? [FaultPlan.interruption(1, "after").fault] : []
  return [FaultPlan.error(1, own).fault, ...always, ...within, ...after]
}

/** The kinds of steps that run user code, which may take time. */
const working: ReadonlySet<FaultStep["type"]> = new Set(["tool attempt", "look-up", "fixer run"])

interface Played {
  readonly recording: Recording
  readonly steps: ReadonlyArray<FaultStep>
  /** The number of the last turn in which each agent called its model. */
  readonly asked: ReadonlyMap<string, number>
}

/** The reason why the script does not fit the agent, found in a run without faults; `undefined` if it fits. */
const misfitOf = (name: string, script: Scenario<unknown>["script"], { asked, recording }: Played) => {
  const lines = linesOf(name, script)
  const unknown = [...asked.keys()].find((agent) => lines[agent] === undefined)
  if (unknown !== undefined) return `the script has no lines for the agent '${unknown}'`
  const { exit } = recording
  if (exit === undefined) return "the run does not end within a day, though nothing went wrong in it"
  const unused = Object.entries(lines).find(([agent, { length }]) => (asked.get(agent) ?? 0) < length)
  if (unused !== undefined) {
    const how = Exit.isSuccess(exit) ? "" : `, and the run ended with ${String(Cause.squash(exit.cause))}`
    return `only ${asked.get(unused[0]) ?? 0} of ${unused[1].length} steps of the agent '${unused[0]}' were asked for${how}`
  }
  // Mutant `lines[agent].length` survives: each agent has lines here
  const beyond = [...asked].find(([agent, turns]) => turns > (lines[agent]?.length ?? 0))
  return beyond === undefined
    ? undefined
    : `the agent '${beyond[0]}' asks for turn ${beyond[1]}, which is not in the script`
}

const linesOf = (
  name: string,
  script: Scenario<unknown>["script"]
): Readonly<Record<string, ReadonlyArray<ScriptedModel.ScriptedStep>>> =>
  // `Array.isArray` does not narrow the type of a readonly array
  Array.isArray(script) ? { [name]: script } : (script as Exclude<typeof script, ReadonlyArray<unknown>>)

/** Lets other fibers run until all of them wait for the clock. */
// Mutant `false` survives: all callers drop the value of the loop
const settle = Effect.forEach(Array.from({ length: 5 }), () => Effect.yieldNow, { discard: true })

/**
 * Plays one run, with one fault or none. `around` wraps the model of agents without a model of their own.
 *
 * @internal
 */
export const play = <I, O, E, R, Services>(
  agent: Runnable<I, O, E, R>,
  // Mutant `["Stryker was here"]` survives: no tool has this name
  { input, layer, mayRunTwice = [], script }: Scenario<I, Services>,
  mode: Mode,
  plan?: FaultPlan.FaultPlan,
  around: (model: Model.Service) => Model.Service = (model) => model
): Effect.Effect<Played, never, Exclude<R, Model.Model | Services>> =>
  Effect.gen(function* () {
    const events = RecordedEvents.makeUnsafe()
    const recorder = new Recorder(linesOf(agent.name, script), () => events.all.length)
    const seen: Array<AgentEvent.AgentEvent> = []
    let fibers = 0
    const counted: Metric.FiberRuntimeMetricsService = {
      recordFiberStart: () => void fibers++,
      recordFiberEnd: () => void fibers--
    }
    const running =
      mode === "whole"
        ? Effect.asVoid(agent(input))
        : Stream.runForEach(agent.stream(input), (event) => Effect.sync(() => void seen.push(event)))
    const watched = running.pipe(
      FaultPlan.injecting(plan, recorder),
      Effect.provideService(Metric.FiberRuntimeMetrics, counted),
      // a digest that needs no real time, because the clock of a run is virtual
      Effect.provideService(Digest, (value) => Effect.succeed(canonical(value))),
      Effect.provide(events.layer),
      Effect.provideService(Model.Model, around(recorder.model)),
      // a scenario without a layer needs no service but the model
      Effect.provide(layer ?? (Layer.empty as Layer.Layer<never> as Layer.Layer<Services>))
    )
    const root = yield* Effect.forkDetach(watched)
    yield* settle
    yield* TestClock.adjust("1 day")
    yield* settle
    const exit = root.pollUnsafe()
    const left = { fibers, steps: recorder.unfinished }
    const atEnd = { events: events.all.length, steps: recorder.steps.length }
    if (exit === undefined) yield* Effect.forkDetach(Fiber.interrupt(root))
    yield* TestClock.adjust("1 day")
    yield* settle
    const inAll = { events: events.all.length, steps: recorder.steps.length }
    const recording: Recording = {
      events: events.all.slice(0, atEnd.events),
      seen: mode === "streamed" ? seen : undefined,
      exit,
      interrupted: recorder.interruption,
      sent: recorder.sent,
      starts: recorder.starts.filter(({ tool }) => !mayRunTwice.includes(tool)),
      left: exit === undefined ? { fibers: 0, steps: 0 } : left,
      later:
        exit === undefined
          ? { events: 0, steps: 0 }
          : { events: inAll.events - atEnd.events, steps: inAll.steps - atEnd.steps }
    }
    return { recording, steps: recorder.steps, asked: recorder.asked }
  }).pipe(
    Effect.provide(Logger.layer([])),
    Effect.provide(TestClock.layer())
    // the requirements of the agent without those provided above; TypeScript cannot simplify several nested `Exclude`s
  ) as Effect.Effect<Played, never, Exclude<R, Model.Model | Services>>
