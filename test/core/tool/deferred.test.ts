/** Deferred tools in memory: the call waits in its run for its settlement. */
import { assert } from "@effect/vitest"
import { Agent, Approval, Recovery, Snapshot, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Cause, Duration, Effect, Exit, Fiber, Schedule, Schema } from "effect"
import { TestClock } from "effect/testing"
import { it } from "../../_support/run.ts"
import { batch, busy, calm, callingOnce, eventLog, read, scripted } from "../../_support/dialogue.ts"
import { agentWith, Declined, deferring } from "./_support/deferring.ts"

const { make } = ScriptedModel

const counted: Tool.Receipt = { _tag: "Counted" }
const not = (reason: Extract<Tool.Receipt, { readonly _tag: "NotCounted" }>["reason"]): Tool.Receipt => ({
  _tag: "NotCounted",
  reason
})

it.run(
  "a call begins with start, waits, and its result is the ordinary result of the call [P1374 P1520 P1523]",
  (run) =>
    Effect.gen(function* () {
      const { begun, cancelled, tokenOf, tool } = deferring()
      const log = eventLog()
      const model = yield* callingOnce("order")
      const fiber = yield* Effect.forkChild(
        run(agentWith(tool).pipe(log.listen), "go").pipe(Effect.provide(model.layer))
      )
      yield* calm
      yield* TestClock.adjust("59 minutes")
      assert.deepStrictEqual(
        log.of("tool-waiting").map(({ callId, expiresAt, handle, tool }) => ({ callId, expiresAt, handle, tool })),
        [{ callId: "c1", expiresAt: 3_600_000, handle: { job: 1 }, tool: "order" }]
      )
      assert.deepStrictEqual(yield* Tool.settle(tokenOf(), Exit.succeed({ at: 7 })), counted)
      assert.strictEqual(yield* Fiber.join(fiber), "done")
      assert.deepStrictEqual(read(model), ['result: {"at":7}'])
      assert.strictEqual(begun.length, 1)
      assert.deepStrictEqual(cancelled, [])
      assert.deepStrictEqual(
        log.of("tool-end").map(({ use }) => [use.settlement.kind, use.attempts]),
        [["result", 1]]
      )
    })
)

it.run("a settlement that comes before start has returned counts [P1521]", (run) =>
  Effect.gen(function* () {
    const { tool } = deferring({
      start: ({ token }) => Effect.as(Effect.orDie(Tool.settle(token, Exit.succeed({ at: 1 }))), { job: 5 })
    })
    const model = yield* callingOnce("order")
    assert.strictEqual(yield* run(agentWith(tool), "go").pipe(Effect.provide(model.layer)), "done")
    assert.deepStrictEqual(read(model), ['result: {"at":1}'])
  })
)

it.run("of two settlements before start has returned, the first counts [P1521]", (run) =>
  Effect.gen(function* () {
    const receipts: Array<Tool.Receipt> = []
    const { tool } = deferring({
      start: ({ token }) =>
        Effect.gen(function* () {
          for (const at of [1, 2]) receipts.push(yield* Effect.orDie(Tool.settle(token, Exit.succeed({ at }))))
          return { job: 5 }
        })
    })
    const model = yield* callingOnce("order")
    assert.strictEqual(yield* run(agentWith(tool), "go").pipe(Effect.provide(model.layer)), "done")
    assert.deepStrictEqual(read(model), ['result: {"at":1}'])
    assert.deepStrictEqual(receipts, [counted, not("already-settled")])
  })
)

it.run("of several settlements the first counts, and a misfit leaves the call waiting [P1521]", (run) =>
  Effect.gen(function* () {
    const { tokenOf, tool } = deferring()
    const model = yield* callingOnce("order")
    const fiber = yield* Effect.forkChild(run(agentWith(tool), "go").pipe(Effect.provide(model.layer)))
    yield* calm
    for (const misfit of [Exit.succeed({ at: "soon" }), Exit.fail({ _tag: "Declined" }), Exit.die("broken")]) {
      const error = yield* Effect.flip(Tool.settle(tokenOf(), misfit))
      assert.isTrue(Schema.isSchemaError(error))
    }
    assert.deepStrictEqual(yield* Tool.settle(tokenOf(), Exit.succeed({ at: 7 })), counted)
    assert.deepStrictEqual(yield* Tool.settle(tokenOf(), Exit.succeed({ at: 8 })), not("already-settled"))
    assert.strictEqual(yield* Fiber.join(fiber), "done")
    assert.deepStrictEqual(read(model), ['result: {"at":7}'])
    assert.deepStrictEqual(yield* Tool.settle(tokenOf(), Exit.succeed({ at: 9 })), not("already-settled"))
    assert.deepStrictEqual(yield* Tool.settle(`${tokenOf()}x`, Exit.succeed({ at: 9 })), not("unknown-token"))
    assert.deepStrictEqual(yield* Tool.settle("no token", Exit.succeed({ at: 9 })), not("unknown-token"))
  })
)

