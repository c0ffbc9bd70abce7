/**
 * Lists as data what families of models take, and when models end. Each claim has the public page that states it, read on the day `seen`. A
 * claim that is on no page of the provider itself is `reported`. A model is found by its name; requests for a model in no family are sent
 * as asked.
 *
 * A later claim of a family wins over an earlier one. The values of `maxTokens` are this library's choice: the pages only say that thoughts
 * count.
 *
 * Anthropic's pages about the end of models could be read only in translations and quotations, OpenAI's only in part. No page was found
 * about the end of Claude Haiku 3 and Kimi K2.6, and none of Google about the day on which Gemini 2.5 ends.
 */
import type { Facts } from "./Capabilities.ts"
import { always, asked, by, byBudget, byDefault, ended, family, never, notOff } from "./familyClaims.ts"
import type { Catalog, Claim, End, Ended, Family } from "./familyClaims.ts"

export type { Catalog } from "./familyClaims.ts"

/** The day on which all pages of this table were read. */
const seen = "2026-11-26"

const page = (source: string, facts: Facts): Claim => ({ source, seen, facts })
const reported = (source: string, facts: Facts): Claim => ({ source, seen, facts, isReported: true })
const ends = (source: string, ...end: End): Ended => ended(source, seen, ...end)
const reportedEnd = (source: string, ...end: End): Ended => ({ ...ends(source, ...end), isReported: true })

