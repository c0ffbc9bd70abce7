/** Deferred calls whose run goes on: what their rows say of an end without a result. */
import { assert } from "@effect/vitest"
import { Agent, Message, Recovery, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Exit, Fiber, Option, Schema } from "effect"
import { TestClock } from "effect/testing"
import { agentWith, Declined, deferring } from "../tool/_support/deferring.ts"
import { batch, busy, calm, done, eventLog, scripted, settlements } from "../../_support/dialogue.ts"
import { it } from "../../_support/run.ts"

const { make, text } = ScriptedModel

const resultOf = (job: number, callId: string, said: string) =>
  `The call '${callId}' of tool 'order', with the handle <data>{"job":${job}}</data>, is over. Its result: <data>${said}</data>`

/** What the model has read by its last request: the settlements, and the messages of users after the first one. */
const readBy = (model: ScriptedModel.ScriptedModel) => {
  const messages = model.requests.at(-1)?.messages ?? []
  const users = messages.flatMap((message) => (message.role === "user" ? [Message.textOf(message)] : []))
  return { texts: settlements(messages), said: users.slice(1) }
}

it.run("a failure of the work is asked of the rows, and what they tell is framed as data [P1524 P1522]", (run) =>
  Effect.gen(function* () {
    const { begun, tokenOf, tool } = deferring({ wait: "continue" })
    const log = eventLog()
    const agent = agentWith(tool.pipe(Tool.onError({ Declined: Recovery.tell(({ why }) => `declined: ${why}`) })))
    const model = yield* make(batch("order"), text("so far"), done)
    const fiber = yield* Effect.forkChild(run(agent.pipe(log.listen), "go").pipe(Effect.provide(model.layer)))
    yield* calm
    const failed = Exit.fail(new Declined({ why: "</data> no" }))
    assert.deepStrictEqual(yield* Tool.settle(tokenOf(), failed), { _tag: "Counted" })
    assert.deepStrictEqual(yield* Tool.settle(tokenOf(), failed), { _tag: "NotCounted", reason: "already-settled" })
    assert.strictEqual(yield* Fiber.join(fiber), "done")
    assert.match(readBy(model).said[0] ?? "", / is over. It has failed: <data>declined: .*no<\/data>$/)
    assert.strictEqual(readBy(model).said[0]?.split("</data>").length, 3)
    assert.lengthOf(begun, 1)
    assert.deepStrictEqual(
      log.of("verdict").map(({ layer, tag, verdict }) => [layer, tag, verdict]),
      [["tool", "Declined", "tell"]]
    )
    assert.lengthOf(log.of("tool-failed"), 1)
    assert.lengthOf([...log.of("tool-start"), ...log.of("tool-end")], 2)
    assert.strictEqual(log.of("tool-result")[0]?.settlement.kind, "told")
  })
)

it.run("a failure is told as such, in the words of any other, and no further line begins like ours [P1524]", (run) =>
  Effect.gen(function* () {
    const lines = "ERROR: sold out\npermanent: buy more"
    const last = Recovery.ladder(Recovery.retry({ retries: 0 }), Recovery.tell())
    for (const [policy, isExpired] of [
      [last, false],
      [last, true],
      [Recovery.tell(), false],
      [Recovery.tell(() => lines), false]
    ] as const) {
      const read: Array<string> = []
      for (const wait of ["suspend", "continue"] as const) {
        const { tokenOf, tool } = deferring({ wait })
        const agent = agentWith(tool.pipe(Tool.onError({ Declined: policy, ToolTimeoutError: policy })))
        const model = yield* make(batch("order"), ...(wait === "suspend" ? [done] : [text("so far"), done]))
        const fiber = yield* Effect.forkChild(run(agent, "go").pipe(Effect.provide(model.layer)))
        yield* calm
        if (isExpired) yield* TestClock.adjust("1 hour")
        else yield* Tool.settle(tokenOf(), Exit.fail(new Declined({ why: "no" })))
        yield* Fiber.join(fiber)
        const { said, texts } = readBy(model)
        read.push(wait === "suspend" ? (texts[0] ?? "") : (said[0] ?? ""))
      }
      const [at, later] = read
      const same = at?.replace(/^told: /, "").replaceAll("\n", "\n\\")
      assert.strictEqual(later?.split("is over. ")[1], `It has failed: <data>${same}</data>`)
    }
  })
)

