/**
 * What families of models take, as data: each claim has the public page that documents it, and the day on which that page was read. A
 * claim that was found on no page of the provider itself is marked. A model is found by its name; a name that no family has is sent as
 * asked.
 *
 * A later claim of a family wins over an earlier one. The numbers of `maxTokens` are this library's: the pages say that thoughts count.
 */
import * as EndedModels from "./endedModels.ts"
import { familyOf } from "./Family.ts"
import { by, byBudget, family, page, reported, type Family } from "./familyClaims.ts"
import * as OpenAiFamilies from "./openAiFamilies.ts"

export type { Family } from "./familyClaims.ts"

/** What is known of one provider's models. A function, so that a program has only the data of its providers. */
export type Catalog = () => {
  readonly families: ReadonlyArray<Family>
  readonly ended: ReadonlyArray<EndedModels.Ended>
}

export const claude: Catalog = () => {
  const docs = "https://platform.claude.com/docs/en"
  const bedrock = "https://docs.aws.amazon.com/bedrock/latest/userguide/claude-messages-adaptive-thinking.html"
  const openRouter = "https://openrouter.ai/docs/cookbook/evaluate-and-optimize/model-migrations"
  // it quotes the pages of the provider
  const forced = "https://github.com/withceleste/celeste-python/pull/393"
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
  const older = { budgetWithinMaxTokens: true } as const
  // it quotes the section "Sampling parameters" of the provider's page about thinking
  const sampling = reported(
    "https://docs.memberjunction.org/v6.2/api/functions/_memberjunction_ai-anthropic.ResolveSamplingParams.html",
    { sampling: "default-with-reasoning" }
  )
  const ruby =
    "https://rubydoc.info/github/anthropics/anthropic-sdk-ruby/Anthropic/Models/Beta/BetaThinkingConfigEnabled"
  const least = reported(ruby, { leastBudget: 1024 })
  const beside = { budgetAfterPlainCalls: false, forcedBesideBudget: false, forcedBesideReasoning: true }
  const besideTools = page("https://platform.claude.com/docs/build-with-claude/thinking-tool-workflows", beside)
  // they are not among the models that think
  const thoughtless = page(
    "https://docs.aws.amazon.com/bedrock/latest/userguide/claude-messages-extended-thinking.md",
    {
      ...byBudget(false, false),
      budgets: false,
      sampling: "always",
      continuation: "rest"
    }
  )
  return {
    families: [
      family(
        "claude-opus-5.5",
        "claude-opus-5-5 claude-fable-5-1 claude-mythos-5-1 claude-fable-5-2 claude-mythos-5-2",
        page(`${docs}/models/opus-5-5/whats-new-opus-5-5`, always),
        page(`${docs}/models/fable-5-2/whats-new-fable-5-2`, { reasoningOff: false, contextWindow: 1_000_000 }),
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
        "claude-fable-5",
        "claude-fable-5 claude-mythos-5 claude-mythos",
        page(`${docs}/models/fable-5/migration-guide`, { ...fifth, reasoningOff: false }),
        page(bedrock, { budgets: false, reasoningOff: false }),
        // Claude Fable 5.1 is the first to refuse a forced call
        reported(forced, { forcedBesideReasoning: true })
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
        // it does not think unless it is told to, and the page says that `disabled` is refused
        page(bedrock, by(upToMax, { byDefault: false, off: false })),
        reported("https://apidog.com/kr/blog/claude-opus-4-7-api/", noPrefill),
        reported(forced, { forcedBesideReasoning: true }),
        reported(`${openRouter}/claude-4-7.md`, { sampling: "never" })
      ),
      family(
        "claude-4.6",
        "claude-opus-4-6 claude-sonnet-4-6",
        page(bedrock, { ...by("low medium high max", { byDefault: false, off: true }), budgets: true }),
        page(`${docs}/build-with-claude/extended-thinking`, older),
        sampling,
        least,
        besideTools,
        page(`${docs}/models/opus-4-6/overview.md`, noPrefill)
      ),
      family(
        "claude-4.5",
        "claude-opus-4-5 claude-sonnet-4-5 claude-haiku-4-5 claude-opus-4-1 claude-opus-4 claude-sonnet-4 claude-3-7-*",
        page(bedrock, byBudget(false, true)),
        page(`${docs}/build-with-claude/extended-thinking`, { ...older, continuation: "rest" }),
        sampling,
        least,
        besideTools,
        page("https://platform.claude.com/docs/models/overview", { contextWindow: 200_000 })
      ),
      family(
        "claude-3",
        "claude-3 claude-3-* claude-2-*",
        thoughtless,
        page("https://platform.claude.com/docs/models/overview", { contextWindow: 200_000 })
      ),
      // their windows were smaller; no page was found
      family("claude-2", "claude-2 claude-instant claude-instant-*", thoughtless)
    ],
    ended: EndedModels.claude()
  }
}

