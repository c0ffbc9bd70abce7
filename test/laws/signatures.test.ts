/** Signed documents: what was changed in any byte counts no more. */
import { assert, it } from "@effect/vitest"
import { Approval, Snapshot } from "@kintsugi/core"
import * as DoorError from "@kintsugi/core/DoorError"
import { ScriptedModel } from "@kintsugi/core/testing"
import { SnapshotKeys } from "@kintsugi/durable"
import { Effect, Exit, Redacted, Schema } from "effect"
import { TestClock } from "effect/testing"
import fc from "fast-check"
import { agentWith } from "../_support/dialogue.ts"
import { law } from "../_support/laws.ts"
import { outcomeOf, paying } from "../_support/suspension.ts"

const { call, calls, make } = ScriptedModel

interface Document {
  readonly input: string
  readonly cents: ReadonlyArray<number>
  readonly audience: { readonly user: string } | undefined
  readonly is: "snapshot" | "decision"
}

const document: fc.Arbitrary<Document> = fc.record({
  input: fc.string({ unit: "grapheme", maxLength: 20 }),
  cents: fc.array(fc.integer(), { minLength: 1, maxLength: 2 }),
  audience: fc.option(fc.record({ user: fc.string({ maxLength: 8 }) }), { nil: undefined }),
  is: fc.constantFrom("snapshot", "snapshot", "decision")
})

const keys = SnapshotKeys.layer({
  keys: [
    { id: "new", secret: Redacted.make("n".repeat(32)) },
    { id: "old", secret: Redacted.make("o".repeat(32)) }
  ]
})

/** The text of a signed document, and how a reader reads such a text: with what it says, or with a refusal. */
const signedOf = ({ audience, cents, input, is }: Document) =>
  Effect.gen(function* () {
    const { tool } = paying()
    const requests = cents.map((one, index) => call("pay", { cents: one }, `c${index}`))
    const model = yield* make(calls(...requests))
    const outcome = yield* Effect.orDie(outcomeOf(agentWith(tool), input, model))
    assert(outcome._tag === "Suspended")
    const options = audience === undefined ? {} : { audience }
    if (is === "snapshot") {
      const text = JSON.stringify(yield* Snapshot.sign(outcome.snapshot, options))
      return { text, read: (value: unknown) => Snapshot.fromJson(value, options) as Effect.Effect<unknown, unknown> }
    }
    const [digest = ""] = Snapshot.requestsOf(outcome.snapshot).map((request) => request.digest)
    const decision = Approval.approveWith({ cents: cents[0] ?? 0, note: input })
    const text = JSON.stringify(yield* Snapshot.signDecision({ digest, decision }, options))
    const decided = Schema.decodeUnknownEffect(Schema.toCodecJson(Approval.Decided))
    return {
      text,
      read: (value: unknown): Effect.Effect<unknown, unknown> =>
        Effect.flatMap(decided(value), (one) => Snapshot.verifyDecision(one, options))
    }
  })

/** A text whose bytes are these, but one bit of one of them is another; `undefined` where that is no JSON. */
const flipped = (bytes: Uint8Array, at: number, bit: number): unknown => {
  const copy = bytes.slice()
  copy[at] = (copy[at] ?? 0) ^ (1 << bit)
  try {
    return JSON.parse(new TextDecoder().decode(copy))
  } catch {
    return undefined
  }
}

/** Flips these bytes, one after the other. Says how many flips left JSON, which alone a signature has to refuse. */
const refusing = (document: Document, bit: number, isTried: (at: number) => boolean) =>
  Effect.gen(function* () {
    const { read, text } = yield* signedOf(document)
    yield* read(JSON.parse(text))
    const bytes = new TextEncoder().encode(text)
    let tried = 0
    for (let at = 0; at < bytes.length; at++) {
      if (!isTried(at)) continue
      const forged = flipped(bytes, at, bit)
      if (forged === undefined) continue
      tried++
      const exit = yield* Effect.exit(read(forged))
      const about = `bit ${bit} of byte ${at} of ${text}`
      assert(Exit.isFailure(exit), `it is not refused: ${about}`)
      const error = yield* Effect.flip(exit)
      assert.isTrue(error instanceof DoorError.SnapshotRefusedError || Schema.isSchemaError(error), about)
    }
    return tried
  }).pipe(Effect.scoped, Effect.provide(TestClock.layer()), Effect.provide(keys))

/** Of each document some bytes are flipped: all of them are by all cases. */
const stride = 61

law(
  "a signed document is read as it was signed, and refused if any bit of any byte is another [L1105 P1363 P1505]",
  fc.record({ document, bit: fc.nat(7), from: fc.noBias(fc.nat(stride - 1)) }),
  ({ bit, document, from }) => refusing(document, bit, (at) => at % stride === from)
)

it.effect("each byte of a document flipped once is refused, all of them [L1105 P1363]", () =>
  Effect.gen(function* () {
    const audience = { user: "ada" }
    for (const is of ["snapshot", "decision"] as const) {
      const tried = yield* refusing({ input: "gö", cents: [5], audience, is }, 0, () => true)
      assert.isAbove(tried, is === "snapshot" ? 800 : 150)
    }
  })
)
