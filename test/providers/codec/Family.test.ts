/** The family of a model, by its name. */
import { assert, describe, it } from "@effect/vitest"
import { familyOf } from "../../../packages/providers/src/codec/Family.ts"

const families: Readonly<Record<string, ReadonlyArray<string>>> = {
  "claude-opus-4-5": [
    "claude-opus-4-5",
    "claude-opus-4-5-20251101",
    "Claude-Opus-4-5-latest",
    "claude-opus-4-5@20251101",
    "anthropic/claude-opus-4.5",
    "anthropic/claude-opus-4.5:thinking",
    "us.anthropic.claude-opus-4-5-20251101-v1:0",
    "arn:aws:bedrock:us-east-1:1:inference-profile/us.anthropic.claude-opus-4-5-20251101-v1:0",
    "projects/p/locations/global/publishers/anthropic/models/claude-opus-4-5@20251101"
  ],
  "claude-sonnet-4": ["claude-sonnet-4-0", "claude-sonnet-4-20250514", "anthropic/claude-sonnet-4"],
  "claude-3-5-sonnet": ["claude-3-5-sonnet-20241022", "anthropic/claude-3.5-sonnet"],
  "claude-opus-5-5": ["claude-opus-5-5", "anthropic.claude-opus-5-5", "global.anthropic.claude-opus-5-5-v1"],
  "gpt-4o-mini": ["gpt-4o-mini", "gpt-4o-mini-2024-07-18", "ft:gpt-4o-mini-2024-07-18:org::id", "openai/gpt-4o-mini"],
  "gpt-4": ["gpt-4-0613", "gpt-4-1106-preview"],
  "gpt-5.6-sol": ["gpt-5.6-sol", "openai/gpt-5.6-sol"],
  "gemini-2.5-flash": ["models/gemini-2.5-flash-preview-05-20", "google/gemini-2.5-flash"],
  "gemini-3-pro": ["gemini-3-pro-preview", "gemini-3-pro-preview-customtools"],
  "gemini-2.0-flash": ["gemini-2.0-flash-001", "gemini-2.0-flash-exp"],
  "deepseek-v4-pro": ["deepseek-v4-pro", "deepseek/deepseek-v4-pro"],
  "deepseek-v3": ["deepseek-v3-0324"],
  "kimi-k2": ["kimi-k2-0905-preview", "moonshotai/kimi-k2"],
  "kimi-k3": ["kimi-k3"],
  "command-r": ["command-r-08-2024"],
  "gpt-oss": ["gpt-oss:20b", "openai/gpt-oss:120b"],
  "my own model": [" My own model "],
  draft: ["draft:7b"],
  claude: ["claude-v2", "claude-0", "claude-latest-v1"],
  x: ["x-001", "x-12-31", "x-10-2024", "x-01-00", "x-20991231", "x-beta", "x-experimental-latest", "us-gov.meta.x"]
}

describe("the family of a model", () => {
  it("is the same for all names of one model, and of an unknown model its name", () => {
    for (const [family, names] of Object.entries(families)) {
      for (const name of names) assert.strictEqual(familyOf(name), family, name)
    }
  })

  it("keeps what is no date, no stage, no version and no vendor", () => {
    const names =
      "claude-3-0-opus claude-v2-1-opus claude-opus-10 claude-v10 x-0 x-v1 x.1 x-13-05 x-00-05 x-5-05 x-05-45 x-05-5 " +
      "x-05-050 x-19-05 x-10-19999 x-19991231 x-202512311 x-12345 x-123 x-012 x-0a1 x-latest-y x-betas xbeta " +
      "toolongname.meta.x a.meta.x my.own.meta.x 1a.meta.x metal.x meta"
    for (const name of names.split(" ")) {
      assert.strictEqual(familyOf(name), name)
    }
  })

  it("differs between the models of one vendor", () => {
    const names = ["claude-opus-5", "claude-opus-5-5", "claude-sonnet-5", "claude-haiku-5-5", "claude-fable-5-1"]
    assert.strictEqual(new Set(names.map(familyOf)).size, names.length)
  })

  it("is found for a long name and for none", () => {
    const long = "-0905".repeat(20_000)
    assert.strictEqual(familyOf(`x${long}`), "x")
    assert.strictEqual(familyOf(""), "")
  })
})
