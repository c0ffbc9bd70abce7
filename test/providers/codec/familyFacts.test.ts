/** The facts of each family of models: a second copy of the table, so that no single mistake changes both. */
import { assert, describe, it } from "@effect/vitest"
import * as Families from "../../../packages/providers/src/codec/ModelFamilies.ts"

const catalogs = [
  Families.claude,
  Families.openAi,
  Families.gemini,
  Families.kimi,
  Families.deepSeek,
  Families.perplexity
]

const families = catalogs.flatMap((catalog) => catalog().families)

const models: Readonly<Record<string, string>> = {
  "claude-opus-5.5": "claude-opus-5-5 claude-fable-5-1 claude-mythos-5-1 claude-fable-5-2 claude-mythos-5-2",
  "claude-sonnet-5.5": "claude-sonnet-5-5",
  "claude-haiku-5.5": "claude-haiku-5-5",
  "claude-fable-5": "claude-fable-5 claude-mythos-5 claude-mythos",
  "claude-5": "claude-opus-5 claude-sonnet-5",
  "claude-4.7": "claude-opus-4-7 claude-opus-4-8",
  "claude-4.6": "claude-opus-4-6 claude-sonnet-4-6",
  "claude-4.5": "claude-opus-4-5 claude-sonnet-4-5 claude-haiku-4-5 claude-opus-4-1",
  "claude-4": "claude-opus-4 claude-sonnet-4 claude-3-7-*",
  "claude-3": "claude-3 claude-3-* claude-2-*",
  "claude-2": "claude-2 claude-instant claude-instant-*",
  "gpt-6.2": "gpt-6.2-astra gpt-6.2-sol",
  "gpt-6.1": "gpt-6-astra gpt-6.1-sol gpt-6.1-terra",
  "gpt-6": "gpt-6-sol gpt-6-luna",
  "gpt-5.6": "gpt-5.6 gpt-5.6-sol gpt-5.6-terra gpt-5.6-luna",
  "gpt-5.5": "gpt-5.5",
  "gpt-5.4": "gpt-5.4 gpt-5.4-mini gpt-5.4-nano",
  "gpt-5.2": "gpt-5.2 gpt-5.2-codex gpt-5.3-codex",
  "gpt-5.1": "gpt-5.1 gpt-5.1-codex",
  "gpt-5": "gpt-5 gpt-5-mini gpt-5-nano gpt-5-codex",
  "gpt-5-pro": "gpt-5-pro",
  "o-series": "o1 o3 o3-mini o3-pro o4-mini",
  "mistral-large-4": "mistral-large-4-0",
  "mistral-adjustable": "mistral-small-latest mistral-small-2603 mistral-medium-3-5 mistral-medium-3.5",
  mistral: "mistral-* ministral-* magistral-* codestral-* devstral-* pixtral-* open-mistral-* open-mixtral-*",
  "gemini-4": "gemini-4-argon gemini-4-carbon gemini-4-carbon-cyber-permissive",
  "gemini-4-xhigh": "gemini-4-hydrogen gemini-4-neon",
  "gemini-3.8": "gemini-3.8-flash gemini-3.7-flash",
  "gemini-3.6": "gemini-3.6-flash gemini-3.5-flash gemini-3.5-flash-lite",
  "gemini-3.1-pro": "gemini-3.1-pro",
  "gemini-3-pro": "gemini-3-pro",
  "gemini-3-flash": "gemini-3-flash gemini-3.1-flash-lite",
  "gemini-2.5-pro": "gemini-2.5-pro",
  "gemini-2.5-flash": "gemini-2.5-flash",
  "gemini-2.5-flash-lite": "gemini-2.5-flash-lite",
  "kimi-k3": "kimi-k3 kimi-k3.1-pro kimi-k3.1-pro-highspeed",
  "kimi-k2.7": "kimi-k2.7-code kimi-k2.7-code-highspeed",
  "kimi-k2.6": "kimi-k2.6 kimi-k2.5",
  "deepseek-v4": "deepseek-v4-* deepseek-flash deepseek-pro"
}

