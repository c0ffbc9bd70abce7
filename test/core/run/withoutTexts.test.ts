/** What is left of the events of an agent that checks an answer. */
import { assert } from "@effect/vitest"
import { Agent, type AgentEvent, LlmError, Message } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect } from "effect"
import { it } from "../../_support/run.ts"
import { withoutTexts } from "../../../packages/core/src/run/withoutTexts.ts"
import { batch, scripted } from "../../_support/dialogue.ts"
import { reading, secret } from "./_support/guarded.ts"

const { answers, fails, make, text } = ScriptedModel
const { block } = Agent.guard

const failure = LlmError.ModelOverloadedError.make({ model: "scripted", partial: secret })

/** The parts of an event that may have a text. */
const partsOf = (event: AgentEvent.AgentEvent): unknown => {
  switch (event.type) {
    case "run-start":
      return [event.type, event.input, event.transcript]
    case "model-end":
      return [event.type, event.reply.content]
    case "model-failed":
      return [event.type, LlmError.isLlmError(event.error) ? event.error.partial : event.error]
    case "turn-end":
      return [event.type, event.message]
    case "run-completed":
      return [event.type, event.output]
    case "run-failed":
      return [event.type, event.transcript, event.error instanceof Error && [event.error.message, { ...event.error }]]
    case "run-interrupted":
      return [event.type, event.transcript]
    default:
      return event.type
  }
}

it.run("of each event of such an agent the counts are left, and no text [P1599]", (run) =>
  Effect.gen(function* () {
    const { tool } = scripted("note", Effect.succeed(secret))
    const begins = [["run-start", "", []], "turn-start", "model-start"]
    const cases = [
      [
        [batch("note"), text(secret)],
        [
          ...begins,
          ["model-end", []],
          ["turn-end", Message.blank],
          "turn-start",
          "model-start",
          ["model-end", []],
          "budget-warning",
          ["turn-end", Message.blank],
          ["run-completed", ""]
        ]
      ],
      [
        [fails(failure)],
        [
          ...begins,
          ["model-failed", undefined],
          ["run-failed", [], ["ModelOverloadedError", { _tag: "ModelOverloadedError" }]]
        ]
      ],
      [[answers(() => Effect.never)], [...begins, "model-interrupted", ["run-interrupted", []]]]
    ] as const
    for (const [script, expected] of cases) {
      const judge = yield* make(...script)
      const judging = Agent.make("judge", { model: judge.layer, tools: [tool], budget: { maxTurns: 2, warnAt: 0.9 } })
      const check = ({ text }: Agent.Checked) =>
        Effect.match(judging(text), { onSuccess: () => block("no"), onFailure: () => block("no") })
      const model = yield* make(text(`It is ${secret}`))
      const agent = Agent.make("clerk", {}).pipe(Agent.guardOutput(check, { timeout: "100 millis" }))
      const seen = yield* reading(run(agent, "hi"), model.layer)
      assert.deepStrictEqual(
        seen.events.filter((event) => event.agent === "judge").map(partsOf),
        expected as ReadonlyArray<unknown>
      )
    }
  })
)

it.effect("an event that has no text stays the same event, and one that is a text is none [P1599]", () =>
  Effect.sync(() => {
    const emitted: Array<AgentEvent.AgentEvent> = []
    const emit = withoutTexts((event) => void emitted.push(event))
    // only the type is read
    const events = ["turn-start", "model-start", "model-interrupted", "budget-warning"].map(
      (type) => ({ type }) as AgentEvent.AgentEvent
    )
    for (const event of [...events, { type: "text-delta", text: secret } as AgentEvent.AgentEvent]) emit(event)
    assert.lengthOf(emitted, events.length)
    for (const [index, event] of events.entries()) assert.strictEqual(emitted[index], event)
  })
)
