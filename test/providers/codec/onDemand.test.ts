/** Tools on demand on each wire: a conversation's requests begin with the same bytes, so that a provider's cache keeps counting. */
import { assert, describe, it } from "@effect/vitest"
import { Agent, Recovery, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import type * as Provider from "@kintsugi/providers/Provider"
import * as AnthropicMessages from "@kintsugi/providers/AnthropicMessages"
import * as GeminiContent from "@kintsugi/providers/GeminiContent"
import * as OllamaChat from "@kintsugi/providers/OllamaChat"
import * as OpenAiChat from "@kintsugi/providers/OpenAiChat"
import * as OpenAiResponses from "@kintsugi/providers/OpenAiResponses"
import { Effect, Schema } from "effect"
import * as BedrockConverse from "../../../packages/providers/src/codec/bedrock/BedrockConverse.ts"

const source = { provider: "p", model: "anthropic.claude-sonnet-4-6", secrets: [] }

const codecs: Readonly<Record<string, Provider.Codec>> = {
  "Anthropic's Messages": AnthropicMessages.make(source, { promptCache: {} }),
  "Bedrock's Converse": BedrockConverse.make(source, { promptCache: {} }),
  Gemini: GeminiContent.make(source, {}),
  Ollama: OllamaChat.make(source, {}),
  "chat completions": OpenAiChat.make(source, {}),
  responses: OpenAiResponses.make(source, {})
}

const tool = <const Name extends string>(name: Name) =>
  Tool.make(name, {
    description: `Does ${name}.`,
    parameters: Schema.Struct({ order: Schema.String }),
    success: Schema.String,
    run: ({ order }) => Effect.succeed(`${name} ${order}`)
  })

const { call, calls, make } = ScriptedModel

const first = "the first words of the user"

/** The requests of a run that finds and calls tools. */
const requests = Effect.gen(function* () {
  const seldom = Tool.onDemand(Array.from({ length: 390 }, (_, n) => tool(`tool_${n}`)))
  const eager = Array.from({ length: 10 }, (_, n) => tool(`eager_${n}`))
  const agent = Agent.make("desk", { tools: [...eager, ...seldom], prompt: "Help." })
  const model = yield* make(
    calls(call("search_tools", { query: "tool 7" }, "a")),
    calls(call("call_tool", { name: "tool_7", arguments: { order: "O-1" } }, "b")),
    calls(call("call_tool", { name: "tool_8", arguments: {} }, "c"), call("eager_1", { order: "O-2" }, "d")),
    ScriptedModel.text("done")
  )
  const failing = agent.pipe(Agent.toolDefaults(Recovery.presets.tellAll()))
  yield* failing(first).pipe(Effect.provide(model.layer))
  return model.requests
})

/** Where a format lists the tools of a request. */
const listOf = (body: Record<string, unknown>): unknown => {
  const { toolConfig, tools } = body as { readonly tools?: unknown; readonly toolConfig?: { readonly tools?: unknown } }
  return tools ?? toolConfig?.tools
}

describe("tools on demand", () => {
  for (const [name, codec] of Object.entries(codecs)) {
    for (const mode of ["whole", "streamed"] as const) {
      it.effect(
        `the bytes before the first words of the user are equal in all requests, ${mode}, by ${name} [P1385]`,
        () =>
          Effect.gen(function* () {
            const bodies = (yield* requests).map((request) => codec.encode(request, mode))
            assert.lengthOf(bodies, 4)
            for (const body of bodies) {
              assert.include(body, first)
              assert.strictEqual(body.slice(0, body.indexOf(first)), bodies[0]?.slice(0, bodies[0].indexOf(first)))
              const [tools, before] = [body, bodies[0] ?? ""].map((one) => listOf(JSON.parse(one)))
              assert.deepStrictEqual(tools, before)
              assert.strictEqual(JSON.stringify(tools).split("search_tools has found").length, 2)
              assert.notInclude(JSON.stringify(tools), "tool_7")
            }
            assert.include(bodies.at(-1), "tool_7 O-1")
          })
      )
    }
  }
})
