/** Modules that are named on the command line. */
import * as NodeFileSystem from "@effect/platform-node-shared/NodeFileSystem"
import * as NodePath from "@effect/platform-node-shared/NodePath"
import { assert, it } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import { mkdirSync } from "node:fs"
import { coreOf, load, parse, valueAt } from "../../../packages/view/src/cli/loading.ts"
import { folderOfTests } from "./_support/playing.ts"

const { file, newFolder } = folderOfTests()
const services = Layer.merge(NodeFileSystem.layer, NodePath.layer)

it.effect("a module that goes on waiting is given up after a minute [P1252]", () =>
  Effect.gen(function* () {
    const begun = Promise.withResolvers<void>()
    Object.assign(globalThis, { begunToLoad: begun.resolve })
    const path = file("waiting.ts", "globalThis.begunToLoad()\nawait new Promise(() => undefined)\n")
    const loading = yield* Effect.forkChild(Effect.flip(load(path)))
    yield* Effect.promise(() => begun.promise)
    yield* TestClock.adjust("59 seconds")
    assert.isUndefined(loading.pollUnsafe())
    yield* TestClock.adjust("1 second")
    assert.match((yield* Fiber.join(loading)).message, /waiting\.ts: it has not ended its loading within a minute$/)
  }).pipe(Effect.provide(services))
)

it.effect("a name follows the first # behind the name of a file, which may have one too [P1238]", () =>
  Effect.gen(function* () {
    const { file, folder } = newFolder()
    const [plain, hash] = [file("plain.js", ""), file("c#.js", "")]
    for (const [given, expected] of [
      [plain, [plain, undefined]],
      [hash, [hash, undefined]],
      [`${plain}#a`, [plain, "a"]],
      [`${plain}#weird # name`, [plain, "weird # name"]],
      [`${plain}#`, [plain, ""]],
      [`${hash}#a#b`, [hash, "a#b"]],
      ["missing.js", ["missing.js", undefined]],
      ["missing#.js#a", ["missing#.js", "a"]]
    ] as const) {
      const { file, name } = yield* parse(given)
      assert.deepStrictEqual([file, name], [...expected])
    }
    // a folder is no file
    mkdirSync(`${folder}/deep`)
    assert.deepStrictEqual(yield* parse(`${folder}/deep#a#b`), { file: `${folder}/deep#a`, name: "b" })
  }).pipe(Effect.provide(services))
)

it("a path leads through fields of objects, and nowhere else [P1238]", () => {
  const exported = { a: { b: undefined, "": 2 }, list: [7] }
  for (const [path, value] of [
    ["a.b", undefined],
    ["a.", 2],
    ["list.0", 7]
  ] as const)
    assert.deepStrictEqual(valueAt(exported, path), [value, true])
  for (const path of ["c", "a.c", "a.b.c", "list.0.a", "toString", "a.constructor", ""])
    assert.deepStrictEqual(valueAt(exported, path), [undefined, false])
  assert.deepStrictEqual(valueAt(null, "a"), [undefined, false])
})

it.effect("a module is executed anew with another query, and its core is the one that it finds [P1252]", () =>
  Effect.gen(function* () {
    const path = file(
      "counted.mjs",
      "globalThis.counted = (globalThis.counted ?? 0) + 1\nexport default globalThis.counted\n"
    )
    const loads = [yield* load(path), yield* load(path), yield* load(path, "?load=2")]
    assert.deepStrictEqual(
      loads.map((exported) => exported["default"]),
      [1, 1, 2]
    )
    assert.isFunction((yield* coreOf(path)).Agent.explain)
    assert.isFunction((yield* coreOf("/none.mjs")).Agent.explain)
  }).pipe(Effect.provide(services))
)
