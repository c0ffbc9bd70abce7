import type * as RunError from "@kintsugi/core/RunError"
import * as AgentEvent from "@kintsugi/core/AgentEvent"
import { NetworkError, ServerError } from "@kintsugi/core/LlmError"
import * as Message from "@kintsugi/core/Message"
import { EscalationError } from "@kintsugi/core/ToolError"
import * as Usage from "@kintsugi/core/Usage"
import { encode } from "@kintsugi/examples/demo/report"
import * as Timeline from "@kintsugi/examples/demo/timeline"
import * as Duration from "effect/Duration"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { describe, expect, it } from "vitest"
import type { Happening, ModelAttempt } from "../../packages/core/src/event/Happening.ts"

const of = (at: number, happening: Happening): AgentEvent.AgentEvent => ({
  runId: "r1",
  agent: "counter",
  turn: 1,
  at: 1000 + at,
  ...happening
})

const inside = (at: number, happening: Happening): AgentEvent.AgentEvent => ({
  ...of(at, happening),
  runId: "r2",
  agent: "fixer",
  parent: { runId: "r1", callId: "c1" }
})

const draw = (
  events: ReadonlyArray<AgentEvent.AgentEvent>,
  { isColored = false, width }: Partial<Timeline.Options> = {}
): string => {
  const timeline = Timeline.make({ isColored, width })
  return events.map(timeline.draw).join("")
}

const reply = (content: Message.Reply["content"]): Message.Reply => ({
  content,
  finish: "stop",
  usage: Usage.empty
})

const asked: ModelAttempt = {
  model: "m",
  attempt: 1,
  entry: {
    runId: "r1",
    agent: "counter",
    turn: 1,
    attempt: 1,
    model: "m",
    provider: "p",
    purpose: "agent",
    outcome: "used",
    usage: Usage.empty
  }
}

const retry: Happening = {
  type: "verdict",
  layer: "transport",
  tag: "ServerError",
  verdict: "retry",
  gaveUp: false,
  rung: 0,
  attempt: 1,
  delay: Duration.millis(250),
  error: new ServerError({ model: "m", message: "The server failed", status: 503, detail: "busy" })
}

const started = of(0, { type: "run-start", input: "How many?\n\u001b[31m", transcript: [] })

describe("the timeline", () => {
  it("draws a line per event, with time, layer and what happened", () => {
    const call: Message.ToolCall = { type: "tool-call", id: "c1", name: "count", arguments: '{"json":"{"}' }
    const lines = draw([
      started,
      of(1, { type: "model-start", model: "m", provider: "p", attempt: 1 }),
      of(5, retry),
      of(255, { type: "model-end", ...asked, reply: reply([call]) })
    ])
    expect(lines.split("\n")).toEqual([
      "  0.000  run        counter starts: How many?\\n\\x1b[31m",
      "  0.001  model      turn 1: asks m",
      "  0.005  transport  send 1 failed (HTTP 503, busy) → retry: send 2 in 250ms",
      '  0.255  model      calls count {"json":"{"}',
      ""
    ])
  })

  it("shows which skill was chosen, and by what", () => {
    const lines = draw([
      started,
      of(1, { type: "skill-chosen", skill: "count", by: "rule", prompt: "" }),
      of(2, { type: "skill-chosen", skill: "count", by: "model", confidence: 0.9, prompt: "" })
    ])
    expect(lines).toContain("  0.001  run        takes the skill count, chosen by the rule\n")
    expect(lines).toContain("  0.002  run        takes the skill count, chosen by the model with confidence 0.9\n")
  })

  it("indents what happens inside a fixer", () => {
    const lines = draw([
      started,
      of(1, { type: "fix-start", tool: "count", callId: "c1", repair: 1, input: "report" }),
      inside(2, { type: "run-start", input: "A call failed.\nArguments: {", transcript: [] }),
      of(3, {
        type: "fix-failed",
        tool: "count",
        callId: "c1",
        repair: 1,
        error: EscalationError.make({ source: "fixer", reason: "no" })
      })
    ])
    expect(lines).toContain("\n  0.002    run        fixer starts: A call failed.\n")
    expect(lines).toContain("\n  0.003  fix        count: repair 1: the fixer escalated")
  })

  it("writes streamed text as it comes, on one line, and does not repeat it at the end", () => {
    const timeline = Timeline.make({ isColored: false, width: undefined })
    const shown = [
      started,
      of(1, { type: "text-delta", text: "The ans" }),
      of(2, { type: "text-delta", text: "wer\n" }),
      of(3, { type: "model-end", ...asked, reply: reply([Message.text("The answer\n")]) })
    ].map(timeline.draw)
    expect(shown.slice(1)).toEqual(["  0.001  model      says: The ans", "wer\\n", "\n"])
    timeline.draw(of(4, { type: "text-delta", text: "more" }))
    expect(timeline.line("tool() = 3")).toBe("\n  tool() = 3\n")
  })

  it("says what coercion has changed in the arguments", () => {
    const change = { step: "convert-number", path: ["depth"], before: "2", after: 2 } as const
    const dropped = { step: "drop-empty", path: ["under"], before: null, after: undefined } as const
    const mended = (change: AgentEvent.OfType<"arguments-coerced">["change"]) =>
      of(1, { type: "arguments-coerced", tool: "count", callId: "c1", change })
    const lines = draw([started, mended(change), mended(dropped)])
    expect(lines).toContain('  0.001  tool       count: arguments mended: convert-number: depth "2" → 2\n')
    expect(lines).toContain("  0.001  tool       count: arguments mended: drop-empty: under null\n")
  })

  it("breaks lines between words, below their text, where the terminal is narrow", () => {
    expect(draw([started, of(5, retry)], { width: 50 }).split("\n")).toEqual([
      "  0.000  run        counter starts: How",
      "                    many?\\n\\x1b[31m",
      "  0.005  transport  send 1 failed (HTTP 503, busy)",
      "                    → retry: send 2 in 250ms",
      ""
    ])
    const word = "x".repeat(60)
    expect(draw([of(0, { type: "run-start", input: word, transcript: [] })], { width: 50 })).toContain(`${word}\n`)
  })

  it("is coloured only by its option", () => {
    expect(draw([started, of(5, retry)])).not.toContain("\u001b[")
    expect(draw([started, of(5, retry)], { isColored: true })).toContain("\u001b[33mtransport")
  })
})