export const claude: Catalog = () => {
  const docs = "https://platform.claude.com/docs/en"
  const models = `${docs}/models`
  const bedrock = "https://docs.aws.amazon.com/bedrock/latest/userguide/claude-messages-adaptive-thinking.html"
  const openRouter = "https://openrouter.ai/docs/cookbook/evaluate-and-optimize/model-migrations"
  // this page quotes the pages of the provider
  const forced = "https://github.com/withceleste/celeste-python/pull/393"
  const upToMax = "low medium high xhigh max"
  const noPrefill = { contextWindow: 1_000_000, continuation: "none" } as const
  // from Claude 5 on, models think unless they are told otherwise, and their thoughts count towards the longest reply
  const fifth = { ...noPrefill, ...by(upToMax, byDefault), sampling: "never", maxTokens: 32_000 } as const
  const obliged = { ...fifth, reasoningOff: false, toolChoice: ["none"] } as const
  const older = { budgetWithinMaxTokens: true } as const
  // this page quotes the section "Sampling parameters" of the provider's page about thinking
  const params =
    "https://docs.memberjunction.org/v6.2/api/functions/_memberjunction_ai-anthropic.ResolveSamplingParams.html"
  const sampling = reported(params, { sampling: "default-with-reasoning" })
  const ruby =
    "https://rubydoc.info/github/anthropics/anthropic-sdk-ruby/Anthropic/Models/Beta/BetaThinkingConfigEnabled"
  const least = reported(ruby, { leastBudget: 1024 })
  const beside = { budgetAfterPlainCalls: false, forcedBesideBudget: false, forcedBesideReasoning: true }
  const besideTools = page("https://platform.claude.com/docs/build-with-claude/thinking-tool-workflows", beside)
  const overview = "https://platform.claude.com/docs/models/overview"
  const byBudgets = [
    page(bedrock, byBudget(asked)),
    page(`${docs}/build-with-claude/extended-thinking`, { ...older, continuation: "rest" }),
    sampling,
    least,
    besideTools,
    page(overview, { contextWindow: 200_000 })
  ]
  // since Claude Opus 4.1, models refuse `temperature` together with `topP` (also OpenHands, pull request 12909, for 4.6); no page of the
  // provider was found that says it
  const single = reported("https://github.com/SalesforceAIResearch/MCP-Universe/issues/49", {
    temperatureBesideTopP: false
  })
  // these models are not on the page's list of models that think
  const thinking = "https://docs.aws.amazon.com/bedrock/latest/userguide/claude-messages-extended-thinking.md"
  const plain = { ...byBudget(never), budgets: false, sampling: "always", continuation: "rest" } as const
  const thoughtless = page(thinking, plain)
  const sdk = "https://github.com/anthropics/anthropic-sdk-typescript/blob/main/src/resources/messages/messages.ts"
  const retired = `${docs}/about-claude/model-deprecations`
  const notes = `${docs}/release-notes/overview`
  return {
    families: [
      family(
        "claude-opus-5.5",
        "claude-opus-5-5 claude-fable-5-1 claude-mythos-5-1 claude-fable-5-2 claude-mythos-5-2",
        [
          page(`${models}/opus-5-5/whats-new-opus-5-5`, obliged),
          page(`${models}/fable-5-2/whats-new-fable-5-2`, { reasoningOff: false, contextWindow: 1_000_000 }),
          page(`${models}/fable-5-1/migration-guide`, { reasoningOff: false, toolChoice: ["none"], budgets: false }),
          reported(`${openRouter}/claude-5-5`, { sampling: "never", continuation: "none" })
        ]
      ),
      family("claude-sonnet-5.5", "claude-sonnet-5-5", [
        page(`${models}/sonnet-5-5/migration-guide`, { ...obliged, efforts: ["between_tools", ...upToMax.split(" ")] })
      ]),
      family("claude-haiku-5.5", "claude-haiku-5-5", [
        page(`${models}/haiku-5-5/migration-guide.md`, fifth),
        reported("https://docs.apiyi.com/en/live/2026-11/claude-thinking-guide-refresh", { reasoningOff: true })
      ]),
      family("claude-fable-5", "claude-fable-5 claude-mythos-5 claude-mythos", [
        page(`${models}/fable-5/migration-guide`, { ...fifth, reasoningOff: false }),
        page(bedrock, { budgets: false, reasoningOff: false }),
        // the page says that Claude Fable 5.1 is the first model to refuse a forced call
        reported(forced, { forcedBesideReasoning: true })
      ]),
      family("claude-5", "claude-opus-5 claude-sonnet-5", [
        page(`${models}/sonnet-5/migration-guide.md`, fifth),
        page("https://platform.claude.com/docs/zh-CN/models/opus-5/migration-guide", { reasoningOff: true })
      ]),
      family("claude-4.7", "claude-opus-4-7 claude-opus-4-8", [
        // these models do not think unless they are told to, and the page says that they refuse `disabled`
        page(bedrock, by(upToMax, notOff)),
        reported("https://apidog.com/kr/blog/claude-opus-4-7-api/", noPrefill),
        reported(forced, { forcedBesideReasoning: true }),
        reported(`${openRouter}/claude-4-7.md`, { sampling: "never" })
      ]),
      family("claude-4.6", "claude-opus-4-6 claude-sonnet-4-6", [
        page(bedrock, { ...by("low medium high max", asked), budgets: true }),
        page(`${docs}/build-with-claude/extended-thinking`, older),
        sampling,
        least,
        besideTools,
        page(`${models}/opus-4-6/overview.md`, noPrefill),
        single
      ]),
      family("claude-4.5", "claude-opus-4-5 claude-sonnet-4-5 claude-haiku-4-5 claude-opus-4-1", [
        ...byBudgets,
        single
      ]),
      family("claude-4", "claude-opus-4 claude-sonnet-4 claude-3-7-*", byBudgets),
      family("claude-3", "claude-3 claude-3-* claude-2-*", [thoughtless, page(overview, { contextWindow: 200_000 })]),
      // no context window: no page was found, and these models had smaller ones than Claude 3
      family("claude-2", "claude-2 claude-instant claude-instant-*", [thoughtless])
    ],
    // the days on Anthropic's own platforms; the models end on Bedrock and Google Cloud on other days
    ended: [
      ends(sdk, "2026-11-30", "claude-sonnet-4-5"),
      reportedEnd("https://github.com/talex-touch/tuff/pull/1935", "2026-08-05", "claude-opus-4-1"),
      ends(notes, "2026-06-15", "claude-opus-4", "claude-opus-4-8"),
      ends(notes, "2026-06-15", "claude-sonnet-4", "claude-sonnet-4-6"),
      ends(sdk, "2026-02-19", "claude-3-7-sonnet claude-3-5-haiku"),
      ends(retired, "2026-01-05", "claude-3-opus"),
      ends("https://docs.claude.com/en/release-notes/overview", "2025-10-28", "claude-3-5-sonnet"),
      ends(retired, "2025-07-21", "claude-2 claude-2-* claude-3-sonnet"),
      ends(retired, "2024-11-06", "claude-1 claude-1-* claude-instant claude-instant-*")
    ]
  }
}