it.run("a settlement from JavaScript that cannot be is answered, and leaves the call waiting [P1521]", (run) =>
  Effect.gen(function* () {
    const { tokenOf, tool } = deferring()
    const model = yield* callingOnce("order")
    const fiber = yield* Effect.forkChild(run(agentWith(tool), "go").pipe(Effect.provide(model.layer)))
    yield* calm
    const settle = Tool.settle as (token: unknown, exit: unknown) => ReturnType<typeof Tool.settle>
    for (const token of [5, undefined, null, {}, [tokenOf()]]) {
      assert.deepStrictEqual(yield* settle(token, Exit.succeed({ at: 1 })), not("unknown-token"))
    }
    for (const exit of [
      undefined,
      null,
      5,
      "x",
      { at: 1 },
      { _tag: "Success", value: { at: 1 } },
      { _tag: "Failure" }
    ]) {
      const error = yield* Effect.flip(settle(tokenOf(), exit))
      assert.strictEqual(error._tag, "SchemaError")
      assert.include(String(error), "Expected an Exit")
    }
    assert.deepStrictEqual(yield* Tool.settle(tokenOf(), Exit.succeed({ at: 1 })), counted)
    assert.strictEqual(yield* Fiber.join(fiber), "done")
  })
)

it.run("a settled failure goes to the rows: retry starts again with the same key and another token [P1522]", (run) =>
  Effect.gen(function* () {
    const { begun, tokenOf, tool } = deferring()
    const agent = agentWith(
      tool.pipe(Tool.onError({ Declined: Recovery.ladder(Recovery.retry({ retries: 1 }), Recovery.tell()) }))
    )
    const model = yield* callingOnce("order")
    const fiber = yield* Effect.forkChild(run(agent, "go").pipe(Effect.provide(model.layer)))
    yield* calm
    assert.deepStrictEqual(yield* Tool.settle(tokenOf(), Exit.fail({ _tag: "Declined", why: "late" })), counted)
    yield* calm
    yield* TestClock.adjust("1 minute")
    assert.deepStrictEqual(
      begun.map(({ attempt }) => attempt),
      [1, 2]
    )
    assert.strictEqual(begun[0]?.key, begun[1]?.key)
    assert.notStrictEqual(tokenOf(0), tokenOf(1))
    assert.deepStrictEqual(yield* Tool.settle(tokenOf(0), Exit.succeed({ at: 1 })), not("already-settled"))
    assert.deepStrictEqual(yield* Tool.settle(tokenOf(1), Exit.fail(new Declined({ why: "full" }))), counted)
    assert.strictEqual(yield* Fiber.join(fiber), "done")
    assert.match(read(model)[0] ?? "", /^told: .*Declined/s)
  })
)

it.run("fix starts again with other arguments, and the old token is dead [P1522]", (run) =>
  Effect.gen(function* () {
    const { begun, tokenOf, tool } = deferring()
    const fixer = Agent.deterministic("fixer", () => Effect.succeed('{ "n": 2 }'))
    const model = yield* callingOnce("order")
    const agent = agentWith(tool.pipe(Tool.onError({ Declined: Recovery.fix(fixer) })))
    const fiber = yield* Effect.forkChild(Effect.exit(run(agent, "go").pipe(Effect.provide(model.layer))))
    yield* calm
    yield* Tool.settle(tokenOf(), Exit.fail(new Declined({ why: "n" })))
    yield* calm
    assert.deepStrictEqual(yield* Tool.settle(tokenOf(0), Exit.succeed({ at: 1 })), not("already-settled"))
    yield* Tool.settle(tokenOf(1), Exit.succeed({ at: 2 }))
    assert.deepStrictEqual(yield* Fiber.join(fiber), Exit.succeed("done"))
    assert.deepStrictEqual(
      begun.map(({ n }) => n),
      [undefined, 2]
    )
  })
)

