/** The scope of each execution of a function of a tool: when it is closed, and what that changes. */
import { assert } from "@effect/vitest"
import { Agent, type AgentEvent, Approval, Recovery, Tool } from "@kintsugi/core"
import * as RunContext from "@kintsugi/core/RunContext"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Cause, Context, Effect, Exit, Layer, Logger, Option, Schema, SchemaGetter, Scope } from "effect"
import {
  agentWith,
  batch,
  type Busy,
  busy,
  callingOnce,
  done,
  failureOf,
  gone,
  interruptedAt,
  overADay,
  read
} from "../../_support/dialogue.ts"
import { it } from "../../_support/run.ts"

const kindOf = (exit: Exit.Exit<unknown, unknown>): string =>
  Exit.isSuccess(exit) ? "success" : Cause.hasInterrupts(exit.cause) ? "interruption" : "failure"

/** What is open, and what has happened. */
const resources = () => {
  const log: Array<string> = []
  const counts = { now: 0, most: 0, all: 0 }
  const acquire = Effect.acquireRelease(
    Effect.sync(() => {
      counts.all++
      counts.most = Math.max(counts.most, ++counts.now)
      log.push("open")
    }),
    (_, exit) =>
      Effect.sync(() => {
        counts.now--
        log.push(`close after ${kindOf(exit)}`)
      })
  )
  /** A text that can be written down only as long as its resource is open. */
  const Lazy = Schema.String.pipe(
    Schema.decodeTo(Schema.String, {
      decode: SchemaGetter.transform((text: string) => text),
      encode: SchemaGetter.transform((text: string) => {
        log.push("encode")
        return counts.now > 0 ? text : "too late"
      })
    })
  )
  /** Notes some events at once, where a listener would get them later. */
  const observe = Effect.provideService(RunContext.Observers, [
    () =>
      ({ type }: AgentEvent.AgentEvent) => {
        if (["tool-failed", "tool-end", "tool-compensated", "run-failed"].includes(type)) log.push(type)
      }
  ])
  return { log, counts, acquire, Lazy, observe }
}

const base = { description: "Fetches.", parameters: Schema.Struct({}), success: Schema.String }

/** The warnings of a program, with ids that were not drawn. */
const warnings = () => {
  const lines: Array<string> = []
  const logger = Logger.make(({ message }) => void lines.push(String([message].flat()[0]).replaceAll(/-\w+/g, "")))
  return { lines, layer: Logger.layer([logger]) }
}

const approving = Approval.layer(() => Effect.succeed(Approval.approve))

const broken = Effect.addFinalizer(() => Effect.die(new Error("the socket is stuck")))

it.run("ten attempts open and close ten times, one after the other [P1356]", (run) =>
  Effect.gen(function* () {
    const { acquire, counts, log } = resources()
    const tool = Tool.make("fetch", { ...base, run: () => Effect.andThen(acquire, Effect.fail(busy())) }).pipe(
      Tool.onError({ Busy: Recovery.retry({ retries: 9 }) })
    )
    const model = yield* ScriptedModel.make(batch("fetch"))
    yield* overADay(run(agentWith(tool), "go").pipe(Effect.provide(model.layer)))
    assert.deepStrictEqual(counts, { now: 0, most: 1, all: 10 })
    assert.deepStrictEqual(log, Array.from({ length: 10 }, () => ["open", "close after failure"]).flat())
  })
)

it.run("the scope is closed after the result is written down, and before the outcome is reported [P1356]", (run) =>
  Effect.gen(function* () {
    for (const around of [false, true]) {
      const { Lazy, acquire, observe, log } = resources()
      let runs = 0
      const plain = Tool.make("fetch", {
        ...base,
        success: Lazy,
        run: () =>
          Effect.andThen(
            acquire,
            Effect.suspend((): Effect.Effect<string, Busy> =>
              ++runs === 1 ? Effect.fail(busy()) : Effect.succeed("done")
            )
          )
      })
      const tool = around
        ? plain.pipe(Tool.around(Effect.retry({ times: 1 })))
        : plain.pipe(Tool.onError({ Busy: Recovery.retry({ retries: 1 }) }))
      const model = yield* callingOnce("fetch")
      yield* overADay(run(agentWith(tool), "go").pipe(Effect.provide(model.layer), observe))
      const failed = ["open", "close after failure", "tool-failed"]
      assert.deepStrictEqual(log, [...failed, "open", "encode", "close after success", "tool-end"])
      assert.deepStrictEqual(read(model), ["result: done"])
    }
  })
)

it.effect("a call outside of an agent writes its result down before that too [P1356]", () =>
  Effect.gen(function* () {
    const { Lazy, acquire, log } = resources()
    const tool = Tool.make("fetch", { ...base, success: Lazy, run: () => Effect.as(acquire, "done") })
    assert.strictEqual(yield* Tool.call(tool, {}), "done")
    assert.deepStrictEqual(log, ["open", "encode", "close after success"])
  })
)

