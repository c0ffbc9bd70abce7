/** Approval of tools of ours under `effect/ai`'s own `LanguageModel`. */
import { assert, describe, it } from "@effect/vitest"
import { Agent, Recovery, Tool } from "@kintsugi/core"
import * as EffectAi from "@kintsugi/providers/EffectAi"
import { Effect, Layer, Schema } from "effect"
import { LanguageModel, type Prompt, Toolkit } from "effect/ai"
import * as Script from "./_support/scriptedLanguageModel.ts"

describe("approval of tools of ours in effect/ai", () => {
  const paying = () => {
    const paid: Array<number> = []
    const pay = Tool.make("unlock", {
      description: "Pays.",
      parameters: Schema.Struct({ cents: Schema.Finite }),
      success: Schema.String,
      run: ({ cents }) => Effect.sync(() => (paid.push(cents), "paid"))
    }).pipe(
      Tool.requireApproval({ when: ({ cents }) => cents > 100 }),
      Tool.onError({
        InvalidArgs: Recovery.fix(Agent.deterministic("fixer", () => Effect.succeed('{"cents": 999}')))
      })
    )
    return { paid, made: EffectAi.toToolkit([pay]) }
  }

  const history = (params: unknown): Prompt.RawInput => [
    { role: "user", content: "pay" },
    {
      role: "assistant",
      content: [
        { type: "tool-call", id: "c1", name: "unlock", params },
        { type: "tool-approval-request", approvalId: "a1", toolCallId: "c1" }
      ]
    },
    { role: "tool", content: [{ type: "tool-approval-response", approvalId: "a1", approved: true }] }
  ]

  it.effect("is requested by effect/ai, which runs approved calls [P905 P1107]", () =>
    Effect.gen(function* () {
      const { made, paid } = paying()
      const script = yield* Script.make(
        Script.calls(Script.call("unlock", { cents: "500" }, "c1"), Script.call("unlock", { cents: 5 }, "c2")),
        Script.says("done")
      )
      const layer = Layer.merge(script.layer, made.layer)
      const { toolkit } = made
      const first = yield* Effect.provide(LanguageModel.generateText({ prompt: "pay", toolkit }), layer)
      assert.deepStrictEqual(
        first.content.flatMap((part) => (part.type === "tool-approval-request" ? [part.toolCallId] : [])),
        ["c1"]
      )
      assert.deepStrictEqual(paid, [5])
      yield* Effect.provide(LanguageModel.generateText({ prompt: history({ cents: "500" }), toolkit }), layer)
      assert.deepStrictEqual(paid, [5, 500])
    })
  )

  it.effect("is requested where the arguments do not fit, or where the predicate fails [P905 P1107]", () =>
    Effect.gen(function* () {
      const { made } = paying()
      const predicates = {
        denies: () => false,
        fails: () => Effect.fail("who knows"),
        dies: () => Effect.die(new Error("who knows")),
        throws: () => {
          throw new Error("who knows")
        }
      }
      const unsure = Object.entries(predicates).map(([name, when]) =>
        Tool.make(name, {
          description: "Pays.",
          parameters: Schema.Struct({}),
          success: Schema.String,
          run: () => Effect.succeed("paid")
        }).pipe(Tool.requireApproval({ when }))
      )
      const others = EffectAi.toToolkit(unsure)
      const toolkit = Toolkit.merge(made.toolkit, others.toolkit)
      const script = yield* Script.make(
        Script.calls(
          Script.call("unlock", { cents: "much" }, "unfit"),
          ...Object.keys(predicates).map((name) => Script.call(name, {}, name))
        )
      )
      const response = yield* LanguageModel.generateText({ prompt: "pay", toolkit }).pipe(
        Effect.provide(Layer.mergeAll(script.layer, made.layer, others.layer))
      )
      assert.deepStrictEqual(
        response.content.flatMap((part) => (part.type === "tool-approval-request" ? [part.toolCallId] : [])),
        ["unfit", "fails", "dies", "throws"]
      )
    })
  )

  it.effect("does not hold for arguments that are repaired afterwards [P904 P1107]", () =>
    Effect.gen(function* () {
      const { made, paid } = paying()
      const script = yield* Script.make(Script.says("done"))
      const { toolkit } = made
      const response = yield* LanguageModel.generateText({ prompt: history({ cents: "much" }), toolkit }).pipe(
        Effect.provide([script.layer, made.layer])
      )
      const text =
        "The call of tool 'unlock' was denied and not run: its arguments were repaired after the call was approved"
      assert.deepStrictEqual(
        response.toolResults.map(({ result }) => result),
        [new EffectAi.TextResult({ kind: "denied", text })]
      )
      assert.deepStrictEqual(paid, [])
    })
  )
})
