import { analyst } from "@kintsugi/examples/demo/agents"
import { reply } from "@kintsugi/examples/demo/standIn"
import { isObject, mend } from "@kintsugi/examples/demo/standIn/Json"
import { OpenAi, Transport } from "@kintsugi/providers"
import { AnyWire, LoopbackServer } from "@kintsugi/providers/testing"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as fc from "fast-check"
import { expect, it } from "vitest"

/** What happens to JSON on its way through people's hands. */
const accident = fc.record({
  at: fc.nat(),
  what: fc.constantFrom("delete", "insert", "replace", "cut"),
  character: fc.constantFrom(..."{}[],:\"'\\ \nx?/#`()")
})

const happen = (
  text: string,
  { at, character, what }: typeof accident extends fc.Arbitrary<infer A> ? A : never
): string => {
  const position = at % (text.length + 1)
  if (what === "cut") return text.slice(0, Math.max(position, 1))
  return (
    text.slice(0, position) +
    (what === "delete" ? "" : character) +
    text.slice(what === "insert" ? position : position + 1)
  )
}

const key = fc.oneof(fc.string(), fc.constantFrom("json", "under", "depth", "name", "two words", "ERROR", "Corrected"))

const broken = fc
  .record({
    value: fc.dictionary(key, fc.jsonValue({ maxDepth: 3 }), { maxKeys: 5 }),
    indent: fc.constantFrom(0, 2),
    isUnquoted: fc.boolean(),
    accidents: fc.array(accident, { maxLength: 3 })
  })
  .map(({ accidents, indent, isUnquoted, value }) => {
    const text = JSON.stringify(value, null, indent)
    return accidents.reduce(happen, isUnquoted ? text.replace(/"([a-zA-Z]\w*)":/g, "$1: ") : text)
  })

it("the analyst counts the keys of all that the repair library can mend", { timeout: 60_000 }, () => {
  const counting = Effect.gen(function* () {
    const server = yield* LoopbackServer.make(
      AnyWire.handler((request) => Effect.sync(() => reply(request.received.body)))
    )
    const model = OpenAi.layer({ model: "any", apiKey: Redacted.make("any-key"), baseUrl: `${server.url}/v1` })
    const property = fc.asyncProperty(broken, async (text) => {
      const mended = mend(text.trim())?.value
      fc.pre(isObject(mended))
      const counted = analyst(`How many keys? ${text}`).pipe(
        Effect.provide(model),
        Effect.provide(Transport.layerFetch)
      )
      expect(await Effect.runPromise(counted)).toBe(String(Object.keys(mended).length))
    })
    yield* Effect.promise(() => fc.assert(property, { numRuns: 100 }))
  })
  return Effect.runPromise(Effect.scoped(counting))
})
