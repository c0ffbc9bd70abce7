/** The model of the demo as a server, for an agent that is not the demo's. */
import { Agent, Skill, Tool } from "@kintsugi/core"
import { reply } from "@kintsugi/examples/demo/standIn"
import { OpenAi, Transport } from "@kintsugi/providers"
import { AnyWire, LoopbackServer } from "@kintsugi/providers/testing"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { describe, expect, it } from "vitest"

describe("the stand-in model behind real HTTP", () => {
  const Unit = Schema.Literals(["celsius", "fahrenheit"])
  const weather = Tool.make("get_weather", {
    description: "Current weather of a city.",
    parameters: Schema.Struct({ city: Schema.String, unit: Unit }),
    success: Schema.Struct({ degrees: Schema.Finite, unit: Unit }),
    run: ({ unit }) => Effect.succeed({ degrees: unit === "celsius" ? 21 : 70, unit })
  })
  const sum = Tool.make("sum_column", {
    description: "Adds up a column of numbers.",
    parameters: Schema.Struct({ values: Schema.Array(Schema.Finite) }),
    success: Schema.Finite,
    run: ({ values }) => Effect.succeed(values.reduce((total, value) => total + value, 0))
  })
  const assistant = Agent.make("assistant", {
    prompt: "Help the user.",
    skills: [Skill.make("help", { description: "Weather and sums", tools: [weather, sum] })]
  })

  it.each([
    ["What is the weather in Oslo, in Fahrenheit?", "70"],
    ["Please add this column of numbers up: [1, 2, 39.5", "42.5"]
  ])("serves an agent with tools that it has never seen: %s", (request, answer) => {
    const program = Effect.gen(function* () {
      const server = yield* LoopbackServer.make(
        AnyWire.handler((request) => Effect.sync(() => reply(request.received.body)))
      )
      const model = OpenAi.layer({ model: "any", apiKey: Redacted.make("any-key"), baseUrl: `${server.url}/v1` })
      const text = yield* Effect.provide(assistant(request), Layer.provide(model, Transport.layerFetch))
      expect(text).toContain(answer)
    })
    return Effect.runPromise(Effect.scoped(program))
  })
})