/** Families of OpenAI, and of Mistral, because Mistral's models use the same wire. */
const openAiFamilies = (): ReadonlyArray<Family> => {
  const docs = "https://developers.openai.com/api/docs"
  const guides = `${docs}/guides`
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
  const byXhigh = by(upToXhigh, byDefault)
  const guide = "https://dev.to/hassann/how-to-use-gpt-61-sol-apl--45cg"
  const thinking = "https://docs.mistral.ai/inference/conversations/reasoning"
  // before GPT-5.6, models refuse a request with cache marks
  const marksTaken = page(`${guides}/prompt-caching`, { promptCache: "key-and-breakpoints" })
  const noMarks = page(`${guides}/prompt-caching`, { promptCache: "key" })
  return [
    family("gpt-6.2", "gpt-6.2-astra gpt-6.2-sol", [
      // pages differ on tools beside the efforts of GPT-6.2 in chat completions (docs.laozhang.ai/en/announcements/gpt-6-2-2026-11.md: they
      // work), so both are sent as asked
      reported("https://github.com/daknoblo/ai-ui/releases/tag/v1.5.2", by(upToXhigh, always)),
      // the page refuses sampling options beside the reasoning of GPT-6; GPT-6.2 gets the same, as no page was found about it
      page(`${guides}/deployment-checklist`, unasked),
      marksTaken,
      page(`${docs}/models/gpt-6.2-sol.md`, { reasoningOff: false, contextWindow: 1_050_000 })
    ]),
    family("gpt-6.1", "gpt-6-astra gpt-6.1-sol gpt-6.1-terra", [
      // beside tools, chat completions refuse each effort of these models, and its absence too (github.com/genkit-ai/genkit/pull/6303): the
      // error says so
      reported("https://github.com/BerriAI/litellm-docs/pull/1173", by(upToXhigh, always)),
      reported("https://github.com/BerriAI/litellm/pull/39631", { sampling: "never" }),
      marksTaken,
      reported(guide, { reasoningOff: false, contextWindow: 1_050_000 })
    ]),
    family("gpt-6", "gpt-6-sol gpt-6-luna", [
      reported("https://qiita.com/kai_kou/items/92d3e48a0e78bfa1d853", { ...byXhigh, ...unasked }),
      reported("https://github.com/onyx-dot-app/onyx/issues/15008", { reasoningBesideTools: "none" }),
      marksTaken,
      reported(guide, { contextWindow: 1_050_000 })
    ]),
    family("gpt-5.6", "gpt-5.6 gpt-5.6-sol gpt-5.6-terra gpt-5.6-luna", [
      // in chat completions these models take all of their efforts but `max` (github.com/mnfst/modelparams.dev/pull/236)
      reported("https://github.com/livekit/agents/pull/7169", { ...byXhigh, reasoningBesideTools: "none" }),
      reported("https://github.com/khoj-ai/khoj/issues/1377", { sampling: "never" }),
      marksTaken,
      reported(`${oxen}/gpt-5-6-sol.md`, { contextWindow: 1_050_000 })
    ]),
    family("gpt-5.5", "gpt-5.5", [
      noMarks,
      reported(`${oxen}/gpt-5-5-2026-04-23.md`, { ...byXhigh, contextWindow: 1_050_000 }),
      reported("https://github.com/Science-Discovery/Aether/issues/1026", { reasoningBesideTools: "unset" }),
      reported("https://www.bolna.ai/docs/integrations/llm-model/openai", { sampling: "never" })
    ]),
    family("gpt-5.4", "gpt-5.4 gpt-5.4-mini gpt-5.4-nano", [
      noMarks,
      page(azure, by(upToXhigh, asked)),
      reported("https://github.com/openai/openai-openapi/issues/541", { reasoningBesideTools: "unset" }),
      reported("https://github.com/tmc/langchaingo/issues/1497", unasked)
    ]),
    family("gpt-5.2", "gpt-5.2 gpt-5.2-codex gpt-5.3-codex", [
      noMarks,
      page(azure, by(upToXhigh, asked)),
      reported("https://github.com/vercel/ai/issues/10932", unasked),
      reported(`${oxen}/gpt-5-2-2025-12-11.md`, { contextWindow: 400_000 })
    ]),
    family("gpt-5.1", "gpt-5.1 gpt-5.1-codex", [
      noMarks,
      page(azure, by("low medium high", asked)),
      reported("https://github.com/vercel/ai/issues/10932", unasked)
    ]),
    family("gpt-5", "gpt-5 gpt-5-mini gpt-5-nano gpt-5-codex", [
      noMarks,
      page(azure, by("minimal low medium high", always)),
      reported(first, { sampling: "never" }),
      reported(`${vercel}/gpt-5/faq`, { contextWindow: 400_000 })
    ]),
    family("gpt-5-pro", "gpt-5-pro", [
      noMarks,
      page(azure, by("high", always)),
      reported(first, { sampling: "never" }),
      reported(`${koog}/-chat/-g-p-t5-pro.html`, { contextWindow: 400_000 })
    ]),
    family("o-series", "o1 o3 o3-mini o3-pro o4-mini", [
      noMarks,
      page(azure, by("low medium high", always)),
      reported("https://github.com/openai/openai-python/issues/2104", { sampling: "never" }),
      reported("https://github.com/evalstate/fast-agent/issues/279", { parallelToolCalls: false }),
      reported(`${vercel}/o4-mini.md`, { contextWindow: 200_000 })
    ]),
    family("mistral-large-4", "mistral-large-4-0", [
      // whether reasoning can be switched off is not stated here, because the line of the page about it could not be read
      page(thinking, { budgets: false, efforts: ["low", "medium", "high"], reasoningByDefault: true }),
      page(mistral, { sampling: "always" })
    ]),
    family("mistral-adjustable", "mistral-small-latest mistral-small-2603 mistral-medium-3-5 mistral-medium-3.5", [
      // Mistral Small 3 is not in this family: its names differ from these only in their dates
      page("https://docs.mistral.ai/capabilities/reasoning/adjustable", by("high", asked)),
      page(thinking, { efforts: ["high"] }),
      page(mistral, { sampling: "always" }),
      reported(`${vercel}/mistral-medium-3.5.md`, { contextWindow: 262_144 })
    ]),
    family(
      "mistral",
      "mistral-* ministral-* magistral-* codestral-* devstral-* pixtral-* open-mistral-* open-mixtral-*",
      [page(mistral, { sampling: "always" })]
    )
  ]
}

