/** Tools of the real AI SDK as ours. */
import { assert, describe, it } from "@effect/vitest"
import { Agent, Recovery, Skill, Tool, ToolError } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import * as AiSdk from "@kintsugi/interop/AiSdk"
import { jsonSchema, tool } from "ai"
import { Effect } from "effect"
import { z } from "zod"

const weather = tool({
  description: "Tells the weather.",
  inputSchema: z.object({ city: z.string().min(2), days: z.number().int().default(1) }),
  execute: async ({ city, days }, { abortSignal, toolCallId }) => {
    assert.strictEqual(abortSignal?.aborted, false)
    assert.notStrictEqual(toolCallId, "")
    if (city === "Atlantis") throw new RangeError("Atlantis is under water")
    return { city, days, degrees: 7 }
  },
  toModelOutput: ({ output }) => ({ type: "text", value: `${output.degrees} degrees in ${output.city}` })
})

describe("ai", () => {
  it.effect("a tool with zod keeps its schema and its defaults, and its types [P1107]", () =>
    Effect.gen(function* () {
      const ours = AiSdk.tool("weather", weather, { sideEffects: "none" })
      const { parameters } = ours.definition.spec()
      assert.deepInclude(parameters["properties"], { city: { type: "string", minLength: 2 } })
      const { text, value } = yield* Tool.call(ours, { city: "Oslo" })
      const degrees: number = value.degrees
      assert.deepStrictEqual({ degrees, days: value.days, text }, { degrees: 7, days: 1, text: "7 degrees in Oslo" })
      const misfit = yield* Effect.flip(Tool.call(ours, { city: "O" }))
      assert(misfit instanceof ToolError.DeserializationError)
      const thrown = yield* Effect.flip(Tool.call(ours, { city: "Atlantis" }))
      assert(thrown instanceof ToolError.ExecutionError)
      assert(thrown.cause instanceof RangeError)
      assert.strictEqual(thrown.message, "Atlantis is under water")
    })
  )

  it.effect("a refinement of zod runs, also one that returns a promise [P1107]", () =>
    Effect.gen(function* () {
      const refined = (isAsync: boolean) =>
        AiSdk.tool(
          "look",
          tool({
            inputSchema: z.object({
              city: z
                .string()
                .refine((city) => (isAsync ? Promise.resolve(city !== "Atlantis") : city !== "Atlantis"), {
                  message: "a city above the sea"
                })
            }),
            execute: ({ city }) => city
          })
        )
      const [atOnce, later] = [
        yield* Effect.flip(Tool.call(refined(false), { city: "Atlantis" })),
        yield* Effect.flip(Tool.call(refined(true), { city: "Atlantis" }))
      ]
      assert(atOnce instanceof ToolError.DeserializationError)
      assert.deepInclude(atOnce.issues[0], { path: ["city"], expected: "a city above the sea" })
      assert(later instanceof ToolError.ExecutionError)
      assert.strictEqual(later.category, "parameter")
      assert.strictEqual((yield* Tool.call(refined(true), { city: "Oslo" })).value, "Oslo")
    })
  )

  it.effect("a tool with jsonSchema, and one that yields, are ours as a set [P1107]", () =>
    Effect.gen(function* () {
      const tools = AiSdk.tools({
        weather,
        count: tool({
          inputSchema: jsonSchema<{ to: number }>({
            type: "object",
            properties: { to: { type: "number" } },
            required: ["to"]
          }),
          execute: async function* ({ to }) {
            for (let n = 1; n <= to; n++) yield n
          }
        })
      })
      const agent = Agent.make("worker", {
        skills: [Skill.make("work", { description: "Works.", tools })]
      }).pipe(Agent.toolDefaults({ ExecutionError: Recovery.tell((error) => `told: ${error.message}`) }))
      const events: Array<unknown> = []
      const model = yield* ScriptedModel.make(
        ScriptedModel.calls(
          ScriptedModel.call("count", { to: 3 }, "c1"),
          ScriptedModel.call("weather", { city: "Atlantis" }, "c2")
        ),
        ScriptedModel.text("done")
      )
      const listening = agent.pipe(
        Agent.onEvent((event) =>
          Effect.sync(() => {
            if (event.type === "tool-progress") events.push(event.data)
            if (event.type === "tool-end") events.push(event.use.settlement.text)
          })
        )
      )
      assert.strictEqual(yield* listening("go").pipe(Effect.provide(model.layer)), "done")
      assert.sameMembers(events, [1, 2, 3, "3", "told: Atlantis is under water"])
    })
  )
})
