import { assert, it } from "@effect/vitest"
import { Recovery } from "@kintsugi/core"
import { Duration, Effect, Option, Schedule, Schema } from "effect"
import { asOfNow, Seen, seenOf } from "../../../packages/core/src/recovery/Position.ts"

it("a position stores the fields of a failure that a schedule may read, if they are valid [P1104]", () => {
  const advice = { isRetryable: false, suggestedDelay: Duration.seconds(2), maxAttempts: 3 }
  const hint = { retryAfter: Duration.seconds(5) }
  assert.deepStrictEqual(seenOf({ _tag: "Busy", message: "busy", ...advice, ...hint }), {
    _tag: "Busy",
    message: "busy",
    ...advice,
    ...hint
  })
  assert.deepStrictEqual(seenOf({ _tag: "Busy", message: "busy", cause: hint }), {
    _tag: "Busy",
    message: "busy",
    ...hint
  })
  const senseless = {
    isRetryable: "no",
    suggestedDelay: Duration.infinity,
    maxAttempts: Infinity,
    retryAfter: Duration.infinity
  }
  assert.deepStrictEqual(seenOf({ _tag: "Busy", message: "busy", ...senseless }), { _tag: "Busy", message: "busy" })
  assert.deepStrictEqual(
    seenOf({ _tag: "Busy", message: "busy", suggestedDelay: 2, maxAttempts: "3", retryAfter: 5 }),
    { _tag: "Busy", message: "busy" }
  )
})

it("a stored failure decodes from JSON as it was encoded, and needs a tag and a message [P1104]", () => {
  const codec = Schema.toCodecJson(Seen)
  const seen: Seen = {
    _tag: "Busy",
    message: "busy",
    isRetryable: true,
    suggestedDelay: Duration.seconds(2),
    maxAttempts: 3,
    retryAfter: Duration.seconds(5)
  }
  const written = JSON.parse(JSON.stringify(Schema.encodeSync(codec)(seen)))
  assert.deepStrictEqual(written, { ...seen, suggestedDelay: 2000, retryAfter: 5000 })
  assert.deepStrictEqual(Schema.decodeUnknownSync(codec)(written), seen)
  const read = Schema.decodeUnknownOption(codec)
  for (const wrong of [{}, { _tag: "Busy" }, { message: "busy" }, { ...written, maxAttempts: "3" }]) {
    assert.isTrue(Option.isNone(read(wrong)))
  }
})

/** Two attempts and a round in, with one step of a schedule. */
const positionWith = (seen: typeof Seen.Type): Recovery.Position => ({
  version: 2,
  attempts: 2,
  repairs: 1,
  startedAt: 1000,
  wakeAt: 3000,
  slots: [
    { row: "Busy", rungs: [], kind: "fix", count: 1, steps: [] },
    { row: "Gone", rungs: [1], kind: "retry", count: 0, steps: [{ at: 1500, seen }] }
  ]
})

it("a position decodes from JSON as it was encoded, and needs all its fields [P1104]", () => {
  const codec = Schema.toCodecJson(Recovery.Position)
  const isPosition = (value: unknown) => Option.isSome(Schema.decodeUnknownOption(codec)(value))
  const seen = { _tag: "Busy", message: "busy", suggestedDelay: Duration.seconds(2) }
  const position = positionWith(seen)
  const written: object = JSON.parse(JSON.stringify(Schema.encodeSync(codec)(position)))
  assert.deepStrictEqual(Schema.decodeUnknownSync(codec)(written), position)
  for (const name of Object.keys(position)) assert.isFalse(isPosition({ ...written, [name]: undefined }), name)
  for (const step of [{ at: 1500 }, { seen: { _tag: "Busy", message: "busy" } }, { at: "now", seen: {} }]) {
    const slot = { row: "Busy", rungs: [], kind: "retry", count: 0, steps: [step] }
    assert.isFalse(isPosition({ ...written, slots: [slot] }), JSON.stringify(step))
  }
})

it("a position restored late counts the downtime as waited [P1104]", () => {
  const seen = { _tag: "Busy", message: "busy" }
  const position = positionWith(seen)
  assert.deepStrictEqual(asOfNow(position, 10_000), {
    ...position,
    startedAt: 8000,
    wakeAt: 10_000,
    slots: [
      { row: "Busy", rungs: [], kind: "fix", count: 1, steps: [] },
      { row: "Gone", rungs: [1], kind: "retry", count: 0, steps: [{ at: 8500, seen }] }
    ]
  })
})

it("a table has a row for each verdict, schedule and handler in it, and no row for an absent one [P1320]", () => {
  const table = { Busy: Recovery.rethrow, Gone: Schedule.forever, Lost: () => Effect.void, orElse: undefined }
  assert.deepStrictEqual([...Recovery.rowsOf(table).keys()], ["Busy", "Gone", "Lost"])
})

it("a row that is anything else is refused, by its key [P1320]", () => {
  for (const row of ["retry", 3, null, {}, [], true, new Date(0)]) {
    assert.throws(() => Recovery.rowsOf({ Busy: Recovery.rethrow, Gone: row }), TypeError, "The row 'Gone' of a table")
  }
})
