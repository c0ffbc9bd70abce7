/** Changes to inputs, drawn by fast-check: data, so that a case is known by its seed alone. */
import type { Schema } from "effect"
import * as fc from "fast-check"

type Json = Schema.Json

/** `text`: anything goes. `json`: the input stays JSON. */
export type Form = "text" | "json"

export interface TextChange {
  readonly on: "text" | "lines"
  readonly does: "cut" | "repeat" | "replace" | "insert" | "borrow" | "end"
  /** From 0 to 1, as all places: a share of the text's length. */
  readonly at: number
  readonly to: number
  readonly length: number
  readonly word: number
}

export interface JsonChange {
  readonly on: "json"
  readonly does: "set" | "drop" | "rename" | "add" | "repeat" | "borrow" | "wrap" | "swap" | "edit"
  readonly at: number
  readonly to: number
  readonly value: Json
  readonly word: number
  readonly text: TextChange
}

export type Change = TextChange | JsonChange

/** From which input, and what is changed in it. */
export interface Plan {
  readonly input: number
  readonly other: number
  readonly changes: ReadonlyArray<Change>
}

const share = fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true })
const number = fc.nat(1_000_000)

const textChange = (on: "text" | "lines"): fc.Arbitrary<TextChange> =>
  fc.record({
    on: fc.constant(on),
    does: fc.constantFrom("cut", "repeat", "replace", "insert", "borrow", "end"),
    at: share,
    to: share,
    length: fc.oneof(fc.nat(3), fc.nat(3), fc.nat(60)),
    word: number
  })

const odd: fc.Arbitrary<Json> = fc.oneof(
  fc.constantFrom<Json>(null, true, false, "", [], {}, 0, -1, 1, 0.5, 1e300, -1e300, 2 ** 53, 429, 1e-7),
  fc.constantFrom<Json>(
    "null",
    "[]",
    "{}",
    "NaN",
    "Infinity",
    "0",
    "-1",
    "1e999",
    "\u0000",
    "\ud800",
    "\u2028",
    "__proto__"
  ),
  fc.array(fc.nat(0xff_ff), { maxLength: 12 }).map((codes) => String.fromCharCode(...codes)),
  fc.integer()
)

const jsonChange: fc.Arbitrary<JsonChange> = fc.record({
  on: fc.constant("json" as const),
  does: fc.constantFrom("set", "set", "drop", "rename", "add", "repeat", "borrow", "wrap", "swap", "edit"),
  at: share,
  to: share,
  value: odd,
  word: number,
  text: textChange("text")
})

/** A few changes to one input. */
export const plan = (form: Form): fc.Arbitrary<Plan> => {
  const change: fc.Arbitrary<Change> =
    form === "json" ? jsonChange : fc.oneof(textChange("text"), textChange("lines"), jsonChange, jsonChange)
  return fc.record({
    input: number,
    other: number,
    changes: fc.array(change, { minLength: 1, maxLength: 6, size: "max" })
  })
}
