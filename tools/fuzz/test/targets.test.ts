/** The targets of the fuzzer without guidance: they hold on what it begins with, and on some changes to it. */
import { assert, describe, it } from "@effect/vitest"
import { AgentEvent, Snapshot } from "@kintsugi/core"
import { Effect, Schema } from "effect"
import * as fc from "fast-check"
import { failureOf } from "../src/fuzzing.ts"
import { plan } from "../src/drawing.ts"
import { applied, wordsOf } from "../src/mutating.ts"
import { smallest } from "../src/shrinking.ts"
import { targets } from "../src/targets.ts"

describe.each(Object.entries(targets))("fuzzing %s", (_, { check, form, seeds, words }) => {
  it("holds on what it begins with", () => {
    assert.isAbove(seeds.length, 3)
    for (const seed of seeds) check(seed)
  })

  it("holds on some changes to it", { timeout: 60_000 }, () => {
    const material = { inputs: seeds, words: [...words, ...wordsOf(seeds)] }
    fc.assert(
      fc.property(plan(form), (plan) => {
        const input = applied(plan, material)
        if (form === "json") JSON.parse(input)
        check(input)
      })
    )
  })
})

it.effect("fuzzing documents begins with some that are read", () =>
  Effect.gen(function* () {
    const isEvent = Schema.decodeUnknownSync(AgentEvent.AgentEvent)
    const types = new Set(targets["event"]?.seeds.map((seed) => isEvent(JSON.parse(seed)).type))
    assert.isAbove(types.size, 30)
    for (const seed of targets["snapshot"]?.seeds ?? []) yield* Snapshot.fromJson(JSON.parse(seed))
  })
)

it("a failing input is made as small as it still fails", () => {
  const fails = (text: string) => /"b".*7/.test(text)
  assert.strictEqual(smallest('{"a":[1,2,{"b":"long text 17 and more"}],"c":null}', fails), '"b"7')
  assert.strictEqual(
    smallest("one\ntwo 4\nthree", (text) => text.includes("4")),
    "4"
  )
})

it("an input that throws, and one that takes too long, is a failure", () => {
  assert.match(failureOf(() => assert.fail("no"), "x") ?? "", /no/)
  assert.strictEqual(
    failureOf(() => undefined, "x"),
    undefined
  )
})
