import { assert } from "@effect/vitest"
import { Agent, AgentEvent, LlmError, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Cause, Deferred, Effect, Exit, Fiber, Layer, Schema } from "effect"
import { it } from "../../_support/run.ts"
import {
  agentWith,
  batch,
  callingOnce,
  calm,
  done,
  eventLog,
  interruptedAt,
  overADay,
  scripted
} from "../../_support/dialogue.ts"
import { database, Db, now, watched } from "./_support/listening.ts"

const { make } = ScriptedModel

const missing = ScriptedModel.fails(LlmError.ModelNotFoundError.make({ model: "scripted" }))

/** A listener that notes when it is handed each event, and which ones it has handled after `takes`. */
const working = (takes: (type: string) => Effect.Effect<void>) => {
  const handed: Array<readonly [string, number]> = []
  const handled: Array<string> = []
  const listen = Agent.onEvent(({ type }) =>
    Effect.gen(function* () {
      handed.push([type, yield* now])
      yield* takes(type)
      handled.push(type)
    })
  )
  return { handed, handled, listen }
}

it.run("waits a second for a slow listener, hands it the end, and interrupts it [A1205 P1503]", (run) =>
  Effect.gen(function* () {
    const log = eventLog()
    const slow = working((type) => Effect.sleep(type === "run-start" ? "1 minute" : "500 millis"))
    const { tool } = scripted("fetch", Effect.as(Effect.sleep(100), "page"))
    const model = yield* callingOnce("fetch")
    const agent = agentWith(tool).pipe(slow.listen, log.listen)
    const { effect, seen } = watched(run(agent, "go").pipe(Effect.provide(model.layer)))
    assert.deepStrictEqual(yield* overADay(effect), Exit.succeed("done"))
    assert.strictEqual(seen.endedAt, 1100)
    // at its own pace it would have come to the second event after a minute
    assert.deepStrictEqual(slow.handed, [
      ["run-start", 0],
      ["run-completed", 1100]
    ])
    assert.deepStrictEqual(slow.handled, [])
    assert.strictEqual(seen.lost, log.all.length)
    assert.strictEqual(seen.warnings.length, 1)
    assert.match(seen.warnings[0] ?? "", /^Listeners of agent 'worker' were too slow, and lost .*1 × run-completed/)
    assert.strictEqual(seen.fibersAtEnd, 0)
  })
)

it.run("waits for all listeners together, and no longer than they need [P1503]", (run) =>
  Effect.gen(function* () {
    for (const [first, second, endedAt] of [
      [300, 900, 900],
      [700, 1000, 1000],
      [1500, 1500, 1000]
    ] as const) {
      const one = working((type) => (type === "run-failed" ? Effect.sleep(first) : Effect.void))
      const other = working((type) => (type === "run-failed" ? Effect.sleep(second) : Effect.void))
      const model = yield* make(missing)
      const agent = agentWith().pipe(one.listen, other.listen)
      const { effect, seen } = watched(run(agent, "go").pipe(Effect.provide(model.layer)))
      const startedAt = yield* now
      assert.isTrue(Exit.isFailure(yield* overADay(effect)))
      assert.strictEqual(seen.endedAt - startedAt, endedAt)
      const isCut = first > 1000
      for (const { handled } of [one, other]) assert.strictEqual(handled.at(-1) === "run-failed", !isCut)
      assert.deepStrictEqual(
        seen.warnings,
        isCut ? ["Listeners of agent 'worker' were too slow, and lost 2 × run-failed"] : []
      )
    }
  })
)

it.run(
  "does not wait on interruption: an endless listener is handed the end and interrupted at once [P1355 P1503]",
  (run) =>
    Effect.gen(function* () {
      const log = eventLog()
      const endless = working(() => Effect.never)
      const model = yield* make(ScriptedModel.answers(() => Effect.never))
      const agent = agentWith().pipe(endless.listen, log.listen)
      const { effect, seen } = watched(run(agent, "go").pipe(Effect.provide(model.layer)))
      yield* interruptedAt(5000, effect)
      assert.strictEqual(seen.endedAt, 5000)
      assert.deepStrictEqual(endless.handed, [
        ["run-start", 0],
        ["run-interrupted", 5000]
      ])
      // a listener that need not wait has heard everything
      assert.deepInclude(log.end(), { type: "run-interrupted", at: 5000 })
      assert.strictEqual(seen.lost, log.all.length)
      assert.strictEqual(seen.warnings.length, 1)
      assert.strictEqual(seen.fibersAtEnd, 0)
    })
)

