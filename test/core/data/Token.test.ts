import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { type Signer, Signing } from "../../../packages/core/src/data/Signing.ts"
import * as Token from "../../../packages/core/src/data/Token.ts"

const bound: Token.Bound = { runId: "r", key: "r/1/0", tool: "pay_bill", definition: "d", draw: "7", store: "a.b c" }

const signer: Signer = {
  sign: (text) => Effect.succeed({ key: "k.1", mac: `mac of ${text.length}` }),
  verify: (text, { mac }) => Effect.succeed(mac === `mac of ${text.length}` ? "valid" : "bad-signature")
}

it.effect("a token has the parts that it is bound to, and a digest of 128 bits [P1521]", () =>
  Effect.gen(function* () {
    const token = yield* Token.make(bound)
    const parts = Token.partsOf(token)
    assert.match(token, /^pay_bill\.d\.7\.a%2Eb%20c\.[\da-f]{32}$/)
    const { key: _key, runId: _runId, ...named } = bound
    assert.deepStrictEqual(parts, { ...named, digest: token.slice(-32) })
    assert.isTrue(yield* Token.isBound(token, bound))
    for (const other of [{ key: "r/1/1" }, { runId: "s" }])
      assert.isFalse(yield* Token.isBound(token, { ...bound, ...other }))
    assert.match(yield* Token.definitionOf("look", { type: "object" }), /^[\da-f]{32}$/)
    assert.isTrue(yield* Token.isGenuine(token))
  })
)

it.effect("a text with another number of parts, or with parts that cannot be read, is no token [P1521]", () =>
  Effect.gen(function* () {
    for (const text of ["", "a", "a.b.c.d", "a.b.c.d.e.f", "a.b.c.d.e.f.g.h", "a.b.c.d.%"]) {
      assert.isUndefined(Token.partsOf(text), text)
      assert.isFalse(yield* Token.isBound(text, bound), text)
    }
    const parts = { tool: "a", definition: "b", draw: "c", store: "", digest: "e" }
    assert.deepStrictEqual([Token.partsOf("a.b.c..e"), Token.partsOf("a.b.c..e.f.g")], [parts, parts])
  })
)

it.effect("a signer signs the content of a token, and accepts no other [P1521]", () =>
  Effect.gen(function* () {
    const token = yield* Token.make(bound)
    assert.strictEqual(token.split(".").length, 7)
    assert.isTrue(yield* Token.isBound(token, bound))
    const unsigned = token.split(".").slice(0, 5).join(".")
    const longer = token.replace(".7.", ".77.")
    assert.deepStrictEqual(
      [
        yield* Token.isGenuine(token),
        yield* Token.isGenuine(unsigned),
        yield* Token.isGenuine(longer),
        yield* Token.isGenuine("a")
      ],
      [true, false, false, false]
    )
  }).pipe(Effect.provideService(Signing, signer))
)
