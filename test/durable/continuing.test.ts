/** Deferred calls whose durable run goes on: what has come is recorded at each safe point, and the run waits for the rest at its end. */
import { assert, it } from "@effect/vitest"
import { Agent, Message, Recovery, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Durable } from "@kintsugi/durable"
import { Effect, Exit, Layer, Option, Schedule, Schema } from "effect"
import { TestClock } from "effect/testing"
import { batch, calm, done, eventLog, settlements } from "../_support/dialogue.ts"
import { deferring } from "../core/tool/_support/deferring.ts"
import { type Death, process, watched } from "./_support/engines.ts"
import { call, reading } from "./_support/readingModel.ts"

const { make, text } = ScriptedModel

const quiet = Effect.forEach(Array.from({ length: 20 }), () => calm, { discard: true })

const counted = { _tag: "Counted" }
const not = (reason: string) => ({ _tag: "NotCounted", reason })

const slow = (name = "slow") =>
  Tool.make(name, {
    description: "Takes an hour.",
    parameters: Schema.Struct({}),
    success: Schema.String,
    run: () => Effect.as(Effect.sleep("1 hour"), "fine")
  })

/** What the model has read by its last request: the messages of users after the first one. */
const saidIn = (model: ScriptedModel.ScriptedModel): ReadonlyArray<string> =>
  (model.requests.at(-1)?.messages ?? [])
    .flatMap((message) => (message.role === "user" ? [Message.textOf(message)] : []))
    .slice(1)

/** A durable run of an agent with these tools. */
const running = (
  tools: ReadonlyArray<Tool.AnyTool>,
  replies: ReadonlyArray<ReturnType<typeof batch>>,
  options: { readonly isForgetful?: boolean; readonly inHelper?: boolean; readonly inbox?: boolean } = {}
) =>
  Effect.gen(function* () {
    const model = yield* make(...replies)
    const log = eventLog()
    const worker = Agent.make("worker", { tools: tools as never, budget: { maxDuration: "20 days" } }).pipe(
      Agent.toolDefaults({ orElse: Recovery.tell() }),
      log.listen
    )
    const boss = Agent.make("boss", {
      tools: [Agent.asTool(worker, { description: "Works.", sideEffects: "none" })],
      budget: { maxDuration: "20 days" }
    }).pipe(Agent.toolDefaults({ orElse: Recovery.tell() }))
    const engine = yield* watched(options.isForgetful ?? false)
    // by its type this agent fails as its tools do
    const durable = Durable.workflow(
      (options.inHelper === true ? boss : worker) as never,
      {
        name: "orders",
        input: Schema.String,
        output: Schema.String,
        error: Schema.Unknown,
        inbox: options.inbox ?? false
      } as never
    ) as unknown as Durable.Durable<"orders", typeof Schema.String, typeof Schema.String, unknown, never>
    const on = Effect.provideContext(yield* Layer.build(engine.layer))
    const serve = process(durable.layer.pipe(Layer.provide(model.layer), Layer.provide(engine.layer)))
    const stop = yield* serve
    const id = yield* Durable.start(durable, { id: "one", input: "go" }).pipe(on)
    yield* quiet
    const polled = Effect.map(Durable.poll(durable, id).pipe(on), Option.getOrUndefined)
    const end = Effect.map(polled, (found) => (found?._tag === "Complete" ? found.exit : (found?._tag ?? "at work")))
    const waiting = Effect.map(polled, (found) => (found?._tag === "Suspended" ? found.waiting : []))
    const settle = (tool: Tool.AnyTool, token: string, exit: Exit.Exit<unknown, unknown>) =>
      Effect.tap(Durable.settle(durable, tool, token, exit).pipe(on), quiet)
    const inAnotherProcess = Effect.gen(function* () {
      yield* stop
      yield* engine.kill
      yield* serve
      yield* Durable.resume(durable, id).pipe(on)
      yield* quiet
    })
    const supersede = Effect.andThen(
      Durable.say(durable, { executionId: id, id: "m1", message: "hurry", supersede: true }).pipe(on),
      quiet
    )
    return { end, inAnotherProcess, log, model, settle, supersede, waiting }
  })

