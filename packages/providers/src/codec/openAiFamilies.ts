/** Families of OpenAI, and of Mistral, which has the same wire. */
import { by, family, page, reported, type Family } from "./familyClaims.ts"

export const families = (): ReadonlyArray<Family> => {
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
  const marksTaken = page(`${guides}/prompt-caching`, { promptCache: "key-and-breakpoints" })
  const noMarks = page(`${guides}/prompt-caching`, { promptCache: "key" })
  return [
    family(
      "gpt-6.2",
      "gpt-6.2-astra gpt-6.2-sol",
      // pages differ on tools beside its efforts in chat completions (docs.laozhang.ai/en/announcements/gpt-6-2-2026-11.md: they work); so
      // they are sent as asked
      reported("https://github.com/daknoblo/ai-ui/releases/tag/v1.5.2", by(upToXhigh, { byDefault: true, off: false })),
      // what it says of GPT-6 with reasoning; no page was found that says it of GPT-6.2
      page(`${guides}/deployment-checklist`, unasked),
      marksTaken,
      page("https://developers.openai.com/api/docs/models/gpt-6.2-sol.md", {
        reasoningOff: false,
        contextWindow: 1_050_000
      })
    ),
    family(
      "gpt-6.1",
      "gpt-6-astra gpt-6.1-sol gpt-6.1-terra",
      // beside tools their chat completions refuse each effort and its absence (github.com/genkit-ai/genkit/pull/6303): the error says so
      reported("https://github.com/BerriAI/litellm-docs/pull/1173", by(upToXhigh, { byDefault: true, off: false })),
      reported("https://github.com/BerriAI/litellm/pull/39631", { sampling: "never" }),
      marksTaken,
      reported("https://dev.to/hassann/how-to-use-gpt-61-sol-apl--45cg", {
        reasoningOff: false,
        contextWindow: 1_050_000
      })
    ),
    family(
      "gpt-6",
      "gpt-6-sol gpt-6-luna",
      reported("https://qiita.com/kai_kou/items/92d3e48a0e78bfa1d853", {
        ...by(upToXhigh, { byDefault: true, off: true }),
        ...unasked
      }),
      reported("https://github.com/onyx-dot-app/onyx/issues/15008", { reasoningBesideTools: "none" }),
      marksTaken,
      reported("https://dev.to/hassann/how-to-use-gpt-61-sol-apl--45cg", { contextWindow: 1_050_000 })
    ),
    family(
      "gpt-5.6",
      "gpt-5.6 gpt-5.6-sol gpt-5.6-terra gpt-5.6-luna",
      // its chat completions name the efforts that they take, without `max` (github.com/mnfst/modelparams.dev/pull/236)
      reported("https://github.com/livekit/agents/pull/7169", {
        ...by(upToXhigh, { byDefault: true, off: true }),
        reasoningBesideTools: "none"
      }),
      reported("https://github.com/khoj-ai/khoj/issues/1377", { sampling: "never" }),
      marksTaken,
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
      "mistral-large-4",
      "mistral-large-4-0",
      // the line about switching it off could not be read
      page("https://docs.mistral.ai/inference/conversations/reasoning", {
        budgets: false,
        efforts: ["low", "medium", "high"],
        reasoningByDefault: true
      }),
      page(mistral, { sampling: "always" })
    ),
    family(
      "mistral-adjustable",
      // not Mistral Small 3, whose names are the same without their dates
      "mistral-small-latest mistral-small-2603 mistral-medium-3-5 mistral-medium-3.5",
      page("https://docs.mistral.ai/capabilities/reasoning/adjustable", by("high", { byDefault: false, off: true })),
      page("https://docs.mistral.ai/inference/conversations/reasoning", { efforts: ["high"] }),
      page(mistral, { sampling: "always" }),
      reported(`${vercel}/mistral-medium-3.5.md`, { contextWindow: 262_144 })
    ),
    family(
      "mistral",
      "mistral-* ministral-* magistral-* codestral-* devstral-* pixtral-* open-mistral-* open-mixtral-*",
      page(mistral, { sampling: "always" })
    )
  ]
}

/** The families whose greatest effort the Responses API takes alone, and where it was found. */
const takesMax: Readonly<Record<string, string>> = {
  "gpt-6.2": "https://github.com/akiiwa-games/AgentCompass-Router/releases/tag/v0.6.8",
  "gpt-6.1": "https://github.com/BerriAI/litellm-docs/pull/1173",
  "gpt-6": "https://inference.sh/apps/openai/gpt-6-sol.md",
  "gpt-5.6": "https://github.com/anomalyco/models.dev/pull/3151"
}

/** The same families by the Responses API. */
export const ofResponses = (): ReadonlyArray<Family> =>
  families().map((one) => {
    const source = takesMax[one.name]
    const max = { efforts: ["low", "medium", "high", "xhigh", "max"] }
    return source === undefined ? one : { ...one, claims: [...one.claims, reported(source, max)] }
  })
