/** Names of models in what users read are those of one module, which can be changed at once. */
import { assert, describe, it } from "vitest"
import { changed, current, gone, namesIn, quoted, renewed, texts } from "../../scripts/modelNames.ts"

const all = texts()

describe("names of models in pages, changesets, examples, tools and doc comments", () => {
  it("are in `scripts/modelNames.ts`; `npm run models` replaces those that are gone [P1410]", () => {
    const unlisted = all.flatMap(({ path, text }) =>
      namesIn(text)
        .filter((name) => !Object.hasOwn(current, name) && !quoted.has(name))
        .map((name) => `${path}: ${name}`)
    )
    assert.deepStrictEqual(unlisted, [])
    assert.deepStrictEqual(changed(), [])
  })

  it("are all used, and those that are gone have a successor of today [P1410]", () => {
    const used = new Set(all.flatMap(({ text }) => namesIn(text)))
    assert.deepStrictEqual(
      [...Object.keys(current), ...quoted].filter((name) => !used.has(name)),
      []
    )
    for (const { to } of Object.values(gone)) assert.property(current, to)
    for (const name of Object.keys(gone)) assert.notProperty(current, name)
  })

  it("leave no trace where they are gone, whichever it is [P1410]", () => {
    const names = Object.fromEntries(Object.keys(current).map((name) => [name, { to: `${name}-next` }]))
    const files = new Map(changed(names).map(({ path, text }) => [path, text]))
    for (const { path, text } of all) {
      const before = namesIn(text).filter((name) => Object.hasOwn(current, name))
      assert.strictEqual(files.has(path), before.length > 0, path)
      // of a source, the comments alone are read and changed
      const after = new Set(namesIn(path.startsWith("packages/") ? renewed(text, names) : (files.get(path) ?? "")))
      for (const name of before) {
        assert.isFalse(after.has(name), `${path}: ${name}`)
        assert.isTrue(after.has(`${name}-next`), `${path}: ${name}`)
        assert.include(files.get(path), `${name}-next`)
      }
    }
  })

  it("are found and replaced in quotes and without, behind a vendor, before a tag and in the middle of words [P1410]", () => {
    const names = { "kimi-k2": { to: "kimi-k3" }, o3: { to: "o9" }, "codestral-2": { to: "codestral-3" } }
    const cases = {
      'model("kimi-k2"), `openai/o3`': 'model("kimi-k3"), `openai/o9`',
      "Ask moonshotai/kimi-k2:free or kimi-k2.": "Ask moonshotai/kimi-k3:free or kimi-k3.",
      "--model=kimi-k2,codestral-2 'kimi-k2-thinking'": "--model=kimi-k3,codestral-3 'kimi-k2-thinking'",
      '=> "o3 answers (model o3, status 429)"': '=> "o9 answers (model o9, status 429)"',
      "foo3, my-o3, o3-mini, kimi-k2.5, constructor": "foo3, my-o3, o3-mini, kimi-k2.5, constructor"
    }
    for (const [text, expected] of Object.entries(cases)) assert.strictEqual(renewed(text, names), expected)
    assert.deepStrictEqual(namesIn("'qwen3:4b', kimi, o3-mini, `gemini-content`, Kimi K3, sonar-pro, x/gpt-5.6-sol."), [
      "qwen3",
      "o3-mini",
      "sonar-pro",
      "gpt-5.6-sol"
    ])
  })
})
