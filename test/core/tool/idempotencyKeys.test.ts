/** The key of a tool call, over all of its attempts. */
import { assert } from "@effect/vitest"
import { Agent, Recovery, Skill, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Schema } from "effect"
import { it } from "../../_support/run.ts"
import { busy, type Busy, done, gone, type Gone, overADay } from "../../_support/dialogue.ts"

const { call, calls, make } = ScriptedModel

it.run(
  "idempotencyKey is equal over attempts and repairs of a call, and different between calls, turns and runs [P604]",
  (run) =>
    Effect.gen(function* () {
      const keys = new Map<string, Array<string>>()
      let session = ""
      const pay = Tool.make("pay", {
        description: "Pays.",
        parameters: Schema.Struct({ who: Schema.String }),
        success: Schema.String,
        coercion: [],
        run: ({ who }, { attempt, idempotencyKey }): Effect.Effect<string, Busy | Gone> => {
          const name = `${session} ${who}`
          keys.set(name, [...(keys.get(name) ?? []), idempotencyKey])
          const steps = [Effect.fail(busy()), Effect.fail(gone()), Effect.fail(busy())]
          return steps[attempt - 1] ?? Effect.succeed("paid")
        }
      }).pipe(
        Tool.onError({
          InvalidArgs: Recovery.fix((raw) => Effect.succeed(raw.replace(",}", "}"))),
          Busy: Recovery.retry({ retries: 2, initialBackoff: "1 second" }),
          Gone: Recovery.fix((raw) => Effect.succeed(raw))
        })
      )
      // models repeat ids, within a reply and over turns
      const both = calls(call("pay", '{"who":"Ada"}', "c1"), call("pay", '{"who":"Bob",}', "c1"))
      const agent = Agent.make("payer", { skills: [Skill.make("pay", { description: "Pays.", tools: [pay] })] })
      for (const which of ["first", "second"]) {
        const turn = (n: number) => `run ${which}, turn ${n},`
        const at = (n: number, step: ScriptedModel.ScriptedStep) =>
          ScriptedModel.answers((request) => {
            session = turn(n)
            return step.answer(request)
          })
        const model = yield* make(at(1, both), at(2, both), done)
        yield* overADay(run(agent, "go").pipe(Effect.provide(model.layer)))
      }
      assert.deepStrictEqual(
        [...keys.keys()].toSorted(),
        ["first", "second"].flatMap((which) =>
          [1, 2].flatMap((turn) => ["Ada", "Bob"].map((who) => `run ${which}, turn ${turn}, ${who}`))
        )
      )
      for (const ofOneCall of keys.values()) {
        assert.strictEqual(ofOneCall.length, 4)
        assert.strictEqual(new Set(ofOneCall).size, 1)
      }
      assert.strictEqual(new Set([...keys.values()].flat()).size, 8)
    })
)
