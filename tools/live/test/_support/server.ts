/** A loopback server in the place of every provider, whose model does what the scenarios ask for. */
import { Message, Usage } from "@kintsugi/core"
import { AnyWire, Fault, LoopbackServer } from "@kintsugi/providers/testing"
import { ConfigProvider, Effect, Redacted } from "effect"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { run } from "../../src/program.ts"
import type { ProviderName } from "../../src/providers.ts"
import { parse } from "../../src/settings.ts"

export const key = "sk-live-51H8zQwErTyUiOpAsDfGhJkL"

/** The variable of the key of each provider, and what its clients append to the URL of this server. */
export const providers: Readonly<Record<ProviderName, readonly [variable: string, path: string]>> = {
  anthropic: ["ANTHROPIC_API_KEY", ""],
  deepseek: ["DEEPSEEK_API_KEY", ""],
  gemini: ["GEMINI_API_KEY", ""],
  kimi: ["MOONSHOT_API_KEY", "/v1"],
  ollama: ["OLLAMA_API_KEY", ""],
  openai: ["OPENAI_API_KEY", "/v1"],
  "openai-responses": ["OPENAI_API_KEY", "/v1"],
  openrouter: ["OPENROUTER_API_KEY", "/v1"],
  perplexity: ["PERPLEXITY_API_KEY", ""]
}

const usage = Usage.make({ inputTokens: 30, outputTokens: 9, cachedInputTokens: 5, reasoningTokens: 3 })

const call = (n: number) => ({ type: "tool-call" as const, id: `call_${n}`, name: "half", arguments: { n } })

const text =
  (words: string): AnyWire.Brain =>
  () =>
    Effect.succeed({ content: [Message.text(words)], usage })

/** By words of the prompt; the first that occur decide. */
const replies: ReadonlyArray<readonly [words: string, reply: Effect.Success<ReturnType<AnyWire.Brain>>]> = [
  ["as JSON", { content: [Message.text('{"name":"cat","legs":4}')] }],
  ["call half twice", { content: [call(8), call(10)] }],
  ["Use half", { content: [call(8)] }],
  ["Count from one", { content: [Message.text("one two thr")], finish: "length" }],
  ["bat and a ball", { content: [{ type: "reasoning", text: "x + x + 1 = 1.1" }, Message.text("0.05")] }],
  ["TRIGGER_REFUSAL", { content: [Message.text("no")], finish: "filtered" }]
]

export const brain: AnyWire.Brain = (request) => {
  const { messages, toolChoice } = request
  const last = messages.at(-1)
  const asked = messages.findLast(({ role }) => role === "user")
  const prompt = asked?.role === "user" ? Message.textOf(asked) : ""
  if (typeof toolChoice === "object") return Effect.succeed({ content: [call(8)], usage })
  if (last?.role === "tool") {
    return last.text.includes("do not fit") ? Effect.succeed({ content: [call(8)], usage }) : text("So it is.")(request)
  }
  const found = replies.find(([words]) => prompt.includes(words))
  return found === undefined ? text("Hello, and welcome.")(request) : Effect.succeed({ ...found[1], usage })
}

const tooLong = AnyWire.failing({
  type: "invalid-request",
  code: "context_length_exceeded",
  message: "prompt is too long: 250000 tokens > 200000 maximum"
})

/** The server, which accepts one key and knows one model. A fault may change what it answers. */
export const serving = (fault?: Fault.Fault, of: AnyWire.Brain = brain) =>
  LoopbackServer.make(
    Fault.inFront(
      ({ text }) => (text.length > 30_000 ? tooLong : fault),
      AnyWire.handler(of, { apiKey: key, models: ["gemini-3-test"] })
    )
  )

/** Changes each JSON of an answer: the whole body, each event, each line. */
export const inEachJson =
  (change: (value: Readonly<Record<string, unknown>>) => object): Fault.Fault =>
  (good) =>
    Effect.map(good, (answer) => {
      const body = Buffer.from(answer.body).toString("utf8")
      const changed = (json: string) => JSON.stringify(change(JSON.parse(json) as Readonly<Record<string, unknown>>))
      const isStream = /event-stream|ndjson/.test(answer.headers?.["content-type"] ?? "")
      return {
        ...answer,
        body: isStream
          ? body.replaceAll(/^(data: )?(\{.*\})/gm, (_, head = "", json) => head + changed(json))
          : changed(body)
      }
    })

/** The key that a request came with, however its provider sends it. */
export const sentKey = ({ authorization, headers }: Parameters<typeof tooLong>[1]): string =>
  headers["x-api-key"] ??
  headers["x-goog-api-key"] ??
  (authorization === undefined ? "" : Redacted.value(authorization).replace("Bearer ", ""))

/** Runs the program for one provider at a URL, and gives what it printed. */
export const ran = (
  command: ReadonlyArray<string>,
  records: string,
  env: Readonly<Record<string, string>>
): Effect.Effect<{ readonly code: number; readonly written: string; readonly progress: string }> =>
  Effect.gen(function* () {
    const texts = { written: "", progress: "" }
    const code = yield* run(parse(command, records), {
      write: (text) => void (texts.written += text),
      progress: (text) => void (texts.progress += text)
    }).pipe(Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromUnknown(env)), Effect.orDie)
    return { code, ...texts }
  })

export const commandOf = (
  provider: ProviderName,
  url: string,
  ...more: ReadonlyArray<string>
): ReadonlyArray<string> => [
  `--provider=${provider}`,
  "--model=gemini-3-test",
  `--base-url=${url}${providers[provider][1]}`,
  "--too-long=20000",
  ...more
]

export const envOf = (provider: ProviderName): Readonly<Record<string, string>> => ({ [providers[provider][0]]: key })

/** The texts of all files below a folder, by name. */
export const filesIn = (folder: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    readdirSync(folder, { recursive: true, encoding: "utf8", withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ name, parentPath }) => [name, readFileSync(join(parentPath, name), "utf8")])
  )
