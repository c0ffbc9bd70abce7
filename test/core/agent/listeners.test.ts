import { assert } from "@effect/vitest"
import { Agent, Recovery, Tool, ToolError } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Cause, Effect, Logger } from "effect"
import { it } from "../../_support/run.ts"
import {
  agentWith,
  batch,
  busy,
  callingOnce,
  done,
  fixer,
  gone,
  interruptedAt,
  play,
  scripted
} from "../../_support/dialogue.ts"
import type { ToolResult } from "../../../packages/core/src/agent/listeners.ts"

const { call, calls } = ScriptedModel

/** A hook that writes down what it hears. */
const listening = () => {
  const heard: Array<readonly [name: string, args: unknown, result: ToolResult]> = []
  return {
    heard,
    hook: Agent.onToolUse((name, args, result) => Effect.sync(() => heard.push([name, args, result])))
  }
}

it.run("the listener runs once per call, with the outcome and what recovered it [A601 A602]", (run) =>
  Effect.gen(function* () {
    const plain = scripted("plain", Effect.succeed("value"))
    const retried = scripted("retried", Effect.fail(busy()), Effect.fail(busy()), Effect.succeed("value"))
    const mended = play("mended", { coercion: [] }, [Effect.succeed("value")])
    const answered = scripted("answered", Effect.fail(busy()))
    const telling = scripted("told", Effect.fail(busy()))
    const escalated = scripted("escalated", Effect.fail(busy()))
    const byFixer = scripted("byFixer", Effect.fail(busy()))
    const giving = fixer(Effect.fail(ToolError.EscalationError.make({ source: "fixer", reason: "look up" })))
    const { heard, hook } = listening()
    const model = yield* callingOnce("plain", "retried", "mended", "answered", "told", "escalated", "byFixer")
    const agent = agentWith(
      plain.tool,
      retried.tool.pipe(Tool.onError({ Busy: Recovery.retry({ retries: 2 }) })),
      mended.tool,
      answered.tool.pipe(Tool.onError({ Busy: Recovery.respondWith("fallback") })),
      telling.tool.pipe(Tool.onError({ Busy: Recovery.tell(() => "no") })),
      escalated.tool.pipe(Tool.onError({ Busy: Recovery.escalate() })),
      byFixer.tool.pipe(Tool.onError({ Busy: Recovery.fix(giving.agent) }))
    ).pipe(hook)
    yield* run(agent, "go").pipe(Effect.provide(model.layer))
    assert.deepStrictEqual(heard.map(([name, , { isError, recoveredBy }]) => [name, isError, recoveredBy]).toSorted(), [
      ["answered", false, "respondWith"],
      ["byFixer", true, "fix"],
      ["escalated", true, "escalate"],
      ["mended", false, undefined],
      ["plain", false, undefined],
      ["retried", false, "retry"],
      ["told", true, "tell"]
    ])
    const texts = new Map(heard.map(([name, , { text }]) => [name, text]))
    assert.strictEqual(texts.get("plain"), "value")
    assert.strictEqual(texts.get("answered"), "fallback")
    assert.strictEqual(texts.get("told"), "no")
    assert.include(texts.get("byFixer"), "failed: look up")
  })
)

it.run("the listener gets no unknown tools, hard failures, built-in tools, or calls that were not run [A601]", (run) =>
  Effect.gen(function* () {
    const { heard, hook } = listening()
    for (const [script, verdict] of [
      [[batch("nope"), done], Recovery.tell<unknown>()],
      [[batch("fetch")], Recovery.raise],
      [[batch("fetch")], Recovery.rethrow],
      [[batch("fetch", "escalate")], Recovery.tell<unknown>()],
      [
        [
          ScriptedModel.replies(ScriptedModel.reply({ content: [call("fetch", {}, "c1")], finish: "length" })),
          ScriptedModel.text("done")
        ],
        Recovery.tell<unknown>()
      ]
    ] as const) {
      const { tool } = scripted("fetch", Effect.fail(busy()))
      const model = yield* ScriptedModel.make(...script)
      const agent = agentWith(tool.pipe(Tool.onError({ Busy: verdict })), Tool.escalate).pipe(hook)
      yield* Effect.exit(run(agent, "go").pipe(Effect.provide(model.layer)))
    }
    assert.deepStrictEqual(heard, [])
  })
)

