import { assert, it } from "@effect/vitest"
import * as ErrorCause from "../../../packages/core/src/data/ErrorCause.ts"

const { kindOf, sayingOf, tagOf, trimmed } = ErrorCause

it("the message of any value, and of the cause beneath a message that says nothing", () => {
  const refused = new Error("refused")
  const generic = (message: string, cause: unknown = refused) => new Error(message, { cause })
  const cases: ReadonlyArray<readonly [unknown, string]> = [
    [undefined, ""],
    [null, ""],
    ["text", "text"],
    [5, "5"],
    [false, "false"],
    [{}, ""],
    [{ message: 5 }, ""],
    [refused, "refused"],
    [generic("fetch failed"), "fetch failed: refused"],
    [new Error("fetch failed"), "fetch failed"],
    [generic("fetch failed once"), "fetch failed once"],
    [generic("An error occurred in Effect.tryPromise"), "refused"],
    [generic("An error occurred in Effect.try Promise"), "An error occurred in Effect.try Promise"],
    [generic("So: An error occurred in Effect.try"), "So: An error occurred in Effect.try"],
    // an empty message has its members alone
    [generic(""), ""],
    [new AggregateError([refused, refused, new Error("late")], ""), "refused; late"],
    [
      new AggregateError(
        ["1", "2", "3", "4"].map((said) => new Error(said)),
        ""
      ),
      "1; 2; 3"
    ],
    [new AggregateError([new Error(""), new AggregateError([refused], "")], "fetch failed"), "fetch failed: refused"]
  ]
  for (const [value, message] of cases) assert.strictEqual(ErrorCause.messageOf(value), message)
  let deep: Error = refused
  for (let level = 0; level < 5; level++) deep = new Error("An error occurred in Effect.try", { cause: deep })
  assert.strictEqual(ErrorCause.messageOf(deep), "refused")
  const deeper = new Error("An error occurred in Effect.try", { cause: deep })
  assert.strictEqual(ErrorCause.messageOf(deeper), "An error occurred in Effect.try")
})

it("a summary has the name, the message and the code of a value", () => {
  const named = (fields: object) => Object.assign(new Error("m"), fields)
  const cases: ReadonlyArray<readonly [unknown, object]> = [
    [undefined, { name: "undefined", message: "" }],
    [null, { name: "object", message: "" }],
    ["text", { name: "string", message: "text" }],
    [() => 5, { name: "function", message: String(() => 5) }],
    [new TypeError("m"), { name: "TypeError", message: "m" }],
    [named({ name: "" }), { name: "Error", message: "m" }],
    [named({ name: 5 }), { name: "Error", message: "m" }],
    [named({ _tag: "Busy", name: "Other" }), { name: "Busy", message: "m" }],
    [named({ code: "E1" }), { name: "Error", message: "m", code: "E1" }],
    [named({ code: 404 }), { name: "Error", message: "m", code: "404" }],
    [named({ code: true }), { name: "Error", message: "m" }]
  ]
  for (const [value, summary] of cases) assert.deepStrictEqual(ErrorCause.summarise(value), summary)
})

it("a failure read from a wire has a code only if the wire had one", () => {
  const { ForeignError } = ErrorCause
  const bare = new ForeignError({ name: "N", message: "m" })
  assert.deepStrictEqual([bare.name, bare.message, Object.keys(bare)], ["N", "m", ["name"]])
  const coded = new ForeignError({ name: "N", message: "m", code: "E1" })
  assert.deepStrictEqual([coded.code, Object.keys(coded)], ["E1", ["name", "code"]])
})

it("a failure without a message is described by its kind", () => {
  const tagged = { _tag: "Busy", message: " " }
  assert.deepStrictEqual([tagOf(tagged), tagOf({}), tagOf("x")], ["Busy", "object", "string"])
  assert.deepStrictEqual([sayingOf(tagged), sayingOf(new Error("word"))], ["Busy", "word"])
  assert.deepStrictEqual([undefined, null, "", 5, new TypeError("")].map(kindOf), [
    "it does not say why",
    "it does not say why",
    "it does not say why",
    "number",
    "TypeError"
  ])
})

it("a text is cut between two characters, and trimmed of its full stops", () => {
  assert.strictEqual(ErrorCause.cut("abc", 3), "abc")
  assert.strictEqual(ErrorCause.cut("abcd", 3), "abc…")
  assert.strictEqual(ErrorCause.cut("ab😀", 3), "ab…")
  assert.strictEqual(ErrorCause.cut("a😀b", 3), "a😀…")
  assert.deepStrictEqual([" a. b.. ", "...", "", "a"].map(trimmed), ["a. b", "", "", "a"])
})
