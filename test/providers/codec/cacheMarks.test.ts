/** Which fields and marks of a cache go out. */
import { assert, describe, it } from "@effect/vitest"
import { Message } from "@kintsugi/core"
import * as CacheMarks from "../../../packages/providers/src/codec/cacheMarks.ts"

describe("a mark behind the instructions", () => {
  it("is only there if the options ask for it", () => {
    assert.isTrue(CacheMarks.isMarked({ breakpoints: ["system"] }))
    assert.isFalse(CacheMarks.isMarked({ breakpoints: [] }))
    assert.isFalse(CacheMarks.isMarked({ key: "k" }))
    assert.isFalse(CacheMarks.isMarked(undefined))
  })

  it("is at the last instruction before the conversation", () => {
    const [system, empty, user] = [Message.system("Be brief."), Message.system(""), Message.user("hi")]
    const lastOf = (...messages: Message.Transcript) => CacheMarks.lastInstruction(messages)
    assert.strictEqual(lastOf(system), 0)
    assert.strictEqual(lastOf(system, system), 1)
    assert.strictEqual(lastOf(empty, system, user, system), 1)
    assert.strictEqual(lastOf(system, user, user), 0)
    for (const none of [[], [user], [user, system], [empty], [system, empty], [system, empty, user]]) {
      assert.strictEqual(lastOf(...none), -1, JSON.stringify(none))
    }
  })
})

it("the time of a cache is a retention or an option, by its value", () => {
  const of = (cache: Parameters<typeof CacheMarks.cacheFields>[0]) =>
    JSON.parse(JSON.stringify(CacheMarks.cacheFields(cache)))
  assert.deepStrictEqual(of(undefined), {})
  assert.deepStrictEqual(of({ key: "k" }), { prompt_cache_key: "k" })
  for (const ttl of ["in_memory", "24h"] as const) assert.deepStrictEqual(of({ ttl }), { prompt_cache_retention: ttl })
  for (const ttl of ["30m", "12h"] as const) assert.deepStrictEqual(of({ ttl }), { prompt_cache_options: { ttl } })
  assert.deepStrictEqual(
    ["in_memory", "24h", "30m", undefined].map((ttl) => CacheMarks.isRetention(ttl)),
    [true, true, false, false]
  )
})
