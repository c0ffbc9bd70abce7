/** Recorded answers of all providers, and the formats that read them. */
import { readdirSync, readFileSync } from "node:fs"
import type { LlmError } from "@kintsugi/core/LlmError"
import type * as Answer from "../../packages/providers/src/transport/Answer.ts"
import * as AnthropicMessages from "../../packages/providers/src/codec/anthropic/AnthropicMessages.ts"
import * as GeminiContent from "../../packages/providers/src/codec/gemini/GeminiContent.ts"
import * as OllamaChat from "../../packages/providers/src/codec/ollama/OllamaChat.ts"
import * as OpenAiChat from "../../packages/providers/src/codec/openai-chat/OpenAiChat.ts"
import * as OpenAiResponses from "../../packages/providers/src/codec/openai-responses/OpenAiResponses.ts"
import type * as Provider from "@kintsugi/providers/Provider"
import { Duration, Schema } from "effect"

export interface Format {
  readonly classify: (source: Provider.Source, answer: Answer.Answer) => LlmError
  readonly inside: (source: Provider.Source, answer: Answer.Answer, json: Schema.Json) => LlmError | undefined
}

const Api = Schema.Literals(["anthropic", "openai-chat", "openai-responses", "gemini", "ollama"])

export type Api = typeof Api.Type

export const apis: ReadonlyArray<Api> = Api.literals

const formatOf = (make: (source: Provider.Source) => Provider.Codec, inside: Format["inside"]): Format => ({
  classify: (source, answer) => make(source).classify(answer),
  inside
})

export const formats: Readonly<Record<Api, Format>> = {
  anthropic: formatOf(AnthropicMessages.make, AnthropicMessages.inside),
  "openai-chat": formatOf(OpenAiChat.make, OpenAiChat.inside),
  "openai-responses": formatOf(OpenAiResponses.make, OpenAiResponses.inside),
  gemini: formatOf(GeminiContent.make, GeminiContent.inside),
  ollama: formatOf(OllamaChat.make, OllamaChat.inside)
}

const ExpectedError = Schema.Struct({
  category: Schema.String,
  acceptable: Schema.optionalKey(Schema.Array(Schema.String)),
  retrySameRequest: Schema.Boolean,
  retryAfterMs: Schema.optionalKey(Schema.Finite),
  remainingQuota: Schema.optionalKey(Schema.Finite),
  quotaExhausted: Schema.optionalKey(Schema.Boolean),
  contextLimit: Schema.optionalKey(Schema.Finite),
  contextActual: Schema.optionalKey(Schema.Finite),
  contextOverBy: Schema.optionalKey(Schema.Finite),
  toolName: Schema.optionalKey(Schema.String)
})

export type ExpectedError = typeof ExpectedError.Type

const ExpectedUsage = Schema.Struct({
  input: Schema.optionalKey(Schema.Finite),
  output: Schema.optionalKey(Schema.Finite),
  cachedInput: Schema.optionalKey(Schema.Finite),
  cacheWrite: Schema.optionalKey(Schema.Finite),
  reasoning: Schema.optionalKey(Schema.Finite)
})

const Entry = Schema.Struct({
  id: Schema.String,
  provider: Schema.String,
  host: Schema.optionalKey(Schema.String),
  api: Api,
  streaming: Schema.Boolean,
  status: Schema.Finite,
  headers: Schema.Record(Schema.String, Schema.String),
  bodyFile: Schema.String,
  expected: Schema.Struct({
    outcome: Schema.optionalKey(Schema.String),
    model: Schema.optionalKey(Schema.NullOr(Schema.String)),
    text: Schema.optionalKey(Schema.String),
    /** In characters, where a pair of surrogates is one. */
    textLength: Schema.optionalKey(Schema.Finite),
    textSha256: Schema.optionalKey(Schema.String),
    reasoningLength: Schema.optionalKey(Schema.Finite),
    refusal: Schema.optionalKey(Schema.String),
    toolCalls: Schema.optionalKey(
      Schema.Array(
        Schema.Struct({
          id: Schema.optionalKey(Schema.NullOr(Schema.String)),
          name: Schema.String,
          args: Schema.Record(Schema.String, Schema.Json)
        })
      )
    ),
    usage: Schema.optionalKey(Schema.NullOr(ExpectedUsage)),
    error: Schema.optionalKey(ExpectedError)
  })
})

export type Fixture = typeof Entry.Type & { readonly body: string }

const fixturesIn = (folder: URL): ReadonlyArray<Fixture> => {
  const index = JSON.parse(readFileSync(new URL("index.json", folder), "utf8"))
  return Schema.decodeUnknownSync(Schema.Array(Entry))(index).map((entry) => ({
    ...entry,
    body: readFileSync(new URL(entry.bodyFile, folder), "utf8")
  }))
}

const root = new URL("../fixtures/wire/", import.meta.url)

export const fixtures: ReadonlyArray<Fixture> = readdirSync(root).flatMap((provider) =>
  fixturesIn(new URL(`${provider}/`, root))
)

/** The answers of hosts that are none of the eight providers. */
export const ofHosts = (): ReadonlyArray<Fixture> => fixturesIn(new URL("../fixtures/hosts/", import.meta.url))

/** Monday, 5 January 2026, one second after ten: the hour at which the recorded limits start afresh. */
export const at = 1_767_607_201_000

export const answer = (
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {}
): Answer.Answer => ({
  status,
  headers,
  body: typeof body === "string" ? body : JSON.stringify(body),
  at,
  elapsed: Duration.seconds(3)
})

/** What a body is made of: itself, its events, or its lines. */
export const pieces = ({ api, body, streaming }: Fixture): ReadonlyArray<string> => {
  if (!streaming) return [body]
  const lines = body.split(/\r?\n/)
  if (api === "ollama") return lines.filter((line) => line.trim() !== "")
  return lines.flatMap((line) => (line.startsWith("data:") ? [line.slice(5).trim()] : []))
}

/** The errors that the pieces of a successful answer hold, in order. */
export const errorsInside = (fixture: Fixture): ReadonlyArray<LlmError> => {
  const source: Provider.Source = { provider: fixture.provider, model: "m", secrets: [] }
  const opened = { ...answer(fixture.status, "", fixture.headers), body: fixture.streaming ? "" : fixture.body }
  return pieces(fixture)
    .filter((piece) => piece !== "[DONE]")
    .flatMap((piece) => formats[fixture.api].inside(source, opened, JSON.parse(piece)) ?? [])
}

/** The error of a fixture: of its status, or the first within its body. */
export const errorOf = (fixture: Fixture): LlmError | undefined => {
  if (fixture.status >= 200 && fixture.status < 300) return errorsInside(fixture)[0]
  const source: Provider.Source = { provider: fixture.provider, model: "m", secrets: [] }
  return formats[fixture.api].classify(source, answer(fixture.status, fixture.body, fixture.headers))
}