it.run("the listener gets no interrupted call; it has got a sibling that ended before [A601]", (run) =>
  Effect.gen(function* () {
    const { heard, hook } = listening()
    const quick = scripted("quick", Effect.succeed("value"))
    const slow = scripted("slow", Effect.as(Effect.sleep("1 hour"), "late"))
    const model = yield* ScriptedModel.make(batch("quick", "slow"))
    const agent = agentWith(quick.tool, slow.tool).pipe(hook)
    yield* interruptedAt(1000, run(agent, "go").pipe(Effect.provide(model.layer)))
    assert.deepStrictEqual(
      heard.map(([name]) => name),
      ["quick"]
    )
  })
)

it.run("the listener gets the calls of its own agent only, not those of a sub-agent [A601]", (run) =>
  Effect.gen(function* () {
    const { heard, hook } = listening()
    const inner = yield* callingOnce("look")
    const expert = agentWith(scripted("look", Effect.succeed("seen")).tool)
    const { tool } = scripted("ask", Effect.orDie(expert("why?").pipe(Effect.provide(inner.layer))))
    const model = yield* callingOnce("ask")
    yield* run(agentWith(tool).pipe(hook), "go").pipe(Effect.provide(model.layer))
    assert.deepStrictEqual(
      heard.map(([name]) => name),
      ["ask"]
    )
  })
)

it.run("several listeners get every call, in the order in which they were attached [A604]", (run) =>
  Effect.gen(function* () {
    const order: Array<string> = []
    const named = (label: string) => Agent.onToolUse((name) => Effect.sync(() => order.push(`${label} ${name}`)))
    const { tool } = scripted("fetch", Effect.succeed("1"), Effect.succeed("2"))
    const model = yield* ScriptedModel.make(batch("fetch"), batch("fetch"), done)
    const agent = agentWith(tool).pipe(named("first"), named("second"), named("third"))
    yield* run(agent, "go").pipe(Effect.provide(model.layer))
    const once = ["first fetch", "second fetch", "third fetch"]
    assert.deepStrictEqual(order, [...once, ...once])
  })
)

it.run("listeners read the repaired params next to the model's own arguments [A605]", (run) =>
  Effect.gen(function* () {
    const { heard, hook } = listening()
    const { tool } = play("fetch", { coercion: [] }, [Effect.fail(gone("moved"))])
    const model = yield* ScriptedModel.make(
      calls(call("fetch", '{"n":1,}', "c1"), call("fetch", "hopeless", "c2")),
      done
    )
    const guarded = tool.pipe(
      Tool.onError({
        InvalidArgs: Recovery.when((error) =>
          error._tag === "InvalidArgs" && error.rawArgs === "hopeless"
            ? Recovery.tell(() => "hopeless")
            : Recovery.fix(() => Effect.succeed('{"n":1}'))
        ),
        Gone: Recovery.tell((error) => error.message)
      })
    )
    yield* run(agentWith(guarded).pipe(hook), "go").pipe(Effect.provide(model.layer))
    assert.deepStrictEqual(heard.map(([, args, { params, text }]) => [args, params, text]).toSorted(), [
      ["hopeless", undefined, "hopeless"],
      ['{"n":1,}', { n: 1 }, "moved"]
    ])
  })
)

it.run("what a listener returns that is no effect is logged with the name of its agent [P1395]", (run) =>
  Effect.gen(function* () {
    const lines: Array<string> = []
    const logger = Logger.make(({ cause, message }) => void lines.push(`${String(message)} ${Cause.pretty(cause)}`))
    // as a program without types does
    const agent = agentWith().pipe(Agent.onEvent(() => 5 as never))
    const model = yield* ScriptedModel.make(done)
    yield* run(agent, "go").pipe(Effect.provide([model.layer, Logger.layer([logger])]))
    assert.isAbove(lines.length, 1)
    for (const line of lines) assert.include(line, "A listener of agent 'worker' returned a number, not an Effect")
  })
)
