/** Messages of MCP servers that are not answers. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, PubSub } from "effect"
import * as Notices from "../../../packages/interop/src/mcp/notices.ts"

/** A receiver, and how many changes it has reported. */
const receiving = Effect.gen(function* () {
  const seen = { changes: 0 }
  const notices = yield* Notices.make(() => void seen.changes++)
  const hear = (message: object) => notices.hear(JSON.stringify(message))
  return { ...notices, hearText: notices.hear, hear, seen }
})

describe("progress", () => {
  const progress = (params: object) => ({ method: "notifications/progress", params })

  it.effect("is that of the call with its token, until that is forgotten", () =>
    Effect.gen(function* () {
      const { expect, forget, hear } = yield* receiving
      const heard: Array<unknown> = []
      const listening = (name: string) =>
        Effect.provideService(expect, Notices.OnProgress, (one) => Effect.sync(() => heard.push([name, one])))
      assert.isUndefined(yield* expect)
      const [one, two] = [yield* listening("one"), yield* listening("two")]
      assert.deepStrictEqual([one, two], [1, 2])
      yield* hear(progress({ progressToken: 2, progress: 0.5, total: 3, message: "so", more: 1 }))
      yield* hear(progress({ progressToken: 1, progress: 0, total: "3", message: 5 }))
      for (const odd of [
        { progressToken: "1", progress: 1 },
        { progressToken: 3, progress: 1 },
        { progressToken: 1 },
        {}
      ])
        yield* hear(progress(odd))
      yield* hear({ method: "notifications/progress" })
      yield* hear({ method: "notifications/other", params: { progressToken: 1, progress: 1 } })
      forget(1)
      yield* hear(progress({ progressToken: 1, progress: 1 }))
      assert.deepStrictEqual(heard, [
        ["two", { progress: 0.5, total: 3, message: "so" }],
        ["one", { progress: 0 }]
      ])
    })
  )
})

describe("a change of the tools", () => {
  it.effect("is reported, and published to subscribers, the last one at least", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const { changes, hear, hearText, seen } = yield* receiving
        const subscription = yield* PubSub.subscribe(changes)
        const changed = { jsonrpc: "2.0", method: "notifications/tools/list_changed" }
        yield* hear(changed)
        yield* hear(changed)
        assert.strictEqual(seen.changes, 2)
        assert.lengthOf(yield* PubSub.takeAll(subscription), 1)
        for (const other of [
          { ...changed, id: 1 },
          { ...changed, method: 5 },
          { ...changed, method: "tools/list_changed" },
          [changed]
        ])
          yield* hear(other)
        for (const text of [
          "",
          "null",
          '"notifications/tools/list_changed"',
          '{"method":"notifications/tools/list_changed"'
        ])
          yield* hearText(text)
        assert.strictEqual(seen.changes, 2)
      })
    )
  )
})

describe("a request of the server", () => {
  const request = (method: string) => ({ id: 1, method, params: {} })

  it.effect("belongs to the call in which it comes, or to the only one", () =>
    Effect.gen(function* () {
      const { hear, inCall } = yield* receiving
      const [one, two] = [new Notices.Requested(), new Notices.Requested()]
      // outside of any call
      yield* hear(request("roots/list"))
      yield* inCall(one, hear(request("sampling/createMessage")))
      // within a call, but not of its fiber
      yield* inCall(one, Effect.provideService(hear(request("elicitation/create")), Notices.InCall, undefined))
      yield* inCall(one, inCall(two, hear(request("roots/list"))))
      yield* inCall(one, inCall(two, Effect.provideService(hear(request("roots/x")), Notices.InCall, undefined)))
      yield* hear(request("roots/list"))
      assert.deepStrictEqual(
        [one.methods, two.methods],
        [["sampling/createMessage", "elicitation/create"], ["roots/list"]]
      )
    })
  )

  it.effect("ends with its call, also if that fails", () =>
    Effect.gen(function* () {
      const { hear, inCall } = yield* receiving
      const [one, two] = [new Notices.Requested(), new Notices.Requested()]
      yield* Effect.flip(inCall(one, Effect.fail("no")))
      const outside = Effect.provideService(hear(request("roots/list")), Notices.InCall, undefined)
      yield* inCall(two, outside)
      assert.deepStrictEqual([one.methods, two.methods], [[], ["roots/list"]])
    })
  )

  it("is remembered by its method, once, for eight methods", () => {
    const requested = new Notices.Requested()
    for (const method of [5, "a", "a", undefined, ..."bcdefghi"]) requested.add(method)
    assert.deepStrictEqual(requested.methods, [..."abcdefgh"])
  })
})
