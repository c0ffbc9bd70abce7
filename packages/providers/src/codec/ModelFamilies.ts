/**
 * What families of models take, as data: each claim has the public page that documents it, and the day on which that page was read. A
 * claim that was found on no page of the provider itself is marked. A model is found by its name; a name that no family has is sent as
 * asked.
 *
 * A later claim of a family wins over an earlier one. The numbers of `maxTokens` are this library's: the pages say that thoughts count.
 */
import type { Facts } from "./Capabilities.ts"
import * as EndedModels from "./endedModels.ts"
import { familyOf } from "./Family.ts"

/** Facts of one page. */
export interface Claim {
  /** The address of the page. */
  readonly source: string
  /** The day on which it was read, as `2026-11-26`. */
  readonly seen: string
  /** Set if the page is not the provider's: a report, a guide, or the source of another library. */
  readonly isReported?: true
  readonly facts: Facts
}

/** Models that take the same requests. */
export interface Family {
  readonly name: string
  /** Names without date and suffix, of which a last `*` stands for any rest. */
  readonly models: ReadonlyArray<string>
  readonly claims: ReadonlyArray<Claim>
}

/** What is known of one provider's models. A function, so that a program has only the data of its providers. */
export type Catalog = () => {
  readonly families: ReadonlyArray<Family>
  readonly ended: ReadonlyArray<EndedModels.Ended>
}

/** The day on which all pages of this table were read. */
const seen = "2026-11-26"

const family = (name: string, models: string, ...claims: ReadonlyArray<Claim>): Family => ({
  name,
  models: models.split(" "),
  claims
})

const page = (source: string, facts: Facts): Claim => ({ source, seen, facts })

const reported = (source: string, facts: Facts): Claim => ({ ...page(source, facts), isReported: true })

/** Reasons by these efforts, and by no budget. */
const by = (efforts: string, { byDefault, off }: { readonly byDefault: boolean; readonly off: boolean }) => ({
  budgets: false,
  efforts: efforts.split(" "),
  reasoningByDefault: byDefault,
  reasoningOff: off
})

/** Reasons by budgets, and by no effort. */
const byBudget = (byDefault: boolean, off: boolean) => ({
  budgets: true,
  efforts: [],
  reasoningByDefault: byDefault,
  reasoningOff: off
})

