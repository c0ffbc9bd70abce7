/** What metrics say of people who decide, of messages, and of text that does not count. */
import { assert } from "@effect/vitest"
import { Agent, Approval, Recovery, Telemetry, Tool } from "@kintsugi/core"
import { ScriptedApprover, ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Fiber, Metric, Schema } from "effect"
import { TestClock } from "effect/testing"
import { linesOf } from "./_support/metrics.ts"
import { slowReply, started } from "../run/_support/saying.ts"
import { agentWith, batch, done, overADay, scripted } from "../../_support/dialogue.ts"
import { overloaded, says } from "../../_support/namedModels.ts"
import { continuing, goingOn } from "../run/_support/continued.ts"
import { it } from "../../_support/run.ts"
import { deciding, outcomeOf, snapshotOf } from "../../_support/suspension.ts"

const { after } = ScriptedApprover
const { call, calls, fails, make } = ScriptedModel

const pay = (onExpiry: "ask-again" | "refuse") =>
  Tool.make("pay", {
    description: "Pays.",
    parameters: Schema.Struct({ cents: Schema.Int }),
    success: Schema.String,
    run: () => Effect.succeed("paid")
  }).pipe(Tool.requireApproval({ validFor: "1 minute", onExpiry }))

const payment = calls(call("pay", { cents: 5 }, "c1"))

/** The metrics of this program whose name begins with `kintsugi.` and that are no verdicts. */
const counted = <A, E, R>(self: Effect.Effect<A, E, R>) =>
  self.pipe(
    Effect.andThen(Metric.snapshot),
    Effect.provideService(Metric.MetricRegistry, new Map()),
    Effect.provide(Telemetry.layer),
    Effect.map((snapshot) =>
      linesOf(snapshot).filter((line) => /^kintsugi\.(approval|guardrail|messages|results|text)/.test(line))
    )
  )

const ofPay = "gen_ai.agent.name=worker, gen_ai.tool.name=pay"

it.run("the time that a person takes to decide is measured, and requests that expire are counted [P1366]", (run) =>
  Effect.gen(function* () {
    const lines = yield* counted(
      Effect.gen(function* () {
        const model = yield* make(payment, done)
        const approver = yield* ScriptedApprover.make(
          after("90 seconds", Approval.approve),
          after("20 seconds", Approval.approve)
        )
        const running = run(agentWith(pay("ask-again")), "go")
        const fiber = yield* Effect.forkChild(running.pipe(Effect.provide(approver.layer), Effect.provide(model.layer)))
        yield* TestClock.adjust("2 minutes")
        assert.strictEqual(yield* Fiber.join(fiber), "done")
      })
    )
    assert.deepStrictEqual(lines, [
      `kintsugi.approval.duration {decision=approve, ${ofPay}, unit=s}: 1 20`,
      `kintsugi.approval.expired {${ofPay}}: 1`
    ])
  })
)

it.effect("the time of a decision is measured over a suspension, and so is an expiry [P1366]", () =>
  Effect.gen(function* () {
    const wait = (seconds: number) =>
      counted(
        Effect.gen(function* () {
          const agent = agentWith(pay("refuse"))
          const model = yield* make(payment, done)
          const from = yield* snapshotOf(yield* outcomeOf(agent, "go", model))
          yield* TestClock.adjust(`${seconds} seconds`)
          assert.strictEqual((yield* outcomeOf(Agent.resume(agent), deciding(from), model))._tag, "Completed")
        })
      )
    assert.deepStrictEqual(yield* wait(40), [`kintsugi.approval.duration {decision=approve, ${ofPay}, unit=s}: 1 40`])
    assert.deepStrictEqual(yield* wait(61), [`kintsugi.approval.expired {${ofPay}}: 1`])
  })
)

it.effect("messages that a run returns unread are counted [P1366]", () =>
  Effect.gen(function* () {
    const lines = yield* counted(
      Effect.gen(function* () {
        const slow = slowReply(ScriptedModel.reply({ content: [{ type: "text", text: "done" }] }))
        const run = yield* started(agentWith().start("go"), yield* make(slow.step))
        yield* slow.begun
        yield* run.say("and one more")
        yield* run.interrupt
      }).pipe(Effect.scoped)
    )
    assert.deepStrictEqual(lines, ["kintsugi.messages.returned {gen_ai.agent.name=worker}: 1"])
  })
)

it.run("texts that a guardrail blocks, and bytes that are put aside, are counted [P1366]", (run) =>
  Effect.gen(function* () {
    const lines = yield* counted(
      Effect.gen(function* () {
        const { tool } = scripted("look", Effect.succeed("ä".repeat(100)))
        const agent = Agent.make("worker", { tools: [tool], putAside: Tool.putAside({ above: 10 }) }).pipe(
          Agent.guardOutput(() => Effect.succeed(Agent.guard.block("rude")), { name: "manners" }),
          Agent.onGuardrail({ output: Recovery.respondWith("sorry") })
        )
        const model = yield* make(batch("look"), done)
        assert.strictEqual(yield* run(agent, "go").pipe(Effect.provide(model.layer)), "sorry")
      })
    )
    assert.deepStrictEqual(lines, [
      "kintsugi.guardrail.blocks {guardrail=manners, side=output}: 1",
      "kintsugi.results.put_aside {gen_ai.agent.name=worker, gen_ai.tool.name=look, unit=By}: 200"
    ])
  })
)

it.run("characters that a failed attempt has shown are counted as discarded [P1366]", (run) =>
  Effect.gen(function* () {
    const lines = yield* counted(
      Effect.gen(function* () {
        const model = yield* make(fails(overloaded(), says("three")), done)
        const agent = agentWith().pipe(
          Agent.onLlmError({ ModelOverloadedError: Recovery.retry({ retries: 1 }) }, { onPartial: "restart" })
        )
        assert.strictEqual((yield* overADay(run(agent, "go").pipe(Effect.provide(model.layer))))._tag, "Success")
      })
    )
    assert.deepStrictEqual(
      lines,
      run.isStreamed ? ["kintsugi.text.discarded {gen_ai.agent.name=worker, unit={character}}: 5"] : []
    )
  })
)

it.run("characters from which a later attempt goes on are counted once, as continued [P1366 P1561]", (run) =>
  Effect.gen(function* () {
    const lines = yield* counted(
      Effect.gen(function* () {
        const broken = [fails(overloaded(), says("three ")), fails(overloaded(), says("four ")), fails(overloaded())]
        const model = yield* goingOn(...broken, done, fails(overloaded(), says("five")), done)
        const agent = agentWith().pipe(continuing(3))
        for (const input of ["one", "two"]) {
          assert.strictEqual((yield* overADay(run(agent, input).pipe(Effect.provide(model.layer))))._tag, "Success")
        }
      })
    )
    const metric = "kintsugi.text.continued {gen_ai.agent.name=worker, unit={character}}"
    assert.deepStrictEqual(lines, run.isStreamed ? [`${metric}: 15`] : [])
  })
)