it.run("a start that fails is a failed attempt, as that of any tool [P1520]", (run) =>
  Effect.gen(function* () {
    const { begun, tokenOf, tool } = deferring({
      start: ({ attempt }) => (attempt === 1 ? Effect.fail(new Declined({ why: "no" })) : Effect.succeed({ job: 2 }))
    })
    const agent = agentWith(tool.pipe(Tool.onError({ Declined: Recovery.retry({ retries: 1 }) })))
    const model = yield* callingOnce("order")
    const fiber = yield* Effect.forkChild(Effect.exit(run(agent, "go").pipe(Effect.provide(model.layer))))
    yield* calm
    yield* TestClock.adjust("1 minute")
    assert.deepStrictEqual(yield* Tool.settle(tokenOf(0), Exit.succeed({ at: 0 })), not("run-over"))
    assert.deepStrictEqual(yield* Tool.settle(tokenOf(1), Exit.succeed({ at: 2 })), counted)
    assert.deepStrictEqual(yield* Fiber.join(fiber), Exit.succeed("done"))
    assert.strictEqual(begun.length, 2)
  })
)

it.run("calls wait beside each other and beside other calls, and each has its own token [P1521 P1523]", (run) =>
  Effect.gen(function* () {
    const { tokenOf, tool } = deferring()
    const other = scripted("other", Effect.succeed("fine"))
    const model = yield* callingOnce("order", "other", "order")
    const fiber = yield* Effect.forkChild(
      Effect.exit(run(agentWith(tool, other.tool), "go").pipe(Effect.provide(model.layer)))
    )
    yield* calm
    yield* Tool.settle(tokenOf(1), Exit.succeed({ at: 2 }))
    yield* Tool.settle(tokenOf(0), Exit.succeed({ at: 1 }))
    assert.deepStrictEqual(yield* Fiber.join(fiber), Exit.succeed("done"))
    assert.deepStrictEqual(read(model), ['result: {"at":1}', "result: fine", 'result: {"at":2}'])
  })
)

it.run("maxCalls, compensation and approval are those of the whole call, once [P1520]", (run) =>
  Effect.gen(function* () {
    const { begun, tokenOf, tool } = deferring()
    const undone: Array<unknown> = []
    const asked: Array<string> = []
    const whole = tool.pipe(
      Tool.onError({ Declined: Recovery.retry({ retries: 1 }) }),
      Tool.requireApproval(),
      Tool.compensate(({ result }) => Effect.sync(() => void undone.push(result)))
    )
    const bad = scripted("bad", Effect.fail(busy()))
    const model = yield* make(batch("order"), batch("bad"))
    const approver = Approval.layer((request) => Effect.sync(() => (asked.push(request.tool), Approval.approve)))
    const fiber = yield* Effect.forkChild(
      Effect.flip(run(agentWith(whole, bad.tool), "go").pipe(Effect.provide(model.layer), Effect.provide(approver)))
    )
    yield* calm
    yield* Tool.settle(tokenOf(0), Exit.fail(new Declined({ why: "first" })))
    yield* calm
    yield* TestClock.adjust("1 minute")
    yield* Tool.settle(tokenOf(1), Exit.succeed({ at: 2 }))
    assert.strictEqual((yield* Fiber.join(fiber))._tag, "Busy")
    assert.strictEqual(begun.length, 2)
    assert.deepStrictEqual(asked, ["order"])
    assert.deepStrictEqual(undone, [{ at: 2 }])
  })
)

it.run("a fixer, and an agent that the run of a tool calls, wait in memory [P1523]", (run) =>
  Effect.gen(function* () {
    const { tokenOf, tool } = deferring()
    const inner = yield* callingOnce("order")
    const calling = Tool.make("calling", {
      description: "Calls.",
      parameters: Schema.Struct({}),
      success: Schema.String,
      run: () => Effect.orDie(agentWith(tool)("go").pipe(Effect.provide(inner.layer)))
    })
    const model = yield* callingOnce("calling")
    const fiber = yield* Effect.forkChild(Effect.exit(run(agentWith(calling), "go").pipe(Effect.provide(model.layer))))
    yield* calm
    assert.deepStrictEqual(yield* Tool.settle(tokenOf(), Exit.succeed({ at: 1 })), counted)
    assert.deepStrictEqual(yield* Fiber.join(fiber), Exit.succeed("done"))
    assert.deepStrictEqual(read(model), ["result: done"])
  })
)