export const claude: Catalog = () => {
  const docs = "https://platform.claude.com/docs/en"
  const bedrock = "https://docs.aws.amazon.com/bedrock/latest/userguide/claude-messages-adaptive-thinking.html"
  const openRouter = "https://openrouter.ai/docs/cookbook/evaluate-and-optimize/model-migrations"
  const upToMax = "low medium high xhigh max"
  const noPrefill = { contextWindow: 1_000_000, continuation: "none" } as const
  // from Claude 5 on the model thinks unless it is told otherwise, and its thoughts count towards the longest reply
  const fifth = {
    ...noPrefill,
    ...by(upToMax, { byDefault: true, off: true }),
    sampling: "never",
    maxTokens: 32_000
  } as const
  const always = { ...fifth, reasoningOff: false, toolChoice: ["none"] } as const
  const older = { sampling: "without-reasoning", budgetWithinMaxTokens: true } as const
  const ruby =
    "https://rubydoc.info/github/anthropics/anthropic-sdk-ruby/Anthropic/Models/Beta/BetaThinkingConfigEnabled"
  const least = reported(ruby, { leastBudget: 1024 })
  const beside = { budgetAfterPlainCalls: false, forcedBesideBudget: false, forcedBesideReasoning: true }
  const besideTools = page("https://platform.claude.com/docs/build-with-claude/thinking-tool-workflows", beside)
  return {
    families: [
      family(
        "claude-opus-5.5",
        "claude-opus-5-5 claude-fable-5-1 claude-mythos-5-1",
        page(`${docs}/models/opus-5-5/whats-new-opus-5-5`, always),
        page(`${docs}/models/fable-5-1/migration-guide`, { reasoningOff: false, toolChoice: ["none"], budgets: false }),
        reported(`${openRouter}/claude-5-5`, { sampling: "never", continuation: "none" })
      ),
      family(
        "claude-sonnet-5.5",
        "claude-sonnet-5-5",
        page(`${docs}/models/sonnet-5-5/migration-guide`, {
          ...always,
          efforts: ["between_tools", ...upToMax.split(" ")]
        })
      ),
      family(
        "claude-haiku-5.5",
        "claude-haiku-5-5",
        page(`${docs}/models/haiku-5-5/migration-guide.md`, fifth),
        reported("https://docs.apiyi.com/en/live/2026-11/claude-thinking-guide-refresh", { reasoningOff: true })
      ),
      family(
        "claude-5",
        "claude-opus-5 claude-sonnet-5",
        page(`${docs}/models/sonnet-5/migration-guide.md`, fifth),
        page("https://platform.claude.com/docs/zh-CN/models/opus-5/migration-guide", { reasoningOff: true })
      ),
      family(
        "claude-4.7",
        "claude-opus-4-7 claude-opus-4-8",
        page(bedrock, by(upToMax, { byDefault: false, off: true })),
        reported("https://apidog.com/kr/blog/claude-opus-4-7-api/", { ...noPrefill, forcedBesideReasoning: false }),
        reported(`${openRouter}/claude-4-7.md`, { sampling: "never" })
      ),
      family(
        "claude-4.6",
        "claude-opus-4-6 claude-sonnet-4-6",
        page(bedrock, { ...by("low medium high max", { byDefault: false, off: true }), budgets: true }),
        page(`${docs}/build-with-claude/extended-thinking`, older),
        least,
        besideTools,
        page(`${docs}/models/opus-4-6/overview.md`, noPrefill)
      ),
      family(
        "claude-4.5",
        "claude-opus-4-5 claude-sonnet-4-5 claude-haiku-4-5 claude-opus-4-1 claude-opus-4-0 claude-sonnet-4-0 " +
          "claude-opus-4 claude-sonnet-4 claude-3-7-* claude-3.7-*",
        page(bedrock, byBudget(false, true)),
        page(`${docs}/build-with-claude/extended-thinking`, { ...older, continuation: "rest" }),
        least,
        besideTools,
        page("https://platform.claude.com/docs/models/overview", { contextWindow: 200_000 })
      ),
      family(
        "claude-3",
        "claude-3 claude-3-* claude-3.* claude-2 claude-2.* claude-2-* claude-instant claude-instant-*",
        // they are not among the models that think
        page("https://docs.aws.amazon.com/bedrock/latest/userguide/claude-messages-extended-thinking.md", {
          ...byBudget(false, false),
          budgets: false,
          sampling: "always",
          continuation: "rest"
        }),
        page("https://platform.claude.com/docs/models/overview", { contextWindow: 200_000 })
      )
    ],
    ended: EndedModels.claude()
  }
}

