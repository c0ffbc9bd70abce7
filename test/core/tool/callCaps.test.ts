/** Tools with a limit of calls in each run. */
import { assert } from "@effect/vitest"
import { Agent, Approval, Budget, Recovery, Snapshot, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Schema } from "effect"
import { it } from "../../_support/run.ts"
import { agentWith, batch, busy, done, eventLog, read, scripted } from "../../_support/dialogue.ts"
import { deciding, outcomeOf, snapshotOf } from "../../_support/suspension.ts"

const { call, calls, make } = ScriptedModel

const denial = (name: string, max: number) =>
  `denied: Tool '${name}' was not run: limit of ${max} call${max === 1 ? "" : "s"} reached; answer with what you have or use another tool.`

type Capped = ReturnType<typeof capped>["tool"]

/** A tool with this limit, and its runs. */
const capped = (name: string, maxCalls: number) => {
  const runs: Array<string> = []
  const tool = Tool.make(name, {
    description: "Looks.",
    parameters: Schema.Struct({}),
    success: Schema.String,
    maxCalls,
    run: () => Effect.sync(() => `look ${runs.push(name)}`)
  })
  return { runs, tool }
}

it.run("the call after the last one is denied, and the tool stays in the request [P1364 P1508]", (run) =>
  Effect.gen(function* () {
    const { runs, tool } = capped("look", 2)
    const other = scripted("other", Effect.succeed("fine"))
    const model = yield* make(batch("look"), batch("look"), batch("look", "other"), batch("look"), done)
    const log = eventLog()
    assert.strictEqual(
      yield* run(agentWith(tool, other.tool).pipe(log.listen), "go").pipe(Effect.provide(model.layer)),
      "done"
    )
    assert.deepStrictEqual(read(model), [
      "result: look 1",
      "result: look 2",
      denial("look", 2),
      "result: fine",
      denial("look", 2)
    ])
    assert.strictEqual(runs.length, 2)
    assert.deepStrictEqual(
      model.requests.map(({ tools }) => tools.map(({ name }) => name)),
      Array.from({ length: 5 }, () => ["look", "other"])
    )
    assert.deepStrictEqual(
      log.of("tool-denied").map(({ callId, settlement, turn }) => [turn, callId, settlement.kind]),
      [
        [3, "c1", "denied"],
        [4, "c1", "denied"]
      ]
    )
  })
)

it.run("calls of one reply count in their order, and a new run begins to count anew [P1508]", (run) =>
  Effect.gen(function* () {
    const { runs, tool } = capped("look", 2)
    const agent = agentWith(tool)
    const once = Effect.gen(function* () {
      const model = yield* make(batch("look", "look", "look"), done)
      yield* run(agent, "go").pipe(Effect.provide(model.layer))
      return read(model)
    })
    assert.deepStrictEqual(yield* once, ["result: look 1", "result: look 2", denial("look", 2)])
    assert.deepStrictEqual(yield* once, ["result: look 3", "result: look 4", denial("look", 2)])
    assert.strictEqual(runs.length, 4)
  })
)

it.run("attempts and repairs of a call do not count, and a call with bad arguments is one call [P1508]", (run) =>
  Effect.gen(function* () {
    const attempts: Array<number> = []
    const tool = Tool.make("look", {
      description: "Looks.",
      parameters: Schema.Struct({ n: Schema.Int }),
      success: Schema.Int,
      sideEffects: "none",
      maxCalls: 2,
      run: ({ n }) => (attempts.push(n) % 3 === 0 ? Effect.succeed(n) : Effect.fail(busy()))
    }).pipe(
      Tool.onError({
        Busy: Recovery.retry({ retries: 5 }),
        InvalidArgs: Recovery.fix((_raw: string) => Effect.succeed('{"n":7}'))
      })
    )
    const model = yield* make(
      calls(call("look", { n: "seven" })),
      calls(call("look", { n: 1 })),
      calls(call("look", { n: 2 })),
      done
    )
    yield* run(agentWith(tool), "go").pipe(Effect.provide(model.layer))
    assert.deepStrictEqual(read(model), ["result: 7", "result: 1", denial("look", 2)])
    assert.deepStrictEqual(attempts, [7, 7, 7, 1, 1, 1])
  })
)

