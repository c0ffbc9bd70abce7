/** Calls of a reply that are not run: what they are settled as, and what is told of them. */
import { assert } from "@effect/vitest"
import { Agent, Message, Skill, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Stream } from "effect"
import { it } from "../../_support/run.ts"
import {
  agentWith,
  batch,
  busy,
  eventLog,
  lastTranscript,
  overADay,
  scripted,
  settlements
} from "../../_support/dialogue.ts"
import { only } from "../../_support/suspension.ts"

const { call, calls, make } = ScriptedModel

const ok = (name: string, takes = 0) => scripted(name, Effect.as(Effect.sleep(takes), "fine"))

const notRun = `interrupted: ${Message.notRun.text}`

type Log = ReturnType<typeof eventLog>

/** Which calls were skipped, and as what; nothing else was told of them. */
const skippedIn = (log: Log): ReadonlyArray<string> => {
  const skipped = log.of("tool-skipped")
  const others = log.all.filter((event) => "callId" in event && event.type !== "tool-skipped")
  for (const { callId } of skipped) assert.isFalse(others.some((event) => "callId" in event && event.callId === callId))
  const end = log.all.findIndex(({ type }) => type === "turn-end")
  assert.isTrue(skipped.every((event) => log.all.indexOf(event) < end))
  return skipped.map(({ callId, settlement, tool }) => `${callId} ${tool} ${settlement.kind}: ${settlement.text}`)
}

it.run(
  "calls beyond a limit, or beside a call that ends the run, are not run, and each has an event [P401 A1203]",
  (run) =>
    Effect.gen(function* () {
      const bounded = (budget: { readonly maxToolCalls?: number; readonly maxConsecutiveSameTool?: number }) => {
        const { runs, tool } = ok("look")
        const skills = [Skill.make("s", { description: "d", tools: [tool, Tool.complete] })]
        return { runs, agent: Agent.make("worker", { budget, skills }) }
      }
      for (const [budget, said, ran, skipped] of [
        [{ maxToolCalls: 1 }, batch("look", "look", "look"), 1, ["c2 look", "c3 look"]],
        [{ maxConsecutiveSameTool: 1 }, batch("look", "look"), 1, ["c2 look"]],
        [
          {},
          calls(call("look", {}, "c1"), call("complete", { summary: "s" }, "c2"), call("look", {}, "c3")),
          0,
          ["c1 look", "c3 look"]
        ]
      ] as const) {
        const log = eventLog()
        const { agent, runs } = bounded(budget)
        const model = yield* make(said)
        yield* Effect.exit(run(agent.pipe(log.listen), "go").pipe(Effect.provide(model.layer)))
        assert.strictEqual(runs.length, ran)
        assert.deepStrictEqual(
          skippedIn(log),
          skipped.map((one) => `${one} ${notRun}`)
        )
        const [turn] = log.of("turn-end")
        assert.strictEqual(
          settlements(turn === undefined ? [] : [turn.message]).filter((one) => one === notRun).length,
          skipped.length
        )
      }
    })
)

it.run("calls for which there was no room yet when another one ended the run were not run [P401 A1203]", (run) =>
  Effect.gen(function* () {
    const log = eventLog()
    const broken = scripted("break", Effect.andThen(Effect.sleep(100), Effect.fail(busy("no"))))
    const slow = ok("slow", 1000)
    const agent = Agent.make("worker", {
      siblings: "interrupt",
      budget: { toolConcurrency: 2 },
      skills: [Skill.make("s", { description: "d", tools: [broken.tool, slow.tool] })]
    }).pipe(log.listen)
    const model = yield* make(batch("slow", "break", "slow"))
    yield* overADay(run(agent, "go").pipe(Effect.provide(model.layer)))
    assert.strictEqual(slow.runs.length, 1)
    assert.deepStrictEqual(skippedIn(log), [`c3 slow ${notRun}`])
    assert.deepStrictEqual(settlements(lastTranscript(log.end())), [
      `interrupted: ${Message.interrupted.text}`,
      "told: ERROR: no",
      notRun
    ])
  })
)

it.run("the calls of a reply that was cut off are not run, and each has an event [P403 A1203]", (run) =>
  Effect.gen(function* () {
    for (const finish of ["length", "filtered"] as const) {
      const log = eventLog()
      const { runs, tool } = ok("look")
      const model = yield* make(
        ScriptedModel.replies(
          ScriptedModel.reply({ content: [call("look", {}, "c1"), call("look", {}, "c2")], finish })
        ),
        ScriptedModel.text("done")
      )
      yield* run(agentWith(tool).pipe(log.listen), "go").pipe(Effect.provide(model.layer))
      assert.strictEqual(runs.length, 0)
      const truncated = `truncated: ${Message.truncated.text}`
      assert.deepStrictEqual(skippedIn(log), [`c1 look ${truncated}`, `c2 look ${truncated}`])
      assert.deepStrictEqual(settlements(model.requests[1]?.messages ?? []), [truncated, truncated])
    }
  })
)

it.effect("a call that waits for approval when another call ends the run is settled as not run [P401 A1203]", () =>
  Effect.gen(function* () {
    const pay = ok("pay")
    const broken = scripted("break", Effect.fail(busy("no")))
    const agent = agentWith(pay.tool.pipe(Tool.requireApproval()), broken.tool)
    const model = yield* make(batch("pay", "break", "pay"))
    const handle = yield* agent.start("go").pipe(Effect.provide(model.layer))
    yield* Effect.exit(handle.outcome)
    const events = yield* Stream.runCollect(handle.events)
    assert.strictEqual(pay.runs.length, 0)
    assert.deepStrictEqual(
      only(events, "tool-skipped").map(({ callId, settlement }) => [callId, settlement]),
      [
        ["c1", Message.unapproved],
        ["c3", Message.notRun]
      ]
    )
    assert.deepStrictEqual(settlements(yield* handle.transcript), [
      `interrupted: ${Message.unapproved.text}`,
      "told: ERROR: no",
      `interrupted: ${Message.notRun.text}`
    ])
  })
)

it.run("if a limit ends the run before the calls of a reply begin, they are settled as not run [P401]", (run) =>
  Effect.gen(function* () {
    const log = eventLog()
    const { runs, tool } = ok("look")
    const skills = [Skill.make("s", { description: "d", tools: [tool] })]
    const agent = Agent.make("worker", { budget: { maxTokens: 1 }, skills }).pipe(log.listen)
    const model = yield* make(batch("look"))
    yield* Effect.exit(run(agent, "go").pipe(Effect.provide(model.layer)))
    assert.strictEqual(runs.length, 0)
    assert.deepStrictEqual(settlements(lastTranscript(log.end())), [notRun])
  })
)