export const openAi: Catalog = () => {
  const guides = "https://developers.openai.com/api/docs/guides"
  const azure = "https://learn.microsoft.com/en-us/javascript/api/@azure/ai-projects/reasoningeffort"
  const oxen = "https://docs.oxen.ai/inference-api/reference/models"
  const vercel = "https://vercel.com/ai-gateway/models"
  const koog =
    "https://api.koog.ai/prompt/prompt-executor/prompt-executor-clients/prompt-executor-openai-client/" +
    "ai.koog.prompt.executor.clients.openai/-open-a-i-models"
  const first = "https://learnku.com/articles/90544"
  const mistral = "https://docs.mistral.ai/api/"
  const unasked = { sampling: "without-reasoning" } as const
  const upToXhigh = "low medium high xhigh"
  // before GPT-5.6 a request with marks is refused
  const noMarks = page(`${guides}/prompt-caching`, { promptCache: "key" })
  return {
    families: [
      family(
        "gpt-5.6",
        "gpt-5.6 gpt-5.6-sol gpt-5.6-terra gpt-5.6-luna",
        // some hosts take the effort `max`, and others refuse it
        reported("https://github.com/livekit/agents/pull/7169", {
          ...by(upToXhigh, { byDefault: true, off: true }),
          reasoningBesideTools: "none"
        }),
        reported("https://github.com/khoj-ai/khoj/issues/1377", { sampling: "never" }),
        page(`${guides}/prompt-caching`, { promptCache: "key-and-breakpoints" }),
        reported(`${oxen}/gpt-5-6-sol.md`, { contextWindow: 1_050_000 })
      ),
      family(
        "gpt-5.5",
        "gpt-5.5",
        noMarks,
        reported(`${oxen}/gpt-5-5-2026-04-23.md`, {
          ...by(upToXhigh, { byDefault: true, off: true }),
          contextWindow: 1_050_000
        }),
        reported("https://github.com/Science-Discovery/Aether/issues/1026", { reasoningBesideTools: "unset" }),
        reported("https://www.bolna.ai/docs/integrations/llm-model/openai", { sampling: "never" })
      ),
      family(
        "gpt-5.4",
        "gpt-5.4 gpt-5.4-mini gpt-5.4-nano",
        noMarks,
        page(azure, by(upToXhigh, { byDefault: false, off: true })),
        reported("https://github.com/openai/openai-openapi/issues/541", { reasoningBesideTools: "unset" }),
        reported("https://github.com/tmc/langchaingo/issues/1497", unasked)
      ),
      family(
        "gpt-5.2",
        "gpt-5.2 gpt-5.2-codex gpt-5.3-codex",
        noMarks,
        page(azure, by(upToXhigh, { byDefault: false, off: true })),
        reported("https://github.com/vercel/ai/issues/10932", unasked),
        reported(`${oxen}/gpt-5-2-2025-12-11.md`, { contextWindow: 400_000 })
      ),
      family(
        "gpt-5.1",
        "gpt-5.1 gpt-5.1-codex",
        noMarks,
        page(azure, by("low medium high", { byDefault: false, off: true })),
        reported("https://github.com/vercel/ai/issues/10932", unasked)
      ),
      family(
        "gpt-5",
        "gpt-5 gpt-5-mini gpt-5-nano gpt-5-codex",
        noMarks,
        page(azure, by("minimal low medium high", { byDefault: true, off: false })),
        reported(first, { sampling: "never" }),
        reported(`${vercel}/gpt-5/faq`, { contextWindow: 400_000 })
      ),
      family(
        "gpt-5-pro",
        "gpt-5-pro",
        noMarks,
        page(azure, by("high", { byDefault: true, off: false })),
        reported(first, { sampling: "never" }),
        reported(`${koog}/-chat/-g-p-t5-pro.html`, { contextWindow: 400_000 })
      ),
      family(
        "o-series",
        "o1 o3 o3-mini o3-pro o4-mini",
        noMarks,
        page(azure, by("low medium high", { byDefault: true, off: false })),
        reported("https://github.com/openai/openai-python/issues/2104", { sampling: "never" }),
        reported("https://github.com/evalstate/fast-agent/issues/279", { parallelToolCalls: false }),
        reported(`${vercel}/o4-mini.md`, { contextWindow: 200_000 })
      ),
      family(
        "mistral-adjustable",
        "mistral-small mistral-small-2603 mistral-medium-3-5 mistral-medium-3.5",
        page("https://docs.mistral.ai/capabilities/reasoning/adjustable", by("high", { byDefault: false, off: true })),
        page(mistral, { sampling: "always" }),
        reported(`${vercel}/mistral-medium-3.5.md`, { contextWindow: 262_144 })
      ),
      family(
        "mistral",
        "mistral-* ministral-* magistral-* codestral-* devstral-* pixtral-* open-mistral-* open-mixtral-*",
        page(mistral, { sampling: "always" })
      )
    ],
    ended: EndedModels.openAi()
  }
}

export const gemini: Catalog = () => {
  const docs = "https://ai.google.dev/gemini-api/docs"
  const levels = "https://docs.cloud.google.com/gemini-enterprise-agent-platform/models/thinking"
  const window = { contextWindow: 1_048_576 }
  const byLevel = (words: string) => page(levels, { ...window, ...by(words, { byDefault: true, off: false }) })
  // it says to remove the sampling options from all requests
  const newer = page(`${docs}/generate-content/whats-new-gemini-3.6`, { sampling: "never" })
  const third = page(`${docs}/gemini-3`, { sampling: "always" })
  const second = { ...window, sampling: "always" } as const
  const all = "minimal low medium high"
  return {
    families: [
      family("gemini-3.8", "gemini-3.8-flash gemini-3.7-flash", byLevel("low medium high"), newer),
      family("gemini-3.6", "gemini-3.6-flash gemini-3.5-flash gemini-3.5-flash-lite", byLevel(all), newer),
      family("gemini-3.1-pro", "gemini-3.1-pro", byLevel("low medium high"), third),
      family("gemini-3-pro", "gemini-3-pro", byLevel("low high"), third),
      family("gemini-3-flash", "gemini-3-flash gemini-3.1-flash-lite", byLevel(all), third),
      family(
        "gemini-2.5-pro",
        "gemini-2.5-pro*",
        page(`${docs}/thinking`, { ...second, ...byBudget(true, false) }),
        reported("https://hexdocs.pm/gemini_ex/0.11.0/Gemini.Validation.ThinkingConfig.md", { leastBudget: 128 })
      ),
      family("gemini-2.5-flash", "gemini-2.5-flash*", page(`${docs}/thinking`, { ...second, ...byBudget(true, true) }))
    ],
    ended: EndedModels.gemini()
  }
}

