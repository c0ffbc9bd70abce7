import { assert } from "@effect/vitest"
import { Agent, LlmError, RunError } from "@kintsugi/core"
import { Cause, Clock, Effect, Exit } from "effect"
import fc from "fast-check"
import { overAMinute } from "../_support/composition.ts"
import { busy } from "../_support/dialogue.ts"
import { lawOfRuns } from "./_support/runs.ts"

/** What an agent does after a while. */
type Act = { readonly takes: number; readonly does: "answer" | "busy" | "missing" | "denied" | "die" }

const act: fc.Arbitrary<Act> = fc.record({
  takes: fc.integer({ min: 0, max: 9 }),
  does: fc.constantFrom("answer", "busy", "missing", "denied", "die")
})

const errors = {
  busy: busy(),
  missing: LlmError.ModelNotFoundError.make({ model: "m" }),
  denied: LlmError.AuthenticationError.make({ model: "m", detail: "no" })
}

type Failure = (typeof errors)[keyof typeof errors]
type Actor = Agent.Agent<string, string, Failure, never>

/** What an agent still does after it was interrupted, in milliseconds. */
const tidying = 2

/** Agents that play these acts, each with its own letter, and the lines of what they did. */
const cast = (acts: ReadonlyArray<Act>) => {
  const lines: Array<string> = []
  const note = (line: string) =>
    Effect.map(Clock.currentTimeMillis, (at) => {
      lines.push(`${line} ${at}`)
    })
  const agents = acts.map(({ does, takes }, index): Actor => {
    const name = String.fromCharCode(97 + index)
    const ending = (input: string): Effect.Effect<string, Failure> =>
      does === "answer"
        ? Effect.succeed(`${input}${name}`)
        : does === "die"
          ? Effect.die(`bug of ${name}`)
          : Effect.fail(errors[does])
    return Agent.deterministic(name, (input: string) =>
      note(`${name} starts`).pipe(
        Effect.andThen(takes === 0 ? Effect.void : Effect.sleep(takes)),
        Effect.andThen(Effect.suspend(() => ending(input))),
        Effect.onExit((exit) => {
          const how = Exit.isSuccess(exit) ? exit.value : Exit.hasInterrupts(exit) ? "is interrupted" : "fails"
          const ended = note(`${name} ${how}`)
          return Exit.hasInterrupts(exit) ? Effect.delay(ended, tidying) : ended
        })
      )
    )
  })
  return { agents, lines }
}

const described = (exit: Exit.Exit<unknown, unknown>): string =>
  Exit.isSuccess(exit) ? `success ${String(exit.value)}` : `failure ${String(Cause.squash(exit.cause))}`

type Run = Parameters<Parameters<typeof lawOfRuns>[2]>[1]

/** What a composition of such agents gives, and all that happened meanwhile, from the instant 0. */
const traceOf = (acts: ReadonlyArray<Act>, compose: (...agents: ReadonlyArray<Actor>) => Actor, run: Run) =>
  Effect.gen(function* () {
    const { agents, lines } = cast(acts)
    const from = yield* Clock.currentTimeMillis
    let before = 0
    const running = Effect.onExit(run(compose(...agents), ">"), () => Effect.sync(() => (before = lines.length)))
    const exit = yield* overAMinute(running)
    // nothing happens once there is an answer
    assert.strictEqual(lines.length, before)
    const relative = lines.map((line) => line.replace(/\d+$/, (at) => String(Number(at) - from)))
    return { exit: described(exit), lines: relative }
  })

/** Three acts; the tests below take them in this order. */
const three = fc.tuple(act, act, act)

/** Agents that are not there would be a mistake of the law. */
const at = (agents: ReadonlyArray<Actor>, index: number): Actor => {
  const agent = agents[index]
  if (agent === undefined) throw new RangeError(`there is no agent ${index}`)
  return agent
}

const identity = Agent.deterministic("identity", (input: string) => Effect.succeed(input))

const same = (acts: ReadonlyArray<Act>, run: Run, ...ways: ReadonlyArray<(...agents: ReadonlyArray<Actor>) => Actor>) =>
  Effect.gen(function* () {
    const traces = yield* Effect.forEach(ways, (way) => traceOf(acts, way, run))
    for (const trace of traces) assert.deepStrictEqual(trace, traces[0])
  })

lawOfRuns("andThen is associative, and an agent that gives what it gets is its identity [A1101]", three, (acts, run) =>
  Effect.gen(function* () {
    yield* same(
      acts,
      run,
      (...all) => Agent.andThen(Agent.andThen(at(all, 0), at(all, 1)), at(all, 2)),
      (...all) => Agent.andThen(at(all, 0), Agent.andThen(at(all, 1), at(all, 2))),
      (...all) => Agent.andThen(at(all, 0), Agent.map(Agent.andThen(at(all, 1), at(all, 2)), String))
    )
    yield* same(
      acts,
      run,
      (...all) => at(all, 0),
      (...all) => Agent.andThen(at(all, 0), identity),
      (...all) => Agent.andThen(identity, at(all, 0))
    )
  })
)

lawOfRuns("fallback of one agent is that agent, and fallback is associative [L709 L708]", three, (acts, run) =>
  Effect.gen(function* () {
    yield* same(
      acts,
      run,
      (...all) => at(all, 0),
      (...all) => Agent.fallback(at(all, 0))
    )
    yield* same(
      acts,
      run,
      (...all) => Agent.fallback(at(all, 0), at(all, 1), at(all, 2)),
      (...all) => Agent.fallback(Agent.fallback(at(all, 0), at(all, 1)), at(all, 2)),
      (...all) => Agent.fallback(at(all, 0), Agent.fallback(at(all, 1), at(all, 2)))
    )
    // a reference: up to the first that answers, or fails in a way that the guard does not admit
    const { lines } = yield* traceOf(acts, (...all) => Agent.fallback(at(all, 0), at(all, 1), at(all, 2)), run)
    const end = acts.findIndex(({ does }) => does !== "missing")
    assert.strictEqual(lines.filter((line) => line.includes("starts")).length, end === -1 ? 3 : end + 1)
  })
)

