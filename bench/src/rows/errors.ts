/**
 * What an error costs, beside a plain tagged error of Effect with the same fields; both capture their stack.
 *
 *   npm run bench -- errors
 *
 * Medians of several laps in which both take turns, in microseconds per error, from a stack of ten frames. Exits with
 * code 1 when a class costs three times as much or more; the one with a long message has another limit.
 */
import * as Factories from "@kintsugi/core/Factories"
import { type KintsugiError, LlmError, Message, RunError, ToolError, Usage } from "@kintsugi/core"
import { Data, Duration } from "effect"

class Plain extends Data.TaggedError("Plain")<Record<string, unknown>> {}

const usage = Usage.make({ inputTokens: 10, outputTokens: 5 })
const reply: Message.Reply = {
  content: [{ type: "tool-call", id: "c1", name: "fetch", arguments: '{"n":1}' }],
  finish: "tool-calls",
  usage
}
/** A run of twenty turns. */
const transcript: Message.Transcript = [
  Message.user("go"),
  ...Array.from({ length: 20 }, () => Message.settle(reply, [{ kind: "result", text: "fine" }]))
]
const ofCall = { tool: "fetch", callId: "c1" }
const from = { provider: "openai", status: 503, requestId: "r1", retryAfter: Duration.seconds(1) }
const cause = new Error("boom")

/** Arguments with 20,000 items, of which 2,000 do not fit. */
const large = Array.from({ length: 20_000 }, (_, index) => ({ index }))
const issues = Array.from({ length: 2000 }, (_, index) => ({
  path: [index, "index"],
  expected: "Expected string",
  actual: "number"
}))

const subjects: Record<string, () => KintsugiError.KintsugiError> = {
  ServerError: () => LlmError.ServerError.make({ model: "gpt-5", cause, ...from }),
  RateLimitError: () => LlmError.RateLimitError.make({ service: "openai", ...from, remainingQuota: 0 }),
  NetworkError: () => Factories.connectionRefused("localhost", 80),
  InvalidArgs: () =>
    ToolError.InvalidArgs.make({
      tool: "fetch",
      callId: "c1",
      rawArgs: '{"n":',
      parseError: "Unexpected end of JSON input"
    }),
  DeserializationError: () =>
    ToolError.DeserializationError.make({
      tool: "fetch",
      callId: "c1",
      rawValue: { n: "x" },
      targetType: "fetch parameters",
      issues: [{ path: ["n"], expected: "Expected number", actual: 'string "x"' }]
    }),
  "DeserializationError, large": () =>
    ToolError.DeserializationError.make({
      tool: "fetch",
      callId: "c1",
      rawValue: large,
      targetType: "fetch parameters",
      issues
    }),
  "ExecutionError, large": () => ToolError.executionErrorOf({ ...ofCall, kind: "local", args: large }, cause),
  ExecutionError: () =>
    ToolError.executionErrorOf({ ...ofCall, kind: "local", args: { n: 1, tags: ["a", "b"] } }, cause),
  ToolExecutionError: () => ToolError.exhausted(ofCall, { failures: [cause, cause, cause], runs: 3 }),
  "BudgetExceededError, 21 messages": () =>
    RunError.BudgetExceededError.make({
      agent: "worker",
      reason: "maxTurns",
      limit: 20,
      spent: 20,
      transcript,
      usage,
      partial: ""
    })
}

/** Its message has 900 characters of foreign text, in which secrets are looked for. */
const long = "DeserializationError, large"

const laps = 9
const count = 4000

const deep = (make: () => unknown, frames: number): unknown => (frames === 0 ? make() : [deep(make, frames - 1)][0])

const timed = (make: () => unknown): number => {
  const start = performance.now()
  for (let index = 0; index < count; index++) deep(make, 10)
  return ((performance.now() - start) * 1000) / count
}

const median = (values: ReadonlyArray<number>): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0

let isDear = false
for (const [name, make] of Object.entries(subjects)) {
  const error = make()
  // the fields of the error itself; its message and cause are not enumerable
  const { _tag: _, ...rest } = { ...error, message: error.message, ...("cause" in error ? { cause: error.cause } : {}) }
  const plain = () => new Plain(rest)
  timed(make)
  timed(plain)
  const ours: Array<number> = []
  const theirs: Array<number> = []
  for (let lap = 0; lap < laps; lap++) {
    ours.push(timed(make))
    theirs.push(timed(plain))
  }
  const ratio = median(ours) / median(theirs)
  if (ratio >= (name === long ? 12 : 3)) isDear = true
  const figures = `${median(ours).toFixed(1)} µs, plain ${median(theirs).toFixed(1)} µs, ${ratio.toFixed(2)} times`
  process.stdout.write(`${name.padEnd(44)}${figures}\n`)
}
if (isDear) process.exitCode = 1
