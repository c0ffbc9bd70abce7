/** What may be said to a run, and with which options: also by programs without types, and where the inbox is full. */
import { assert, it } from "@effect/vitest"
import { Agent, Recovery, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Cause, Effect, Exit } from "effect"
import { agentWith, calm, done, scripted } from "../../_support/dialogue.ts"
import { outcomeOf, paying, snapshotOf } from "../../_support/suspension.ts"
import { accounted, eventsOf, lines, slowReply, slowTool, started } from "./_support/saying.ts"

const { call, calls, make, reply } = ScriptedModel

const defectOf = (exit: Exit.Exit<unknown, unknown>): string => {
  assert(Exit.isFailure(exit) && Cause.hasDies(exit.cause))
  return String(Cause.squash(exit.cause))
}

it.effect("a full inbox refuses a message that interrupts or supersedes as any other, and nothing ends [P1580]", () =>
  Effect.gen(function* () {
    for (const options of [{ interrupt: true }, { interrupt: "tools" }, { supersede: true }] as const) {
      const slow = slowTool("look")
      const { tool } = paying()
      const agent = Agent.make("worker", { tools: [slow.tool, tool], budget: { maxUnread: 1 } })
      const model = yield* make(calls(call("look", {}), call("pay", { cents: 1 })))
      const run = yield* started(agent.start("go"), model)
      yield* slow.begun
      yield* run.say("first")
      const refused = yield* Effect.flip(run.say("stop", options))
      assert.deepInclude(refused, { _tag: "InboxFullError", limit: 1 })
      yield* slow.end
      const outcome = yield* run.outcome
      assert(outcome._tag === "Suspended")
      assert.include(lines(yield* run.transcript), "model: look: result, pay: interrupted")
      assert.lengthOf(
        (yield* eventsOf(run)).filter(({ type }) => type === "message-queued"),
        1
      )
      yield* accounted(run)
    }
  })
)

it.effect("a run goes on with a text, with one message, and with several [P1585]", () =>
  Effect.gen(function* () {
    const one = { message: "never mind", supersede: true } as const
    for (const say of [one, [one]]) {
      const { runs, tool } = paying()
      const agent = agentWith(tool)
      const model = yield* make(calls(call("pay", { cents: 1 })), done)
      const from = yield* snapshotOf(yield* outcomeOf(agent, "go", model))
      const run = yield* started(Agent.resume(agent).start({ from, say }), model)
      assert.deepInclude(yield* run.outcome, { output: "done" })
      assert.deepStrictEqual(runs, [])
      assert.deepStrictEqual(lines(yield* run.transcript).slice(-2), ["user: never mind", "model: done"])
    }
  })
)

it.effect("what cannot be said with a resumption is a defect that names it [P1585]", () =>
  Effect.gen(function* () {
    const agent = Agent.make("worker", {})
    const cases: ReadonlyArray<readonly [unknown, string]> = [
      [[{ message: "a", to: "run-1" }], "a message of say has no option 'to'"],
      [{ message: "a", interrupt: true }, "a message of say has no option 'interrupt'"],
      [{ message: "a", supersede: "yes" }, "supersede of say must be true or false, got string"],
      [{ text: "a" }, "a message of say has no option 'text'"],
      [{}, "say: message must be a text or a list of parts, got undefined"],
      [[7], "say must be a text, a message or a list of messages, got number"]
    ]
    for (const [say, expected] of cases) {
      const model = yield* make()
      const run = yield* started(Agent.resume(agent).start({ from: [], say: say as never }), model)
      assert.include(defectOf(yield* Effect.exit(run.outcome)), expected)
    }
  })
)

it.effect("a wrong option of say is a defect that names it, and the run goes on [P1580 P1583]", () =>
  Effect.gen(function* () {
    const slow = slowReply(reply({ content: [{ type: "text", text: "blue" }] }))
    const model = yield* make(slow.step)
    const run = yield* started(Agent.make("worker", {}).start("which?"), model)
    yield* slow.begun
    const wrong = yield* Effect.exit(run.say("stop", { interrupt: "tool" as never }))
    assert.include(defectOf(wrong), "run.say of agent 'worker': interrupt must be true, false, 'tools', got 'tool'")
    const odd = yield* Effect.exit(run.say({ message: "stop" } as never))
    assert.include(defectOf(odd), "run.say of agent 'worker': message must be a text or a list of parts, got object")
    yield* calm
    yield* slow.end
    assert.deepInclude(yield* run.outcome, { output: "blue" })
  })
)

it("wrong options of persons are refused by name [P1510 P1530]", () => {
  const { tool } = scripted("look")
  const onExpiry = "later" as never
  assert.throws(() => Recovery.ask({ onExpiry }), 'Recovery.ask: onExpiry must be "ask-again", "refuse" or "fail"')
  assert.throws(() => tool.pipe(Tool.requireApproval({ onExpiry })), "tool 'look': onExpiry must be")
  for (const times of [0, 1.5, NaN]) assert.throws(() => Recovery.ask({ times }), "Recovery.ask: times must be a whole")
})
