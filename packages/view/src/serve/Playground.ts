/** The logic of `kintsugi serve`: the loaded agent, its runs, and what a person does with them. It knows nothing of HTTP. */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Schema from "effect/Schema"
import * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import type * as Stream from "effect/Stream"
import type { Recorded } from "../recording/Recorded.ts"
import { decisionOf, inputOf, Refused, refuse, worded } from "./asked.ts"
import * as Describing from "./describing.ts"
import { type Faults, faultsFor } from "./faults.ts"
import { type Found, Stuck } from "./Finding.ts"
import { type Core, definitionOf, type Functions, functionsOf, type Run, type Snapshot } from "./inside.ts"
import { contextOf } from "./loaded.ts"
import { type Numbered, RunLog } from "./log.ts"
import type { AgentShown, Answer, Choice, FaultShown, Problem, Replayed, RunShown, State } from "./browser/Wire.ts"
import { replay } from "./replaying.ts"
import { faultsOf, type Ready, surrounding } from "./running.ts"
import { type RunRecord, Store } from "./store.ts"
import { recordedIn, tagsSeen } from "./summary.ts"

/** A module that was loaded, with the agent in it. */
export interface Loaded extends Found {
  readonly core: Core
  /** The path of the module, for people. */
  readonly file: string
}

interface Options {
  /** Loads the module anew. */
  readonly load: Effect.Effect<Loaded, Stuck>
  /** The folder for runs. */
  readonly folder: string
  /** Whether the environment has a key of a provider. */
  readonly hasKey: boolean
  /** How long the stand-in takes for a word; 25 milliseconds by default. */
  readonly pause?: Duration.Input
  /** Says a line to the person at the terminal. */
  readonly say: (line: string) => Effect.Effect<void>
}

/** How many runs are listed, and how many of them are replayed. */
const most = { listed: 100, replayed: 10 } as const

/** A run of this process that is at work or waits for a person. */
interface Active {
  readonly record: RunRecord
  /** Those that have not happened yet. */
  readonly faults: Faults
  readonly log: RunLog
  isAtWork: boolean
  /** Set while it is at work and can be stopped. */
  run?: Run | undefined
  /** Set while it waits. */
  snapshot?: Snapshot | undefined
}

export class Playground {
  readonly #options: Options
  readonly #scope: Scope.Scope
  readonly #store: Store
  readonly #active = new Map<string, Active>()
  readonly #ended = new Map<string, RunShown>()
  readonly #changes = new RunLog([], () => {})
  readonly #loading = Semaphore.makeUnsafe(1)
  #version = 0
  #ready: Ready | undefined
  #shown: { readonly agent: AgentShown; readonly faults: ReadonlyArray<FaultShown> } | undefined
  #problem: Problem | undefined
  #loaded: Scope.Closeable | undefined

  constructor(options: Options, scope: Scope.Scope) {
    this.#options = options
    this.#scope = scope
    this.#store = new Store(options.folder)
  }

