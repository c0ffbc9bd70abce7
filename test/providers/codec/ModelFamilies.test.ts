import { assert, describe, it } from "@effect/vitest"
import * as Claims from "../../../packages/providers/src/codec/familyClaims.ts"
import * as Families from "../../../packages/providers/src/codec/ModelFamilies.ts"

const all: Readonly<Record<string, Families.Catalog>> = {
  claude: Families.claude,
  openAi: Families.openAi,
  gemini: Families.gemini,
  kimi: Families.kimi,
  deepSeek: Families.deepSeek,
  perplexity: Families.perplexity
}
const families = Object.values(all).flatMap((catalog) => catalog().families)
const claims = [...families, ...Families.openAiResponses().families].flatMap(({ claims }) => claims)
const ended = Object.values(all).flatMap((catalog) => catalog().ended)

const isDay = (text: string) => /^20\d\d-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text))
const isPage = (text: string) => text.startsWith("https://") && URL.canParse(text) && new URL(text).pathname.length > 1

const factsOf = (family: Claims.Family) => Object.assign({}, ...family.claims.map(({ facts }) => facts))

describe("the table of families", () => {
  it("has a source and a date for each fact, and for each model that ends [P1410]", () => {
    for (const { claims, name } of [...families, ...Families.openAiResponses().families]) {
      assert.isNotEmpty(claims, name)
      for (const { facts, seen, source } of claims) {
        assert.isTrue(isPage(source), `${name}: ${source}`)
        assert.isTrue(isDay(seen), `${name}: ${seen}`)
        assert.isNotEmpty(Object.keys(facts), `${name}: ${source}`)
      }
    }
    for (const { models, on, seen, source, use } of ended) {
      assert.isTrue(isPage(source) && isDay(seen) && isDay(on), models.join())
      assert.notStrictEqual(use, "", models.join())
    }
  })

  it("marks what is of no page of the provider, nor of a cloud that it names [P1410]", () => {
    const hosts =
      /^https:\/\/(?:[a-z-]+\.)*(?:claude\.com|amazon\.com|openai\.com|microsoft\.com|google\.com|google\.dev|kimi\.com|deepseek\.com|mistral\.ai)\//
    const clients = /^https:\/\/github\.com\/(?:openai\/openai-node|anthropics\/anthropic-sdk-typescript)\/blob\//
    const entries = [...claims, ...ended]
    for (const { isReported, source } of entries) {
      assert.strictEqual(isReported !== true, hosts.test(source) || clients.test(source), source)
    }
  })

  it("says of each family whether it takes sampling options, and how much it thinks [P1410]", () => {
    for (const family of families.filter(({ name }) => name !== "mistral")) {
      const facts = factsOf(family)
      for (const fact of ["sampling", "efforts", "budgets", "reasoningOff", "reasoningByDefault"]) {
        // of Mistral Large 4 the page could not be read to its end
        if (fact !== "reasoningOff" || family.name !== "mistral-large-4") assert.property(facts, fact, family.name)
      }
    }
    const withoutWindow = families.filter((family) => factsOf(family).contextWindow === undefined)
    assert.deepStrictEqual(
      withoutWindow.map(({ name }) => name),
      ["claude-2", "gpt-5.4", "gpt-5.1", "mistral-large-4", "mistral"]
    )
  })

  it("has each model once, and one name for each family [P1410]", () => {
    const names = families.map(({ name }) => name)
    assert.strictEqual(new Set(names).size, names.length)
    const models = families.flatMap(({ models }) => models)
    assert.strictEqual(new Set(models).size, models.length)
  })

  it("finds a model by its name, with its path, date, version or suffix, and no other [P1410]", () => {
    const names: ReadonlyArray<readonly [Families.Catalog, string, string | undefined]> = [
      [Families.claude, "claude-opus-5-5", "claude-opus-5.5"],
      [Families.claude, "claude-opus-5-5-20260922", "claude-opus-5.5"],
      [Families.claude, "us.anthropic.claude-opus-5-5", "claude-opus-5.5"],
      [Families.claude, "anthropic.claude-opus-4-6-v1:0", "claude-4.6"],
      [Families.claude, "claude-sonnet-4-5@20250929", "claude-4.5"],
      [Families.claude, "claude-3-7-sonnet-latest", "claude-4"],
      [Families.claude, "claude-opus-4-1", "claude-4.5"],
      [Families.claude, "claude-opus-5", "claude-5"],
      [Families.claude, "claude-fable-5-2", "claude-opus-5.5"],
      [Families.claude, "claude-fable-5", "claude-fable-5"],
      [Families.claude, "anthropic.claude-mythos-5", "claude-fable-5"],
      [Families.claude, "claude-mythos-preview", "claude-fable-5"],
      [Families.claude, "claude-opus-5-6", undefined],
      [Families.claude, "claude-opus-6", undefined],
      [Families.claude, "my-claude-opus-5", undefined],
      [Families.openAi, "gpt-5-2025-08-07", "gpt-5"],
      [Families.openAi, "gpt-5.6", "gpt-5.6"],
      [Families.openAi, "gpt-5.60", undefined],
      [Families.openAi, "gpt-6", undefined],
      [Families.openAi, "gpt-6-sol", "gpt-6"],
      [Families.openAi, "gpt-6-astra", "gpt-6.1"],
      [Families.openAi, "gpt-6.2-sol", "gpt-6.2"],
      [Families.openAiResponses, "openai/gpt-6.2-astra", "gpt-6.2"],
      [Families.openAiResponses, "gpt-6.1-terra", "gpt-6.1"],
      [Families.openAi, "mistral-small-2603", "mistral-adjustable"],
      [Families.openAi, "mistral-small-latest", "mistral-adjustable"],
      [Families.openAi, "mistral-small-2506", "mistral"],
      [Families.openAi, "mistral-large-4-0", "mistral-large-4"],
      [Families.openAi, "gpt-5-chat-latest", undefined],
      [Families.openAi, "magistral-medium-2509", "mistral"],
      [Families.gemini, "models/gemini-3-pro-preview", "gemini-3-pro"],
      [Families.gemini, "gemini-2.5-flash-preview-09-2025", "gemini-2.5-flash"],
      [Families.gemini, "gemini-2.5-flash-lite", "gemini-2.5-flash-lite"],
      [Families.gemini, "gemini-2.5-flash-image", undefined],
      [Families.gemini, "gemini-2.5-pro-preview-tts", undefined],
      [Families.gemini, "gemini-4-argon", "gemini-4"],
      [Families.gemini, "gemini-4-carbon", "gemini-4"],
      [Families.gemini, "gemini-4-hydrogen", "gemini-4-xhigh"],
      [Families.gemini, "google/gemini-4-neon", "gemini-4-xhigh"],
      [Families.gemini, "gemini-3.9-flash", undefined],
      [Families.kimi, "kimi-k3.1-pro", "kimi-k3"],
      [Families.kimi, "kimi-k4", undefined],
      [Families.deepSeek, "deepseek-v4-flash", "deepseek-v4"],
      [Families.deepSeek, "deepseek-v5", undefined],
      [Families.none, "claude-opus-5-5", undefined],
      [Families.claude, "", undefined]
    ]
    for (const [catalog, model, family] of names) {
      assert.strictEqual(Claims.find(catalog, model).family?.name, family, model)
    }
  })

  it("has the greatest effort of OpenAI for the Responses API alone [P1410]", () => {
    const effortsOf = (catalog: Families.Catalog, model: string): ReadonlyArray<string> => {
      const { family } = Claims.find(catalog, model)
      return family === undefined ? [] : factsOf(family).efforts
    }
    for (const model of ["gpt-5.6-sol", "gpt-6-sol", "gpt-6-astra", "gpt-6.1-terra", "gpt-6.2-sol"]) {
      assert.notInclude(effortsOf(Families.openAi, model), "max", model)
      assert.deepStrictEqual(effortsOf(Families.openAiResponses, model), [...effortsOf(Families.openAi, model), "max"])
    }
    assert.deepStrictEqual(effortsOf(Families.openAiResponses, "gpt-5.5"), effortsOf(Families.openAi, "gpt-5.5"))
  })

  it("knows which models end, and which do not [P1410]", () => {
    const ends: ReadonlyArray<readonly [Families.Catalog, string, string | undefined]> = [
      [Families.deepSeek, "deepseek-chat", "2026-07-24"],
      [Families.deepSeek, "deepseek-v4-pro", undefined],
      [Families.kimi, "kimi-k2-0905-preview", "2026-05-25"],
      [Families.kimi, "kimi-k2-thinking", "2026-05-25"],
      [Families.kimi, "kimi-k2.6", undefined],
      [Families.gemini, "gemini-2.5-flash", "2026-12-01"],
      [Families.gemini, "gemini-2.5-flash-lite", undefined],
      [Families.gemini, "gemini-3-pro-preview", "2026-03-09"],
      [Families.gemini, "gemini-3.1-pro-preview", undefined],
      [Families.openAi, "gpt-5-2025-08-07", "2026-12-11"],
      [Families.openAi, "gpt-5-mini", "2026-12-11"],
      [Families.openAi, "gpt-5-nano", "2026-12-11"],
      [Families.openAi, "gpt-5-pro", "2026-12-11"],
      [Families.openAi, "gpt-5-chat-latest", "2026-07-23"],
      [Families.openAi, "o3", "2026-12-11"],
      [Families.openAi, "o4-mini-2025-04-16", "2026-10-23"],
      [Families.openAi, "gpt-4o", "2027-01-14"],
      [Families.openAi, "gpt-5.6-sol", undefined],
      [Families.claude, "claude-sonnet-4-5-20250929", "2026-11-30"],
      [Families.claude, "claude-opus-4-1-20250805", "2026-08-05"],
      [Families.claude, "claude-sonnet-4-0", "2026-06-15"],
      [Families.claude, "claude-opus-4-20250514", "2026-06-15"],
      [Families.claude, "claude-3-5-sonnet-latest", "2025-10-28"],
      [Families.claude, "claude-2.1", "2025-07-21"],
      [Families.claude, "claude-haiku-4-5", undefined],
      [Families.perplexity, "sonar-pro", "2026-09-27"],
      [Families.perplexity, "sonarish", undefined]
    ]
    for (const [catalog, model, on] of ends) assert.strictEqual(Claims.find(catalog, model).end?.on, on, model)
  })

  it("does not say when clouds of others end a model of Anthropic [P1410]", () => {
    for (const model of ["us.anthropic.claude-sonnet-4-5-20250929-v1:0", "claude-sonnet-4-5@20250929"]) {
      const found = Claims.find(Families.claude, model)
      assert.isUndefined(found.end, model)
      assert.isDefined(found.family, model)
    }
  })
})