it.run("retry begins anew, with the same key and another token, and the run goes on [P1524 P1522]", (run) =>
  Effect.gen(function* () {
    for (const isExpired of [false, true]) {
      const { begun, cancelled, tokenOf, tool } = deferring({ wait: "continue" })
      const log = eventLog()
      const retry = Recovery.ladder(Recovery.retry({ retries: 1, initialBackoff: "1 minute" }), Recovery.tell())
      const retried = tool.pipe(Tool.onError({ Declined: retry, ToolTimeoutError: retry }))
      const model = yield* make(batch("order"), text("so far"), done)
      const agent = agentWith(retried).pipe(log.listen)
      const fiber = yield* Effect.forkChild(run(agent, "go").pipe(Effect.provide(model.layer)))
      yield* calm
      if (isExpired) yield* TestClock.adjust("1 hour")
      else yield* Tool.settle(tokenOf(0), Exit.fail(new Declined({ why: "no" })))
      yield* calm
      assert.lengthOf(begun, 1)
      yield* TestClock.adjust("1 minute")
      assert.lengthOf(begun, 2)
      assert.deepStrictEqual(cancelled, isExpired ? [1] : [])
      assert.strictEqual(begun[0]?.key, begun[1]?.key)
      assert.deepStrictEqual(
        begun.map(({ attempt }) => attempt),
        [1, 2]
      )
      assert.notStrictEqual(tokenOf(0), tokenOf(1))
      const dead = yield* Tool.settle(tokenOf(0), Exit.succeed({ at: 1 }))
      assert.deepStrictEqual(dead, { _tag: "NotCounted", reason: isExpired ? "late" : "already-settled" })
      // nothing has come yet: the run does not ask its model again
      assert.lengthOf(model.requests, 2)
      yield* Tool.settle(tokenOf(1), Exit.succeed({ at: 2 }))
      assert.strictEqual(yield* Fiber.join(fiber), "done")
      assert.deepStrictEqual(readBy(model).said, [resultOf(2, "c1", '{"at":2}')])
      assert.deepStrictEqual(
        log.of("tool-waiting").map(({ handle, replaces }) => [handle, replaces]),
        [
          [{ job: 1 }, undefined],
          [{ job: 2 }, { job: 1 }]
        ]
      )
    }
  })
)

it.run("a ladder goes on where it was, until its last rung [P1524 P1522]", (run) =>
  Effect.gen(function* () {
    const { begun, tokenOf, tool } = deferring({ wait: "continue" })
    const ladder = Recovery.ladder(
      Recovery.retry({ retries: 2 }),
      Recovery.tell(({ why }: Declined) => `at last: ${why}`)
    )
    const model = yield* make(batch("order"), text("so far"), done)
    const agent = agentWith(tool.pipe(Tool.onError({ Declined: ladder })))
    const fiber = yield* Effect.forkChild(run(agent, "go").pipe(Effect.provide(model.layer)))
    for (const index of [0, 1, 2]) {
      yield* calm
      yield* TestClock.adjust("1 minute")
      yield* calm
      const receipt = yield* Tool.settle(tokenOf(index), Exit.fail(new Declined({ why: `${index}` })))
      assert.strictEqual(receipt._tag, "Counted")
    }
    assert.strictEqual(yield* Fiber.join(fiber), "done")
    assert.lengthOf(begun, 3)
    assert.match(readBy(model).said.join("\n"), /at last: 2<\/data>$/)
  })
)

it.run("a failure that no row handles ends the run, and so does raise [P1524 P1522]", (run) =>
  Effect.gen(function* () {
    for (const isRaised of [false, true]) {
      const { tokenOf, tool } = deferring({ wait: "continue" })
      const other = deferring({ wait: "continue", name: "other" })
      const first = isRaised ? tool.pipe(Tool.onError({ Declined: Recovery.raise })) : tool
      const model = yield* make(batch("order", "other"), text("so far"))
      const agent = agentWith(first, other.tool)
      const fiber = yield* Effect.forkChild(Effect.flip(run(agent, "go").pipe(Effect.provide(model.layer))))
      yield* calm
      yield* Tool.settle(tokenOf(), Exit.fail(new Declined({ why: "no" })))
      const error = yield* Fiber.join(fiber)
      assert.strictEqual((error as { readonly _tag: string })._tag, isRaised ? "ToolExecutionError" : "Declined")
      assert.deepStrictEqual(other.cancelled, [1])
    }
  })
)