const openAiEnded = (): ReadonlyArray<Ended> => {
  const deprecations = "https://developers.openai.com/api/docs/deprecations"
  const sdk = "https://github.com/openai/openai-node/blob/v7.57.0/src/resources/shared.ts"
  const pros = "https://dev.to/aideprecations/what-to-do-before-openai-gpt-5-and-o3-shut-down-on-december-11-2026-fap"
  return [
    ends(sdk, "2027-04-01", "gpt-5.1 gpt-5.4-nano"),
    ends(sdk, "2027-01-14", "gpt-4o gpt-4o-mini gpt-4.1 gpt-4.1-mini", "gpt-6-luna"),
    ends(deprecations, "2026-12-11", "gpt-5 o3", "gpt-6.1-sol"),
    ends(deprecations, "2026-12-11", "gpt-5-mini", "gpt-6.1-terra"),
    ends(sdk, "2026-12-11", "gpt-5-nano", "gpt-6-luna"),
    reportedEnd(pros, "2026-12-11", "gpt-5-pro o3-pro", "gpt-5.6-sol with reasoning.mode pro"),
    ends(sdk, "2026-10-23", "o1 o3-mini gpt-4 gpt-4-turbo", "gpt-5.6-sol"),
    ends(sdk, "2026-10-23", "o4-mini gpt-3.5-turbo", "gpt-5.6-terra"),
    ends(sdk, "2026-10-23", "gpt-4.1-nano"),
    ends(sdk, "2026-08-10", "gpt-5.2-chat gpt-5.3-chat"),
    ends(sdk, "2026-07-23", "gpt-5-chat gpt-5.1-chat gpt-5.1-codex")
  ]
}