it.run(
  "the calls of a sub-agent with the same tool count, also where each has it with a table of its own [P1508]",
  (run) =>
    Effect.gen(function* () {
      const { runs, tool } = capped("look", 2)
      const sub = Agent.make("sub", { tools: [tool.pipe(Tool.onError({ orElse: Recovery.tell() }))] })
      const boss = agentWith(tool, Agent.asTool(sub, { description: "Asks.", name: "ask" }))
      const model = yield* make(
        calls(call("ask", { input: "x" })),
        batch("look"),
        ScriptedModel.text("sub done"),
        batch("look"),
        batch("look"),
        done
      )
      yield* run(boss, "go").pipe(Effect.provide(model.layer))
      assert.strictEqual(runs.length, 2)
      assert.deepStrictEqual(read(model), ["result: sub done", "result: look 2", denial("look", 2)])
    })
)

it.run(
  "the parts of a composition that share a tool have one count, and each run of the composition its own [P1508]",
  (run) =>
    Effect.gen(function* () {
      const { runs, tool } = capped("look", 2)
      const part = Agent.make("part", { tools: [tool] })
      const other = Agent.make("other", { tools: [tool.pipe(Tool.onError({ orElse: Recovery.tell() }))] })
      for (const chain of [Agent.andThen(part, other), Agent.andThen(part, part)]) {
        const log = eventLog()
        const model = yield* make(batch("look"), done, batch("look", "look"), done)
        yield* run(chain.pipe(log.listen), "go").pipe(Effect.provide(model.layer))
        assert.strictEqual(runs.splice(0).length, 2)
        assert.deepStrictEqual(
          log.of("tool-denied").map(({ callId }) => callId),
          ["c2"]
        )
      }
    })
)

it.effect("a run that was suspended goes on with its count, and a call that waited is counted once [P1508]", () =>
  Effect.gen(function* () {
    const { runs, tool } = capped("look", 2)
    const agent = agentWith(tool.pipe(Tool.requireApproval()))
    const model = yield* make(batch("look"), batch("look"), batch("look"), done)
    const first = yield* snapshotOf(yield* outcomeOf(agent, "go", model))
    assert.deepStrictEqual(first.cappedCalls, { look: 1 })
    const resume = (from: Snapshot.Snapshot) =>
      Effect.gen(function* () {
        // as another process reads it
        const read = yield* Snapshot.fromJson(Snapshot.toJson(from))
        return yield* outcomeOf(Agent.resume(agent), deciding(read, Approval.approve), model)
      })
    const second = yield* snapshotOf(yield* resume(first))
    assert.deepStrictEqual(second.cappedCalls, { look: 2 })
    const end = yield* resume(second)
    assert.strictEqual(end._tag, "Completed")
    assert.strictEqual(runs.length, 2)
    assert.deepStrictEqual(read(model), ["result: look 1", "result: look 2", denial("look", 2)])
  })
)

it.effect("a run that goes on after a limit keeps the count of its sub-agents too [P1508]", () =>
  Effect.gen(function* () {
    const { runs, tool } = capped("look", 1)
    const log = eventLog()
    const sub = Agent.make("sub", { tools: [tool] })
    const boss = agentWith(Agent.asTool(sub, { description: "Asks.", name: "ask" })).pipe(
      Agent.withBudget({ maxTurns: 3 }),
      Agent.onBudgetExceeded(() => Budget.checkpoint)
    )
    const first = calls(call("ask", { input: "x" }))
    const model = yield* make(
      first,
      batch("look"),
      ScriptedModel.text("sub"),
      first,
      batch("look"),
      ScriptedModel.text("sub"),
      done
    )
    const from = yield* snapshotOf(yield* outcomeOf(boss, "go", model))
    assert.deepStrictEqual(from.cappedCalls, { look: 1 })
    yield* outcomeOf(Agent.resume(boss.pipe(log.listen)), { from, budget: { maxTurns: 9 } }, model)
    assert.strictEqual(runs.length, 1)
    assert.deepStrictEqual(
      log.of("tool-denied").map(({ agent, settlement }) => [agent, `${settlement.kind}: ${settlement.text}`]),
      [["sub", denial("look", 1)]]
    )
  })
)

