/** Where runs that wait are stored: in documents of their subject, also of one with a long name. */
import { assert, it } from "@effect/vitest"
import { Conversations } from "@kintsugi/durable"
import * as DurableRuns from "@kintsugi/interop/DurableRuns"
import { Context, Effect, Layer } from "effect"
import { SuspendedRuns } from "../../../packages/interop/src/proxy/suspended.ts"

const run = { asked: "what?", snapshot: { at: 1 }, repeat: false }

it.effect("are those of the agent and the subject, or of a hash if an id of the store cannot have them [P1850]", () =>
  Effect.gen(function* () {
    const context = yield* Layer.build(Layer.provideMerge(DurableRuns.layerSuspended, Conversations.layerMemory()))
    const runs = Context.get(context, SuspendedRuns)
    const { documents } = Context.get(context, Conversations.Conversations)
    const around = JSON.stringify(["desk", ""]).length
    for (const [subject, isPlain] of [
      ["bob", true],
      ["b".repeat(240 - around), true],
      ["b".repeat(241 - around), false],
      ["b\u007F", false]
    ] as const) {
      const key = { agent: "desk", subject, run: "r" }
      yield* runs.put(key, run)
      const owner = `runs/${JSON.stringify(["desk", subject])}`
      assert.deepStrictEqual(
        yield* documents.all({ owner, kind: "suspended" }),
        isPlain ? [{ name: "r", value: run }] : []
      )
      assert.deepStrictEqual(yield* runs.get(key), run)
      assert.deepStrictEqual(yield* runs.list(key), [{ ...run, run: "r" }])
      assert.isUndefined(yield* runs.get({ ...key, subject: `${subject}x` }))
      yield* runs.remove(key)
      assert.isUndefined(yield* runs.get(key))
    }
  })
)