  /** What the page shows now. */
  state(): State {
    const { agent, faults = [] } = this.#shown ?? {}
    const runs = this.#store.all().slice(0, most.listed)
    return {
      version: this.#version,
      ...(agent === undefined ? {} : { agent }),
      ...(this.#problem === undefined ? {} : { problem: this.#problem }),
      faults,
      runs: runs.map((record) => this.#runShown(record))
    }
  }

  #runShown(record: RunRecord): RunShown {
    const before = this.#ended.get(record.id)
    if (before !== undefined) return before
    const shown = this.#store.shown(record, this.#active.get(record.id)?.isAtWork === true)
    if (!this.#active.has(record.id)) this.#ended.set(record.id, shown)
    return shown
  }

  /** A line for each change after a number: the agent was loaded, or a run began, waits or has ended. */
  changes(after: number): Stream.Stream<Numbered> {
    return this.#changes.after(after)
  }

  #changed(what: "agent" | "runs"): void {
    this.#changes.push(JSON.stringify({ what }))
  }

  /** Loads the module anew. Runs at work keep the services that they have. */
  readonly reload: Effect.Effect<void> = Effect.suspend(() => this.#loading.withPermit(this.#load))

  readonly #load: Effect.Effect<void> = Effect.gen({ self: this }, function* () {
    const scope = yield* Scope.fork(this.#scope)
    // a getter or a schema of the module may throw while it is described
    const loading = Effect.flatMap(this.#options.load, (loaded) =>
      Effect.map(contextOf(loaded, scope), (context) => this.#described(loaded, context))
    )
    const exit = yield* Effect.exit(loading)
    const before = this.#loaded
    this.#loaded = scope
    this.#version++
    const error = Exit.isSuccess(exit) ? undefined : Cause.squash(exit.cause)
    this.#ready = Exit.isSuccess(exit) ? exit.value.ready : undefined
    this.#shown = Exit.isSuccess(exit) ? exit.value.shown : undefined
    this.#problem = error === undefined ? undefined : problemOf(error)
    if (this.#problem !== undefined) {
      const { found, paste, title } = this.#problem
      yield* this.#options.say([title, found, ...(paste === "" ? [] : ["", paste])].join("\n"))
    }
    this.#changed("agent")
    if (before !== undefined && this.#active.size === 0) yield* Scope.close(before, Exit.void)
  })

  #described(loaded: Loaded, context: Ready["context"]) {
    const { agent, core, file, name } = loaded
    const last = this.#store.all().slice(0, most.replayed)
    const seen = tagsSeen(last.flatMap(({ id }) => this.#eventsOf(id)))
    const shown = {
      agent: Describing.describe(agent, {
        core,
        where: name === "default" ? file : `${file}#${name}`,
        hasModel: context.mapUnsafe.has(core.Model.Model.key),
        hasKey: this.#options.hasKey,
        seen
      }),
      faults: faultsFor(Describing.failingOf(definitionOf(agent), seen))
    }
    return { shown, ready: { ...loaded, context, seen } }
  }

  /** Starts a run. Gives its id. */
  start(choice: Choice): Effect.Effect<string, Refused> {
    const { prompt } = choice
    return this.#begin(choice, ({ resume, start }, input) =>
      prompt === undefined ? start(input) : resume({ from: [{ role: "system", text: prompt }], input })
    )
  }

  /** Starts a run as another was started: with its input, its seed and its faults. */
  repeat(id: string): Effect.Effect<string, Refused> {
    return Effect.flatMap(this.#recordOf(id), ({ faults, input, model, of, prompt, seed, tools }) => {
      const choice = { input, model, tools, faults, seed, ...(prompt === undefined ? {} : { prompt }) }
      if (of?.turn === undefined) return this.start(choice)
      return this.#from(of.id, of.turn, choice)
    })
  }

  /** Starts a run that goes on before a turn of a recorded one, perhaps with another prompt or a further input. */
  from(
    id: string,
    { input, prompt, turn }: { readonly turn: number; readonly prompt?: string; readonly input?: unknown }
  ): Effect.Effect<string, Refused> {
    return Effect.flatMap(this.#recordOf(id), ({ model, seed, tools }) =>
      this.#from(id, turn, { input, model, tools, faults: [], seed, ...(prompt === undefined ? {} : { prompt }) })
    )
  }

  #from(id: string, turn: number, choice: Choice): Effect.Effect<string, Refused> {
    const events = this.#eventsOf(id)
    const [first] = events
    const end = events.findIndex(
      (event) => event.runId === first?.runId && event.type === "turn-start" && event.turn === turn
    )
    const ready = this.#ready
    if (end < 0 || ready === undefined) return refuse(404, `the run has no turn ${turn}`)
    const { AgentEvent } = ready.core
    const decode = Schema.decodeUnknownSync(AgentEvent.AgentEvent)
    const before = AgentEvent.transcriptOf(
      events.slice(0, end).map((event) => decode(event)),
      first?.runId
    )
    const { prompt } = choice
    const from =
      prompt === undefined
        ? before
        : [{ role: "system" as const, text: prompt }, ...before.filter(({ role }) => role !== "system")]
    return this.#begin(
      choice,
      ({ resume }, input) => {
        if (input === undefined) return resume({ from })
        // another input replaces the last one, if no turn has answered it
        return resume({ from: from.at(-1)?.role === "user" ? from.slice(0, -1) : from, input })
      },
      { id, turn }
    )
  }

