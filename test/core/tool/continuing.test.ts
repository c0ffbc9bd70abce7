/** Deferred calls whose run goes on: what is remembered of them, what is polled, and what the model reads. */
import { assert } from "@effect/vitest"
import { Agent, Message, Recovery, Snapshot, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Exit, Fiber, Option, Schedule, Schema } from "effect"
import { TestClock } from "effect/testing"
import { batch, calm, done, eventLog, gone, scripted } from "../../_support/dialogue.ts"
import { it } from "../../_support/run.ts"
import { deciding, outcomeOf, paying, snapshotOf } from "../../_support/suspension.ts"
import { agentWith, type Declined, deferring } from "./_support/deferring.ts"

const { call, calls, make, text } = ScriptedModel

/** What the model has read as messages of users, behind the input. */
const saidTo = (model: ScriptedModel.ScriptedModel) =>
  (model.requests.at(-1)?.messages ?? [])
    .flatMap((message) => (message.role === "user" ? [Message.textOf(message)] : []))
    .slice(1)

const failing = () => scripted("fail", Effect.fail(gone())).tool.pipe(Tool.onError({ Gone: Recovery.raise }))

it.effect("the snapshot has the arguments of such a call, and its compensation gets what they mean [P1524]", () =>
  Effect.gen(function* () {
    const undone: Array<unknown> = []
    const { tokenOf, tool } = deferring({ wait: "continue" })
    const undoable = tool.pipe(
      Tool.compensate(({ params, result }) => Effect.sync(() => void undone.push([params, result])))
    )
    const agent = agentWith(undoable, failing())
    const model = yield* make(calls(call("order", { n: 3 }, "c1")), text("so far"), batch("fail"))
    const from = yield* snapshotOf(yield* outcomeOf(agent, "go", model))
    assert.deepStrictEqual(
      from.late?.map(({ arguments: args, callId, tool }) => [callId, tool, args]),
      [["c1", "order", { n: 3 }]]
    )
    // it was a first attempt
    assert.notProperty(from.late?.[0] ?? {}, "progress")
    const settlements = [{ token: tokenOf(), exit: Exit.succeed({ at: 7 }) }]
    yield* Effect.exit(outcomeOf(Agent.resume(agent), { from, settlements }, model))
    assert.deepStrictEqual(undone, [[{ n: 3 }, { at: 7 }]])
  })
)

it.run(
  "a failure that comes later is told without a second end of the call, and nothing is undone [P1522 P1524]",
  (run) =>
    Effect.gen(function* () {
      const undone: Array<unknown> = []
      const { tool } = deferring({
        wait: "continue",
        start: ({ token }) =>
          Effect.as(Effect.orDie(Tool.settle(token, Exit.fail({ _tag: "Declined", why: "no" }))), { job: 1 })
      })
      const telling = tool.pipe(
        Tool.onError({ Declined: Recovery.tell(({ why }: Declined) => `why: ${why}`) }),
        Tool.compensate(({ result }) => Effect.sync(() => void undone.push(result)))
      )
      const log = eventLog()
      const model = yield* make(batch("order"), batch("fail"))
      yield* Effect.exit(run(agentWith(telling, failing()).pipe(log.listen), "go").pipe(Effect.provide(model.layer)))
      assert.match(saidTo(model)[0] ?? "", /<data>why: no<\/data>$/)
      assert.deepStrictEqual(
        log.of("tool-end").map(({ callId, tool, use }) => [tool, callId, use.settlement.kind]),
        [["order", "c1", "deferred"]]
      )
      assert.deepStrictEqual(undone, [])
    })
)

/** A tool that is polled without a result in its first run, and then finds one. */
const polled = (wait: "suspend" | "continue") => {
  const polls: Array<string> = []
  const tokens: Array<string> = []
  let isResumed = false
  const tool = Tool.deferred("order", {
    description: "Orders.",
    parameters: Schema.Struct({}),
    success: Schema.Struct({ at: Schema.Finite }),
    start: (_, { token }) => Effect.sync(() => ({ job: tokens.push(token) })),
    wait,
    deadline: "1 hour",
    poll: {
      every: Schedule.spaced("1 day"),
      check: () =>
        Effect.sync(() => {
          polls.push(isResumed ? "resumed" : "begun")
          return isResumed ? Option.some({ at: 9 }) : Option.none()
        })
    },
    cancel: () => Effect.void
  }).pipe(Tool.onError({ ToolTimeoutError: Recovery.tell(() => "it was late") }))
  const resume = () => void (isResumed = true)
  return { tool, polls, resume, tokenOf: () => tokens[0] ?? "none" }
}

/** How the run ends that goes on from a snapshot; before, the time and the document may change. */
const resumed = (
  wait: "suspend" | "continue",
  options: {
    readonly after?: number
    readonly isGiven?: boolean
    readonly change?: (late: Snapshot.Snapshot["late"]) => Snapshot.Snapshot["late"]
  }
) =>
  Effect.gen(function* () {
    const { after = 0, change, isGiven = false } = options
    const { polls, resume, tokenOf, tool } = polled(wait)
    const agent = agentWith(tool)
    const model = yield* make(batch("order"), ...(wait === "continue" ? [text("so far")] : []), done)
    const begun = yield* outcomeOf(agent, "go", model)
    const first = yield* snapshotOf(begun)
    const late = change?.(first.late)
    const from = late === undefined ? first : yield* Snapshot.fromJson({ ...(Snapshot.toJson(first) as object), late })
    resume()
    yield* TestClock.adjust(after)
    const settlements = isGiven ? [{ token: tokenOf(), exit: Exit.succeed({ at: 7 }) }] : []
    const end = yield* outcomeOf(Agent.resume(agent), { from, settlements }, model)
    assert.strictEqual(end._tag, "Completed")
    const messages = JSON.stringify(model.requests.at(-1)?.messages)
    return { polls: polls.filter((poll) => poll === "resumed").length, messages }
  })

