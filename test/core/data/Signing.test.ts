import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { refusalOf, signatureOf, type Signer, Signing } from "../../../packages/core/src/data/Signing.ts"

/** A signer whose code is the text itself. */
const signer = (acceptUnsignedUntil?: number): Signer => ({
  sign: (text) => Effect.succeed({ key: "k", mac: text }),
  verify: (text, { key, mac }) =>
    Effect.succeed(key !== "k" ? "unknown-key" : mac === text ? "valid" : "bad-signature"),
  ...(acceptUnsignedUntil === undefined ? {} : { acceptUnsignedUntil })
})

it.effect("a signature is for one kind, one audience and one document", () =>
  Effect.gen(function* () {
    const document = { b: 1, a: [null] }
    const signature = yield* signatureOf("snapshot", document, { tenant: "t" })
    assert.deepStrictEqual(signature, {
      key: "k",
      mac: '{"audience":{"tenant":"t"},"document":{"a":[null],"b":1},"signed":"@kintsugi/core/snapshot/1"}'
    })
    assert.deepStrictEqual(
      [
        yield* refusalOf("snapshot", { a: [null], b: 1 }, signature, { tenant: "t" }),
        yield* refusalOf("decision", document, signature, { tenant: "t" }),
        yield* refusalOf("snapshot", document, signature, { tenant: "u" }),
        yield* refusalOf("snapshot", document, signature),
        yield* refusalOf("snapshot", { ...document, b: 2 }, signature, { tenant: "t" }),
        yield* refusalOf("snapshot", document, { key: "other", mac: "" }, { tenant: "t" })
      ],
      [undefined, "bad-signature", "bad-signature", "bad-signature", "bad-signature", "unknown-key"]
    )
    // what is no JSON may be written as the JSON of another value
    const list = yield* signatureOf("token", [null])
    assert.deepStrictEqual(
      [yield* refusalOf("token", [null], list), yield* refusalOf("token", [Number.NaN], list)],
      [undefined, "bad-signature"]
    )
  }).pipe(Effect.provideService(Signing, signer()))
)

it.effect("a document without a signature is read without a signer, and until a time with one", () =>
  Effect.gen(function* () {
    const refusal = (signing: Signer | undefined) =>
      Effect.provideService(refusalOf("token", "t", undefined), Signing, signing)
    yield* TestClock.setTime(9)
    const early = [undefined, signer(), signer(10), signer(9)].map(refusal)
    assert.deepStrictEqual(yield* Effect.all(early), [undefined, "unsigned", undefined, "unsigned"])
    yield* TestClock.setTime(10)
    assert.strictEqual(yield* refusal(signer(10)), "unsigned")
    const signed = refusalOf("token", "t", { key: "k", mac: "t" })
    assert.strictEqual(yield* Effect.provideService(signed, Signing, undefined), "unknown-key")
    assert.isUndefined(yield* Effect.provideService(signatureOf("token", "t"), Signing, undefined))
  })
)