  #begin(choice: Choice, starting: Starting, of?: RunShown["of"]): Effect.Effect<string, Refused> {
    return Effect.gen({ self: this }, function* () {
      const ready = this.#ready
      if (ready === undefined) return yield* refuse(409, "the agent cannot run now")
      const input = choice.input === undefined ? undefined : yield* inputOf(ready.agent, choice.input)
      const at = yield* Clock.currentTimeMillis
      const { name } = definitionOf(ready.agent)
      const record: RunRecord = {
        ...choice,
        id: this.#store.newId(at, name),
        agent: name,
        at,
        ...(of === undefined ? {} : { of })
      }
      this.#store.keep(record)
      const active: Active = {
        record,
        faults: faultsOf(ready, choice.faults),
        isAtWork: true,
        log: new RunLog([], (line) => this.#store.append(record.id, line))
      }
      yield* this.#go(active, ready, (functions) => starting(functions, input))
      return record.id
    })
  }

  /** Lets a run begin or go on in a fiber of its own. */
  #go(active: Active, ready: Ready, starting: (functions: Functions) => ReturnType<Starting>): Effect.Effect<void> {
    const { id } = active.record
    this.#active.set(id, active)
    this.#ended.delete(id)
    active.isAtWork = true
    active.snapshot = undefined
    this.#changed("runs")
    const working = Effect.gen({ self: this }, function* () {
      const around = yield* surrounding(ready, active.record, active.faults, active.log, this.#options.pause)
      const run = yield* around(Effect.suspend(() => starting(functionsOf(ready.agent, ready.core))))
      active.run = run
      return yield* run.outcome
    }).pipe(
      Effect.scoped,
      Effect.exit,
      Effect.flatMap((exit) => this.#stopped(active, exit))
    )
    return Effect.asVoid(Effect.forkIn(working, this.#scope))
  }

  #stopped(active: Active, exit: Exit.Exit<Effect.Success<Run["outcome"]>, unknown>): Effect.Effect<void> {
    return Effect.suspend(() => {
      const { record, log } = active
      active.run = undefined
      active.isAtWork = false
      if (Exit.isSuccess(exit) && exit.value._tag === "Suspended") {
        active.snapshot = exit.value.snapshot
        this.#changed("runs")
        return Effect.void
      }
      const error = Exit.isSuccess(exit) ? undefined : Cause.squash(exit.cause)
      if (log.lines.length === 0 && error !== undefined) this.#store.keep({ ...record, error: worded(error) })
      this.#active.delete(record.id)
      log.end()
      const { missing } = this.#runShown(this.#store.read(record.id) ?? record)
      const said = missing.length === 0 ? Effect.void : this.#options.say(`The run did not find ${missing.join(", ")}`)
      return Effect.andThen(
        said,
        Effect.sync(() => this.#changed("runs"))
      )
    })
  }

  /** Stops a run. The effect ends when the run has ended. */
  stop(id: string): Effect.Effect<void, Refused> {
    return Effect.suspend(() => {
      const active = this.#active.get(id)
      if (active?.run !== undefined) return active.run.interrupt
      return refuse(409, "the run is not at work")
    })
  }

  /** Says something to a run at work. */
  say(id: string, text: string): Effect.Effect<void, Refused> {
    return Effect.suspend(() => {
      const run = this.#active.get(id)?.run
      if (run === undefined) return refuse(409, "the run is not at work")
      return Effect.mapError(Effect.asVoid(run.say(text)), ({ message }) => new Refused({ status: 409, message }))
    })
  }

  /** Answers a request for approval. The run goes on, also after a new start of this program. */
  decide(id: string, digest: string, answer: Answer): Effect.Effect<void, Refused> {
    return Effect.gen({ self: this }, function* () {
      const record = yield* this.#recordOf(id)
      const ready = this.#ready
      const { faults, isAtWork = false, log, snapshot } = this.#active.get(id) ?? {}
      if (ready === undefined || isAtWork) return yield* refuse(409, "the run cannot go on now")
      const from = snapshot ?? (yield* this.#snapshotIn(id, ready.core))
      const asked = ready.core.Snapshot.requestsOf(from).some((request) => request.digest === digest)
      if (!asked) return yield* refuse(409, "the run does not ask for this decision")
      const lines = this.#store.linesOf(id)
      const active: Active = {
        record,
        // after a new start of this program none is to come
        faults: faults ?? faultsOf(ready, []),
        isAtWork: true,
        log: log ?? new RunLog(lines, (line) => this.#store.append(id, line))
      }
      const decisions = [{ digest, decision: decisionOf(answer) }]
      // the page has one person: a decision that could not be carried out may be made again
      yield* this.#go(active, ready, ({ resume }) => resume({ from, decisions, repeat: true }))
    })
  }

  #snapshotIn(id: string, { Snapshot }: Core): Effect.Effect<Snapshot, Refused> {
    const last = this.#eventsOf(id).at(-1)
    if (last?.type !== "run-suspended") return refuse(409, "the run does not wait")
    return Effect.mapError(Snapshot.fromJson(last["snapshot"]), ({ message }) => new Refused({ status: 409, message }))
  }

  /** The events of a run after a number; `undefined` if there is no such run. */
  events(id: string, after: number): Stream.Stream<Numbered> | undefined {
    const active = this.#active.get(id)
    if (active !== undefined) return active.log.after(after)
    if (this.#store.read(id) === undefined) return undefined
    const log = new RunLog(this.#store.linesOf(id), () => {})
    log.end()
    return log.after(after)
  }

  /** The lines of a run; `undefined` if there is no such run. */
  lines(id: string): ReadonlyArray<string> | undefined {
    return this.#store.read(id) === undefined ? undefined : this.#store.linesOf(id)
  }

  #eventsOf(id: string): ReadonlyArray<Recorded> {
    return recordedIn(this.#store.linesOf(id))
  }

  #recordOf(id: string): Effect.Effect<RunRecord, Refused> {
    return Effect.suspend(() => {
      const record = this.#store.read(id)
      return record === undefined ? refuse(404, "there is no such run") : Effect.succeed(record)
    })
  }

  /** Plays the last runs with failures against the tables of now, without a model. */
  readonly replay: Effect.Effect<Replayed, Refused> = Effect.gen({ self: this }, function* () {
    const ready = this.#ready
    if (ready === undefined) return yield* refuse(409, "the agent cannot run now")
    const { name } = definitionOf(ready.agent)
    const failed = this.#store
      .all()
      .filter(({ agent, id, of }) => agent === name && of === undefined && !this.#active.has(id))
      .map((record) => ({ record, events: this.#eventsOf(record.id) }))
      .filter(({ events }) => events.some(({ type }) => type === "tool-failed" || type === "model-failed"))
      .slice(0, most.replayed)
    const each = yield* Effect.forEach(failed, ({ events, record }) =>
      Effect.map(
        Effect.flatMap(inputOf(ready.agent, record.input), (input) => replay(ready, record, input, events)),
        ({ error, isCompleted }) => ({
          id: record.id,
          before: this.#runShown(record).status === "completed",
          now: isCompleted,
          ...(error === undefined ? {} : { error })
        })
      )
    )
    const many = (which: "before" | "now") => each.filter((one) => one[which]).length
    return { runs: each.length, before: many("before"), now: many("now"), each }
  })

  /** Removes all runs that have ended. */
  readonly clear: Effect.Effect<void> = Effect.sync(() => {
    this.#store.clear(new Set(this.#active.keys()))
    this.#ended.clear()
    this.#changed("runs")
  })
}

/** Starts a run with the functions of its agent. */
type Starting = (functions: Functions, input: unknown) => Effect.Effect<Run, never, Scope.Scope>

const problemOf = (error: unknown): Problem =>
  error instanceof Stuck
    ? error.problem
    : { title: "The agent cannot be shown", found: worded(error), missing: [], paste: "" }
