import { assert } from "@effect/vitest"
import { Agent } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Exit, Fiber, Scope } from "effect"
import { TestClock } from "effect/testing"
import { it } from "../../_support/run.ts"
import { agentWith, calm, done, eventLog, interruptedAt } from "../../_support/dialogue.ts"
import { database, Db, now, watched } from "./_support/listening.ts"

const { make } = ScriptedModel

/** A listener that takes that long for each event, attached to a scope; it notes what it has handled, and when. */
const recording = (scope: Scope.Scope, takes: number) => {
  const handled: Array<readonly [string, number]> = []
  const listen = Agent.onEvent(
    ({ agent, type }) =>
      Effect.gen(function* () {
        yield* Effect.sleep(takes)
        handled.push([`${agent} ${type}`, yield* now])
      }),
    { scope }
  )
  return { handled, listen }
}

const echo = (name: string) => Agent.deterministic(name, (input) => Effect.succeed(input))

it.run("a listener of a scope handles everything when the run is over, which does not wait for it [P1503]", (run) =>
  Effect.gen(function* () {
    const scope = yield* Scope.make()
    const { handled, listen } = recording(scope, 10_000)
    const log = eventLog()
    assert.strictEqual(yield* run(echo("echo").pipe(listen, log.listen), "well"), "well")
    assert.strictEqual(yield* now, 0)
    assert.deepStrictEqual(log.types(), ["run-start", "run-completed"])
    assert.deepStrictEqual(handled, [])
    yield* TestClock.adjust("1 day")
    assert.deepStrictEqual(handled, [
      ["echo run-start", 10_000],
      ["echo run-completed", 20_000]
    ])
    yield* Scope.close(scope, Exit.void)
  })
)

it.run("a listener of a scope is not interrupted with the run [P1355 P1503]", (run) =>
  Effect.gen(function* () {
    const scope = yield* Scope.make()
    const { handled, listen } = recording(scope, 3000)
    const model = yield* make(ScriptedModel.answers(() => Effect.never))
    const agent = agentWith().pipe(listen)
    yield* interruptedAt(1000, run(agent, "go").pipe(Effect.provide(model.layer)))
    const types = handled.map(([type]) => type)
    assert.strictEqual(types[0], "worker run-start")
    assert.strictEqual(types.at(-1), "worker run-interrupted")
    yield* Scope.close(scope, Exit.void)
  })
)

it.run("one listener gets the events of all runs in order, one at a time [P1503]", (run) =>
  Effect.gen(function* () {
    const scope = yield* Scope.make()
    const { handled, listen } = recording(scope, 100)
    const agent = echo("echo").pipe(listen)
    yield* Effect.all([run(agent, "one"), run(agent, "two"), run(agent, "three")], { concurrency: "unbounded" })
    yield* TestClock.adjust("1 day")
    assert.deepStrictEqual(
      handled.map(([, at]) => at),
      [100, 200, 300, 400, 500, 600]
    )
    yield* Scope.close(scope, Exit.void)
  })
)

it.run("the scope closes when what waits is handled, or a second later; what comes then is dropped [P1503]", (run) =>
  Effect.gen(function* () {
    for (const [takes, closedAfter, count, lost] of [
      [300, 600, 2, ""],
      [800, 1000, 1, "1 × run-completed"],
      [5000, 1000, 0, "1 × run-completed, 1 × run-start"]
    ] as const) {
      const scope = yield* Scope.make()
      const { handled, listen } = recording(scope, takes)
      const agent = echo("echo").pipe(listen)
      yield* run(agent, "well")
      const startedAt = yield* now
      const { effect, seen } = watched(Scope.close(scope, Exit.void))
      const closing = yield* Effect.forkChild(effect)
      yield* calm
      // the scope is closing: this run is not heard
      yield* run(agent, "late")
      yield* TestClock.adjust("1 day")
      yield* Fiber.join(closing)
      assert.strictEqual(seen.endedAt - startedAt, closedAfter)
      yield* run(agent, "later")
      yield* TestClock.adjust("1 day")
      assert.strictEqual(handled.length, count)
      assert.deepStrictEqual(
        seen.warnings.map((line) => line.split("lost ")[1]?.split(", ").toSorted().join(", ")),
        lost === "" ? [] : [lost]
      )
    }
  })
)

it.run("a listener with a closed scope gets no event [P1503]", (run) =>
  Effect.gen(function* () {
    const scope = yield* Scope.make()
    yield* Scope.close(scope, Exit.void)
    const { handled, listen } = recording(scope, 0)
    assert.strictEqual(yield* run(echo("echo").pipe(listen), "well"), "well")
    yield* TestClock.adjust("1 day")
    assert.deepStrictEqual(handled, [])
  })
)

it.run("a listener of a scope uses services of the program until they are closed, and not after [P1355 P1503]", (run) =>
  Effect.gen(function* () {
    const { layer, rows } = database()
    const program = Effect.gen(function* () {
      const db = yield* Db
      const model = yield* make(done)
      const scope = yield* Effect.scope
      const saving = Agent.onEvent(({ type }) => Effect.delay(db.write(type), type === "run-start" ? 400 : 5000), {
        scope
      })
      yield* run(agentWith().pipe(saving), "go").pipe(Effect.provide(model.layer))
    })
    const running = yield* Effect.forkChild(Effect.provide(Effect.scoped(program), layer))
    yield* calm
    yield* TestClock.adjust("1 day")
    yield* Fiber.join(running)
    assert.deepStrictEqual(rows, ["run-start", "closed"])
  })
)
