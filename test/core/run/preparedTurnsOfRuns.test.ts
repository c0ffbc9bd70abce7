/** Prepared turns of runs that are suspended and go on, and of runs within runs. */
import { assert } from "@effect/vitest"
import { Agent, Approval, Recovery, Router, Skill, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect } from "effect"
import { it } from "../../_support/run.ts"
import { batch, busy, done, eventLog, scripted, settlements } from "../../_support/dialogue.ts"
import { deciding, outcomeOf, paying, snapshotOf } from "../../_support/suspension.ts"

const { call, calls, make, text } = ScriptedModel

it.effect("a suspended turn keeps its choice in the snapshot, and the next turn is prepared anew [P1551 P1552]", () =>
  Effect.gen(function* () {
    const { runs, tool } = paying()
    const look = scripted("look", Effect.succeed("seen"))
    const asked: Array<number> = []
    const agent = Agent.make("clerk", { tools: [tool, look.tool], budget: { toolConcurrency: 1 } }).pipe(
      Agent.prepareTurn(({ turn }) => {
        asked.push(turn)
        return Effect.succeed(turn === 1 ? { tools: ["pay"], prompt: "Pay." } : {})
      })
    )
    const model = yield* make(
      calls(call("pay", { cents: 1 }, "c1"), call("look", {}, "c2"), call("pay", { cents: 2 }, "c3")),
      batch("look"),
      done
    )
    const snapshot = yield* snapshotOf(yield* outcomeOf(agent, "go", model))
    assert.deepStrictEqual(snapshot.prepared, { tools: ["pay"], prompt: "Pay." })
    // a call that had not begun is denied all the same
    const { unfinished } = snapshot
    assert(unfinished !== undefined)
    const begun = unfinished.calls.map((one, index) => (index === 1 ? ({ type: "not-begun" } as const) : one))
    const unbegun = { ...snapshot, unfinished: { ...unfinished, calls: begun } }
    const outcome = yield* outcomeOf(Agent.resume(agent), deciding(unbegun), model)
    assert.deepInclude(outcome, { _tag: "Completed", output: "done" })
    assert.deepStrictEqual(asked, [1, 2, 3])
    assert.deepStrictEqual(runs, [1, 2])
    assert.deepStrictEqual(settlements(model.requests.at(-1)?.messages ?? []), [
      "result: paid 1",
      "denied: Tool 'look' is not available in this turn. Try another way.",
      "result: paid 2",
      "result: seen"
    ])
  })
)

it.run("a sub-agent and a fixer prepare turns of their own [P1550]", (run) =>
  Effect.gen(function* () {
    const log = eventLog()
    const inner = yield* make(text("found"))
    const mending = yield* make(text("{}"))
    const finder = Agent.make("finder", { model: inner.layer, prompt: "Find." }).pipe(
      Agent.prepareTurn(() => Effect.succeed({ prompt: "Find it." }))
    )
    const fixer = Agent.make("fixer", { model: mending.layer }).pipe(
      Agent.prepareTurn(() => Effect.succeed({ prompt: "Mend it." }))
    )
    const look = scripted("look", Effect.succeed("seen")).tool.pipe(Tool.onError({ InvalidArgs: Recovery.fix(fixer) }))
    const agent = Agent.make("clerk", { tools: [look, Agent.asTool(finder, { description: "Finds." })] }).pipe(
      Agent.prepareTurn(({ turn }) => Effect.succeed({ prompt: `Turn ${turn}.` })),
      log.listen
    )
    const outer = yield* make(calls(call("finder", { input: "it" }), call("look", "not json", "c2")), done)
    assert.strictEqual(yield* run(agent, "go").pipe(Effect.provide(outer.layer)), "done")
    const prompts = (model: ScriptedModel.ScriptedModel) =>
      model.requests.map(({ messages: [head] }) => (head?.role === "system" ? head.text : undefined))
    assert.deepStrictEqual([inner, mending, outer].map(prompts), [["Find it."], ["Mend it."], ["Turn 1.", "Turn 2."]])
    assert.deepStrictEqual(
      log
        .of("turn-prepared")
        .map(({ agent }) => agent)
        .toSorted(),
      ["clerk", "clerk", "finder", "fixer"]
    )
  })
)

it.run(
  "of several skills, the tools of the chosen one may be named, those of others are left out anyhow [P1550]",
  (run) =>
    Effect.gen(function* () {
      const look = scripted("look", Effect.succeed("seen")).tool
      const send = scripted("send", Effect.succeed("sent")).tool
      const agent = Agent.make("clerk", {
        skills: [
          Skill.make("read", { description: "Reads.", tools: [look] }),
          Skill.make("write", { description: "Writes.", tools: [send] })
        ]
      }).pipe(
        Agent.route(Router.byRule(() => Effect.succeed("read" as const))),
        Agent.prepareTurn(() => Effect.succeed({ tools: ["send"] }))
      )
      const model = yield* make(done)
      assert.strictEqual(yield* run(agent, "go").pipe(Effect.provide(model.layer)), "done")
      assert.deepStrictEqual(model.requests[0]?.tools, [])
    })
)

it.run("a choice that depends on a person's decision before stands beside it [P1550]", (run) =>
  Effect.gen(function* () {
    const { runs, tool } = paying()
    const failing = scripted("look", Effect.fail(busy())).tool.pipe(Tool.onError({ Busy: Recovery.tell() }))
    const agent = Agent.make("clerk", { tools: [tool, failing] }).pipe(
      Agent.prepareTurn(({ messages }) =>
        Effect.succeed(settlements(messages).some((line) => line.startsWith("told")) ? { tools: ["pay"] } : {})
      )
    )
    const model = yield* make(batch("look"), calls(call("pay", { cents: 1 })), done)
    const approving = Approval.layer(() => Effect.succeed(Approval.approve))
    yield* run(agent, "go").pipe(Effect.provide(model.layer), Effect.provide(approving))
    assert.deepStrictEqual(runs, [1])
    assert.deepStrictEqual(
      model.requests.map(({ tools }) => tools.length),
      [2, 1, 1]
    )
  })
)
