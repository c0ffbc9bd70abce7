/**
 * Hosts that speak chat completions, as data. Each entry names the page that documents it; all were looked up on 2026-11-26.
 * `docs/guide/openai-compatible.md` has the table of them, with what was recorded and what is only documented.
 */
import { capabilities, type Dialect } from "../codec/openai-chat/OpenAiChat.ts"
import type { Facts } from "../codec/Capabilities.ts"
import type * as ByName from "./byName.ts"

/** A host of chat completions, as data. */
export interface Host {
  /** The name of the host in errors, spans and the ledger. */
  readonly provider: string
  /** The base URL; absent if it contains the user's account or region. */
  readonly baseUrl?: string
  /** The environment variables of the API key and of the base URL. A host without a variable for the key gets no key. */
  readonly variables: ByName.Variables
  /** How the host's requests and replies differ from OpenAI's. */
  readonly dialect: Dialect
  /** `reported` if the host's replies state their cost, at the base URL above. */
  readonly prices?: "reported"
  /** Capability facts that hold for all models of the host, as in the option `capabilities`. */
  readonly takes?: Facts
}

/** The dialect of servers that limit the reply by the older field `max_tokens`, and do not know `max_completion_tokens`. */
const older = { maxTokensField: "max_tokens" } as const

/** A host whose environment variables have the same prefix: `GROQ_API_KEY`, `GROQ_BASE_URL`. */
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

/** A host whose base URL contains the user's account or region, so that it has no default. */
const regional = (provider: string, apiKey: string, baseUrl: string, dialect: Dialect = {}) => ({
  provider,
  variables: { apiKey, baseUrl, needsBaseUrl: true },
  dialect
})

/** A server that users run on their own machine. It needs no key by default. */
const local = (provider: string, prefix: string, baseUrl: string) => ({
  provider,
  baseUrl,
  variables: { baseUrl: `${prefix}_BASE_URL` },
  dialect: older
})

