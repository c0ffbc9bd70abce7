/** Models of each family, what they are asked with, and what is sent then. */
import { Agent, Message, type Model, Tool } from "@kintsugi/core"
import { Anthropic, DeepSeek, Gemini, Kimi, OpenAi, Transport } from "@kintsugi/providers"
import { AnyWire, LoopbackServer } from "@kintsugi/providers/testing"
import { Effect, Layer, Redacted, Schema, Stream } from "effect"
import { readFileSync } from "node:fs"
import { eventLog } from "../../../_support/dialogue.ts"
import { key } from "../../../_support/network.ts"

/** A layer at a base URL. */
type Reaching = (baseUrl: string) => Layer.Layer<Model.Model, never, Transport.HttpClient>
type Making = (asked: object) => Reaching

const apiKey = Redacted.make(key)

const claude =
  (model: string): Making =>
  (asked) =>
  (baseUrl) =>
    Anthropic.layer({ model, apiKey, baseUrl, ...asked })
const chat =
  (model: string): Making =>
  (asked) =>
  (baseUrl) =>
    OpenAi.layer({ model, apiKey, baseUrl, ...asked })
const responses =
  (model: string): Making =>
  (asked) =>
  (baseUrl) =>
    OpenAi.layerResponses({ model, apiKey, baseUrl, ...asked })
const gemini =
  (model: string): Making =>
  (asked) =>
  (baseUrl) =>
    Gemini.layer({ model, apiKey, baseUrl, ...asked })
const kimi =
  (model: string): Making =>
  (asked) =>
  (baseUrl) =>
    Kimi.layer({ model, apiKey, baseUrl, ...asked })
const deepSeek =
  (model: string): Making =>
  (asked) =>
  (baseUrl) =>
    DeepSeek.layer({ model, apiKey, baseUrl, ...asked })

export const models: Readonly<Record<string, Making>> = {
  "Claude Opus 5.5": claude("claude-opus-5-5"),
  "Claude Fable 5.1": claude("anthropic.claude-fable-5-1"),
  "Claude Sonnet 5.5": claude("claude-sonnet-5-5"),
  "Claude Haiku 5.5": claude("claude-haiku-5-5"),
  "Claude Fable 5": claude("anthropic.claude-fable-5"),
  "Claude Sonnet 5": claude("claude-sonnet-5"),
  "Claude Opus 4.7": claude("claude-opus-4-7"),
  "Claude Opus 4.6": claude("claude-opus-4-6"),
  "Claude Sonnet 4.5": claude("claude-sonnet-4-5-20250929"),
  "GPT-6.2 by chat completions": chat("gpt-6.2-sol"),
  "GPT-6.2 by Responses": responses("gpt-6.2-astra"),
  "GPT-6.1 by chat completions": chat("gpt-6.1-sol"),
  "GPT-6 Astra by Responses": responses("gpt-6-astra"),
  "GPT-6": chat("gpt-6-luna"),
  "GPT-5.6 by chat completions": chat("gpt-5.6-sol"),
  "GPT-5.6 by Responses": responses("gpt-5.6-sol"),
  "GPT-5.5": chat("gpt-5.5"),
  "GPT-5.4": chat("gpt-5.4"),
  "GPT-5.2": chat("gpt-5.2-2025-12-11"),
  "GPT-5.1": chat("gpt-5.1"),
  "GPT-5": chat("gpt-5-mini"),
  "GPT-5 pro": responses("gpt-5-pro"),
  "the o-series": chat("o4-mini"),
  "Mistral with efforts": chat("mistral-small-latest"),
  "Mistral Small 3": chat("mistral-small-2506"),
  "Mistral Large 4": chat("mistral-large-4-0"),
  Mistral: chat("mistral-large-latest"),
  "Gemini 4": gemini("gemini-4-argon"),
  "Gemini 4 with xhigh": gemini("gemini-4-neon"),
  "Gemini 3.8": gemini("gemini-3.8-flash"),
  "Gemini 3.6": gemini("gemini-3.6-flash"),
  "Gemini 3.1 Pro": gemini("gemini-3.1-pro-preview"),
  "Gemini 3 Pro": gemini("gemini-3-pro-preview"),
  "Gemini 2.5 Pro": gemini("gemini-2.5-pro"),
  "Gemini 2.5 Flash": gemini("gemini-2.5-flash"),
  "Gemini 2.5 Flash-Lite": gemini("gemini-2.5-flash-lite-preview-09-2025"),
  "Kimi K3": kimi("kimi-k3"),
  "Kimi K2.7": kimi("kimi-k2.7-code"),
  "Kimi K2.6": kimi("kimi-k2.6"),
  "DeepSeek V4": deepSeek("deepseek-v4-pro"),
  "a model of no family": chat("gpt-x")
}

export const wanted: Readonly<Record<string, object>> = {
  sampling: { temperature: 0, topP: 0.5, seed: 7, maxTokens: 40_000 },
  forced: { toolChoice: "required", reasoning: "high" },
  named: { toolChoice: { tool: "search" } },
  off: { reasoning: "none" },
  effort: { reasoning: "xhigh" },
  budget: { reasoning: { maxTokens: 5000 } }
}

const search = Tool.make("search", {
  description: "Searches.",
  parameters: Schema.Struct({}),
  success: Schema.String,
  run: () => Effect.succeed("found")
})

const shown = new Set(
  (
    "temperature top_p top_k seed random_seed max_tokens max_completion_tokens max_output_tokens tool_choice thinking output_config " +
    "reasoning_effort reasoning generationConfig toolConfig"
  ).split(" ")
)

/** Plays a run at a server of all wires: the fields of its body that the options are about, and what its event says. */
export const playing = Effect.gen(function* () {
  const server = yield* LoopbackServer.make(AnyWire.handler(() => Effect.succeed({ content: [Message.text("hi")] })))
  return Effect.fnUntraced(function* (make: Reaching, mode: "whole" | "streamed") {
    const log = eventLog()
    const agent = Agent.make("clerk", { tools: [search] }).pipe(log.listen)
    const before = (yield* server.requests).length
    const run = mode === "whole" ? Effect.asVoid(agent("go")) : Stream.runDrain(agent.stream("go"))
    const exit = yield* Effect.exit(Effect.provide(run, Layer.provide(make(server.url), Transport.layerFetch)))
    const sent = (yield* server.requests)[before]
    if (sent === undefined) return [exit._tag]
    const fields = Object.entries(sent.body as object).filter(([name]) => shown.has(name))
    const changes = log
      .of("request-adapted")
      .flatMap(({ changes, family }) =>
        changes.map(
          ({ asked, option, sent }) =>
            `${family}: ${option} ${JSON.stringify(asked)} → ${JSON.stringify(sent) ?? "left out"}`
        )
      )
    return [JSON.stringify(Object.fromEntries(fields)), ...changes]
  })
})

/** By model and by what it is asked with: the fields of the body, and each change. */
export const expected: Readonly<Record<string, Readonly<Record<string, ReadonlyArray<string>>>>> = JSON.parse(
  readFileSync(new URL("modelFamilies.json", import.meta.url), "utf8")
)
