/**
 * Models that their providers have ended, or end on a day that they have announced. Each entry has the public page that says so, and the
 * day on which that page was read; an entry whose page is not the provider's is marked.
 *
 * Anthropic's pages could be read in translations and quotations alone, OpenAI's in part. No page was found for the ends of Claude Haiku 3
 * and Kimi K2.6, nor Google's own for the day of Gemini 2.5.
 */

/** Models that end on one day. */
export interface Ended {
  readonly models: ReadonlyArray<string>
  /** The day, as `2026-12-01`. */
  readonly on: string
  /** What the provider names in their place; absent if no page was found that says it. */
  readonly use?: string
  readonly source: string
  readonly seen: string
  /** Set if the page is not the provider's: a report, or the source of another library. */
  readonly isReported?: true
}

/** The day on which all pages of this list were read. */
const seen = "2026-11-26"

const ends = (source: string, on: string, models: string, use?: string): Ended => ({
  models: models.split(" "),
  on,
  source,
  seen,
  ...(use === undefined ? {} : { use })
})

const reported = (source: string, on: string, models: string, use?: string): Ended => ({
  ...ends(source, on, models, use),
  isReported: true
})

/** The days of Anthropic's own platforms: Bedrock and Google Cloud have others. */
export const claude = (): ReadonlyArray<Ended> => {
  const sdk = "https://github.com/anthropics/anthropic-sdk-typescript/blob/main/src/resources/messages/messages.ts"
  const retired = "https://platform.claude.com/docs/en/about-claude/model-deprecations"
  return [
    ends(sdk, "2026-11-30", "claude-sonnet-4-5"),
    reported("https://github.com/talex-touch/tuff/pull/1935", "2026-08-05", "claude-opus-4-1"),
    ends(
      "https://platform.claude.com/docs/en/release-notes/overview",
      "2026-06-15",
      "claude-opus-4",
      "claude-opus-4-8"
    ),
    ends(
      "https://platform.claude.com/docs/en/release-notes/overview",
      "2026-06-15",
      "claude-sonnet-4",
      "claude-sonnet-4-6"
    ),
    ends(sdk, "2026-02-19", "claude-3-7-sonnet claude-3-5-haiku"),
    ends(retired, "2026-01-05", "claude-3-opus"),
    ends("https://docs.claude.com/en/release-notes/overview", "2025-10-28", "claude-3-5-sonnet"),
    ends(retired, "2025-07-21", "claude-2 claude-2-* claude-3-sonnet"),
    ends(retired, "2024-11-06", "claude-1 claude-1-* claude-instant claude-instant-*")
  ]
}

export const openAi = (): ReadonlyArray<Ended> => {
  const page = "https://developers.openai.com/api/docs/deprecations"
  const sdk = "https://github.com/openai/openai-node/blob/v7.57.0/src/resources/shared.ts"
  const pros = "https://dev.to/aideprecations/what-to-do-before-openai-gpt-5-and-o3-shut-down-on-december-11-2026-fap"
  return [
    ends(sdk, "2027-04-01", "gpt-5.1 gpt-5.4-nano"),
    ends(sdk, "2027-01-14", "gpt-4o gpt-4o-mini gpt-4.1 gpt-4.1-mini", "gpt-6-luna"),
    ends(page, "2026-12-11", "gpt-5 o3", "gpt-6.1-sol"),
    ends(page, "2026-12-11", "gpt-5-mini", "gpt-6.1-terra"),
    ends(sdk, "2026-12-11", "gpt-5-nano", "gpt-6-luna"),
    reported(pros, "2026-12-11", "gpt-5-pro o3-pro", "gpt-5.6-sol with reasoning.mode pro"),
    ends(sdk, "2026-10-23", "o1 o3-mini gpt-4 gpt-4-turbo", "gpt-5.6-sol"),
    ends(sdk, "2026-10-23", "o4-mini gpt-3.5-turbo", "gpt-5.6-terra"),
    ends(sdk, "2026-10-23", "gpt-4.1-nano"),
    ends(sdk, "2026-08-10", "gpt-5.2-chat gpt-5.3-chat"),
    ends(sdk, "2026-07-23", "gpt-5-chat gpt-5.1-chat gpt-5.1-codex")
  ]
}

export const gemini = (): ReadonlyArray<Ended> => {
  const page = "https://ai.google.dev/gemini-api/docs/deprecations.md"
  // the pages of the provider that could be read have earlier days, as the earliest possible ones
  const route =
    "https://dev.to/aideprecations/what-to-do-before-gemini-25-pro-and-25-flash-are-retired-on-december-1-2026-5gg9"
  return [
    reported(route, "2026-12-01", "gemini-2.5-flash", "gemini-3.5-flash-lite"),
    reported(route, "2026-12-01", "gemini-2.5-pro", "gemini-3.8-flash"),
    reported(
      "https://dev.to/akaranjkar08/gemini-api-shutdowns-30-sept-omni-flash-preview-migration-guide-2jae",
      "2026-06-01",
      "gemini-2.0-flash gemini-2.0-flash-lite"
    ),
    ends(page, "2026-03-09", "gemini-3-pro", "gemini-3.1-pro-preview")
  ]
}

export const kimi = (): ReadonlyArray<Ended> => [
  reported("https://www.chatbase.co/blog/kimi-k2-api", "2026-05-25", "kimi-k2 kimi-k2-* kimi-latest", "kimi-k2.6")
]

/** The names of V4 are served on, by V4.1 (api-docs.deepseek.com, which names `deepseek-flash` for all). */
export const deepSeek = (): ReadonlyArray<Ended> => [
  reported(
    "https://github.com/arikusi/deepseek-mcp-server/releases/tag/v2.0.0",
    "2026-07-24",
    "deepseek-chat deepseek-reasoner",
    "deepseek-flash"
  )
]

/** The chat completions and their names of models; the agent API has `perplexity/sonar`. */
export const perplexity = (): ReadonlyArray<Ended> => [
  reported(
    "https://github.com/anomalyco/models.dev/pull/4993",
    "2026-09-27",
    "sonar sonar-*",
    "perplexity/sonar or a preset of the agent API"
  )
]
