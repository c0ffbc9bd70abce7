/**
 * Asks providers how many tokens a request has. The body is the request's own, without the fields that the counting endpoint refuses.
 *
 * Looked up on 2026-11-26: developers.openai.com/api/reference (`POST /responses/input_tokens`), platform.claude.com/docs/en/api
 * (`POST /v1/messages/count_tokens`; `mcp_servers` and `context_management` are those of its beta), ai.google.dev/api/tokens
 * (`models.countTokens`) and the reference of Vertex, which takes the fields without `generateContentRequest`. Nothing was sent to them.
 */
import type * as LlmError from "@kintsugi/core/LlmError"
import type * as Message from "@kintsugi/core/Message"
import * as Usage from "@kintsugi/core/Usage"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import { undecodable } from "../classify/Classify.ts"
import type { Answer } from "../transport/Answer.ts"
import * as Json from "../transport/Json.ts"
import type { Source } from "../transport/Source.ts"
import type * as Transport from "../transport/Transport.ts"

/** The URL that counts the tokens of a request, and the function that asks it. */
export interface Counting {
  readonly url: string
  readonly ask: (
    source: Source,
    transport: Transport.Transport,
    body: string
  ) => Effect.Effect<number, LlmError.LlmError>
}

/** Makes a counter. `field` of the answer has the number of tokens; `body` selects the fields of the request that the server accepts. */
const make = (url: string, field: string, body: (sent: Schema.JsonObject) => Schema.JsonObject): Counting => ({
  url,
  ask: (source, transport, sent) =>
    Effect.map(
      transport.post(JSON.stringify(body(Json.fields(Result.getOrUndefined(Json.parse(sent))))), (answer) =>
        read(source, answer, field)
      ),
      ({ usage }) => usage.inputTokens
    )
})

const read = (source: Source, answer: Answer, field: string): Result.Result<Message.Reply, LlmError.LlmError> => {
  const json = Json.parse(answer.body)
  if (Result.isFailure(json)) return Result.fail(undecodable(source, answer, json.failure))
  const inputTokens = Json.count(Json.field(json.success, field))
  if (inputTokens === undefined)
    return Result.fail(undecodable(source, answer, new Error(`the body holds no ${field}`)))
  // Mutants `["Stryker was here"]`, `""` survive: the usage alone is read
  return Result.succeed({ content: [], finish: "other", usage: Usage.make({ inputTokens }) })
}

const only =
  (names: ReadonlySet<string>) =>
  (sent: Schema.JsonObject): Schema.JsonObject =>
    Object.fromEntries(Object.entries(sent).filter(([name]) => names.has(name)))

export const ofResponses = (url: string): Counting => make(url, "input_tokens", only(responses))

const responses: ReadonlySet<string> = new Set([
  "conversation",
  "input",
  "instructions",
  "model",
  "parallel_tool_calls",
  "previous_response_id",
  "reasoning",
  "text",
  "tool_choice",
  "tools",
  "truncation"
])

export const ofMessages = (url: string): Counting => make(url, "input_tokens", only(messages))

const messages: ReadonlySet<string> = new Set([
  "cache_control",
  "context_management",
  "mcp_servers",
  "messages",
  "model",
  "output_config",
  "speed",
  "system",
  "thinking",
  "tool_choice",
  "tools"
])

/** Makes the counter of Gemini's content. `model` is a name with its collection, such as `models/gemini-3.8-flash`. */
export const ofContent = (url: string, model: string): Counting =>
  make(url, "totalTokens", isVertex(url) ? only(vertex) : (sent) => ({ generateContentRequest: { model, ...sent } }))

const vertex: ReadonlySet<string> = new Set(["contents", "generationConfig", "systemInstruction", "tools"])

const isVertex = (url: string): boolean =>
  URL.canParse(url) && new URL(url).hostname.endsWith("aiplatform.googleapis.com")