describe("what was decided", () => {
  it("has a verdict in its line: the next attempt with its wait, giving up, or the verdict alone [P1366]", () => {
    const decided = (verdict: RunError.TrailEntry["verdict"], gaveUp: boolean) => ({
      ...retry,
      layer: "tool" as const,
      verdict,
      gaveUp
    })
    const lines = draw([
      started,
      of(5, retry),
      of(6, { ...retry, gaveUp: true }),
      of(7, decided("retry", true)),
      of(8, decided("fix", true)),
      of(9, decided("tell", false))
    ])
    expect(lines).toContain("send 1 failed (HTTP 503, busy) → retry: send 2 in 250ms")
    expect(lines).toContain("→ retry gave up: it leaves the transport as ServerError")
    expect(lines).toContain("onError: ServerError → retry gave up")
    expect(lines).toContain("onError: ServerError → fix gave up")
    expect(lines).toContain("onError: ServerError → tell\n")
  })
})

describe("the event log", () => {
  it("writes an event on one line that can be read back", () => {
    const line = encode(of(5, retry))
    expect(line.endsWith("}\n")).toBe(true)
    expect(line.slice(0, -1)).not.toContain("\n")
    expect(JSON.parse(line)).toMatchObject({
      runId: "r1",
      at: 1005,
      type: "verdict",
      layer: "transport",
      delay: 250,
      error: { _tag: "ServerError", message: "The server failed", status: 503, detail: "busy" }
    })
    expect(Schema.decodeUnknownSync(Schema.fromJsonString(AgentEvent.AgentEvent))(line)).toEqual(of(5, retry))
  })

  it("keeps the transcript of a failed run, and keeps secrets of errors to itself", () => {
    const secret = "sk-abcdefghijklmnop01"
    const cause = Object.assign(new Error(`refused: Bearer ${secret}`), { headers: { authorization: secret } })
    const error = new NetworkError({ host: "localhost", message: `failed with ${secret}`, cause })
    const transcript = [Message.user("How many?"), Message.assistant("Three.")]
    const line = encode(
      of(1, { type: "run-failed", error, isDefect: false, transcript, usage: Usage.empty, ledger: [] })
    )
    expect(line).not.toContain(secret)
    expect(JSON.parse(line)).toMatchObject({ transcript, error: { host: "localhost", cause: { name: "Error" } } })
  })

  it("writes any answer of an agent", () => {
    const circle: Record<string, unknown> = { key: Redacted.make("sk-abcdefghijklmnop01"), big: 1n, not: Number.NaN }
    circle.self = circle
    const line = encode(of(1, { type: "run-completed", output: circle, usage: Usage.empty, ledger: [] }))
    expect(JSON.parse(line)).toMatchObject({ output: { key: "<redacted>", big: "1", not: "NaN" } })
    expect(line).not.toContain("sk-")
  })
})
