import { assert } from "@effect/vitest"
import { Agent, Approval, Snapshot, Telemetry, Tool, ToolPolicy } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Schema } from "effect"
import { it } from "../../_support/run.ts"
import { endOf, millisOf, notesOf, recorder, textOf, treeOf } from "./_support/spans.ts"
import {
  agentWith,
  batch,
  callingOnce,
  done,
  type Gone,
  gone,
  interruptedAt,
  overADay,
  scripted
} from "../../_support/dialogue.ts"

const { make } = ScriptedModel

const asToolOptions = { description: "Asks another agent.", parameters: Schema.Struct({}), success: Schema.String }

/** How each way of ending leaves its spans. */
const endings: Record<string, { readonly step: Effect.Effect<string, Gone>; readonly tree: ReadonlyArray<string> }> = {
  "a hard failure": {
    step: Effect.fail(gone()),
    tree: ["invoke_agent worker: Gone (Gone)", "  chat scripted: ok", "  execute_tool fetch: Gone (Gone)"]
  },
  "a defect": {
    step: Effect.die(new Error("a bug in fetch")),
    tree: ["invoke_agent worker: Error (UNKNOWN)", "  chat scripted: ok", "  execute_tool fetch: Error (UNKNOWN)"]
  },
  "a deadline": {
    step: Effect.never,
    tree: [
      "invoke_agent worker: BudgetExceededError (Budget used up)",
      "  chat scripted: ok",
      "  execute_tool fetch: interrupted"
    ]
  }
}

for (const [what, { step, tree }] of Object.entries(endings)) {
  it.run(`every span has ended after ${what}, and has its outcome [A1202 A1203]`, (run) =>
    Effect.gen(function* () {
      const { tool } = scripted("fetch", step)
      const model = yield* make(batch("fetch"))
      const seen = recorder()
      yield* overADay(
        run(agentWith(tool), "go").pipe(Effect.provide(model.layer), Effect.provide(Telemetry.layer), seen.provide)
      )
      assert.deepStrictEqual(treeOf(seen.spans), tree)
    })
  )
}

it.run("a denied call has failed as denied, and one of an unknown tool is a note of its run [A1203]", (run) =>
  Effect.gen(function* () {
    const { tool } = scripted("fetch")
    const model = yield* make(batch("fetch", "fly"), done)
    const agent = agentWith(tool).pipe(Agent.toolPolicy(() => Effect.succeed(ToolPolicy.deny("not today"))))
    const seen = recorder()
    yield* run(agent, "go").pipe(Effect.provide(model.layer), Effect.provide(Telemetry.layer), seen.provide)
    const denied = seen.named("execute_tool fetch")
    assert.strictEqual(denied.attributes.get("error.type"), "KINTSUGI-TOOL-DENIED")
    assert.notInclude(textOf(seen.spans), "not today")
    assert.deepStrictEqual(notesOf(seen.named("invoke_agent worker"), "gen_ai.tool.name"), ["kintsugi.tool-denied fly"])
  })
)

it.run("of several calls that a defect cuts off, none is blamed [A1202 A1203]", (run) =>
  Effect.gen(function* () {
    const bad = scripted("bad", Effect.andThen(Effect.sleep("1 second"), Effect.die(new Error("a bug"))))
    const slow = scripted("slow", Effect.never)
    const model = yield* make(batch("bad", "slow"))
    const seen = recorder()
    yield* overADay(
      run(agentWith(bad.tool, slow.tool), "go").pipe(
        Effect.provide(model.layer),
        Effect.provide(Telemetry.layer),
        seen.provide
      )
    )
    assert.deepStrictEqual(treeOf(seen.spans), [
      "invoke_agent worker: Error (UNKNOWN)",
      "  chat scripted: ok",
      "  execute_tool bad: interrupted",
      "  execute_tool slow: interrupted"
    ])
  })
)

it.run("the span of a call that ends its run ends with that call, not with its siblings [A1203]", (run) =>
  Effect.gen(function* () {
    const bad = scripted("bad", Effect.andThen(Effect.sleep("1 second"), Effect.fail(gone())))
    const slow = scripted("slow", Effect.as(Effect.sleep("5 seconds"), "fine"))
    const model = yield* make(batch("bad", "slow"))
    const seen = recorder()
    yield* overADay(
      run(agentWith(bad.tool, slow.tool), "go").pipe(
        Effect.provide(model.layer),
        Effect.provide(Telemetry.layer),
        seen.provide
      )
    )
    assert.deepStrictEqual(seen.spans.map(millisOf), [5000, 0, 1000, 5000])
    assert.strictEqual(endOf(seen.named("execute_tool bad")), "Gone (Gone)")
  })
)

it.run("every span has ended after an interruption, in a tool and in a model call [A1202 A1203]", (run) =>
  Effect.gen(function* () {
    const { tool } = scripted("fetch", Effect.never)
    for (const [steps, tree] of [
      [[batch("fetch")], ["chat scripted: ok", "execute_tool fetch: interrupted"]],
      [[ScriptedModel.answers(() => Effect.never)], ["chat scripted: interrupted"]]
    ] as const) {
      const model = yield* make(...steps)
      const seen = recorder()
      yield* interruptedAt(
        5,
        run(agentWith(tool), "go").pipe(Effect.provide(model.layer), Effect.provide(Telemetry.layer), seen.provide)
      )
      assert.deepStrictEqual(treeOf(seen.spans), [
        "invoke_agent worker: interrupted",
        ...tree.map((line) => `  ${line}`)
      ])
      const cut = seen.spans.filter(({ attributes }) => attributes.get("kintsugi.outcome") === "interrupted")
      // what a run has used is said of the run alone
      assert.deepStrictEqual(
        cut.map(({ attributes }) => attributes.has("gen_ai.usage.input_tokens")),
        [true, false]
      )
    }
  })
)

it.effect("a run that waits for a decision has ended its spans, and goes on in others [P902 A1203]", () =>
  Effect.gen(function* () {
    const tool = Tool.make("send", { ...asToolOptions, run: () => Effect.succeed("sent") }).pipe(
      Tool.requireApproval({ reason: "it is a letter" })
    )
    const model = yield* callingOnce("send")
    const agent = agentWith(tool)
    const seen = recorder()
    const program = Effect.gen(function* () {
      const first = yield* (yield* agent.start("go")).outcome
      if (first._tag !== "Suspended") return yield* Effect.die(new Error("it has to wait"))
      const outcomes = seen.spans.map(({ attributes }) => attributes.get("kintsugi.outcome"))
      assert.deepStrictEqual(outcomes, ["suspended", "completed", "suspended"])
      assert.deepStrictEqual(notesOf(seen.named("execute_tool send")), ["kintsugi.approval-requested"])
      const from = first.snapshot
      const decisions = Snapshot.requestsOf(from).map(({ digest }) => ({ digest, decision: Approval.approve }))
      yield* (yield* Agent.resume(agent).start({ from, decisions })).outcome
    })
    yield* Effect.scoped(program).pipe(Effect.provide(model.layer), Effect.provide(Telemetry.layer), seen.provide)
    assert.deepStrictEqual(treeOf(seen.spans), [
      "invoke_agent worker: ok",
      "  chat scripted: ok",
      "  execute_tool send: ok",
      "invoke_agent worker: ok",
      "  execute_tool send: ok",
      "  chat scripted: ok"
    ])
    const ids = seen.spans.flatMap(({ attributes }) => attributes.get("kintsugi.run.id") ?? [])
    assert.strictEqual(ids.length, 2)
    assert.strictEqual(new Set(ids).size, 1)
  })
)
