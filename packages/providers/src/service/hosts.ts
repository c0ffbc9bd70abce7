/**
 * Hosts that speak chat completions, as data. Each entry names the page that documents it; all were looked up on 2026-11-26.
 * `docs/guide/openai-compatible.md` has the table of them, with what was recorded and what is only documented.
 */
import { capabilities, type Dialect } from "../codec/openai-chat/OpenAiChat.ts"
import type { Facts } from "../codec/Capabilities.ts"
import type * as ByName from "./byName.ts"

/** A host of chat completions, as data. */
export interface Host {
  /** The name in errors, spans and the ledger. */
  readonly provider: string
  /** The base URL; absent where it has the account or the region in it. */
  readonly baseUrl?: string
  /** The environment variables of the key and of the base URL. Without one for the key, none is sent. */
  readonly variables: ByName.Variables
  /** How its requests and replies differ from OpenAI's. */
  readonly dialect: Dialect
  /** `reported` if its replies say what they cost, at the base URL above. */
  readonly prices?: "reported"
  /** Facts that hold for all of its models, as in the option `capabilities`. */
  readonly takes?: Facts
}

/** For servers that know only the older field for the longest reply. */
const older = { maxTokensField: "max_tokens" } as const

/** A host whose variables begin with the same word. */
const host = (
  provider: string,
  prefix: string,
  baseUrl: string,
  dialect: Dialect = {},
  apiKey = `${prefix}_API_KEY`
) => ({
  provider,
  baseUrl,
  variables: { apiKey, baseUrl: `${prefix}_BASE_URL` },
  dialect
})

/** A host whose base URL has the account or the region in it. */
const regional = (provider: string, apiKey: string, baseUrl: string, dialect: Dialect = {}) => ({
  provider,
  variables: { apiKey, baseUrl, needsBaseUrl: true },
  dialect
})

/** A server of one's own, which asks for no key unless it is started with one. */
const local = (provider: string, prefix: string, baseUrl: string) => ({
  provider,
  baseUrl,
  variables: { baseUrl: `${prefix}_BASE_URL` },
  dialect: older
})

