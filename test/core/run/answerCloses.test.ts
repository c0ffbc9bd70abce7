/** What a run that answers at its limit closes first: the waits in the reply that has reached the limit. */
import { assert } from "@effect/vitest"
import { Agent, Approval, Budget, Message, Recovery, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Schema } from "effect"
import { deferring } from "../tool/_support/deferring.ts"
import { busy, eventLog, scripted, settlements } from "../../_support/dialogue.ts"
import { it } from "../../_support/run.ts"
import { outcomeOf, paying } from "../../_support/suspension.ts"

const { call, calls, make, text } = ScriptedModel

const answering = Agent.onBudgetExceeded(() => Budget.answer)
const never = Approval.layer(() => Effect.never)
const skipped = (text: string) => `interrupted: The call was not run: ${text}`

const consulting = (sideEffects: "none" | "unsafe") =>
  Tool.make("send", {
    description: "Sends.",
    parameters: Schema.Struct({}),
    success: Schema.String,
    sideEffects,
    run: () => Effect.fail(busy())
  }).pipe(Tool.onError({ Busy: Recovery.ask() }))

/** The agents whose reply has a call that waits, and then one beyond the limit: how the first call is settled. */
const cases = [
  ["approval", () => paying().tool, call("pay", { cents: 1 }), skipped("it was still waiting for approval.")],
  ["ask", () => consulting("none"), call("send", {}), `interrupted: ${Message.interrupted.text}`],
  ["ask", () => consulting("unsafe"), call("send", {}), `unknown: ${Message.unknown.text}`],
  ["deferred", () => deferring().tool, call("order", {}), `interrupted: ${Message.interrupted.text}`],
  [
    "deferred",
    () => deferring({ sideEffects: "unsafe", cancel: () => Effect.fail("no") }).tool,
    call("order", {}),
    `unknown: ${Message.unknown.text}`
  ],
  [
    "deferred",
    () => deferring({ sideEffects: "unsafe" }).tool,
    call("order", {}),
    `interrupted: ${Message.interrupted.text}`
  ]
] as const

it.run(
  "what waits in a reply that passes its limit is withdrawn before the answer, wherever it stands [P1594]",
  (run) =>
    Effect.gen(function* () {
      for (const [what, toolOf, one, expected] of cases)
        for (const isStarted of [true, false]) {
          const log = eventLog()
          const tools = [toolOf() as unknown as Tool.AnyTool, scripted("look").tool]
          const agent = Agent.make("worker", { tools, budget: { maxToolCalls: 1 } }).pipe(answering, log.listen)
          const model = yield* make(calls(one, call("look", {})), text("so far"))
          // what the tools need is given
          const ended = isStarted
            ? Effect.map(outcomeOf(agent as never, "go", model), (outcome: Agent.Outcome<unknown>) =>
                outcome._tag === "Completed" ? outcome.output : outcome
              )
            : (run(agent, "go").pipe(Effect.provide([model.layer, never])) as Effect.Effect<unknown, unknown>)
          assert.strictEqual(yield* ended, "so far", what)
          assert.deepStrictEqual(settlements(model.requests.at(-1)?.messages ?? []), [
            expected,
            skipped("the run stopped before it.")
          ])
          assert.lengthOf(log.of("approval-requested"), 0)
          assert.lengthOf(log.of("tool-skipped"), 2)
        }
    })
)

it.run("a sub-agent at work beside the limit begins no call that would wait [P1594]", (run) =>
  Effect.gen(function* () {
    const order = deferring()
    const { runs, tool } = paying()
    const inner = Agent.asTool(Agent.make("inner", { tools: [tool, order.tool] }), { description: "Pays." })
    const agent = Agent.make("worker", { tools: [inner, scripted("look").tool], budget: { maxToolCalls: 1 } })
    const model = yield* make(
      calls(call("inner", { input: "pay" }), call("look", {})),
      calls(call("pay", { cents: 1 }), call("order", {})),
      text("so far")
    )
    // what the tools need is given
    const ended = run(agent.pipe(answering), "go").pipe(Effect.provide([model.layer, never]))
    assert.strictEqual(yield* ended as Effect.Effect<unknown, unknown>, "so far")
    assert.deepStrictEqual([runs, order.begun], [[], []])
  })
)