it.run("a run that interrupts itself does not wait either [P1503]", (run) =>
  Effect.gen(function* () {
    const endless = working(() => Effect.never)
    const quitting = Agent.deterministic("quitting", () => Effect.interrupt).pipe(endless.listen)
    const { effect, seen } = watched(run(quitting, "go"))
    assert.isTrue(Exit.hasInterrupts(yield* overADay(effect)))
    assert.strictEqual(seen.endedAt, 0)
    assert.deepStrictEqual(endless.handed, [
      ["run-start", 0],
      ["run-interrupted", 0]
    ])
  })
)

it.run("an interruption ends the wait for listeners, however the run has ended [P1355]", (run) =>
  Effect.gen(function* () {
    for (const reply of [done, missing]) {
      const log = eventLog()
      const model = yield* make(reply)
      const agent = agentWith().pipe(
        Agent.onEvent(() => Effect.never),
        log.listen
      )
      const { effect, seen } = watched(run(agent, "go").pipe(Effect.provide(model.layer)))
      const startedAt = yield* now
      const exit = yield* overADay(Effect.timeoutOption(Effect.exit(effect), "50 millis"))
      assert.isTrue(Exit.isSuccess(exit))
      assert.strictEqual(seen.endedAt - startedAt, 50)
      assert.strictEqual(log.end()?.type, reply === done ? "run-completed" : "run-failed")
      assert.strictEqual(seen.fibersAtEnd, 0)
    }
  })
)

it.effect("a run that is stopped while it waits for listeners has its outcome all the same [P1355 P1503]", () =>
  Effect.gen(function* () {
    const model = yield* make(done)
    const agent = agentWith().pipe(Agent.onEvent(() => Effect.never))
    const stopping = Effect.gen(function* () {
      const handle = yield* agent.start("go")
      yield* Effect.sleep("50 millis")
      yield* handle.interrupt
      return [yield* handle.outcome, yield* now] as const
    })
    const { effect, seen } = watched(Effect.scoped(stopping).pipe(Effect.provide(model.layer)))
    const exit = yield* overADay(effect)
    assert.deepStrictEqual(exit, Exit.succeed([{ _tag: "Completed", output: "done", finish: "stop" }, 50]))
    assert.strictEqual(seen.fibersAtEnd, 0)
  })
)

it.run("a listener may stop its own run: it is handed the end, in order, and nothing of it is left [P1503]", (run) =>
  Effect.gen(function* () {
    const model = yield* make(ScriptedModel.answers(() => Effect.never))
    const log = eventLog()
    const types: Array<string> = []
    let stop: Effect.Effect<void> = Effect.void
    const agent = agentWith().pipe(
      Agent.onEvent(({ type }) =>
        Effect.suspend(() => {
          types.push(type)
          return type === "turn-start" ? Effect.andThen(stop, Effect.never) : Effect.void
        })
      ),
      log.listen
    )
    const { effect, seen } = watched(run(agent, "go").pipe(Effect.provide(model.layer)))
    const fiber = yield* Effect.forkChild(effect)
    stop = Fiber.interrupt(fiber)
    const exit = yield* Fiber.await(fiber)
    assert.isTrue(Exit.isFailure(exit) && Cause.hasInterrupts(exit.cause))
    yield* calm
    assert.strictEqual(types.at(-1), "run-interrupted")
    assert.strictEqual(types.filter((type) => type === "turn-start").length, 1)
    assert.deepStrictEqual(log.types().slice(0, types.length - 1), types.slice(0, -1))
    assert.strictEqual(log.end()?.type, "run-interrupted")
    assert.strictEqual(seen.fibers, 0)
  })
)

it.run("neither the run nor its interruption waits longer for an uninterruptible listener [A1205 P1355 P1503]", (run) =>
  Effect.gen(function* () {
    const stubborn = () => Agent.onEvent(() => Effect.uninterruptible(Effect.sleep("1 hour")))
    const quick = yield* make(done)
    const ended = watched(run(agentWith().pipe(stubborn()), "go").pipe(Effect.provide(quick.layer)))
    assert.deepStrictEqual(yield* overADay(ended.effect), Exit.succeed("done"))
    assert.strictEqual(ended.seen.endedAt, 1000)
    const hanging = yield* make(ScriptedModel.answers(() => Effect.never))
    const stopped = watched(run(agentWith().pipe(stubborn()), "go").pipe(Effect.provide(hanging.layer)))
    const startedAt = yield* now
    yield* interruptedAt(5000, stopped.effect)
    assert.strictEqual(stopped.seen.endedAt - startedAt, 5000)
    yield* calm
    assert.strictEqual(ended.seen.fibers + stopped.seen.fibers, 0)
  })
)