/** Farther apart than anybody tidies up: a winner counts once the losers are gone, and until then another may win around it. */
const apart = three.map(([a, b, c]) => [
  { ...a, takes: 10 * a.takes },
  { ...b, takes: 10 * b.takes + 3 },
  { ...c, takes: 10 * c.takes + 6 }
])

lawOfRuns(
  "firstOf of one agent is that agent, and firstOf is associative up to the winner [L709 L804]",
  apart,
  (acts, run) =>
    Effect.gen(function* () {
      yield* same(
        acts,
        run,
        (...all) => at(all, 0),
        (...all) => Agent.firstOf(at(all, 0))
      )
      const exits = yield* Effect.forEach(
        [
          (...all: ReadonlyArray<Actor>): Actor => Agent.firstOf(at(all, 0), at(all, 1), at(all, 2)),
          (...all: ReadonlyArray<Actor>): Actor => Agent.firstOf(Agent.firstOf(at(all, 0), at(all, 1)), at(all, 2)),
          (...all: ReadonlyArray<Actor>): Actor => Agent.firstOf(at(all, 0), Agent.firstOf(at(all, 1), at(all, 2)))
        ],
        (way) =>
          Effect.map(traceOf(acts, way, run), ({ exit, lines }) => {
            // all start once, and all have ended when there is an answer
            assert.strictEqual(lines.filter((line) => line.includes("starts")).length, 3)
            assert.strictEqual(lines.length, 6)
            return exit
          })
      )
      for (const exit of exits) assert.strictEqual(exit, exits[0])
    })
)

lawOfRuns(
  "a loop runs until the first output that is accepted, at least once and never beyond its iterations [L710]",
  fc.record({ accepted: fc.integer({ min: 1, max: 9 }), maxIterations: fc.integer({ min: 1, max: 9 }) }),
  ({ accepted, maxIterations }, run) =>
    Effect.gen(function* () {
      let runs = 0
      const counting = Agent.deterministic("counting", (n: number) => Effect.sync(() => (runs++, n + 1)))
      const loop = Agent.loopUntil(counting, (n) => n >= accepted, { maxIterations, feedback: (n) => n })
      const exit = yield* Effect.exit(run(loop, 0))
      assert.strictEqual(runs, Math.min(accepted, maxIterations))
      if (accepted <= maxIterations) assert.deepStrictEqual(exit, Exit.succeed(accepted))
      else {
        const error = Exit.isFailure(exit) ? Cause.squash(exit.cause) : undefined
        assert.instanceOf(error, RunError.LoopExhaustedError)
        assert.deepInclude(error, { iterations: maxIterations, last: maxIterations })
      }
      runs = 0
      const always = Agent.loopUntil(counting, () => true, { maxIterations, feedback: (n) => n })
      assert.strictEqual(yield* run(always, 0), 1)
      assert.strictEqual(runs, 1)
    })
)

lawOfRuns(
  "a hedge starts its copies on time, at most n, ends all of them before it ends, and at once on a fatal failure [L804 L805]",
  fc.record({
    acts: fc.array(
      act.map((one) => ({ ...one, takes: 7 * one.takes + 1 })),
      { minLength: 1, maxLength: 5 }
    ),
    hedgeAfter: fc.integer({ min: 1, max: 30 })
  }),
  ({ acts, hedgeAfter }, run) =>
    Effect.gen(function* () {
      const n = acts.length
      const { agents, lines } = cast(acts)
      let copies = 0
      const copy: Actor = Agent.deterministic("copy", (input: string) => at(agents, copies++)(input))
      const from = yield* Clock.currentTimeMillis
      let before = 0
      const hedged = Agent.speculative(copy, n, { hedgeAfter })
      const running = Effect.onExit(run(hedged, ">"), () => Effect.sync(() => (before = lines.length)))
      const exit = yield* overAMinute(running)
      // a reference: the first end that settles, or the last of all
      const ends = acts.map(({ does, takes }, k) => ({ does, k, at: k * hedgeAfter + takes }))
      const sorted = ends.toSorted((a, b) => a.at - b.at || a.k - b.k)
      const decisive = sorted.find(({ does }) => does !== "busy")
      const last = decisive ?? sorted.at(-1)
      assert(last !== undefined)
      const isTie = ends.some((one) => one.k !== last.k && (one.at === last.at || one.k * hedgeAfter === last.at))
      if (isTie) return
      const started = ends.filter(({ k }) => k * hedgeAfter < last.at)
      assert.strictEqual(copies, started.length)
      assert.strictEqual(lines.length, 2 * started.length)
      assert.strictEqual(lines.length, before)
      assert.deepStrictEqual(
        lines.flatMap((line) => (line.includes("starts") ? [Number(line.split(" ").at(-1)) - from] : [])),
        started.map(({ k }) => k * hedgeAfter)
      )
      assert.strictEqual(Exit.isSuccess(exit), last.does === "answer")
      if (Exit.isSuccess(exit)) assert.strictEqual(exit.value, `>${String.fromCharCode(97 + last.k)}`)
      // contenders that are still at work end with the race, and nothing happens once there is an answer
      for (const line of lines) assert.isAtMost(Number(line.split(" ").at(-1)) - from, last.at + tidying)
    })
)