/** The known hosts; `layer` and `model` take these names. */
export const hosts = {
  /**
   * Documented at alibabacloud.com/help/en/model-studio, "OpenAI compatible" (dashscope). Whether the host knows `max_completion_tokens`
   * was not confirmed.
   */
  alibaba: host("alibaba", "DASHSCOPE", "https://dashscope-intl.aliyuncs.com/compatible-mode/v1", older),
  /** Documented at learn.microsoft.com, "Azure OpenAI v1 API": OpenAI's own fields, at `https://{resource}.openai.azure.com/openai/v1`. */
  azure: regional("azure", "AZURE_OPENAI_API_KEY", "AZURE_OPENAI_BASE_URL", { maxIdLength: 40, strict: true }),
  /**
   * Documented at docs.aws.amazon.com, "Responses API": `https://bedrock-runtime.{region}.amazonaws.com/openai/v1`, or `bedrock-mantle`.
   */
  bedrock: regional("bedrock", "AWS_BEARER_TOKEN_BEDROCK", "AWS_BEDROCK_BASE_URL"),
  /** Documented at inference-docs.cerebras.ai, "OpenAI Compatibility": the host refuses `prompt_cache_key`. */
  cerebras: { ...host("cerebras", "CEREBRAS", "https://api.cerebras.ai/v1"), takes: { promptCache: "none" } },
  /** Documented at developers.cloudflare.com, "AI Gateway": `https://gateway.ai.cloudflare.com/v1/{account}/{gateway}/compat`. */
  cloudflareGateway: regional("cloudflare-ai-gateway", "CLOUDFLARE_API_TOKEN", "CLOUDFLARE_AI_GATEWAY_BASE_URL"),
  /**
   * Documented at docs.cohere.com, "Compatibility API", and strandsagents.com, "Cohere": the host refuses `stream_options`. Neither page
   * has a prompt cache.
   */
  cohere: {
    ...host("cohere", "COHERE", "https://api.cohere.ai/compatibility/v1", { ...older, streamOptions: false }),
    takes: { promptCache: "none" }
  },
  /** Documented at docs.fireworks.ai, "OpenAI compatibility". */
  fireworks: host("fireworks", "FIREWORKS", "https://api.fireworks.ai/inference/v1", older),
  /** Documented at docs.github.com, "GitHub Models". */
  gitHubModels: host("github-models", "GITHUB_MODELS", "https://models.github.ai/inference", older, "GITHUB_TOKEN"),
  /**
   * Documented at console.groq.com, "OpenAI Compatibility": the host refuses `logprobs`, `logit_bias`, `top_logprobs` and names of
   * messages.
   */
  groq: host("groq", "GROQ", "https://api.groq.com/openai/v1"),
  /** Documented at devcenter.heroku.com, "Managed Inference". */
  heroku: host("heroku", "INFERENCE", "https://us.inference.heroku.com/v1", older, "INFERENCE_KEY"),
  /** Documented at huggingface.co, "Inference Providers". */
  huggingFace: host("huggingface", "HF", "https://router.huggingface.co/v1", older, "HF_TOKEN"),
  /** Documented at docs.litellm.ai, "Proxy". LiteLLM translates the fields for each provider behind it. */
  liteLlm: local("litellm", "LITELLM", "http://localhost:4000/v1"),
  /** Documented at github.com/ggml-org/llama.cpp, `tools/server`. */
  llamaCpp: local("llama.cpp", "LLAMA_CPP", "http://localhost:8080/v1"),
  /** Documented at lmstudio.ai, "OpenAI compatibility". */
  lmStudio: local("lmstudio", "LM_STUDIO", "http://localhost:1234/v1"),
  /**
   * Documented at docs.mistral.ai, "Chat". The host refuses `max_completion_tokens` and `stream_options` (editor-code-assistant/eca#231 of
   * 2025-12, dnakov/anon-kode#53 of 2025-03), and streams always have usage. Its OpenAPI document has `DocumentURLChunk` and `FileChunk`.
   * Its cache has a key, but no lifetimes and no marks (strandsagents.com, "strands.models.mistral").
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
  /** Documented at docs.together.ai, "OpenAI compatibility". */
  together: host("together", "TOGETHER", "https://api.together.ai/v1", older),
  /**
   * Documented at docs.cloud.google.com, "Using OpenAI libraries with Vertex AI":
   * `https://{location}-aiplatform.googleapis.com/v1/projects/{project}/locations/{location}/endpoints/openapi`.
   */
  vertex: regional("vertex", "VERTEX_ACCESS_TOKEN", "VERTEX_BASE_URL", older),
  /** Documented at docs.vllm.ai, "OpenAI-Compatible Server". */
  vLlm: local("vllm", "VLLM", "http://localhost:8000/v1"),
  /** Documented at developers.cloudflare.com, "Workers AI": `https://api.cloudflare.com/client/v4/accounts/{account}/ai/v1`. */
  workersAi: regional("workers-ai", "CLOUDFLARE_API_TOKEN", "WORKERS_AI_BASE_URL", older),
  /**
   * Documented at docs.x.ai, "Chat completions", "Cost Tracking". Images in tool results: measured with Grok 4.20 in
   * github.com/lm15-dev/lm15-contract, `research/tool-result-content`.
   */
  xai: { ...host("xai", "XAI", "https://api.x.ai/v1", { resultImages: /^grok-[4-9]/ }), prices: "reported" },
  /**
   * Documented at docs.z.ai, "Chat Completion". Images in tool results: measured with GLM 4.6V in github.com/lm15-dev/lm15-contract,
   * `research/tool-result-content`.
   */
  zai: host("zai", "ZAI", "https://api.z.ai/api/paas/v4", {
    ...older,
    reasoning: "thinking",
    resultImages: /^glm-[\d.]+v/i
  })
} as const satisfies Readonly<Record<string, Host>>