it.effect("in a resumed run, a call is polled once before its deadline, and not at it [P1527 P1528]", () =>
  Effect.gen(function* () {
    for (const wait of ["suspend", "continue"] as const) {
      const before = yield* resumed(wait, { after: 3_599_999 })
      assert.strictEqual(before.polls, 1)
      assert.include(before.messages, '\\"at\\":9')
      for (const after of [3_600_000, 3_600_001]) {
        const late = yield* resumed(wait, { after })
        assert.strictEqual(late.polls, 0)
        assert.include(late.messages, "it was late")
      }
    }
  })
)

it.effect("a call that was settled meanwhile is not polled [P1527 P1528]", () =>
  Effect.gen(function* () {
    for (const wait of ["suspend", "continue"] as const) {
      const given = yield* resumed(wait, { isGiven: true })
      assert.strictEqual(given.polls, 0)
      assert.include(given.messages, '\\"at\\":7')
    }
  })
)

it.effect("a result that the snapshot has as text is read as it is: no poll, and no row [P1524 P1528]", () =>
  Effect.gen(function* () {
    for (const after of [0, 3_600_001]) {
      const stored = yield* resumed("continue", {
        after,
        change: (late) =>
          late?.map((one) => ({ ...one, result: { kind: "told", text: "ERROR: out of order" } as const }))
      })
      assert.strictEqual(stored.polls, 0)
      assert.include(stored.messages, "It has failed: <data>ERROR: out of order</data>")
      assert.notInclude(stored.messages, "it was late")
    }
  })
)

/** The snapshot of a run that is suspended after the poll of a late call has succeeded or failed with this. */
const polledFirst = (found: Effect.Effect<Option.Option<Schema.Json>, ReturnType<typeof gone>>, isError = false) =>
  Effect.gen(function* () {
    const order = Tool.deferred("order", {
      description: "Orders.",
      parameters: Schema.Struct({}),
      success: Schema.Json,
      isError: () => isError,
      start: () => Effect.succeed({ job: 1 }),
      wait: "continue",
      deadline: "1 hour",
      poll: { every: Schedule.max([Schedule.spaced("1 minute"), Schedule.recurs(1)]), check: () => found },
      cancel: () => Effect.void
    })
    const pay = paying({ when: () => Effect.as(Effect.sleep("2 minutes"), true) })
    const agent = agentWith(order, pay.tool)
    const model = yield* make(calls(call("order", {}, "c1"), call("pay", { cents: 5 }, "c2")), done)
    const first = yield* Effect.forkChild(outcomeOf(agent, "go", model))
    yield* calm
    yield* TestClock.adjust("2 minutes")
    const from = yield* snapshotOf(yield* Fiber.join(first))
    const late = from.late?.map(({ ended, result }) => [ended, result])
    yield* outcomeOf(Agent.resume(agent), deciding(from), model)
    return { late, said: saidTo(model)[0] ?? "" }
  })

it.effect("a failure without a schema is in the snapshot as the text that the model reads [P1524 P1527]", () =>
  Effect.gen(function* () {
    const { late, said } = yield* polledFirst(Effect.fail(gone("no such order")))
    assert.deepStrictEqual(late, [[undefined, { kind: "told", text: "ERROR: no such order" }]])
    assert.match(said, /is over\. It has failed: <data>ERROR: no such order<\/data>$/)
  })
)

const nested = (levels: number): Schema.Json => JSON.parse("[".repeat(levels) + "]".repeat(levels))

it.effect(
  "a result that is too deep for a snapshot is in it as the text that the model reads [P1393 P1524 P1527]",
  () =>
    Effect.gen(function* () {
      const whole = yield* polledFirst(Effect.succeed(Option.some(nested(900))))
      assert.deepStrictEqual(whole.late, [[{ _tag: "Success", value: nested(900) }, undefined]])
      const text = JSON.stringify(nested(901))
      for (const isError of [false, true]) {
        const asText = yield* polledFirst(Effect.succeed(Option.some(nested(901))), isError)
        assert.deepStrictEqual(asText.late, [[undefined, { kind: isError ? "told" : "result", text }]])
        const how = isError ? "It has failed" : "Its result"
        assert.include(asText.said, `is over. ${how}: <data>${text}</data>`)
      }
      for (const levels of [1001, 6000, 50_000]) {
        const { late, said } = yield* polledFirst(Effect.succeed(Option.some(nested(levels))))
        const text =
          "ERROR: Tool 'order' has run, and its result cannot be shown: " +
          "it is nested in more than 1000 levels. Repeating the call will not help."
        assert.deepStrictEqual(late, [[undefined, { kind: "told", text }]])
        assert.include(said, `is over. It has failed: <data>${text}</data>`)
      }
    })
)
