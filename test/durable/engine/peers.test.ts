import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, it } from "@effect/vitest"
import { Cause, Effect, Result } from "effect"
import { find, load } from "../../../packages/durable/src/engine/peers.ts"

const defectOf = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.sandbox(effect).pipe(Effect.flip), (cause) => Result.getOrUndefined(Cause.findDefect(cause)))

const needed = { layer: "layerOther", packages: ["@kintsugi/nothing", "effect"] }

it.effect("a package that is not installed is a sentence with the line that installs all of them", () =>
  Effect.gen(function* () {
    const whole = yield* defectOf(find(needed, "@kintsugi/nothing"))
    const part = yield* defectOf(load(needed, "@kintsugi/nothing/Part"))
    for (const defect of [whole, part]) {
      assert(defect instanceof Error && defect.cause instanceof Error)
      assert.include(defect.cause.message, "Cannot find module '@kintsugi/nothing")
      assert.include(
        String(defect),
        "Durable.layerOther needs the package @kintsugi/nothing, which is not installed: npm install @kintsugi/nothing effect"
      )
    }
  })
)

it.effect("a package without the module is another sentence", () =>
  Effect.gen(function* () {
    const defect = yield* defectOf(find(needed, "effect/NoSuchModule"))
    assert.include(String(defect), "Durable.layerOther could not find effect/NoSuchModule in the package effect")
  })
)

it.effect("what is installed is loaded", () =>
  Effect.gen(function* () {
    const { succeed } = yield* load<typeof Effect>(needed, "effect/Effect")
    assert.strictEqual(yield* succeed(1), 1)
  })
)

it.effect("what is installed and cannot be loaded is a sentence with the layer, and has the reason", () =>
  Effect.gen(function* () {
    const folder = yield* Effect.acquireRelease(
      Effect.sync(() => mkdtempSync(join(tmpdir(), "kintsugi-peers-"))),
      (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
    )
    const file = join(folder, "broken.mjs")
    writeFileSync(file, 'throw new Error("it is broken")')
    const defect = yield* defectOf(load(needed, file))
    assert(defect instanceof Error && defect.cause instanceof Error)
    assert.strictEqual(defect.message, `Durable.layerOther could not load ${file}`)
    assert.include(defect.cause.message, "it is broken")
  })
)
