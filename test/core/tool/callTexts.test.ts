/** Texts and records of calls: their arguments, results and answers. */
import { assert, it } from "@effect/vitest"
import { type Message, Tool, ToolError } from "@kintsugi/core"
import { Exit, Schema } from "effect"
import { rawText, writtenWith } from "../../../packages/core/src/tool/call.ts"
import { asResult } from "../../../packages/core/src/tool/fixing.ts"
import { textOf } from "../../../packages/core/src/tool/run.ts"
import { recordOf } from "../../../packages/core/src/tool/Toolset.ts"

const callWith = (args: Message.ToolCall["arguments"]): Message.ToolCall => ({
  type: "tool-call",
  id: "c1",
  name: "look",
  arguments: args
})

it("arguments as text are what the model wrote, or the JSON of it, and none are empty", () => {
  assert.deepStrictEqual(["{", '{"n":1}', { n: 1 }, [1], 5, false, null].map(rawText), [
    "{",
    '{"n":1}',
    '{"n":1}',
    "[1]",
    "5",
    "false",
    ""
  ])
})

it("arguments are compared as JSON, where a number is spelled unusually also in its spelling", () => {
  const written = (args: Message.ToolCall["arguments"], numbers?: ReadonlyArray<unknown>) =>
    writtenWith(callWith(args), () => numbers)
  assert.deepStrictEqual(written({ n: 1.5 }), ["json", { n: 1.5 }])
  assert.deepStrictEqual(written('{"n":15}'), ["json", { n: 15 }])
  assert.deepStrictEqual(written('{"n":15}', ["15"]), ["json", { n: 15 }])
  assert.deepStrictEqual(written("{n:1}"), ["text", "{n:1}"])
  const unusual: ReadonlyArray<readonly [spelled: string, value: number]> = [
    ["1.50", 1.5],
    ["1e3", 1000],
    ["1E3", 1000],
    ["-0", -0],
    ["1234567890123456789", Number("1234567890123456789")]
  ]
  for (const [spelled, value] of unusual) {
    const text = `{"n":${spelled}}`
    assert.deepStrictEqual(written(text), ["json", { n: value }, { n: spelled }], text)
    assert.deepStrictEqual(written(text, [spelled]), ["json", { n: value }, { n: spelled }], text)
  }
  assert.deepStrictEqual(written("1e3"), ["json", 1000, "1e3"])
  // the tool reads no text in its place
  assert.deepStrictEqual(written('{"n":1.50}', []), ["json", { n: 1.5 }])
})

const { definition } = Tool.make("look", {
  description: "Looks.",
  parameters: Schema.Struct({}),
  success: Schema.Finite,
  run: () => Exit.succeed(1)
})

it("a text that was made before stands for its own result only", () => {
  const encoded = { value: 1, text: Exit.succeed("one") }
  assert.deepStrictEqual(textOf(definition, 1, { encoded }), Exit.succeed("one"))
  assert.deepStrictEqual(textOf(definition, 2, { encoded }), Exit.succeed("2"))
  assert.deepStrictEqual(textOf(definition, 1, {}), Exit.succeed("1"))
})

it("an answer that does not fit the result is a failure that says whose answer it is", () => {
  assert.deepStrictEqual(asResult("5", definition, "c1"), { type: "answered", value: 5, by: "fix" })
  assert.deepStrictEqual(asResult({ value: 6 }, definition, "c1"), { type: "answered", value: 6, by: "ask" })
  for (const [answer, whose] of [
    ["x", "the fixer"],
    [{ value: "x" }, "a person"]
  ] as const) {
    const fixed = asResult(answer, definition, "c1")
    assert(fixed.type === "failed" && fixed.error instanceof ToolError.DeserializationError)
    assert.strictEqual(fixed.next, fixed.error)
    assert.deepInclude(fixed.error, { tool: "look", callId: "c1", rawValue: "x", targetType: "look result" })
    assert.isTrue(
      fixed.error.message.startsWith(`The answer of ${whose} does not fit the result of tool 'look'`),
      fixed.error.message
    )
  }
})

it("a call that was settled before counts as a failure by its kind, and as denied if it was", () => {
  const kinds: ReadonlyArray<readonly [kind: Message.Settlement["kind"], record: object]> = [
    ["result", { tool: "look", isError: false }],
    ["deferred", { tool: "look", isError: false }],
    ["told", { tool: "look", isError: true }],
    ["unknown", { tool: "look", isError: true }],
    ["interrupted", { tool: "look", isError: true }],
    ["denied", { tool: "look", isError: true, isDenied: true }]
  ]
  for (const [kind, record] of kinds)
    assert.deepStrictEqual<unknown>(recordOf(callWith({}), { kind, text: "" }), record, kind)
})