it.run("an attempt that is stopped by its time, or interrupted, closes it as interrupted [P1356]", (run) =>
  Effect.gen(function* () {
    const { acquire, observe, log } = resources()
    const stuck = (timeout: "1 second" | undefined) =>
      Tool.make("fetch", {
        ...base,
        ...(timeout && { timeout }),
        run: () => Effect.andThen(acquire, Effect.never)
      }).pipe(Tool.onError({ orElse: Recovery.tell() }))
    const model = yield* callingOnce("fetch")
    yield* overADay(run(agentWith(stuck("1 second")), "go").pipe(Effect.provide(model.layer), observe))
    assert.deepStrictEqual(log, ["open", "close after interruption", "tool-failed", "tool-end"])
    const other = yield* ScriptedModel.make(batch("fetch"))
    yield* interruptedAt(1000, run(agentWith(stuck(undefined)), "go").pipe(Effect.provide(other.layer)))
    assert.deepStrictEqual(log.slice(4), ["open", "close after interruption"])
  })
)

it.run("the release of a scope takes none of the time of the attempt: a known failure stays known [P1356]", (run) =>
  Effect.gen(function* () {
    for (const at of [999, 1000]) {
      const slow = Tool.make("fetch", {
        ...base,
        timeout: "1 second",
        run: () =>
          Effect.acquireRelease(Effect.void, () => Effect.sleep("3 seconds")).pipe(
            Effect.andThen(Effect.delay(Effect.fail(gone()), at))
          )
      }).pipe(Tool.onError({ orElse: Recovery.tell() }))
      const model = yield* callingOnce("fetch")
      yield* overADay(run(agentWith(slow), "go").pipe(Effect.provide(model.layer)))
      const [text] = read(model)
      // at the same instant, the sleep of the attempt was set first
      assert.include(text, "gone")
    }
  })
)

it.run("verify has one for each execution, and what it finds is written down before that is closed [P1356]", (run) =>
  Effect.gen(function* () {
    for (const release of ["at once", "slow"] as const) {
      const { Lazy, acquire, log } = resources()
      const slowly = Effect.acquireRelease(Effect.void, () =>
        release === "slow" ? Effect.sleep("3 seconds") : Effect.void
      )
      const tool = Tool.make("fetch", {
        ...base,
        success: Lazy,
        sideEffects: "unsafe",
        timeout: "1 second",
        run: () => Effect.never,
        verify: () => Effect.andThen(acquire, Effect.as(slowly, Option.some("paid")))
      })
      const model = yield* callingOnce("fetch")
      yield* overADay(run(agentWith(tool), "go").pipe(Effect.provide(model.layer)))
      assert.deepStrictEqual(log, ["open", "encode", "close after success"])
      assert.deepStrictEqual(read(model), ["result: paid"])
      log.length = 0
      const exit = yield* overADay(Tool.call(tool, {}))
      assert.deepStrictEqual([log, exit], [["open", "encode", "close after success"], Exit.succeed("paid")])
    }
  })
)

it.run("a lookup that finds nothing, fails or takes too long closes it [P1356]", (run) =>
  Effect.gen(function* () {
    const ways = { nothing: Effect.succeedNone, failing: Effect.fail(gone()), endless: Effect.never }
    for (const [way, found] of Object.entries(ways)) {
      const { acquire, counts } = resources()
      const tool = Tool.make("fetch", {
        ...base,
        sideEffects: "unsafe",
        timeout: "1 second",
        run: () => Effect.never,
        verify: () => Effect.andThen(acquire, found as Effect.Effect<Option.Option<string>, Error>)
      }).pipe(Tool.onError({ orElse: Recovery.tell() }))
      const model = yield* callingOnce("fetch")
      yield* overADay(run(agentWith(tool), "go").pipe(Effect.provide(model.layer)))
      assert.deepStrictEqual(counts, { now: 0, most: 1, all: 1 })
      assert.strictEqual(read(model)[0]?.startsWith(way === "nothing" ? "told" : "unknown"), true)
    }
  })
)

it.run("a compensation has its own scope, which is closed before the event of the compensation [P1356]", (run) =>
  Effect.gen(function* () {
    const { acquire, observe, log } = resources()
    const tool = Tool.make("fetch", { ...base, run: () => Effect.succeed("booked") }).pipe(
      Tool.compensate(() => acquire)
    )
    const failing = Tool.make("fail", { ...base, run: () => Effect.fail(gone()) })
    const model = yield* ScriptedModel.make(batch("fetch"), batch("fail"))
    yield* failureOf(yield* Effect.exit(run(agentWith(tool, failing), "go").pipe(Effect.provide(model.layer), observe)))
    assert.deepStrictEqual(log, [
      "tool-end",
      "tool-failed",
      "open",
      "close after success",
      "tool-compensated",
      "run-failed"
    ])
  })
)

