/** Events with values that are no JSON, with secrets, and JSON that is no event. */
import { assert, it } from "@effect/vitest"
import { AgentEvent, KintsugiError, LlmError, ToolError, Usage } from "@kintsugi/core"
import * as ErrorCause from "@kintsugi/core/ErrorCause"
import { Exit, Redacted, Schema, SchemaIssue } from "effect"

const text = Schema.fromJsonString(AgentEvent.AgentEvent)
const write = Schema.encodeSync(text)
const read = Schema.decodeUnknownSync(text)

const origin = { runId: "r", agent: "a", turn: 1, at: 5 }

const completed = (output: unknown): AgentEvent.AgentEvent => ({
  ...origin,
  type: "run-completed",
  output,
  usage: Usage.empty,
  ledger: []
})

const failed = (error: unknown): AgentEvent.AgentEvent => ({
  ...origin,
  type: "tool-failed",
  tool: "t",
  callId: "c",
  attempt: 1,
  error
})

const outputAfter = (output: unknown): unknown => {
  const back = read(write(completed(output)))
  return back.type === "run-completed" ? back.output : assert.fail(back.type)
}

it("of values that are no JSON, what JSON can hold is written down [A1203]", () => {
  class Point {
    readonly x = 1
    readonly #hidden = 2
    get sum() {
      return this.x + this.#hidden
    }
  }
  const circle: Record<string, unknown> = { n: 1 }
  circle["self"] = circle
  const hostile = new Proxy(
    {},
    {
      ownKeys: () => {
        throw new Error("no")
      }
    }
  )
  const deep = Array.from({ length: 100_000 }).reduce<unknown>((inner) => [inner], 1)
  for (const [value, expected] of [
    [undefined, undefined],
    [null, null],
    [{ a: undefined, b: [undefined, 1] }, { b: [null, 1] }],
    [10n, "10"],
    [Number.NaN, "NaN"],
    [Symbol("s"), "Symbol(s)"],
    [() => 1, "[function]"],
    [new Date(0), "1970-01-01T00:00:00.000Z"],
    [new Point(), { x: 1 }],
    [new Map([["a", 1n]]), [["a", "1"]]],
    [new Uint8Array(3), "[object Uint8Array]"],
    [circle, { n: 1, self: "…" }],
    [hostile, "…"],
    [Redacted.make("hush"), "<redacted>"],
    [new TypeError("no"), { name: "TypeError", message: "no" }]
  ] as const) {
    assert.deepStrictEqual(outputAfter(value), expected)
    assert.deepStrictEqual(outputAfter(outputAfter(value)), expected)
  }
  assert.isBelow(write(completed(deep)).length, 2000)
})

const key = "sk-proj-abcdefghijklmnop1234"
const hush = "hush-hush-0815"

it("no planted secret of a failure crosses, of any class [A1203 P202]", () => {
  const foreign = Object.assign(new Error(`refused: Bearer ${key}, password=${hush}`), {
    headers: { authorization: hush },
    config: { data: hush }
  })
  for (const error of [
    foreign,
    `token=${hush} ${key}`,
    { ...foreign, message: foreign.message },
    new LlmError.NetworkError({ host: "h", message: `failed with ${key}`, detail: `token=${hush}`, cause: foreign }),
    LlmError.UnknownLlmError.make({ model: "m", cause: foreign }),
    ToolError.executionErrorOf({ tool: "t", callId: "c", kind: "local", args: {} }, foreign),
    ToolError.exhausted({ tool: "t", callId: "c" }, { failures: [foreign], runs: 1 })
  ]) {
    const written = write(failed(error))
    assert.notInclude(written, key)
    assert.notInclude(written, hush)
    const back = read(written)
    assert.strictEqual(write(back), written)
    const decoded = back.type === "tool-failed" ? back.error : undefined
    if (KintsugiError.isKintsugiError(error)) assert.strictEqual(decoded?.constructor, error.constructor)
    else assert.instanceOf(decoded, ErrorCause.ForeignError)
  }
  class Session {
    readonly note = `Bearer ${key}`
    readonly token = Redacted.make(hush)
  }
  const written = write(completed({ session: new Session(), error: foreign }))
  assert.notInclude(written, key)
  assert.notInclude(written, hush)
})

it("an event of an unknown type, and a damaged one, fail typed [A1203]", () => {
  const decode = Schema.decodeUnknownExit(AgentEvent.AgentEvent)
  for (const json of [
    { ...origin, type: "run-paused" },
    { ...origin, type: "turn-start", turn: "one" },
    { ...origin, type: "verdict", tag: "Busy" },
    {},
    null
  ]) {
    const error = Exit.findErrorOption(decode(json))
    assert.isTrue(error._tag === "Some" && Schema.isSchemaError(error.value) && SchemaIssue.isIssue(error.value.issue))
  }
  assert.isTrue(Exit.isFailure(Schema.decodeUnknownExit(text)("{")))
})