/** Each fact by its value, with the families of which a page states it. */
const facts: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  contextWindow: {
    "200000": "claude-4.5 claude-4 claude-3 o-series",
    "262144": "mistral-adjustable kimi-k2.7 kimi-k2.6",
    "400000": "gpt-5.2 gpt-5 gpt-5-pro",
    "1000000":
      "claude-opus-5.5 claude-sonnet-5.5 claude-haiku-5.5 claude-fable-5 claude-5 claude-4.7 claude-4.6 deepseek-v4",
    "1048576":
      "gemini-4 gemini-4-xhigh gemini-3.8 gemini-3.6 gemini-3.1-pro gemini-3-pro gemini-3-flash gemini-2.5-pro gemini-2.5-flash gemini-2.5-flash-lite kimi-k3",
    "1050000": "gpt-6.2 gpt-6.1 gpt-6 gpt-5.6 gpt-5.5"
  },
  continuation: {
    none: "claude-opus-5.5 claude-sonnet-5.5 claude-haiku-5.5 claude-fable-5 claude-5 claude-4.7 claude-4.6",
    rest: "claude-4.5 claude-4 claude-3 claude-2"
  },
  budgets: {
    false:
      "claude-opus-5.5 claude-sonnet-5.5 claude-haiku-5.5 claude-fable-5 claude-5 claude-4.7 claude-3 claude-2 gpt-6.2 gpt-6.1 gpt-6 gpt-5.6 gpt-5.5 gpt-5.4 gpt-5.2 gpt-5.1 gpt-5 gpt-5-pro o-series mistral-large-4 mistral-adjustable gemini-4 gemini-4-xhigh gemini-3.8 gemini-3.6 gemini-3.1-pro gemini-3-pro gemini-3-flash kimi-k3 kimi-k2.7 kimi-k2.6 deepseek-v4",
    true: "claude-4.6 claude-4.5 claude-4 gemini-2.5-pro gemini-2.5-flash gemini-2.5-flash-lite"
  },
  efforts: {
    "low medium high xhigh max": "claude-opus-5.5 claude-haiku-5.5 claude-fable-5 claude-5 claude-4.7",
    "between_tools low medium high xhigh max": "claude-sonnet-5.5",
    "low medium high max": "claude-4.6",
    "": "claude-4.5 claude-4 claude-3 claude-2 gemini-2.5-pro gemini-2.5-flash gemini-2.5-flash-lite",
    "low medium high xhigh": "gpt-6.2 gpt-6.1 gpt-6 gpt-5.6 gpt-5.5 gpt-5.4 gpt-5.2 gemini-4-xhigh",
    "low medium high": "gpt-5.1 o-series mistral-large-4 gemini-4 gemini-3.8 gemini-3.1-pro",
    "minimal low medium high": "gpt-5 gemini-3.6 gemini-3-flash",
    high: "gpt-5-pro mistral-adjustable",
    "low high": "gemini-3-pro",
    "low high max": "kimi-k3",
    on: "kimi-k2.7 kimi-k2.6",
    "minimal low medium high xhigh max ultra": "deepseek-v4"
  },
  reasoningByDefault: {
    true: "claude-opus-5.5 claude-sonnet-5.5 claude-haiku-5.5 claude-fable-5 claude-5 gpt-6.2 gpt-6.1 gpt-6 gpt-5.6 gpt-5.5 gpt-5 gpt-5-pro o-series mistral-large-4 gemini-4 gemini-4-xhigh gemini-3.8 gemini-3.6 gemini-3.1-pro gemini-3-pro gemini-3-flash gemini-2.5-pro gemini-2.5-flash kimi-k3 kimi-k2.7 kimi-k2.6 deepseek-v4",
    false:
      "claude-4.7 claude-4.6 claude-4.5 claude-4 claude-3 claude-2 gpt-5.4 gpt-5.2 gpt-5.1 mistral-adjustable gemini-2.5-flash-lite"
  },
  reasoningOff: {
    false:
      "claude-opus-5.5 claude-sonnet-5.5 claude-fable-5 claude-4.7 claude-3 claude-2 gpt-6.2 gpt-6.1 gpt-5 gpt-5-pro o-series gemini-4 gemini-4-xhigh gemini-3.8 gemini-3.6 gemini-3.1-pro gemini-3-pro gemini-3-flash gemini-2.5-pro kimi-k3 kimi-k2.7",
    true: "claude-haiku-5.5 claude-5 claude-4.6 claude-4.5 claude-4 gpt-6 gpt-5.6 gpt-5.5 gpt-5.4 gpt-5.2 gpt-5.1 mistral-adjustable gemini-2.5-flash gemini-2.5-flash-lite kimi-k2.6 deepseek-v4"
  },
  sampling: {
    never:
      "claude-opus-5.5 claude-sonnet-5.5 claude-haiku-5.5 claude-fable-5 claude-5 claude-4.7 gpt-6.1 gpt-5.6 gpt-5.5 gpt-5 gpt-5-pro o-series gemini-4 gemini-4-xhigh gemini-3.8 gemini-3.6 kimi-k3 kimi-k2.7 kimi-k2.6",
    "default-with-reasoning": "claude-4.6 claude-4.5 claude-4",
    always:
      "claude-3 claude-2 mistral-large-4 mistral-adjustable mistral gemini-3.1-pro gemini-3-pro gemini-3-flash gemini-2.5-pro gemini-2.5-flash gemini-2.5-flash-lite",
    "without-reasoning": "gpt-6.2 gpt-6 gpt-5.4 gpt-5.2 gpt-5.1 deepseek-v4"
  },
  maxTokens: {
    "32000": "claude-opus-5.5 claude-sonnet-5.5 claude-haiku-5.5 claude-fable-5 claude-5"
  },
  toolChoice: {
    none: "claude-opus-5.5 claude-sonnet-5.5 kimi-k2.7",
    "none required": "kimi-k3"
  },
  forcedBesideReasoning: {
    true: "claude-fable-5 claude-4.7 claude-4.6 claude-4.5 claude-4",
    false: "kimi-k2.6 deepseek-v4"
  },
  budgetWithinMaxTokens: {
    true: "claude-4.6 claude-4.5 claude-4"
  },
  leastBudget: {
    "128": "gemini-2.5-pro",
    "512": "gemini-2.5-flash-lite",
    "1024": "claude-4.6 claude-4.5 claude-4"
  },
  budgetAfterPlainCalls: {
    false: "claude-4.6 claude-4.5 claude-4"
  },
  forcedBesideBudget: {
    false: "claude-4.6 claude-4.5 claude-4"
  },
  temperatureBesideTopP: {
    false: "claude-4.6 claude-4.5"
  },
  promptCache: {
    "key-and-breakpoints": "gpt-6.2 gpt-6.1 gpt-6 gpt-5.6",
    key: "gpt-5.5 gpt-5.4 gpt-5.2 gpt-5.1 gpt-5 gpt-5-pro o-series"
  },
  reasoningBesideTools: {
    none: "gpt-6 gpt-5.6",
    unset: "gpt-5.5 gpt-5.4"
  },
  parallelToolCalls: {
    false: "o-series"
  },
  reasoningField: {
    effort: "kimi-k3"
  }
}