it.run("a listener uses its services before they are closed, or never [P1355]", (run) =>
  Effect.gen(function* () {
    const writing = (delay: number) =>
      Agent.onEvent((event) =>
        AgentEvent.isTerminal(event)
          ? Effect.gen(function* () {
              const db = yield* Db
              yield* db.write("begun")
              yield* Effect.sleep(delay)
              yield* db.write("written")
            })
          : Effect.void
      )
    const play = Effect.fnUntraced(function* (delay: number, reply: typeof done, interruptAt?: number) {
      const { layer, rows } = database()
      const model = yield* make(reply)
      const agent = agentWith().pipe(writing(delay))
      const running = run(agent, "go").pipe(Effect.provide(Layer.merge(model.layer, layer)))
      yield* interruptAt === undefined ? overADay(running) : interruptedAt(interruptAt, running)
      return rows
    })
    assert.deepStrictEqual(yield* play(900, done), ["begun", "written", "closed"])
    assert.deepStrictEqual(yield* play(900, missing), ["begun", "written", "closed"])
    assert.deepStrictEqual(yield* play(1500, done), ["begun", "closed"])
    assert.deepStrictEqual(yield* play(1500, missing), ["begun", "closed"])
    const hanging = ScriptedModel.answers(() => Effect.never)
    assert.deepStrictEqual(yield* play(1, hanging, 100), ["begun", "closed"])
  })
)

it.effect("what a listener has no room for is counted, and neither it nor another loses the end [A1205]", () =>
  Effect.gen(function* () {
    const log = eventLog()
    const gate = yield* Deferred.make<void>()
    const reports = 20_000
    const reporting = Tool.make("fetch", {
      description: "d",
      parameters: Schema.Struct({}),
      success: Schema.String,
      run: (_, { progress }) =>
        Effect.forEach(
          Array.from({ length: reports }),
          // now and then it lets others work
          (_, n) => Effect.andThen(progress(n), n % 100 === 0 ? calm : Effect.void),
          { discard: true }
        ).pipe(Effect.as("page"))
    })
    const heard: Array<AgentEvent.AgentEvent> = []
    const model = yield* make(batch("fetch"), done)
    const agent = agentWith(reporting).pipe(
      Agent.onEvent((event) =>
        Effect.andThen(
          Deferred.await(gate),
          Effect.sync(() => heard.push(event))
        )
      ),
      log.listen,
      // it goes on when its queue is full and the run is over
      Agent.onEvent((event) => (AgentEvent.isTerminal(event) ? Deferred.succeed(gate, undefined) : Effect.void))
    )
    const { effect, seen } = watched(
      Effect.scoped(
        Effect.gen(function* () {
          const handle = yield* agent.start("go")
          const outcome = yield* handle.outcome
          return { outcome, lost: yield* handle.lost }
        })
      ).pipe(Effect.provide(model.layer))
    )
    const { lost, outcome } = yield* effect
    assert.strictEqual(outcome._tag, "Completed")
    assert.isAbove(log.all.length, reports)
    assert.isAbove(lost, 1000)
    assert.strictEqual(heard.length + lost, log.all.length)
    assert.isAtMost(heard.length, 17_000)
    // in order, and the end among them
    const received = new Set(heard)
    assert.isTrue(log.all.filter((event) => received.has(event)).every((event, index) => event === heard[index]))
    assert.strictEqual(heard.at(-1)?.type, "run-completed")
    assert.strictEqual(seen.lost, lost)
    assert.match(seen.warnings.join(), /^Listeners of agent 'worker' were too slow, and lost \d+ × tool-progress/)
  })
)

it.run("a run of a function that throws ends with one event [A1202]", (run) =>
  Effect.gen(function* () {
    const log = eventLog()
    const broken = Agent.deterministic("broken", (): Effect.Effect<string> => {
      throw new Error("a bug")
    }).pipe(log.listen)
    const exit = yield* Effect.exit(run(broken, "go"))
    assert.isTrue(Exit.isFailure(exit) && Cause.hasDies(exit.cause))
    assert.deepStrictEqual(log.types(), ["run-start", "run-failed"])
  })
)
