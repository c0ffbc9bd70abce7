/** The names of the hosts, in errors and in the environment: users know them, so they stay. */
import { assert, it } from "@effect/vitest"
import * as OpenAiCompatible from "@kintsugi/providers/OpenAiCompatible"

/** The name in errors, the variable of the key, and that of the base URL. */
const names: Readonly<
  Record<keyof typeof OpenAiCompatible.hosts, readonly [provider: string, apiKey: string | undefined, baseUrl: string]>
> = {
  alibaba: ["alibaba", "DASHSCOPE_API_KEY", "DASHSCOPE_BASE_URL"],
  azure: ["azure", "AZURE_OPENAI_API_KEY", "AZURE_OPENAI_BASE_URL"],
  bedrock: ["bedrock", "AWS_BEARER_TOKEN_BEDROCK", "AWS_BEDROCK_BASE_URL"],
  cerebras: ["cerebras", "CEREBRAS_API_KEY", "CEREBRAS_BASE_URL"],
  cloudflareGateway: ["cloudflare-ai-gateway", "CLOUDFLARE_API_TOKEN", "CLOUDFLARE_AI_GATEWAY_BASE_URL"],
  cohere: ["cohere", "COHERE_API_KEY", "COHERE_BASE_URL"],
  fireworks: ["fireworks", "FIREWORKS_API_KEY", "FIREWORKS_BASE_URL"],
  gitHubModels: ["github-models", "GITHUB_TOKEN", "GITHUB_MODELS_BASE_URL"],
  groq: ["groq", "GROQ_API_KEY", "GROQ_BASE_URL"],
  heroku: ["heroku", "INFERENCE_KEY", "INFERENCE_BASE_URL"],
  huggingFace: ["huggingface", "HF_TOKEN", "HF_BASE_URL"],
  liteLlm: ["litellm", undefined, "LITELLM_BASE_URL"],
  llamaCpp: ["llama.cpp", undefined, "LLAMA_CPP_BASE_URL"],
  lmStudio: ["lmstudio", undefined, "LM_STUDIO_BASE_URL"],
  mistral: ["mistral", "MISTRAL_API_KEY", "MISTRAL_BASE_URL"],
  together: ["together", "TOGETHER_API_KEY", "TOGETHER_BASE_URL"],
  vertex: ["vertex", "VERTEX_ACCESS_TOKEN", "VERTEX_BASE_URL"],
  vLlm: ["vllm", undefined, "VLLM_BASE_URL"],
  workersAi: ["workers-ai", "CLOUDFLARE_API_TOKEN", "WORKERS_AI_BASE_URL"],
  xai: ["xai", "XAI_API_KEY", "XAI_BASE_URL"],
  zai: ["zai", "ZAI_API_KEY", "ZAI_BASE_URL"]
}

it("each host has its name, and the variables of its key and its base URL [P1414]", () => {
  const hosts: Readonly<Record<string, OpenAiCompatible.Host>> = OpenAiCompatible.hosts
  assert.deepStrictEqual<unknown>(
    Object.fromEntries(
      Object.entries(hosts).map(([name, { provider, variables }]) => [
        name,
        [provider, variables.apiKey, variables.baseUrl]
      ])
    ),
    names
  )
})
