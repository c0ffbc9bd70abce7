/** Names of models in what users read are those of one module, which can be changed at once. */
import { assert, describe, it } from "vitest"
import { current, gone, namesIn, quoted, renewed, texts } from "../../scripts/modelNames.ts"

describe("names of models in pages, examples and doc comments", () => {
  it("are in `scripts/modelNames.ts`; `npm run models` replaces those that are gone [P1410]", () => {
    const unlisted = texts().flatMap(({ path, text }) =>
      namesIn(text)
        .filter((name) => !Object.hasOwn(current, name) && !quoted.has(name))
        .map((name) => `${path}: ${name}`)
    )
    assert.deepStrictEqual(unlisted, [])
  })

  it("are all used, and those that are gone have a successor of today", () => {
    const used = new Set(texts().flatMap(({ text }) => namesIn(text)))
    assert.deepStrictEqual(
      [...Object.keys(current), ...quoted].filter((name) => !used.has(name)),
      []
    )
    for (const { to } of Object.values(gone)) assert.property(current, to)
    for (const name of Object.keys(gone)) assert.notProperty(current, name)
  })

  it("are found behind a vendor and before a tag, and replaced without them", () => {
    const text = 'model("kimi-k2"), `openai/gpt-5`, "moonshotai/kimi-k2:free", \'qwen3:4b\', "kimi", "gemini-content"'
    assert.deepStrictEqual(namesIn(text), ["kimi-k2", "gpt-5", "kimi-k2", "qwen3"])
    assert.include(renewed(text), 'model("kimi-k3"), `openai/gpt-5`, "moonshotai/kimi-k3:free"')
  })
})