for (const isForgetful of [false, true]) {
  const how = isForgetful ? "replayed after each step" : "in one process"

  // Finds out nothing of its own: the subject is the run of core that goes on beside its call, and the wait of the engine
  it.effect(`the run goes on, and waits at its end for days without a process, ${how} [P1524 P1521]`, () =>
    Effect.gen(function* () {
      const { begun, cancelled, tokenOf, tool } = deferring({ wait: "continue", deadline: "10 days" })
      const replies = [batch("order"), batch("slow"), text("so far"), done]
      const run = yield* running([tool, slow()], replies, { isForgetful })
      assert.match(settlements(run.model.requests.at(-1)?.messages ?? [])[0] ?? "", /^deferred: .*{"job":1}/)
      yield* TestClock.adjust("1 hour")
      yield* quiet
      assert.deepStrictEqual([yield* run.end, run.model.requests.length], ["Suspended", 3])
      const listed = (yield* run.waiting).map((one) => one.type === "deferred" && [one.agent, one.tool, one.handle])
      assert.deepStrictEqual(listed, [["worker", "order", { job: 1 }]])
      yield* TestClock.adjust("3 days")
      yield* run.inAnotherProcess
      const misfit = yield* Effect.flip(run.settle(tool, tokenOf(), Exit.succeed({ at: "soon" })))
      assert.isTrue(Schema.isSchemaError(misfit))
      assert.deepStrictEqual(yield* run.settle(tool, tokenOf(), Exit.succeed({ at: 7 })), counted as never)
      assert.deepStrictEqual(yield* run.end, Exit.succeed("done"))
      assert.match(saidIn(run.model).join("\n"), /^The call 'c1' of tool 'order'.*<data>{"at":7}<\/data>$/)
      assert.lengthOf(run.model.requests, 4)
      assert.deepStrictEqual([begun.length, cancelled], [1, []])
      assert.deepStrictEqual(yield* run.settle(tool, tokenOf(), Exit.succeed({ at: 9 })), not("run-over") as never)
    })
  )

  // Finds out nothing of its own: the subject is the safe point of core, in a replay too
  it.effect(
    `a result that has come is read at the next safe point with its picture, and a replay reads it there, ${how} [P1524 P1501 P1538]`,
    () =>
      Effect.gen(function* () {
        const { tokenOf, tool: plain } = deferring({ wait: "continue", deadline: "10 days" })
        const image = Message.image("image/png", { data: "MARKERmarkerMARKERmarker" })
        const of = (result: object) => [Message.text(JSON.stringify(result)), image]
        const tool = plain.pipe(Tool.parts(of, { unsupported: "follow" }))
        const run = yield* running([tool, slow()], [batch("order", "slow"), batch("slow"), done], { isForgetful })
        assert.deepStrictEqual(yield* run.settle(tool, tokenOf(), Exit.succeed({ at: 7 })), counted as never)
        assert.deepStrictEqual(
          yield* run.settle(tool, tokenOf(), Exit.succeed({ at: 8 })),
          not("already-settled") as never
        )
        yield* TestClock.adjust("1 hour")
        yield* quiet
        assert.lengthOf(run.model.requests, 2)
        assert.lengthOf(saidIn(run.model), 1)
        yield* run.inAnotherProcess
        yield* TestClock.adjust("1 hour")
        yield* quiet
        assert.deepStrictEqual(yield* run.end, Exit.succeed("done"))
        assert.lengthOf(saidIn(run.model), 1)
        assert.match(saidIn(run.model)[0] ?? "", /{"at":7}/)
        const said = run.model.requests.at(-1)?.messages.findLast(({ role }) => role === "user")
        assert.deepStrictEqual(said?.role === "user" && said.content.slice(1), [image])
        assert.notInclude(JSON.stringify(run.log.all), "MARKER")
      })
  )

  it.effect(`at the deadline the work is cancelled once, and a settlement is late, ${how} [P1524 P1525]`, () =>
    Effect.gen(function* () {
      for (const isBusy of [true, false]) {
        const { cancelled, tokenOf, tool } = deferring({ wait: "continue", deadline: isBusy ? "30 minutes" : "3 days" })
        const replies = isBusy ? [batch("order", "slow"), batch("slow"), done] : [batch("order"), text("so far"), done]
        const run = yield* running([tool, slow()], replies, { isForgetful })
        if (isBusy) {
          yield* TestClock.adjust("1 hour")
          yield* quiet
          assert.deepStrictEqual(yield* run.settle(tool, tokenOf(), Exit.succeed({ at: 7 })), not("late") as never)
          yield* TestClock.adjust("1 hour")
        } else {
          yield* TestClock.adjust(3 * 86_400_000 - 1)
          yield* quiet
          assert.deepStrictEqual([cancelled, yield* run.end], [[], "Suspended"])
          yield* TestClock.adjust(1)
        }
        yield* quiet
        assert.deepStrictEqual(yield* run.end, Exit.succeed("done"))
        assert.deepStrictEqual(cancelled, [1])
        assert.match(saidIn(run.model).join("\n"), /did not end within/)
      }
    })
  )

  it.effect(`polls are made in passing and at the end, and none is made twice, ${how} [P1524 P1527]`, () =>
    Effect.gen(function* () {
      for (const found of [1, 3]) {
        let polls = 0
        const tool = Tool.deferred("order", {
          description: "Orders.",
          parameters: Schema.Struct({}),
          success: Schema.String,
          start: () => Effect.succeed(1),
          wait: "continue",
          deadline: "10 days",
          poll: {
            every: Schedule.spaced("30 minutes"),
            check: () => Effect.sync(() => (++polls === found ? Option.some("here") : Option.none<string>()))
          }
        })
        const replies = [batch("order", "slow"), text("so far"), ...(found === 1 ? [] : [done])]
        const run = yield* running([tool, slow()], replies, { isForgetful })
        yield* TestClock.adjust("1 hour")
        yield* quiet
        if (found > 1) {
          assert.isAtLeast(polls, 1)
          yield* TestClock.adjust("1 hour")
          yield* quiet
        }
        assert.deepStrictEqual(yield* run.end, Exit.succeed(found === 1 ? "so far" : "done"))
        assert.match(saidIn(run.model).join("\n"), /<data>here<\/data>$/)
        assert.strictEqual(polls, found)
      }
    })
  )

  // Finds out nothing of its own: the subject is which calls core waits for at the end of a run
  it.effect(
    `it ends without the calls that it leaves, waits for the others, and its end names them, ${how} [P1524]`,
    () =>
      Effect.gen(function* () {
        const left = deferring({ name: "left", wait: "continue", atEnd: "detach", deadline: "10 days" })
        const awaited = deferring({ name: "awaited", wait: "continue", deadline: "10 days" })
        const other = deferring({ name: "other", wait: "continue", deadline: "10 days" })
        const replies = [batch("left", "awaited", "other"), text("so far"), done]
        const run = yield* running([left.tool, awaited.tool, other.tool], replies, { isForgetful })
        assert.strictEqual(yield* run.end, "Suspended")
        assert.lengthOf(yield* run.waiting, 3)
        yield* run.settle(other.tool, other.tokenOf(), Exit.succeed({ at: 1 }))
        // it waits for all that it waits for
        assert.strictEqual(yield* run.end, "Suspended")
        yield* run.settle(awaited.tool, awaited.tokenOf(), Exit.succeed({ at: 2 }))
        assert.deepStrictEqual(yield* run.end, Exit.succeed("done"))
        assert.deepStrictEqual(
          saidIn(run.model).map((one) => /'(\w+)', with/.exec(one)?.[1]),
          ["awaited", "other"]
        )
        assert.deepStrictEqual(
          run.log
            .of("run-completed")
            .at(-1)
            ?.open?.map(({ tool }) => tool),
          ["left"]
        )
        assert.deepStrictEqual(left.cancelled, [])
        const late = yield* run.settle(left.tool, left.tokenOf(), Exit.succeed({ at: 1 }))
        assert.deepStrictEqual(late, not("run-over") as never)
      })
  )

  it.effect(
    `a failure goes to the rows, and retry begins anew, also while the run is at work, ${how} [P1524 P1522]`,
    () =>
      Effect.gen(function* () {
        for (const isBusy of [true, false]) {
          const { begun, cancelled, tokenOf, tool } = deferring({ wait: "continue", deadline: "3 days" })
          const retry = Recovery.ladder(Recovery.retry({ retries: 1, initialBackoff: "1 day" }), Recovery.tell())
          const retried = tool.pipe(Tool.onError({ Declined: retry, ToolTimeoutError: Recovery.tell() }))
          const replies = isBusy
            ? [batch("order", "slow"), batch("slow"), text("so far"), done]
            : [batch("order"), text("so far"), done]
          const run = yield* running([retried, slow()], replies, { isForgetful })
          const failed = Exit.fail({ _tag: "Declined", why: "no" })
          assert.deepStrictEqual(yield* run.settle(tool, tokenOf(0), failed), counted as never)
          // at the safe point after it, or at its end
          if (isBusy) yield* TestClock.adjust("1 hour")
          yield* quiet
          assert.lengthOf(begun, 1)
          yield* TestClock.adjust("1 day")
          yield* quiet
          assert.lengthOf(begun, 2)
          assert.deepStrictEqual([begun[0]?.key, begun.map(({ attempt }) => attempt)], [begun[1]?.key, [1, 2]])
          yield* run.inAnotherProcess
          assert.lengthOf(begun, 2)
          assert.deepStrictEqual(yield* run.settle(tool, tokenOf(0), failed), not("already-settled") as never)
          if (isBusy) {
            yield* TestClock.adjust("1 hour")
            yield* quiet
            yield* run.settle(tool, tokenOf(1), Exit.succeed({ at: 2 }))
          } else {
            // the second one has its whole time
            yield* TestClock.adjust("3 days")
            yield* quiet
          }
          yield* quiet
          assert.deepStrictEqual(yield* run.end, Exit.succeed("done"))
          assert.match(saidIn(run.model).join("\n"), isBusy ? /{"at":2}/ : /did not end within 3d/)
          assert.lengthOf(saidIn(run.model), 1)
          assert.deepStrictEqual([begun.length, cancelled], [2, isBusy ? [] : [2]])
        }
      })
  )

  // Finds out nothing of its own: it plays the death of a process in which a sub-agent of core waits
  it.effect(`a sub-agent waits for its own, ${how} [P1524]`, () =>
    Effect.gen(function* () {
      const { begun, tokenOf, tool } = deferring({ wait: "continue", deadline: "10 days" })
      const helping = ScriptedModel.calls(ScriptedModel.call("worker", { input: "go" }, "p1"))
      const replies = [helping, batch("order"), text("so far"), text("helped"), done]
      const run = yield* running([tool], replies, { isForgetful, inHelper: true })
      assert.strictEqual(yield* run.end, "Suspended")
      yield* run.inAnotherProcess
      yield* run.settle(tool, tokenOf(), Exit.succeed({ at: 7 }))
      assert.deepStrictEqual(yield* run.end, Exit.succeed("done"))
      assert.deepStrictEqual(settlements(run.model.requests.at(-1)?.messages ?? []), ["result: helped"])
      assert.lengthOf(begun, 1)
    })
  )

  // Finds out nothing of its own: the subject is what core cancels when a run fails, in replays too
  it.effect(`a run that fails cancels the work once, ${how} [P1524 P1526]`, () =>
    Effect.gen(function* () {
      const { cancelled, tokenOf, tool } = deferring({ wait: "continue", deadline: "10 days" })
      const broken = Tool.make("broken", {
        description: "Breaks.",
        parameters: Schema.Struct({}),
        success: Schema.String,
        run: () => Effect.andThen(Effect.sleep("1 hour"), Effect.die("broken"))
      })
      const run = yield* running([tool, broken], [batch("order"), batch("broken")], { isForgetful })
      yield* TestClock.adjust("1 hour")
      yield* quiet
      const exit = yield* run.end
      assert.isTrue(Exit.isExit(exit) && Exit.isFailure(exit))
      assert.deepStrictEqual(cancelled, [1])
      assert.deepStrictEqual(yield* run.settle(tool, tokenOf(), Exit.succeed({ at: 1 })), not("run-over") as never)
    })
  )
}