export const kimi: Catalog = () => {
  const agentScope = "https://java.agentscope.io/v2/en/integration/model/kimi"
  const choices = "https://github.com/UKGovernmentBEIS/inspect_ai/pull/5152"
  const fixed = { sampling: "never" } as const
  return {
    families: [
      family(
        "kimi-k3",
        "kimi-k3 kimi-k3.1-pro kimi-k3.1-pro-highspeed",
        reported(agentScope, {
          ...fixed,
          ...by("low high max", { byDefault: true, off: false }),
          reasoningField: "effort"
        }),
        reported(choices, { toolChoice: ["none", "required"] }),
        reported("https://vercel.com/ai-gateway/models/kimi-k3.1-pro.md", { contextWindow: 1_048_576 })
      ),
      family(
        "kimi-k2.7",
        "kimi-k2.7-code kimi-k2.7-code-highspeed",
        reported(agentScope, { ...fixed, ...by("on", { byDefault: true, off: false }) }),
        reported(choices, { toolChoice: ["none"] }),
        reported("https://www.promptfoo.dev/docs/providers/moonshot/", { contextWindow: 262_144 })
      ),
      family(
        "kimi-k2.6",
        "kimi-k2.6 kimi-k2.5",
        reported(agentScope, { ...fixed, ...by("on", { byDefault: true, off: true }) }),
        reported(choices, { forcedBesideReasoning: false }),
        page("https://platform.kimi.com/docs/pricing/chat-k26", { contextWindow: 262_144 })
      )
    ],
    ended: EndedModels.kimi()
  }
}

export const deepSeek: Catalog = () => {
  const release = "https://github.com/arikusi/deepseek-mcp-server/releases/tag/v2.0.0"
  return {
    families: [
      family(
        "deepseek-v4",
        "deepseek-v4-* deepseek-flash deepseek-pro",
        page("https://api-docs.deepseek.com/guides/thinking_mode.md", {
          // the provider itself maps them to low, high and max
          ...by("minimal low medium high xhigh max ultra", { byDefault: true, off: true }),
          sampling: "without-reasoning"
        }),
        reported("https://github.com/deepseek-ai/DeepSeek-V3/issues/1376", { forcedBesideReasoning: false }),
        reported(release, { contextWindow: 1_000_000 })
      )
    ],
    ended: EndedModels.deepSeek()
  }
}

/** For servers of models of others: each request is sent as asked. */
export const none: Catalog = () => ({ families: [], ended: [] })

export const perplexity: Catalog = () => ({ families: [], ended: EndedModels.perplexity() })

const isNamed = (models: ReadonlyArray<string>, name: string): boolean =>
  models.some((model) => (model.endsWith("*") ? name.startsWith(model.slice(0, -1)) : name === model))

/** The family of a model, and when its provider ends it. */
export const find = (
  catalog: Catalog,
  model: string
): { readonly family?: Family; readonly end?: EndedModels.Ended } => {
  const { ended, families } = catalog()
  const name = familyOf(model)
  const found = families.find(({ models }) => isNamed(models, name))
  const end = elsewhere.test(model) ? undefined : ended.find(({ models }) => isNamed(models, name))
  return { ...(found === undefined ? {} : { family: found }), ...(end === undefined ? {} : { end }) }
}

/** Names that Claude has on Bedrock and Google Cloud, which end models on days of their own. */
const elsewhere = /anthropic\.|@/