export const openAi: Catalog = () => ({ families: openAiFamilies(), ended: openAiEnded() })

/** The families that take the effort `max` in the Responses API only, each with the page that says so. */
const takesMax: Readonly<Record<string, string>> = {
  "gpt-6.2": "https://github.com/akiiwa-games/AgentCompass-Router/releases/tag/v0.6.8",
  "gpt-6.1": "https://github.com/BerriAI/litellm-docs/pull/1173",
  "gpt-6": "https://inference.sh/apps/openai/gpt-6-sol.md",
  "gpt-5.6": "https://github.com/anomalyco/models.dev/pull/3151"
}

const ofResponses = (): ReadonlyArray<Family> =>
  openAiFamilies().map((one) => {
    const source = takesMax[one.name]
    const max = { efforts: ["low", "medium", "high", "xhigh", "max"] }
    return source === undefined ? one : { ...one, claims: [...one.claims, reported(source, max)] }
  })

/** The families of OpenAI's models for the Responses API, where some of them take one more effort. */
export const openAiResponses: Catalog = () => ({ families: ofResponses(), ended: openAiEnded() })

export const gemini: Catalog = () => {
  const docs = "https://ai.google.dev/gemini-api/docs"
  const levels = "https://docs.cloud.google.com/gemini-enterprise-agent-platform/models/thinking"
  const window = { contextWindow: 1_048_576 }
  const byLevel = (words: string) => page(levels, { ...window, ...by(words, always) })
  // this page says to remove the sampling options from all requests
  const newer = page(`${docs}/generate-content/whats-new-gemini-3.6`, { sampling: "never" })
  const guides = "https://docs.cloud.google.com/gemini-enterprise-agent-platform/models/guides"
  const neon = "https://dev.to/aihubmix/gemini-4-neon-migration-default-high-thinking-400-errors-and-the-65k-cap-45gj"
  const fourth = reported(neon, { budgets: false, sampling: "never" })
  const third = page(`${docs}/gemini-3`, { sampling: "always" })
  const second = { ...window, sampling: "always" } as const
  const all = "minimal low medium high"
  // this page states the days on which models end; the provider's pages that could be read state earlier days, as the earliest possible
  // ones
  const route =
    "https://dev.to/aideprecations/what-to-do-before-gemini-25-pro-and-25-flash-are-retired-on-december-1-2026-5gg9"
  const september = "https://dev.to/akaranjkar08/gemini-api-shutdowns-30-sept-omni-flash-preview-migration-guide-2jae"
  return {
    families: [
      family("gemini-4", "gemini-4-argon gemini-4-carbon gemini-4-carbon-cyber-permissive", [
        page(`${docs}/generate-content/latest-model`, { ...window, ...by("low medium high", always) }),
        page(`${guides}/gemini-4-carbon`, { efforts: ["low", "medium", "high"], contextWindow: 1_048_576 }),
        fourth
      ]),
      family("gemini-4-xhigh", "gemini-4-hydrogen gemini-4-neon", [
        page(`${guides}/gemini-4-hydrogen`, { ...window, ...by("low medium high xhigh", always) }),
        reported("https://docs.laozhang.ai/en/announcements/gemini-4-neon-2026-11.md", {
          efforts: ["low", "medium", "high", "xhigh"]
        }),
        fourth
      ]),
      family("gemini-3.8", "gemini-3.8-flash gemini-3.7-flash", [byLevel("low medium high"), newer]),
      family("gemini-3.6", "gemini-3.6-flash gemini-3.5-flash gemini-3.5-flash-lite", [byLevel(all), newer]),
      family("gemini-3.1-pro", "gemini-3.1-pro", [byLevel("low medium high"), third]),
      family("gemini-3-pro", "gemini-3-pro", [byLevel("low high"), third]),
      family("gemini-3-flash", "gemini-3-flash gemini-3.1-flash-lite", [byLevel(all), third]),
      family("gemini-2.5-pro", "gemini-2.5-pro", [
        page(`${docs}/thinking`, { ...second, ...byBudget(always) }),
        reported("https://hexdocs.pm/gemini_ex/0.11.0/Gemini.Validation.ThinkingConfig.md", { leastBudget: 128 })
      ]),
      family("gemini-2.5-flash", "gemini-2.5-flash", [page(`${docs}/thinking`, { ...second, ...byBudget(byDefault) })]),
      family("gemini-2.5-flash-lite", "gemini-2.5-flash-lite", [
        page(`${docs}/thinking`, { ...second, ...byBudget(asked), leastBudget: 512 })
      ])
    ],
    ended: [
      reportedEnd(route, "2026-12-01", "gemini-2.5-flash", "gemini-3.5-flash-lite"),
      reportedEnd(route, "2026-12-01", "gemini-2.5-pro", "gemini-3.8-flash"),
      reportedEnd(september, "2026-06-01", "gemini-2.0-flash gemini-2.0-flash-lite"),
      ends(`${docs}/deprecations.md`, "2026-03-09", "gemini-3-pro", "gemini-3.1-pro-preview")
    ]
  }
}