it.effect(
  "a message that supersedes withdraws no call that is settled, and is read after its result [P1524 P1584 P1501]",
  () =>
    Effect.gen(function* () {
      const { cancelled, tokenOf, tool } = deferring({ wait: "continue", deadline: "10 days" })
      const run = yield* running([tool], [batch("order"), text("so far"), done], { inbox: true })
      yield* run.supersede
      assert.strictEqual(yield* run.end, "Suspended")
      assert.deepStrictEqual(
        (yield* run.waiting).map(({ type }) => type),
        ["deferred", "message"]
      )
      assert.deepStrictEqual(yield* run.settle(tool, tokenOf(), Exit.succeed({ at: 7 })), counted as never)
      assert.deepStrictEqual(yield* run.end, Exit.succeed("done"))
      assert.match(saidIn(run.model)[0] ?? "", /{"at":7}/)
      assert.strictEqual(saidIn(run.model)[1], "hurry")
      assert.deepStrictEqual(cancelled, [])
    })
)

/** A durable run whose process dies at a step; the call is settled once its run waits. */
const survivingA = (death: Death) =>
  Effect.gen(function* () {
    const { begun, cancelled, tokenOf, tool } = deferring({
      wait: "continue",
      deadline: "10 days",
      sideEffects: "unsafe"
    })
    const said = reading("outer", (turn) =>
      turn === 0 ? [call("order")] : turn === 1 ? [call("slow")] : [Message.text(turn === 2 ? "so far" : "done")]
    )
    const agent = Agent.make("worker", {
      tools: [tool, slow()],
      budget: { maxDuration: "20 days" },
      model: said.layer
    }).pipe(Agent.toolDefaults({ orElse: Recovery.tell() }))
    const durable = Durable.workflow(agent, { name: "orders", input: Schema.String, output: Schema.String })
    const engine = yield* watched(false, death)
    return yield* Effect.gen(function* () {
      let stop = yield* process(durable.layer)
      const id = yield* Durable.start(durable, { id: "one", input: "go" })
      let hasDied = false
      for (let hour = 0; hour < 60; hour++) {
        yield* quiet
        if (!hasDied && (yield* engine.isDying)) {
          hasDied = true
          yield* stop
          yield* engine.kill
          yield* TestClock.adjust("1 hour")
          stop = yield* process(durable.layer)
          yield* Durable.resume(durable, id)
          continue
        }
        const result = Option.getOrUndefined(yield* Durable.poll(durable, id))
        if (result?._tag === "Complete") {
          yield* stop
          return { exit: result.exit, hasDied, starts: begun.length, cancelled }
        }
        if (result?._tag === "Suspended" && result.waiting.length > 0) {
          yield* Durable.settle(durable, tool, tokenOf(begun.length - 1), Exit.succeed({ at: hour }))
        }
        yield* TestClock.adjust("1 hour")
      }
      return yield* Effect.die(new Error("it never ended"))
    }).pipe(Effect.provide(engine.layer))
  })

// Finds out nothing of its own: it plays a death at each step of a run of core that goes on beside its call
it.effect("a process that dies at any step never calls start twice, and the run ends all the same [P1524 P1528]", () =>
  Effect.gen(function* () {
    let deaths = 0
    for (let at = 1; at <= 14; at++) {
      for (const when of ["before", "after"] as const) {
        const { cancelled, exit, hasDied, starts } = yield* survivingA({ at, when })
        if (!hasDied) continue
        deaths++
        assert.isAtMost(starts, 1)
        assert.deepStrictEqual(cancelled, [])
        assert.isTrue(Exit.isSuccess(exit), `${at} ${when}`)
      }
    }
    assert.isAtLeast(deaths, 16)
  })
)