const ended: ReadonlyArray<readonly [on: string, models: string, use?: string]> = [
  ["2026-11-30", "claude-sonnet-4-5"],
  ["2026-08-05", "claude-opus-4-1"],
  ["2026-06-15", "claude-opus-4", "claude-opus-4-8"],
  ["2026-06-15", "claude-sonnet-4", "claude-sonnet-4-6"],
  ["2026-02-19", "claude-3-7-sonnet claude-3-5-haiku"],
  ["2026-01-05", "claude-3-opus"],
  ["2025-10-28", "claude-3-5-sonnet"],
  ["2025-07-21", "claude-2 claude-2-* claude-3-sonnet"],
  ["2024-11-06", "claude-1 claude-1-* claude-instant claude-instant-*"],
  ["2027-04-01", "gpt-5.1 gpt-5.4-nano"],
  ["2027-01-14", "gpt-4o gpt-4o-mini gpt-4.1 gpt-4.1-mini", "gpt-6-luna"],
  ["2026-12-11", "gpt-5 o3", "gpt-6.1-sol"],
  ["2026-12-11", "gpt-5-mini", "gpt-6.1-terra"],
  ["2026-12-11", "gpt-5-nano", "gpt-6-luna"],
  ["2026-12-11", "gpt-5-pro o3-pro", "gpt-5.6-sol with reasoning.mode pro"],
  ["2026-10-23", "o1 o3-mini gpt-4 gpt-4-turbo", "gpt-5.6-sol"],
  ["2026-10-23", "o4-mini gpt-3.5-turbo", "gpt-5.6-terra"],
  ["2026-10-23", "gpt-4.1-nano"],
  ["2026-08-10", "gpt-5.2-chat gpt-5.3-chat"],
  ["2026-07-23", "gpt-5-chat gpt-5.1-chat gpt-5.1-codex"],
  ["2026-12-01", "gemini-2.5-flash", "gemini-3.5-flash-lite"],
  ["2026-12-01", "gemini-2.5-pro", "gemini-3.8-flash"],
  ["2026-06-01", "gemini-2.0-flash gemini-2.0-flash-lite"],
  ["2026-03-09", "gemini-3-pro", "gemini-3.1-pro-preview"],
  ["2026-05-25", "kimi-k2 kimi-k2-* kimi-latest", "kimi-k2.6"],
  ["2026-07-24", "deepseek-chat deepseek-reasoner", "deepseek-flash"],
  ["2026-09-27", "sonar sonar-*", "perplexity/sonar or a preset of the agent API"]
]

describe("the table of families", () => {
  it("has these models in each family [P1410]", () => {
    assert.deepStrictEqual(Object.fromEntries(families.map((family) => [family.name, family.models.join(" ")])), models)
  })

  it("states these facts of each family [P1410]", () => {
    const stated = new Map<string, Map<string, Set<string>>>()
    for (const { claims, name } of families) {
      for (const [fact, value] of claims.flatMap((claim) => Object.entries(claim.facts))) {
        const text = Array.isArray(value) ? value.join(" ") : String(value)
        const byValue = stated.get(fact) ?? new Map<string, Set<string>>()
        stated.set(fact, byValue.set(text, (byValue.get(text) ?? new Set<string>()).add(name)))
      }
    }
    const written = Array.from(stated, ([fact, values]) => [
      fact,
      Object.fromEntries(Array.from(values, ([value, names]) => [value, [...names].join(" ")]))
    ])
    assert.deepStrictEqual(Object.fromEntries(written), facts)
  })

  it("has the days on which models end, and the models in their place [P1410]", () => {
    const rows = catalogs
      .flatMap((catalog) => catalog().ended)
      .map(({ models, on, use }) => [on, models.join(" "), ...(use === undefined ? [] : [use])])
    assert.deepStrictEqual<unknown>(rows, ended)
  })
})