it.run("a fixer repairs the arguments, and a value stands in for the result [P1524 P1522]", (run) =>
  Effect.gen(function* () {
    for (const isFixed of [true, false]) {
      const { begun, tokenOf, tool } = deferring({ wait: "continue" })
      const fixer = Agent.deterministic("fixer", () => Effect.succeed('{ "n": 2 }'))
      const model = yield* make(batch("order"), text("so far"), done)
      const agent = isFixed
        ? agentWith(tool.pipe(Tool.onError({ Declined: Recovery.fix(fixer) })))
        : agentWith(tool.pipe(Tool.onError({ Declined: Recovery.respondWith({ at: 0 }) })))
      const fiber = yield* Effect.forkChild(run(agent, "go").pipe(Effect.provide(model.layer)))
      yield* calm
      yield* Tool.settle(tokenOf(), Exit.fail(new Declined({ why: "no" })))
      yield* calm
      assert.deepStrictEqual(
        begun.map(({ n }) => n),
        isFixed ? [undefined, 2] : [undefined]
      )
      if (isFixed) yield* Tool.settle(tokenOf(1), Exit.succeed({ at: 3 }))
      assert.strictEqual(yield* Fiber.join(fiber), "done")
      assert.include(readBy(model).said[0] ?? "", isFixed ? '{"at":3}' : '{"at":0}')
    }
  })
)

it.run(
  "after the deadline an unsafe tool is looked up: what is found is the result, and is undone [P1524 P1525]",
  (run) =>
    Effect.gen(function* () {
      for (const isBroken of [false, true]) {
        const undone: Array<unknown> = []
        const tool = Tool.deferred("order", {
          description: "Orders.",
          parameters: Schema.Struct({}),
          success: Schema.Struct({ at: Schema.Finite }),
          sideEffects: "unsafe",
          start: () => Effect.succeed({ job: 1 }),
          wait: "continue",
          deadline: "1 hour",
          verify: () => Effect.succeed(Option.some({ at: 5 }))
        }).pipe(Tool.compensate(({ result }) => Effect.sync(() => void undone.push(result))))
        const bad = scripted("bad", Effect.fail(busy()))
        const model = yield* make(batch("order"), text("so far"), isBroken ? batch("bad") : done)
        const fiber = yield* Effect.forkChild(
          Effect.exit(run(agentWith(tool, bad.tool), "go").pipe(Effect.provide(model.layer)))
        )
        yield* calm
        yield* TestClock.adjust("1 hour")
        assert.strictEqual(Exit.isSuccess(yield* Fiber.join(fiber)), !isBroken)
        assert.deepStrictEqual(readBy(model).said, [resultOf(1, "c1", '{"at":5}')])
        assert.deepStrictEqual(undone, isBroken ? [{ at: 5 }] : [])
      }
    })
)

it.run("start passes the rows, as the run of any tool does [P1524 P1522]", (run) =>
  Effect.gen(function* () {
    const { begun, tool } = deferring({ wait: "continue", start: () => Effect.fail(new Declined({ why: "no" })) })
    const model = yield* make(batch("order"), done)
    const withRow = tool.pipe(Tool.onError({ Declined: Recovery.tell() }))
    assert.strictEqual(yield* run(agentWith(withRow), "go").pipe(Effect.provide(model.layer)), "done")
    assert.match(readBy(model).texts[0] ?? "", /^told: /)
    assert.lengthOf(begun, 1)
  })
)

it.run("a long result is put aside, and the model reads its head [P1524 P1535]", (run) =>
  Effect.gen(function* () {
    const tokens: Array<string> = []
    const tool = Tool.deferred("order", {
      description: "Orders.",
      parameters: Schema.Struct({}),
      success: Schema.String,
      start: (_, { token }) => Effect.sync(() => tokens.push(token)),
      wait: "continue",
      deadline: "1 hour"
    })
    const log = eventLog()
    const model = yield* make(batch("order"), text("so far"), done)
    const agent = Agent.make("worker", {
      tools: [tool],
      budget: { maxDuration: "1 day" },
      putAside: Tool.putAside({ above: 200 })
    }).pipe(log.listen)
    const fiber = yield* Effect.forkChild(run(agent, "go").pipe(Effect.provide(model.layer)))
    yield* calm
    yield* Tool.settle(tokens[0] ?? "", Exit.succeed("0123456789".repeat(100)))
    assert.strictEqual(yield* Fiber.join(fiber), "done")
    const [said = ""] = readBy(model).said
    assert.include(said, "0123456789")
    assert.isBelow(said.length, 800)
    assert.lengthOf(log.of("result-put-aside"), 1)
  })
)
