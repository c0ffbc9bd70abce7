/** Modules that are named on the command line. */
import * as NodeFileSystem from "@effect/platform-node-shared/NodeFileSystem"
import * as NodePath from "@effect/platform-node-shared/NodePath"
import { assert, it } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import { load } from "../../../packages/view/src/cli/loading.ts"
import { folderOfTests } from "./_support/playing.ts"

const { file } = folderOfTests()

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
  }).pipe(Effect.provide(Layer.merge(NodeFileSystem.layer, NodePath.layer)))
)