it.run("a finalizer that fails is logged, and changes no outcome [P1356]", (run) =>
  Effect.gen(function* () {
    const { layer, lines } = warnings()
    const errors: Array<unknown> = []
    const listen = Agent.onEvent((event) =>
      Effect.sync(() => void (event.type === "tool-compensated" && errors.push(event.error)))
    )
    const good = Tool.make("good", { ...base, run: () => Effect.as(broken, "good") })
    const bad = Tool.make("bad", { ...base, run: () => Effect.andThen(broken, Effect.fail(busy())) }).pipe(
      Tool.onError({ Busy: Recovery.tell() })
    )
    const ended = Tool.make("ended", {
      ...base,
      run: () =>
        Effect.as(
          Effect.addFinalizer(() => Effect.interrupt),
          "ended"
        )
    })
    const paid = Tool.make("paid", {
      ...base,
      sideEffects: "unsafe",
      timeout: "1 second",
      run: () => Effect.never,
      verify: () => Effect.as(broken, Option.some("paid"))
    }).pipe(Tool.compensate(() => broken))
    const session = Tool.make("kept", {
      ...base,
      run: (_, { runScope }) => Effect.as(Effect.provideService(broken, Scope.Scope, runScope), "kept")
    })
    const fail = Tool.make("fail", { ...base, run: () => Effect.fail(gone()) })
    const agent = agentWith(good, bad, ended, paid, session, fail).pipe(listen)
    const names = ["good", "bad", "ended", "paid", "kept"]
    const model = yield* ScriptedModel.make(...names.map((name) => batch(name)), batch("fail"))
    const exit = yield* overADay(run(agent, "go").pipe(Effect.provide([model.layer, layer])))
    assert.deepStrictEqual(yield* failureOf(exit), gone())
    assert.deepStrictEqual(
      read(model).map((text) => text.slice(0, 13)),
      ["result: good", "told: permane", "result: ended", "result: paid", "result: kept"]
    )
    assert.deepStrictEqual(errors, [undefined])
    const whose = ["good", "bad", "ended", "paid", "paid"]
    assert.deepStrictEqual(lines, [
      ...whose.map((name) => `A finalizer failed: tool '${name}', call 'c1'`),
      "A finalizer failed: run"
    ])
  })
)

it.effect("Tool.call outside of an agent logs failed finalizers too, all of them [P1356]", () =>
  Effect.gen(function* () {
    const { layer, lines } = warnings()
    const tool = Tool.make("fetch", {
      ...base,
      run: (_, { runScope }) =>
        Effect.as(Effect.andThen(broken, Effect.provideService(broken, Scope.Scope, runScope)), "done")
    })
    assert.strictEqual(yield* Effect.provide(Tool.call(tool, {}), layer), "done")
    assert.deepStrictEqual(lines, ["A finalizer failed: tool 'fetch', call 'fetch'", "A finalizer failed: fetch"])
  })
)

class Pool extends Context.Service<Pool, { readonly isUsable: () => boolean }>()("test/Pool") {}

it.run("what a function acquires is released before the layer of Tool.provide [P1356]", (run) =>
  Effect.gen(function* () {
    const log: Array<string> = []
    const layer = Layer.effect(
      Pool,
      Effect.suspend(() => {
        let isUsable = true
        const close = () => {
          isUsable = false
          log.push("pool closed")
        }
        return Effect.acquireRelease(Effect.succeed({ isUsable: () => isUsable }), () => Effect.sync(close))
      })
    )
    const using = (what: string) =>
      Effect.acquireRelease(Pool, (pool) => Effect.sync(() => void log.push(`${what} ${pool.isUsable()}`)))
    const tool = Tool.make("fetch", {
      ...base,
      sideEffects: "unsafe",
      timeout: "1 second",
      run: () => Effect.andThen(using("run"), Effect.never),
      verify: () => Effect.as(using("verify"), Option.some("done"))
    }).pipe(
      Tool.compensate(() => using("undo")),
      Tool.provide(layer)
    )
    const fail = Tool.make("fail", { ...base, run: () => Effect.fail(gone()) })
    const model = yield* ScriptedModel.make(batch("fetch"), batch("fail"))
    yield* overADay(run(agentWith(tool, fail), "go").pipe(Effect.provide(model.layer)))
    assert.deepStrictEqual(
      log,
      ["run", "verify", "undo"].flatMap((what) => [`${what} true`, "pool closed"])
    )
  })
)

it.run("an agent that needs a scope has the scope of its call, whether it can be suspended or not [P1356]", (run) =>
  Effect.gen(function* () {
    const { acquire, observe, log } = resources()
    const helper = Agent.deterministic("helper", () => Effect.as(acquire, "helped"))
    const agent = agentWith(Agent.asTool(helper, { description: "Helps." }))
    for (const way of ["run", "start"] as const) {
      const call = ScriptedModel.calls(ScriptedModel.call("helper", { input: "x" }))
      const model = yield* ScriptedModel.make(call, done)
      const running =
        way === "run"
          ? Effect.asVoid(run(agent, "go"))
          : Effect.asVoid(Effect.scoped(Effect.flatMap(agent.start("go"), ({ outcome }) => outcome)))
      yield* running.pipe(Effect.provide([model.layer, approving]), observe)
      assert.deepStrictEqual(read(model), ["result: helped"])
    }
    const once = ["open", "close after success", "tool-end"]
    assert.deepStrictEqual(log, [...once, ...once])
  })
)
