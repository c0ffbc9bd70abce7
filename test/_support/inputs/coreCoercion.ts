/** core: coercion. */
import { Result, Schema } from "effect"
import * as Coercion from "../../../packages/core/src/coercion/Coercion.ts"
import * as Issues from "../../../packages/core/src/coercion/Issues.ts"
import { type Growth, PartialJson } from "../../../packages/core/src/coercion/PartialJson.ts"
import { memberOf } from "../../../packages/core/src/coercion/member.ts"
import { endsAs, spelling } from "../../../packages/core/src/coercion/Spelling.ts"
import { madeFrom, unwrapped } from "../../../packages/core/src/coercion/Unwrapped.ts"
import { failingIn, isAbsence, isExtra, isExtraAt, meantAt } from "../../../packages/core/src/coercion/failing.ts"
import { numberOf, quoted, spellingsIn } from "../../../packages/core/src/coercion/number.ts"
import { repair } from "../../../packages/core/src/coercion/repair.ts"
import { misfits, texts, values } from "./data.ts"
import { each, grows, reached, type Table } from "./entry.ts"

/** What the repair of a text looks at, and nothing beyond. */
const repaired = 32 * 1024

/** A text as the arguments of `call_tool`, alone, within one call and within three. */
const passedIn = (text: string): ReadonlyArray<string> => {
  const passed = `{"name":"a","arguments":${JSON.stringify([text])}}`
  return [text, passed, `{"name":"call_tool","arguments":{"name":"call_tool","arguments":${passed}}}`]
}

const decodeFor = (codec: Schema.Codec<unknown, unknown>) => (value: Schema.Json) =>
  Result.mapError(Schema.decodeUnknownResult(codec, { errors: "all" })(value), ({ issue }) => issue)

const wanted = [
  Schema.Array(Schema.Finite),
  Schema.Record(Schema.String, Schema.String),
  Schema.Struct({ a: Schema.optionalKey(Schema.Struct({ b: Schema.Finite })) })
].map(decodeFor)

const passing = (args: string) => ({ type: "tool-call", id: "c", name: "call_tool", arguments: args }) as const

const anything = (): Growth => ({ kind: "whole", decode: (json) => Result.succeed(json) })
const seen = (): Growth => ({ kind: "object", field: () => () => ({ kind: "text" }) })
const listed = (): Growth => ({ kind: "list", item: () => seen })

/** In pieces, looked at a few times, as far as it has come. */
const read = (root: () => Growth, opening: string) => (text: string) => {
  const reader = new PartialJson(root, opening)
  const piece = Math.max(1, text.length >> 4)
  for (let at = 0; at < text.length; at += piece) {
    reader.push(text.slice(at, at + piece))
    void reader.seen
  }
  return reader.isDone
}

const readers = [read(anything, "{"), read(seen, "{"), read(listed, "[")]

export const coreCoercion: Table = {
  "core/src/coercion/Coercion.ts": {
    parse: grows(texts, (text) => [Coercion.parse(text), Coercion.parse(text, Coercion.steps, "list")], repaired),
    decode: grows(values, (value) =>
      wanted.map((decode) => Coercion.decode({ value, text: JSON.stringify(value), changes: [] }, decode))
    ),
    spelled: grows(values, (value) => Coercion.spelled(JSON.stringify(value), () => undefined))
  },
  "core/src/coercion/Issues.ts": {
    issuesOf: grows(misfits, ({ input, issue }) => Issues.issuesOf(issue, input, Coercion.steps))
  },
  "core/src/coercion/PartialJson.ts": { PartialJson: grows(texts, (text) => readers.map((one) => one(text))) },
  "core/src/coercion/Unwrapped.ts": {
    unwrapped: grows(texts, (text) => passedIn(text).map((args) => unwrapped(passing(args))), repaired),
    madeFrom: grows(texts, (text) => passedIn(text).map((args) => madeFrom(passing(args))), repaired),
    ...each(reached, "passedOn")
  },
  "core/src/coercion/Spelling.ts": {
    spelling: grows(texts, (text) => spelling(text)("pay", "shop"), 128),
    endsAs: grows(texts, (text) => endsAs(text, "pay"), 128)
  },
  "core/src/coercion/member.ts": {
    memberOf: grows(values, (value) => memberOf(JSON.stringify({ a: value, b: [value] }), "b"))
  },
  "core/src/coercion/failing.ts": {
    ...each(reached, "Failing"),
    failingIn: grows(misfits, ({ issue }) => failingIn(issue)),
    isAbsence: grows(misfits, ({ input, issue }) => isAbsence(failingIn(issue), input, ["k0"])),
    isExtra: grows(misfits, ({ input, issue }) => isExtra(failingIn(issue), Object(input), "k0")),
    isExtraAt: grows(misfits, ({ input, issue }) => isExtraAt(failingIn(issue), input, ["k0"])),
    meantAt: grows(misfits, ({ input, issue }) => meantAt(failingIn(issue), input, ["k0"]))
  },
  "core/src/coercion/jsonText.ts": each(reached, "parseJson"),
  "core/src/coercion/number.ts": {
    numberOf: grows(texts, numberOf, 32),
    quoted: grows(texts, (text) => quoted(text, (spelled) => spelled.length % 2 === 0)),
    spellingsIn: grows(texts, (text) => spellingsIn([text])),
    ...each(reached, "endOfString", "textOf")
  },
  "core/src/coercion/repair.ts": { repair: grows(texts, repair) }
}