export const openAi: Catalog = () => ({ families: OpenAiFamilies.families(), ended: EndedModels.openAi() })

/** The same models by the Responses API, which takes an effort more of some. */
export const openAiResponses: Catalog = () => ({
  families: OpenAiFamilies.ofResponses(),
  ended: EndedModels.openAi()
})

export const gemini: Catalog = () => {
  const docs = "https://ai.google.dev/gemini-api/docs"
  const levels = "https://docs.cloud.google.com/gemini-enterprise-agent-platform/models/thinking"
  const window = { contextWindow: 1_048_576 }
  const byLevel = (words: string) => page(levels, { ...window, ...by(words, { byDefault: true, off: false }) })
  // it says to remove the sampling options from all requests
  const newer = page(`${docs}/generate-content/whats-new-gemini-3.6`, { sampling: "never" })
  const guides = "https://docs.cloud.google.com/gemini-enterprise-agent-platform/models/guides"
  const fourth = reported(
    "https://dev.to/aihubmix/gemini-4-neon-migration-default-high-thinking-400-errors-and-the-65k-cap-45gj",
    { budgets: false, sampling: "never" }
  )
  const third = page(`${docs}/gemini-3`, { sampling: "always" })
  const second = { ...window, sampling: "always" } as const
  const all = "minimal low medium high"
  return {
    families: [
      family(
        "gemini-4",
        "gemini-4-argon gemini-4-carbon gemini-4-carbon-cyber-permissive",
        page(`${docs}/generate-content/latest-model`, {
          ...window,
          ...by("low medium high", { byDefault: true, off: false })
        }),
        page(`${guides}/gemini-4-carbon`, { efforts: ["low", "medium", "high"], contextWindow: 1_048_576 }),
        fourth
      ),
      family(
        "gemini-4-xhigh",
        "gemini-4-hydrogen gemini-4-neon",
        page(`${guides}/gemini-4-hydrogen`, {
          ...window,
          ...by("low medium high xhigh", { byDefault: true, off: false })
        }),
        reported("https://docs.laozhang.ai/en/announcements/gemini-4-neon-2026-11.md", {
          efforts: ["low", "medium", "high", "xhigh"]
        }),
        fourth
      ),
      family("gemini-3.8", "gemini-3.8-flash gemini-3.7-flash", byLevel("low medium high"), newer),
      family("gemini-3.6", "gemini-3.6-flash gemini-3.5-flash gemini-3.5-flash-lite", byLevel(all), newer),
      family("gemini-3.1-pro", "gemini-3.1-pro", byLevel("low medium high"), third),
      family("gemini-3-pro", "gemini-3-pro", byLevel("low high"), third),
      family("gemini-3-flash", "gemini-3-flash gemini-3.1-flash-lite", byLevel(all), third),
      family(
        "gemini-2.5-pro",
        "gemini-2.5-pro",
        page(`${docs}/thinking`, { ...second, ...byBudget(true, false) }),
        reported("https://hexdocs.pm/gemini_ex/0.11.0/Gemini.Validation.ThinkingConfig.md", { leastBudget: 128 })
      ),
      family("gemini-2.5-flash", "gemini-2.5-flash", page(`${docs}/thinking`, { ...second, ...byBudget(true, true) })),
      family(
        "gemini-2.5-flash-lite",
        "gemini-2.5-flash-lite",
        page(`${docs}/thinking`, { ...second, ...byBudget(false, true), leastBudget: 512 })
      )
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
  // a name with its date or stage comes before the names that are the same without
  const exact = model.trim().toLowerCase().split("/").at(-1) ?? ""
  const found =
    families.find(({ models }) => models.includes(exact)) ?? families.find(({ models }) => isNamed(models, name))
  const end = elsewhere.test(model) ? undefined : ended.find(({ models }) => isNamed(models, name))
  return { ...(found === undefined ? {} : { family: found }), ...(end === undefined ? {} : { end }) }
}

/** Names that Claude has on Bedrock and Google Cloud, which end models on days of their own. */
const elsewhere = /anthropic\.|@/