/** The known hosts, by the names for `layer` and `model`. */
export const hosts = {
  /** dashscope, "OpenAI compatible": alibabacloud.com/help/en/model-studio. Not confirmed: the newer field. */
  alibaba: host("alibaba", "DASHSCOPE", "https://dashscope-intl.aliyuncs.com/compatible-mode/v1", older),
  /** learn.microsoft.com, "Azure OpenAI v1 API": OpenAI's own fields, and `https://{resource}.openai.azure.com/openai/v1`. */
  azure: regional("azure", "AZURE_OPENAI_API_KEY", "AZURE_OPENAI_BASE_URL", { maxIdLength: 40, strict: true }),
  /** docs.aws.amazon.com, "Responses API": `https://bedrock-runtime.{region}.amazonaws.com/openai/v1`, or `bedrock-mantle`. */
  bedrock: regional("bedrock", "AWS_BEARER_TOKEN_BEDROCK", "AWS_BEDROCK_BASE_URL"),
  /** inference-docs.cerebras.ai, "OpenAI Compatibility": `prompt_cache_key` is refused. */
  cerebras: { ...host("cerebras", "CEREBRAS", "https://api.cerebras.ai/v1"), takes: { promptCache: "none" } },
  /** developers.cloudflare.com, "AI Gateway": `https://gateway.ai.cloudflare.com/v1/{account}/{gateway}/compat`. */
  cloudflareGateway: regional("cloudflare-ai-gateway", "CLOUDFLARE_API_TOKEN", "CLOUDFLARE_AI_GATEWAY_BASE_URL"),
  /** docs.cohere.com, "Compatibility API"; strandsagents.com, "Cohere": `stream_options` is refused. Neither has a cache. */
  cohere: {
    ...host("cohere", "COHERE", "https://api.cohere.ai/compatibility/v1", { ...older, streamOptions: false }),
    takes: { promptCache: "none" }
  },
  /** docs.fireworks.ai, "OpenAI compatibility" */
  fireworks: host("fireworks", "FIREWORKS", "https://api.fireworks.ai/inference/v1", older),
  /** docs.github.com, "GitHub Models" */
  gitHubModels: host("github-models", "GITHUB_MODELS", "https://models.github.ai/inference", older, "GITHUB_TOKEN"),
  /** console.groq.com, "OpenAI Compatibility": `logprobs`, `logit_bias`, `top_logprobs` and names of messages are refused. */
  groq: host("groq", "GROQ", "https://api.groq.com/openai/v1"),
  /** devcenter.heroku.com, "Managed Inference" */
  heroku: host("heroku", "INFERENCE", "https://us.inference.heroku.com/v1", older, "INFERENCE_KEY"),
  /** huggingface.co, "Inference Providers" */
  huggingFace: host("huggingface", "HF", "https://router.huggingface.co/v1", older, "HF_TOKEN"),
  /** docs.litellm.ai, "Proxy"; the proxy knows the fields of each provider behind it. */
  liteLlm: local("litellm", "LITELLM", "http://localhost:4000/v1"),
  /** github.com/ggml-org/llama.cpp, `tools/server` */
  llamaCpp: local("llama.cpp", "LLAMA_CPP", "http://localhost:8080/v1"),
  /** lmstudio.ai, "OpenAI compatibility" */
  lmStudio: local("lmstudio", "LM_STUDIO", "http://localhost:1234/v1"),
  /**
   * docs.mistral.ai, "Chat"; `max_completion_tokens` and `stream_options` are refused (editor-code-assistant/eca#231 of 2025-12,
   * dnakov/anon-kode#53 of 2025-03). A stream has its usage without being asked. Its OpenAPI document has `DocumentURLChunk` and
   * `FileChunk`. Its cache has a key, and neither times nor marks (strandsagents.com, "strands.models.mistral").
   */
  mistral: {
    ...host("mistral", "MISTRAL", "https://api.mistral.ai/v1", {
      ...older,
      seedField: "random_seed",
      streamOptions: false,
      files: "document_url",
      capabilities: { ...capabilities, files: ["data", "url", "id"] }
    }),
    takes: { promptCache: "key-only", refusedOptions: ["serviceTier", "verbosity"] }
  },
  /** docs.together.ai, "OpenAI compatibility" */
  together: host("together", "TOGETHER", "https://api.together.ai/v1", older),
  /**
   * docs.cloud.google.com, "Using OpenAI libraries with Vertex AI":
   * `https://{location}-aiplatform.googleapis.com/v1/projects/{project}/locations/{location}/endpoints/openapi`.
   */
  vertex: regional("vertex", "VERTEX_ACCESS_TOKEN", "VERTEX_BASE_URL", older),
  /** docs.vllm.ai, "OpenAI-Compatible Server" */
  vLlm: local("vllm", "VLLM", "http://localhost:8000/v1"),
  /** developers.cloudflare.com, "Workers AI": `https://api.cloudflare.com/client/v4/accounts/{account}/ai/v1`. */
  workersAi: regional("workers-ai", "CLOUDFLARE_API_TOKEN", "WORKERS_AI_BASE_URL", older),
  /**
   * docs.x.ai, "Chat completions", "Cost Tracking"; images in results: measured with Grok 4.20 in lm15-contract,
   * `research/tool-result-content`
   */
  xai: { ...host("xai", "XAI", "https://api.x.ai/v1", { resultImages: /^grok-[4-9]/ }), prices: "reported" },
  /** docs.z.ai, "Chat Completion"; images in results: measured with glm-4.6v, in the same place */
  zai: host("zai", "ZAI", "https://api.z.ai/api/paas/v4", {
    ...older,
    reasoning: "thinking",
    resultImages: /^glm-[\d.]+v/i
  })
} as const satisfies Readonly<Record<string, Host>>