/** An agent as a tool, whose runs call this tool. */
const helperOf = (tool: Capped) =>
  Agent.asTool(Agent.make("sub", { tools: [tool] }), { description: "Asks.", name: "ask" })

/**
 * The agents whose calls were denied. A run of the calls `names` waits at each `stop` and is resumed; its snapshots have lost the fields of
 * `forget`.
 */
const acrossStops = (
  look: Capped,
  ask: ReturnType<typeof helperOf>,
  names: ReadonlyArray<string>,
  forget: ReadonlyArray<keyof Snapshot.Snapshot> = []
) =>
  Effect.gen(function* () {
    const log = eventLog()
    const stop = capped("stop", 9).tool.pipe(Tool.requireApproval())
    const agent = agentWith(look, stop, ask).pipe(Agent.withBudget({ maxTurns: 30 }), log.listen)
    const steps = names.flatMap((name) =>
      name === "ask" ? [calls(call(name, { input: "x" })), batch("look"), ScriptedModel.text("inner")] : [batch(name)]
    )
    const model = yield* make(...steps, done)
    let outcome = yield* outcomeOf(agent, "go", model)
    while (outcome._tag === "Suspended") {
      const json: Record<string, unknown> = JSON.parse(JSON.stringify(Snapshot.toJson(yield* snapshotOf(outcome))))
      for (const field of forget) delete json[field]
      const from = yield* Snapshot.fromJson(json)
      outcome = yield* outcomeOf(Agent.resume(agent), deciding(from, Approval.approve), model)
    }
    return log.of("tool-denied").map(({ agent }) => agent)
  })

const stops = [[], ["stop"], ["stop", "stop"]]

it.effect("after a suspension, two tools with one name in two agents have their own counts [P1508]", () =>
  Effect.gen(function* () {
    const own = capped("look", 2).tool
    const ask = helperOf(capped("look", 2).tool)
    for (const stop of stops) {
      assert.deepStrictEqual(yield* acrossStops(own, ask, ["look", "look", ...stop, "ask", "look"]), ["worker"])
      assert.deepStrictEqual(yield* acrossStops(own, ask, ["ask", "ask", ...stop, "look", "ask", "look"]), ["sub"])
    }
  })
)

it.effect("after a suspension, a tool that a parent and its sub-agent share has one count [P1508]", () =>
  Effect.gen(function* () {
    const { tool } = capped("look", 2)
    const ask = helperOf(tool)
    for (const stop of stops) {
      assert.deepStrictEqual(yield* acrossStops(tool, ask, ["look", "look", ...stop, "ask", "look"]), ["sub", "worker"])
      assert.deepStrictEqual(yield* acrossStops(tool, ask, ["ask", ...stop, "look", "look"]), ["worker"])
    }
  })
)

it.effect("a part of a composition that is a tool has its count after a suspension too [P1508]", () =>
  Effect.gen(function* () {
    const part = Agent.make("part", { tools: [capped("look", 1).tool] })
    const chain = Agent.andThen(Agent.deterministic("before", Effect.succeed<string>), part)
    // of another type than an agent as a tool, and called as one
    const ask = Agent.asTool(chain, { description: "Asks.", name: "ask" }) as unknown as ReturnType<typeof helperOf>
    for (const stop of stops) {
      assert.deepStrictEqual(yield* acrossStops(capped("other", 1).tool, ask, ["ask", ...stop, "ask", "ask"]), [
        "part",
        "part"
      ])
    }
  })
)

it.effect("a snapshot that has counts by names alone goes on with the count of its name [P1508]", () =>
  Effect.gen(function* () {
    const { tool } = capped("look", 2)
    const names = ["look", "stop", "look", "stop", "look"]
    assert.deepStrictEqual(yield* acrossStops(tool, helperOf(tool), names, ["cappedTools"]), ["worker"])
  })
)

it("the limit is a whole number of at least one [P1508]", () => {
  for (const maxCalls of [0, -1, 1.5, Number.NaN, Infinity]) {
    assert.throws(
      () => capped("look", maxCalls),
      RangeError,
      `Tool 'look': maxCalls must be a whole number of at least 1`
    )
  }
})
