import { assert, it } from "@effect/vitest"
import { AgentEvent, ErrorCause, KintsugiError, LlmError, ToolError, Usage } from "@kintsugi/core"
import { Duration, Effect, Exit, Redacted, Schema, SchemaIssue } from "effect"
import * as Arbitrary from "effect/Arbitrary"
import { cause, check, instances, shape, shapeOf as shapeOfError } from "../laws/errors.ts"

const text = Schema.fromJsonString(AgentEvent.AgentEvent)
const write = Schema.encodeSync(text)
const read = Schema.decodeUnknownSync(text)

const types = [
  "run-start",
  "skill-chosen",
  "turn-start",
  "model-start",
  "model-end",
  "model-failed",
  "text-delta",
  "reasoning-delta",
  "attempt-discarded",
  "tool-start",
  "arguments-coerced",
  "tool-progress",
  "tool-refused",
  "tool-failed",
  "fix-start",
  "fix-end",
  "fix-failed",
  "tool-end",
  "verdict",
  "turn-end",
  "output-coerced",
  "output-rejected",
  "budget-warning",
  "budget-exceeded",
  "run-completed",
  "run-failed",
  "run-interrupted"
] as const satisfies ReadonlyArray<AgentEvent.AgentEvent["type"]>

const errors = Arbitrary.flatMap(Arbitrary.schema(Schema.Literals(["foreign", "tool", "budget"])), (kind) => {
  if (kind === "foreign") return cause
  return Arbitrary.map(
    instances(kind === "tool" ? "ToolExecutionError" : "BudgetExceededError"),
    (error): unknown => error
  )
})

const json = Arbitrary.schema(Schema.Json)

/** An event with an error, and values that are JSON, where the schema says no more than that there is something. */
const events = Arbitrary.map(
  Arbitrary.all({ event: Arbitrary.schema(AgentEvent.AgentEvent), error: errors, value: json }),
  ({ error, event, value }): AgentEvent.AgentEvent => {
    switch (event.type) {
      case "run-start":
        return { ...event, input: value }
      case "run-completed":
        return { ...event, output: value }
      case "tool-progress":
        return { ...event, data: value }
      case "arguments-coerced":
      case "output-coerced":
        return { ...event, change: { ...event.change, before: value, after: undefined } }
      case "tool-end":
        return { ...event, use: { ...event.use, ...("params" in event.use ? { params: value } : {}) } }
      case "verdict":
      case "model-failed":
      case "tool-failed":
      case "fix-failed":
      case "run-failed":
        return { ...event, error }
      default:
        return event
    }
  }
)

/** All that has to survive: of a foreign error its summary. */
const shapeOf = (event: AgentEvent.AgentEvent): unknown =>
  "error" in event ? [shape({ ...event, error: undefined }), shapeOfFailure(event.error)] : shape(event)

const shapeOfFailure = (error: unknown): unknown =>
  KintsugiError.isKintsugiError(error) ? shapeOfError(error) : ErrorCause.summarise(error)

it.effect("A1203 every event comes back from JSON text as it was, complete, and is written the same again", () => {
  const seen = new Set<string>()
  return Effect.map(
    check(
      events,
      (event) => {
        seen.add(event.type)
        const written = write(event)
        const back = read(written)
        assert.deepStrictEqual(shapeOf(back), shapeOf(event))
        assert.strictEqual(write(back), written)
      },
      600
    ),
    () => assert.deepStrictEqual([...seen].toSorted(), types.toSorted())
  )
})

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

it("A1203 of values that are no JSON, what JSON can hold is written down", () => {
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

it("A1203 P202 no planted secret of a failure crosses, of whatever class it is", () => {
  const foreign = Object.assign(new Error(`refused: Bearer ${key}, password=${hush}`), {
    headers: { authorization: hush },
    config: { data: hush }
  })
  for (const error of [
    foreign,
    `token=${hush} ${key}`,
    { ...foreign, message: foreign.message },
    new LlmError.NetworkError({ host: "h", message: `failed with ${key}`, detail: `token=${hush}`, cause: foreign }),
    LlmError.UnknownLlmError.unknown("m", foreign),
    ToolError.ExecutionError.wrap({ tool: "t", callId: "c", kind: "local", args: {} }, foreign),
    ToolError.ToolExecutionError.exhausted({ tool: "t", callId: "c" }, { failures: [foreign], runs: 1 })
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

it("A1203 an event of a type that nobody knows, and a damaged one, fail typed", () => {
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

it("A1203 waits are written in milliseconds", () => {
  const event: AgentEvent.AgentEvent = {
    ...origin,
    type: "verdict",
    layer: "tool",
    tag: "Busy",
    verdict: "retry",
    rung: 0,
    attempt: 1,
    delay: Duration.millis(12.5),
    hint: Duration.infinity,
    error: "busy"
  }
  assert.deepInclude(Schema.encodeSync(AgentEvent.AgentEvent)(event), { delay: 12.5, hint: "Infinity" })
})
