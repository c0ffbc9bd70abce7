/** Long results: put aside, read in pages, and kept with the run. */
import { assert } from "@effect/vitest"
import { Agent, Recovery, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Schema } from "effect"
import { agentWith, batch, done, eventLog, read, scripted } from "../../_support/dialogue.ts"
import { it } from "../../_support/run.ts"

import { digits, handleIn, notice, pages, putAside, reads } from "./_support/aside.ts"

const { call, calls, make } = ScriptedModel

it.run("a long result is told as its head and a handle, and read in pages [P1375 P1535 P1536]", (run) =>
  Effect.gen(function* () {
    const long = digits(25_000)
    const model = yield* make(
      batch("look"),
      reads({ from: 2000 }),
      reads({ from: 12_000, length: 60_000 }),
      reads({ from: 24_999, length: 1 }),
      reads({ from: 25_000 }),
      done
    )
    const log = eventLog()
    yield* run(agentWith(pages("look", long)).pipe(log.listen), "go").pipe(Effect.provide(model.layer))
    const [head = "", first, second, third, fourth] = read(model)
    const [end, length, from] = [1, 2, 4].map((group) => Number(notice.exec(head)?.[group]))
    assert.deepStrictEqual([end, length, from], [100, 25_000, 100])
    assert.isTrue(head.startsWith(`result: ${long.slice(0, 100)}\n`))
    assert.strictEqual(
      first,
      `result: ${long.slice(2000, 12_000)}\n\n[Characters 2000 to 12000 of 25000. Read on with from: 12000.]`
    )
    assert.strictEqual(
      second,
      `result: ${long.slice(12_000)}\n\n[Characters 12000 to 25000 of 25000. This is the end.]`
    )
    assert.strictEqual(third, "result: 9\n\n[Characters 24999 to 25000 of 25000. This is the end.]")
    assert.include(fourth, "told: The result has 25000 characters: it ends before 25000.")
    assert.deepInclude(log.of("result-put-aside")[0], {
      tool: "look",
      callId: "c1",
      handle: handleIn(head),
      characters: 25_000,
      bytes: 25_000
    })
    // counted as calls, and never put aside
    assert.lengthOf(log.of("result-put-aside"), 1)
    assert.lengthOf(log.of("tool-end"), 5)
    // offered from the first turn on, behind all others
    for (const { tools } of model.requests) {
      assert.deepStrictEqual(
        tools.map(({ name }) => name),
        ["look", "read_result"]
      )
    }
  })
)

it.run("a result that is short enough stays as it is; no character of two units is split [P1535 P1536]", (run) =>
  Effect.gen(function* () {
    const faces = "😀".repeat(60)
    const model = yield* make(batch("look", "look"), reads({ from: 1, length: 3 }), reads({ from: 2, length: 1 }), done)
    const tool = pages("look", "x".repeat(100), `x${faces}`)
    yield* run(agentWith(tool), "go").pipe(Effect.provide(model.layer))
    const [short, long = "", page, one] = read(model)
    assert.strictEqual(short, `result: ${"x".repeat(100)}`)
    assert.strictEqual(notice.exec(long)?.[1], "99")
    assert.strictEqual(page, "result: 😀\n\n[Characters 1 to 3 of 121. Read on with from: 3.]")
    assert.strictEqual(one, "result: 😀\n\n[Characters 1 to 3 of 121. Read on with from: 3.]")
  })
)

it.run("`read_result` stands outside of tables, and counts against the limits of calls [P1536]", (run) =>
  Effect.gen(function* () {
    const model = yield* make(
      batch("look"),
      calls(call("read_result", { handle: "x" }), call("read_result", "no", "r2")),
      done
    )
    const agent = agentWith(pages("look", digits(500))).pipe(Agent.toolDefaults({ orElse: Recovery.rethrow }))
    yield* run(agent, "go").pipe(Effect.provide(model.layer))
    const [, unknown, undecoded] = read(model)
    assert.include(unknown, 'told: There is no result with handle "x" here.')
    assert.match(undecoded ?? "", /^told: .* are not valid JSON/)

    const limited = Agent.make("worker", { tools: [pages("look", digits(500))], budget: { maxToolCalls: 1 } })
    const other = yield* make(batch("look"), reads())
    const error = yield* Effect.flip(run(limited, "go").pipe(Effect.provide(other.layer)))
    assert.deepInclude(error, { _tag: "BudgetExceededError", reason: "maxToolCalls" })
  })
)

it.run("an agent puts aside the results of all tools that have no option of their own [P1535]", (run) =>
  Effect.gen(function* () {
    const plain = scripted("plain", Effect.succeed(digits(500)))
    const options = { description: "d", parameters: Schema.Struct({}), success: Schema.String }
    const cut = Tool.make("cut", { ...options, maxResultChars: 50, run: () => Effect.succeed(digits(500)) })
    const model = yield* make(batch("plain", "look", "cut"), done)
    const agent = Agent.make("worker", {
      tools: [plain.tool, pages("look", digits(150)), cut],
      putAside: Tool.putAside({ above: 200 })
    })
    yield* run(agent, "go").pipe(Effect.provide(model.layer))
    const [first, second, third = ""] = read(model)
    assert.match(first ?? "", /Characters 0 to 200 of 500/)
    assert.match(second ?? "", /Characters 0 to 100 of 150/)
    assert.isTrue(third.endsWith("..."))
    // without a tool whose results can be put aside there is nothing to read
    const bare = yield* make(done)
    yield* run(Agent.make("bare", { putAside }), "go").pipe(Effect.provide(bare.layer))
    assert.deepStrictEqual(bare.requests[0]?.tools, [])
  })
)

it("a length that is none, and two lengths of one tool, are refused when the tool is made [P1535]", () => {
  for (const above of [0, -1, 1.5, Number.NaN]) assert.throws(() => Tool.putAside({ above }), /above must be a whole/)
  const options = {
    description: "d",
    parameters: Schema.Struct({}),
    success: Schema.String,
    run: () => Effect.succeed("")
  }
  const both = { ...options, maxResultChars: 5, putAside } as unknown as typeof options
  for (const tool of [
    () => Tool.make("both", both),
    () => Tool.fromFunction("both", { ...both, run: () => "" }),
    () => Agent.asTool(Agent.make("both", {}), { ...both, description: "d" } as never),
    () => Tool.deferred("both", { ...both, start: () => Effect.succeed(1), wait: "suspend", deadline: "1 hour" })
  ]) {
    assert.throws(tool, /cut by maxResultChars, or put aside by putAside, and not both/)
  }
  const own = Tool.make("read_result", options)
  assert.throws(() => agentWith(own, pages("look")), /two tools named 'read_result'/)
})
