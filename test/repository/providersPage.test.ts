import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, Layer } from "effect"
import { readFileSync } from "node:fs"
import { join, posix } from "node:path"
import { namesOf } from "../../scripts/exports.ts"
import { root } from "../../scripts/files.ts"
import { sections } from "../../scripts/modules.ts"
import { notes, path, providers, render } from "../../scripts/providers.ts"

describe(path, () => {
  const page = readFileSync(join(root, path), "utf8")

  it("has the capabilities that the modules have; `npm run providers` writes them anew [A814]", () => {
    assert.strictEqual(render(page), page)
    for (const name of Object.keys(providers)) {
      const spoilt = page.replace(`\n| [\`${name}\`](${notes}#${name.toLowerCase()})`, "")
      assert.notStrictEqual(spoilt, page)
      assert.strictEqual(render(spoilt), page)
    }
  })

  it("has a section with notes for every provider, on a page of their own [A814]", () => {
    const page = readFileSync(join(root, posix.dirname(path), notes), "utf8")
    for (const name of Object.keys(providers)) assert.include(page, `### ${name}\n\n- `)
  })

  it("has every module with a model by its name; other hosts have a page of their own [A814]", () => {
    const modules = sections
      .filter(({ title }) => title === "@kintsugi/providers")
      .flatMap(({ modules }) => modules)
      .filter(({ path }) => path.includes("/service/") && namesOf(path).some(({ name }) => name === "model"))
      .map(({ title }) => posix.basename(title))
    assert.sameMembers([...Object.keys(providers), "OpenAiCompatible"], [...modules, "OpenAiResponses"])
  })

  for (const [name, { key, model }] of Object.entries(providers)) {
    it.effect(`names the key of ${name} [A814]`, () =>
      Effect.gen(function* () {
        const built = yield* Effect.scoped(Layer.build(model("m"))).pipe(
          Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromUnknown({})),
          Effect.exit
        )
        assert.strictEqual(built._tag, key === undefined ? "Success" : "Failure")
        assert.include(String(built), key ?? "")
      })
    )
  }
})
