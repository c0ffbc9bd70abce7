/**
 * What format 3 is: the names of steps, the keys of calls and the digests of requests. A change of one of them needs a new format in
 * `format.ts`, and a record of the runs of this one (`npm run upgrades`). Do not edit what is expected here, add a format.
 */
import { assert, it } from "@effect/vitest"
import { Approval } from "@kintsugi/core"
import { Durable } from "@kintsugi/durable"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { assertDone, before, quiet } from "./_support/changing.ts"
import { process, watched } from "./_support/engines.ts"
import { call } from "./_support/readingModel.ts"
import { Busy } from "./_support/scenarios.ts"

/** The id of the run, the keys of its calls, and the digest of its request for approval. */
const run = "run-ypzfl1ls05gs3im0v9oat"
const keys = ["e8a92b6f49573e81f70e0d4ade17f939-0", "4ce14b0061196cdfcc52bb780d5c7060-0"] as const
const approval = "bb2164a91a74bd2b93f61706cbae78678d8ce797056b57a264ee5aa429609801"

it.effect("the names of steps, the keys of calls and the digests of requests are those of format 3 [P1712]", () =>
  Effect.gen(function* () {
    const digests = new Map<string, unknown>()
    const { done, layer } = yield* watched(true, undefined, (name, stored) => {
      // cast: what this package stores of a step is nothing or an object
      const { conversationDigest, requestDigest } = (stored ?? {}) as Record<string, unknown>
      if (requestDigest !== undefined) digests.set(name, [requestDigest, conversationDigest])
      return stored
    })
    yield* Effect.gen(function* () {
      let attempts = 0
      const busyOnce = Effect.suspend(() =>
        ++attempts === 1 ? Effect.fail(new Busy({ message: "busy" })) : Effect.succeed("done")
      )
      const clerk = before([[call("look", { id: "A" })], [call("sign", { id: "A" })]], busyOnce)
      yield* process(clerk.durable.layer)
      const id = yield* Durable.start(clerk.durable, { id: "one", input: "go" })
      yield* quiet
      yield* TestClock.adjust("2 hours")
      yield* quiet
      const [request] = clerk.seen.asked
      assert.isDefined(request)
      yield* Durable.decide(clerk.durable, request, Approval.approve)
      yield* quiet
      yield* assertDone(clerk, id)
      assert.deepStrictEqual(done, [
        "begin",
        `${run}/1/model/1`,
        `${run}/1/0/run/1`,
        `${run}/1/0/wait/1/over`,
        `${run}/1/0/run/2`,
        `${run}/2/model/1`,
        `${run}/2/0/grant/1`,
        `${keys[1]}/approval/${approval}/requested`,
        `${keys[1]}/approval/${approval}/over`,
        `${run}/2/0/run/1`,
        `${run}/3/model/1`
      ])
      assert.deepStrictEqual(
        clerk.seen.ran.map(({ key }) => key),
        [keys[0], ...keys]
      )
      assert.deepStrictEqual(Object.fromEntries(digests), {
        [`${run}/1/model/1`]: ["33daed4756831abd71e87ff014b1880a", "a0b150fe915449e30b6fd6863a8acf9b"],
        [`${run}/2/model/1`]: ["19136b5cf169aa3076ffe1ec9e852080", "7ecb92b87ca38303112afd871342ec3c"],
        [`${run}/3/model/1`]: ["0f2481fee95b430a4ba5cff1adda0d05", "ec76e93b646edef8a68770ee2e9f472d"]
      })
    }).pipe(Effect.provide(layer))
  })
)
