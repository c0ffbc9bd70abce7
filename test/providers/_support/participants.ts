/** All models, each with its replies on its own wire and the demands of that wire. */
import type * as Model from "@kintsugi/core/Model"
import {
  Anthropic,
  DeepSeek,
  Gemini,
  Kimi,
  Ollama,
  OpenAi,
  OpenRouter,
  Perplexity,
  type Transport
} from "@kintsugi/providers"
import * as Bedrock from "@kintsugi/providers/Bedrock"
import type * as Capabilities from "../../../packages/providers/src/codec/Capabilities.ts"
import * as AnthropicMessages from "../../../packages/providers/src/codec/anthropic/AnthropicMessages.ts"
import * as BedrockConverse from "../../../packages/providers/src/codec/bedrock/BedrockConverse.ts"
import * as GeminiContent from "../../../packages/providers/src/codec/gemini/GeminiContent.ts"
import * as OllamaChat from "../../../packages/providers/src/codec/ollama/OllamaChat.ts"
import * as OpenAiChat from "../../../packages/providers/src/codec/openai-chat/OpenAiChat.ts"
import * as OpenAiResponses from "../../../packages/providers/src/codec/openai-responses/OpenAiResponses.ts"
import { type Layer, Redacted } from "effect"
import * as Shapes from "./requestShapes.ts"

/** What a model does in its turn: calls two tools, answers, or is cut off within its reasoning. */
export type Turn = "calls" | "answer" | "thoughts"

type Mark = (kind?: "mark" | "aside") => string

export interface Participant {
  readonly name: string
  readonly layer: Layer.Layer<Model.Model, never, Transport.HttpClient>
  readonly capabilities: Capabilities.Capabilities
  readonly shape: Shapes.Shape
  /** The body of a reply. `count` tells one reply from another. */
  readonly says: (turn: Turn, mark: Mark, count: number) => object
}

const common = { apiKey: Redacted.make("k"), baseUrl: "https://p.test", transport: { retry: false } } as const

const answer = '{"answer":"rain"}'

interface ChatWords {
  readonly thoughts?: (mark: Mark) => object
  readonly ids: (count: number) => readonly [string, string]
}

/** The second call has invalid JSON, the first no arguments. */
const chatSays =
  ({ ids, thoughts = () => ({}) }: ChatWords): Participant["says"] =>
  (turn, mark, count) => {
    const call = (id: string, args: string) => ({ id, type: "function", function: { name: "look", arguments: args } })
    const [first, second] = ids(count)
    const message = {
      role: "assistant",
      content: turn === "answer" ? answer : turn === "calls" ? null : "",
      ...thoughts(mark),
      ...(turn === "calls" ? { tool_calls: [call(first, count % 2 === 0 ? "" : "{}"), call(second, '{"at": ')] } : {})
    }
    const finish_reason = { answer: "stop", calls: "tool_calls", thoughts: "length" }[turn]
    return { model: "m", choices: [{ index: 0, message, finish_reason }] }
  }

const anthropicSays: Participant["says"] = (turn, mark, count) => {
  const thinking = { type: "thinking", thinking: `hmm ${mark()}`, signature: mark() }
  const search = { type: "server_tool_use", id: `srvtoolu_${count}`, name: "web_search", input: { query: mark() } }
  const found = {
    type: "web_search_tool_result",
    tool_use_id: `srvtoolu_${count}`,
    content: [{ type: "web_search_result", encrypted_content: mark() }]
  }
  const call = (id: string) => ({ type: "tool_use", id: `toolu_${id}_${count}`, name: "look", input: { at: 1 } })
  const content = {
    answer: [
      thinking,
      { type: "redacted_thinking", data: mark() },
      search,
      found,
      { type: "text", text: answer, citations: [{ type: "web_search_result_location", encrypted_index: mark() }] }
    ],
    calls: [thinking, search, found, { type: "text", text: "I look." }, call("a"), call("b")],
    // every other time amid a search of its own
    thoughts: count % 2 === 0 ? [thinking] : [thinking, search]
  }[turn]
  const stop_reason = {
    answer: "end_turn",
    calls: "tool_use",
    thoughts: count % 2 === 0 ? "max_tokens" : "pause_turn"
  }[turn]
  return { type: "message", role: "assistant", model: "m", content, stop_reason, usage: { output_tokens: 3 } }
}