export const kimi: Catalog = () => {
  const agentScope = "https://java.agentscope.io/v2/en/integration/model/kimi"
  const choices = "https://github.com/UKGovernmentBEIS/inspect_ai/pull/5152"
  const second = "https://www.chatbase.co/blog/kimi-k2-api"
  const fixed = { sampling: "never" } as const
  return {
    families: [
      family("kimi-k3", "kimi-k3 kimi-k3.1-pro kimi-k3.1-pro-highspeed", [
        reported(agentScope, { ...fixed, ...by("low high max", always), reasoningField: "effort" }),
        reported(choices, { toolChoice: ["none", "required"] }),
        reported("https://vercel.com/ai-gateway/models/kimi-k3.1-pro.md", { contextWindow: 1_048_576 })
      ]),
      family("kimi-k2.7", "kimi-k2.7-code kimi-k2.7-code-highspeed", [
        reported(agentScope, { ...fixed, ...by("on", always) }),
        reported(choices, { toolChoice: ["none"] }),
        reported("https://www.promptfoo.dev/docs/providers/moonshot/", { contextWindow: 262_144 })
      ]),
      family("kimi-k2.6", "kimi-k2.6 kimi-k2.5", [
        reported(agentScope, { ...fixed, ...by("on", byDefault) }),
        reported(choices, { forcedBesideReasoning: false }),
        page("https://platform.kimi.com/docs/pricing/chat-k26", { contextWindow: 262_144 })
      ])
    ],
    ended: [reportedEnd(second, "2026-05-25", "kimi-k2 kimi-k2-* kimi-latest", "kimi-k2.6")]
  }
}

export const deepSeek: Catalog = () => {
  const release = "https://github.com/arikusi/deepseek-mcp-server/releases/tag/v2.0.0"
  return {
    families: [
      family("deepseek-v4", "deepseek-v4-* deepseek-flash deepseek-pro", [
        page("https://api-docs.deepseek.com/guides/thinking_mode.md", {
          // DeepSeek itself maps these efforts to low, high and max
          ...by("minimal low medium high xhigh max ultra", byDefault),
          sampling: "without-reasoning"
        }),
        reported("https://github.com/deepseek-ai/DeepSeek-V3/issues/1376", { forcedBesideReasoning: false }),
        reported(release, { contextWindow: 1_000_000 })
      ])
    ],
    // V4.1 serves requests for the names of V4 (api-docs.deepseek.com, which names `deepseek-flash` for all)
    ended: [reportedEnd(release, "2026-07-24", "deepseek-chat deepseek-reasoner", "deepseek-flash")]
  }
}

/** The empty catalog, for servers of other providers' models. Each request is sent as asked. */
export const none: Catalog = () => ({ families: [], ended: [] })

/** The models of Perplexity's chat completions. Its agent API has other names, such as `perplexity/sonar`. */
export const perplexity: Catalog = () => {
  const use = "perplexity/sonar or a preset of the agent API"
  const chat = "https://github.com/anomalyco/models.dev/pull/4993"
  return { families: [], ended: [reportedEnd(chat, "2026-09-27", "sonar sonar-*", use)] }
}
