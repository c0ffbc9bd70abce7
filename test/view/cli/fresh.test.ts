/** Modules that are loaded anew, with the modules that they import. */
import * as NodeFileSystem from "@effect/platform-node-shared/NodeFileSystem"
import * as NodePath from "@effect/platform-node-shared/NodePath"
import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import module, { syncBuiltinESMExports } from "node:module"
import { join, sep } from "node:path"
import { pathToFileURL } from "node:url"
import { afterAll, vi } from "vitest"
import { folderOfTests } from "./_support/playing.ts"

const { newFolder } = folderOfTests()
const services = Layer.merge(NodeFileSystem.layer, NodePath.layer)

afterAll(() => Reflect.deleteProperty(globalThis, "executed"))

// Vitest leaves modules in such a folder to Node
const app = "node_modules/app"

/** A copy of the module, and the hooks that it registers, which the end of the test removes. */
const copied = Effect.acquireRelease(
  Effect.promise(async () => {
    vi.resetModules()
    const hooks = vi.spyOn(module, "registerHooks")
    syncBuiltinESMExports()
    return { hooks, ...(await import("../../../packages/view/src/cli/fresh.ts")) }
  }),
  ({ hooks }) =>
    Effect.sync(() => {
      for (const { type, value } of hooks.mock.results) if (type === "return") value.deregister()
      hooks.mockRestore()
      syncBuiltinESMExports()
    })
)

/** A module that says how often it was executed, and what it imports. */
const counting = (name: string, exported = "") =>
  `const counts = globalThis.executed\nexport const ${name} = (counts.${name} = (counts.${name} ?? 0) + 1)\n${exported}`

it.effect("a module is executed anew with its own modules, and packages are not [P1288]", () =>
  Effect.gen(function* () {
    const { file, folder } = newFolder()
    Object.assign(globalThis, { executed: {} })
    file(
      "node_modules/pack/package.json",
      '{ "name": "pack", "type": "module", "exports": { ".": "./index.js", "./sub.js": "./sub.js" } }'
    )
    file("node_modules/pack/index.js", counting("packed", 'export { inner } from "./inner.js"\n'))
    file("node_modules/pack/inner.js", counting("inner"))
    file("node_modules/pack/sub.js", counting("sub"))
    file(`${app}/near/near.mjs`, counting("near", 'export { far } from "../far/far.mjs"\n'))
    file(`${app}/far/far.mjs`, counting("far"))
    const rooted = file(`${app}/rooted.mjs`, counting("rooted"))
    const addressed = file(`${app}/addressed.mjs`, counting("addressed"))
    const imports = [
      ["near, far", "./near/near.mjs"],
      ["rooted", rooted],
      ["addressed", pathToFileURL(addressed).href],
      ["packed, inner", "pack"],
      ["sub", "pack/sub.js"],
      ["sep", "node:path"]
    ].map(([names, from]) => `export { ${names} } from "${from}"\n`)
    const main = file(`${app}/main.mjs`, counting("main", imports.join("")))
    const { foldersLoaded, hooks, loadFresh } = yield* copied
    const executed = (times: number) =>
      Effect.map(loadFresh(main), (exported) =>
        assert.deepStrictEqual(
          { ...exported },
          {
            main: times,
            near: times,
            far: times,
            rooted: times,
            addressed: times,
            packed: 1,
            inner: 1,
            sub: 1,
            sep
          }
        )
      )
    for (const times of [1, 2, 3]) {
      yield* executed(times)
      // all loads have one hook
      assert.strictEqual(hooks.mock.calls.length, 1)
    }
    assert.deepStrictEqual(foldersLoaded(), [join(folder, app), join(folder, app, "near"), join(folder, app, "far")])
  }).pipe(Effect.provide(services))
)

it.effect("a module that is imported with the number of a load keeps it [P1288]", () =>
  Effect.gen(function* () {
    const { file } = newFolder()
    Object.assign(globalThis, { executed: {} })
    file(`${app}/fixed.mjs`, counting("fixed", 'export { lower } from "./lower.mjs"\n'))
    file(`${app}/lower.mjs`, counting("lower"))
    file(`${app}/also.mjs`, counting("also"))
    file(`${app}/other.mjs`, counting("other"))
    const main = file(
      `${app}/numbered.mjs`,
      `export { fixed, lower } from "./fixed.mjs?load=1234"
export { also } from "./also.mjs?a=b&load=1234"
export { other } from "./other.mjs?load=1234&a=b"
`
    )
    const { loadFresh } = yield* copied
    for (const other of [1, 2])
      assert.deepStrictEqual({ ...(yield* loadFresh(main)) }, { fixed: 1, lower: 1, also: 1, other })
  }).pipe(Effect.provide(services))
)