const responsesSays: Participant["says"] = (turn, mark, count) => {
  let n = 0
  const thought = () => ({
    type: "reasoning",
    id: `rs_${count}_${n++}`,
    summary: [{ type: "summary_text", text: `hmm ${mark()}` }],
    encrypted_content: mark()
  })
  const search = { type: "web_search_call", id: `ws_${mark()}`, status: "completed", action: { query: mark() } }
  const call = (id: string) => ({
    type: "function_call",
    id: `fc_${id}_${mark()}`,
    call_id: `call_${id}_${count}`,
    name: "look",
    arguments: '{"at":1}',
    status: "completed"
  })
  const annotations = [{ type: "url_citation", url: mark(), start_index: 0, end_index: 1, title: "t" }]
  const said = { type: "output_text", text: answer, annotations }
  const output = {
    answer: [
      thought(),
      search,
      thought(),
      { type: "message", id: `msg_${mark()}`, role: "assistant", content: [said] }
    ],
    calls: [thought(), call("a"), call("b")],
    thoughts: [thought()]
  }[turn]
  const cut = { status: "incomplete", incomplete_details: { reason: "max_output_tokens" } }
  return { model: "m", output, ...(turn === "thoughts" ? cut : { status: "completed" }) }
}

/** Citations stay out of the next request. */
const bedrockSays: Participant["says"] = (turn, mark, count) => {
  const thought = { reasoningContent: { reasoningText: { text: `hmm ${mark()}`, signature: mark() } } }
  const search = (type: string, of: object) => ({ [type]: { toolUseId: `srv_${count}`, ...of } })
  const call = (id: string) => ({ toolUse: { toolUseId: `tooluse_${id}_${count}`, name: "look", input: { at: 1 } } })
  const content = {
    answer: [
      thought,
      { reasoningContent: { redactedContent: mark() } },
      search("toolUse", { name: "web_search", input: { query: mark() }, type: "server_tool_use" }),
      search("toolResult", { content: [{ text: mark() }] }),
      { citationsContent: { content: [{ text: answer }], citations: [{ title: mark("aside") }] } }
    ],
    calls: [thought, { text: "I look." }, call("a"), call("b")],
    thoughts: [thought]
  }[turn]
  const stopReason = { answer: "end_turn", calls: "tool_use", thoughts: "max_tokens" }[turn]
  return { output: { message: { role: "assistant", content } }, stopReason, usage: { outputTokens: 3 } }
}

const geminiSays: Participant["says"] = (turn, mark, count) => {
  const thought = { text: `hmm ${mark()}`, thought: true }
  const call = (at: number) => ({ functionCall: { id: `fc-${count}-${at}`, name: "look", args: { at } } })
  const parts = {
    answer: [
      thought,
      { executableCode: { language: "PYTHON", code: mark() } },
      { codeExecutionResult: { outcome: "OUTCOME_OK", output: mark() } },
      { text: answer, thoughtSignature: mark() }
    ],
    calls: [thought, { ...call(1), thoughtSignature: mark() }, call(2)],
    thoughts: [thought]
  }[turn]
  const candidate = {
    content: { role: "model", parts },
    finishReason: turn === "thoughts" ? "MAX_TOKENS" : "STOP",
    groundingMetadata: { webSearchQueries: [mark("aside")] }
  }
  return { candidates: [candidate], modelVersion: "m", responseId: `r${count}` }
}

const ollamaSays: Participant["says"] = (turn, mark, count) => {
  const call = (at: number) => ({ function: { name: "look", arguments: { at } } })
  const message = {
    role: "assistant",
    content: turn === "answer" ? answer : "",
    thinking: `hmm ${mark()}`,
    ...(turn === "calls" ? { tool_calls: [call(1), call(2)] } : {})
  }
  const created_at = `2026-01-05T10:00:${String(count).padStart(2, "0")}.123456789Z`
  return { model: "m", created_at, message, done: true, done_reason: turn === "thoughts" ? "length" : "stop" }
}

const perplexitySays: Participant["says"] = (_turn, mark) => {
  const message = { role: "assistant", content: `<think>hmm ${mark("aside")}</think>${answer}` }
  return { model: "m", citations: [mark("aside")], choices: [{ index: 0, message, finish_reason: "stop" }] }
}