it.effect("options that cannot be are refused when the tool is made [P1520]", () =>
  Effect.sync(() => {
    const of = (options: object) => () =>
      Tool.deferred("order", {
        description: "Orders.",
        parameters: Schema.Struct({}),
        success: Schema.String,
        start: () => Effect.succeed(1),
        wait: "suspend",
        deadline: "1 hour",
        ...options
      })
    assert.throws(of({ deadline: 0 }), /deadline must be a finite duration above 0/)
    assert.throws(of({ deadline: Infinity }), /deadline must be a finite duration above 0/)
    assert.throws(of({ deadline: undefined }), /Tool 'order': deadline must be a finite duration above 0/)
    assert.throws(of({ deadline: null }), /Tool 'order': deadline must be a finite duration above 0/)
    assert.throws(of({ start: 1 }), /start must be a function/)
    for (const cancel of [5, null, {}]) assert.throws(of({ cancel }), /Tool 'order': cancel must be a function/)
    const every = Schedule.spaced("1 minute")
    const check = () => Effect.succeedNone
    for (const poll of [5, null, {}, { every }, { check }, { every: "1 minute", check }, { every, check: 5 }]) {
      assert.throws(of({ poll }), /Tool 'order': poll must have every, a Schedule, and check, a function/)
    }
    for (const [option, value] of [
      ["timeout", "1 second"],
      ["run", check],
      ["execute", check]
    ] as const) {
      assert.throws(of({ [option]: value }), new RegExp(`Tool 'order': ${option} is no option of a deferred tool`))
      assert.doesNotThrow(of({ [option]: undefined }))
    }
    assert.doesNotThrow(of({ cancel: undefined, poll: undefined, atEnd: undefined, callTimeout: undefined }))
    assert.throws(of({ wait: "later" }), /wait/)
    assert.throws(of({ atEnd: "wait" }), /atEnd must be "wait" or "detach", with wait "continue"/)
    assert.throws(of({ wait: "continue", atEnd: "later" }), /atEnd must be "wait" or "detach"/)
    assert.throws(of({ wait: "continue", callTimeout: "1 hour" }), /takes the place of callTimeout/)
  })
)

it.run("a handle that is no JSON is a defect of the tool [P1520]", (run) =>
  Effect.gen(function* () {
    const tool = Tool.deferred("order", {
      description: "Orders.",
      parameters: Schema.Struct({}),
      success: Schema.String,
      // @ts-expect-error -- a function is no JSON
      start: () => Effect.succeed(() => 1),
      wait: "suspend",
      deadline: "1 hour"
    })
    const model = yield* make(batch("order"))
    const exit = yield* Effect.exit(run(agentWith(tool), "go").pipe(Effect.provide(model.layer)))
    assert(Exit.isFailure(exit))
    assert.match(String(Cause.squash(exit.cause)), /Tool 'order': start returned no JSON/)
  })
)

/** A signer that can be read through. */
const signer = (key: string): Snapshot.Signer => ({
  sign: (text) => Effect.succeed({ key, mac: `${key}:${text.length}` }),
  verify: (text, signature) =>
    Effect.succeed(
      signature.key !== key ? "unknown-key" : signature.mac === `${key}:${text.length}` ? "valid" : "bad-signature"
    )
})

it.run("with a signer tokens are signed, and a settlement with a forged one does not count [P1521]", (run) =>
  Effect.gen(function* () {
    const { tokenOf, tool } = deferring()
    const signing = Effect.provideService(Snapshot.Signing, signer("a.b"))
    const model = yield* callingOnce("order")
    const fiber = yield* Effect.forkChild(signing(run(agentWith(tool), "go").pipe(Effect.provide(model.layer))))
    yield* calm
    const parts = tokenOf().split(".")
    const unsigned = parts.slice(0, 5).join(".")
    const forged = [...parts.slice(0, 6), "0"].join(".")
    for (const token of [unsigned, forged, "", "a.b", "%.%.%.%.%", `${tokenOf()}.more`]) {
      const answer = yield* signing(Tool.settle(token, Exit.succeed({ at: 1 })))
      assert.deepStrictEqual(answer, not("bad-signature"), token)
    }
    const other = Effect.provideService(Snapshot.Signing, signer("b"))
    for (const by of [other, <A, E>(self: Effect.Effect<A, E>) => self]) {
      assert.deepStrictEqual(yield* by(Tool.settle(tokenOf(), Exit.succeed({ at: 1 }))), not("bad-signature"))
    }
    assert.deepStrictEqual(yield* signing(Tool.settle(tokenOf(), Exit.succeed({ at: 1 }))), counted)
    assert.strictEqual(yield* Fiber.join(fiber), "done")
  })
)

it.effect("explain counts the deadline as the time of an attempt [P1520 P1525]", () =>
  Effect.sync(() => {
    const { tool } = deferring()
    const { tools } = Agent.explain(
      agentWith(tool.pipe(Tool.onError({ Declined: Recovery.retry({ retries: 1, initialBackoff: "1 second" }) })))
    )
    const worst = tools.get("order")?.worst
    // twice an hour, five seconds for each cancel, and a wait that a hint may make a minute long
    assert.strictEqual(Duration.format(worst?.time ?? Duration.zero), "2h 1m 10s")
  })
)
