import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, Layer } from "effect"
import { readFileSync } from "node:fs"
import { join, posix } from "node:path"
import { namesOf } from "../../scripts/exports.ts"
import { root } from "../../scripts/files.ts"
import { sections } from "../../scripts/modules.ts"
import { path, providers, render } from "../../scripts/providers.ts"

describe(path, () => {
  const page = readFileSync(join(root, path), "utf8")

  it("says what the modules of the providers say; `npm run providers` writes it anew [A814]", () => {
    assert.strictEqual(render(page), page)
    for (const [name, { module, title }] of Object.entries(providers)) {
      assert.include(page, `### ${name}\n\n${title}.\n\n- ${module.quirks[0]}`)
      const spoilt = page.replace(`\n- ${module.quirks[0]}`, "")
      assert.notStrictEqual(spoilt, page)
      assert.strictEqual(render(spoilt), page)
    }
  })

  it("has every module with capabilities [A814]", () => {
    const modules = sections
      .filter(({ title }) => title === "@kintsugi/providers")
      .flatMap(({ modules }) => modules)
      .filter(({ path }) => namesOf(path).some(({ name }) => name === "quirks"))
      .map(({ title }) => posix.basename(title))
    assert.sameMembers(Object.keys(providers), modules)
  })

  for (const [name, { key, module }] of Object.entries(providers)) {
    it.effect(`names the key of ${name} [A814]`, () =>
      Effect.gen(function* () {
        const built = yield* Effect.scoped(Layer.build(module.model("m"))).pipe(
          Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromUnknown({})),
          Effect.exit
        )
        assert.strictEqual(built._tag, key === undefined ? "Success" : "Failure")
        assert.include(String(built), key ?? "")
      })
    )
  }
})