/** What its search found stays out of the next request; the signature of a call goes back with it. */
const perplexityAgentSays: Participant["says"] = (turn, mark, count) => {
  const call = (at: number) => ({
    type: "function_call",
    id: `fc_${count}_${at}`,
    call_id: `call_${count}_${at}`,
    name: "look",
    arguments: `{"at":${at}}`,
    status: "completed",
    ...(at === 1 ? { thought_signature: mark() } : {})
  })
  const said = { type: "output_text", text: answer, annotations: [] }
  const output = [
    { type: "search_results", queries: ["rain"], results: [{ id: 1, url: mark("aside"), title: "t", snippet: "s" }] },
    ...(turn === "calls"
      ? [call(1), call(2)]
      : [{ type: "message", id: `msg_${count}`, role: "assistant", status: "completed", content: [said] }])
  ]
  return { id: `resp_${count}`, object: "response", model: "openai/gpt-5.6-sol", status: "completed", output }
}

const thinking = (mark: Mark) => ({ reasoning_content: `hmm ${mark()}` })

export const participants: ReadonlyArray<Participant> = [
  {
    name: "openai-chat",
    layer: OpenAi.layer({ ...common, model: "gpt-5" }),
    capabilities: OpenAiChat.capabilities,
    shape: Shapes.chat({ maxId: 40, output: "json_schema" }),
    says: chatSays({ ids: (count) => [`call_a${count}`, `call_b${count}`] })
  },
  {
    name: "openai-responses",
    layer: OpenAi.layerResponses({ ...common, model: "gpt-5" }),
    capabilities: OpenAiResponses.capabilities,
    shape: Shapes.responses,
    says: responsesSays
  },
  {
    name: "anthropic",
    layer: Anthropic.layer({ ...common, model: "claude-opus-4-6", reasoning: { maxTokens: 2000 } }),
    capabilities: AnthropicMessages.capabilities,
    shape: Shapes.anthropic,
    says: anthropicSays
  },
  {
    name: "bedrock",
    layer: Bedrock.layer({
      ...common,
      region: "us-east-1",
      model: "anthropic.claude-opus-4-6-v1",
      reasoning: { maxTokens: 2000 }
    }),
    // its addresses are those of S3 alone
    capabilities: { ...BedrockConverse.capabilities, images: ["data"], files: ["data"] },
    shape: Shapes.bedrock,
    says: bedrockSays
  },
  {
    name: "gemini",
    layer: Gemini.layer({ ...common, model: "gemini-3-pro" }),
    capabilities: GeminiContent.capabilities,
    shape: Shapes.gemini,
    says: geminiSays
  },
  {
    name: "ollama",
    layer: Ollama.layer({ ...common, model: "qwen3" }),
    capabilities: OllamaChat.capabilities,
    shape: Shapes.ollama,
    says: ollamaSays
  },
  {
    name: "deepseek",
    layer: DeepSeek.layer({ ...common, model: "deepseek-reasoner" }),
    capabilities: DeepSeek.capabilities,
    shape: Shapes.chat({ images: false, output: "json_object", assistant: ["reasoning_content"], thoughts: "any" }),
    says: chatSays({ ids: (count) => [`call_00_${count}`, `call_01_${count}`], thoughts: thinking })
  },
  {
    name: "kimi",
    layer: Kimi.layer({ ...common, model: "kimi-k2-thinking" }),
    capabilities: Kimi.capabilities,
    shape: Shapes.chat({ output: "json_object", assistant: ["reasoning_content"], thoughts: "words" }),
    // they repeat from reply to reply
    says: chatSays({ ids: () => ["functions.look:0", "functions.look:1"], thoughts: thinking })
  },
  {
    name: "openrouter",
    layer: OpenRouter.layer({ ...common, model: "anthropic/claude-opus-4.6" }),
    capabilities: OpenRouter.capabilities,
    shape: Shapes.chat({ output: "json_schema", assistant: ["reasoning", "reasoning_details"] }),
    says: chatSays({
      // as long as those of some models behind it, and the same at their beginning
      ids: (count) => [`call_${"0".repeat(90)}|a${count}`, `call_${"0".repeat(90)}|b${count}`],
      thoughts: (mark) => ({
        reasoning: `hmm ${mark()}`,
        reasoning_details: [{ type: "reasoning.text", text: "hmm", signature: mark(), index: 0 }]
      })
    })
  },
  {
    name: "perplexity",
    layer: Perplexity.layer({ ...common, api: "chat", model: "sonar" }),
    capabilities: Perplexity.chatCapabilities,
    shape: Shapes.chat({ tools: false, alternates: true, output: "json_schema" }),
    says: perplexitySays
  },
  {
    name: "perplexity-agent",
    layer: Perplexity.layer({ ...common, model: "openai/gpt-5.6-sol", providerTools: [] }),
    capabilities: Perplexity.capabilities,
    shape: Shapes.plainResponses,
    says: perplexityAgentSays
  }
]
