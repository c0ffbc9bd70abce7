/** Runs as they are written down, with the events of many calls, many runs, or long texts. */
import { type Inputs, mapped } from "./entry.ts"
import { many, usage } from "./data.ts"
import { repeated, texts } from "./texts.ts"

const origin = { runId: "run-1", agent: "clerk", turn: 1, at: 1000 }

/** Each text wherever an event has one. */
const textsOf = (text: string): ReadonlyArray<object> => {
  const at = { ...origin, agent: text }
  const call = { callId: "c1", tool: text }
  const error = { _tag: text, name: text, message: text }
  const spent = { ...at, attempt: 1, model: text, provider: text, purpose: "agent", outcome: "used", usage }
  const content = [
    { type: "text", text },
    { type: "reasoning", text },
    { type: "tool-call", id: "c1", name: text, arguments: text }
  ]
  return [
    { ...at, type: "run-start", input: text, transcript: [{ role: "system", text }] },
    { ...at, type: "turn-start" },
    { ...at, type: "model-start", model: text, provider: text, attempt: 1 },
    { ...at, type: "text-delta", text, attempt: 1 },
    { ...at, type: "verdict", layer: "transport", tag: text, verdict: text, rung: 0, attempt: 1, delay: 50, error },
    { ...at, type: "model-end", model: text, attempt: 1, entry: spent, reply: { content, usage } },
    { ...at, type: "tool-start", ...call, arguments: text, shown: text },
    { ...at, type: "tool-failed", ...call, attempt: 1, error },
    { ...at, type: "fix-start", ...call, repair: 1, input: text },
    { ...at, type: "fix-end", ...call, repair: 1, answer: text },
    { ...at, type: "tool-end", ...call, use: { arguments: text, settlement: { kind: "told", text }, attempts: 2 } },
    { ...at, type: "approval-requested", ...call, request: { reason: text, arguments: text, digest: text } },
    { ...at, type: text },
    { ...at, type: "run-failed", usage, ledger: [spent], error, isDefect: false, reasons: [error], transcript: [] }
  ]
}

const begun = { ...origin, type: "run-start", input: "a", transcript: [] }
const ended = { ...origin, at: 1e6, type: "run-completed", usage, ledger: [], output: "a", transcript: [] }

/** A run with the same events again and again. */
const between = (size: number, length: number, make: (n: number) => ReadonlyArray<object>) => [
  begun,
  ...many(size, length, (n) => make(n).map((event) => ({ ...origin, at: 1000 + n, ...event }))).flat(),
  ended
]

const calls = (id: (n: number) => string) => (size: number) =>
  between(size, 260, (n) => {
    const call = { callId: id(n), tool: `t${n % 50}` }
    const use = { arguments: {}, settlement: { kind: "result", text: "a" }, attempts: 1 }
    return [
      { ...call, type: "tool-start", arguments: {} },
      { ...call, type: "tool-end", use }
    ]
  })

const child = (n: number, parent: number): ReadonlyArray<object> => {
  const parentFields = parent < 0 ? {} : { parent: { runId: `run-${parent}`, callId: "c1" } }
  const own = { ...parentFields, runId: `run-${n}`, at: 1000 + n }
  return [
    { ...begun, ...own },
    { ...origin, ...own, type: "turn-start" },
    { ...ended, ...own, at: 1e6 - n }
  ]
}

const said = (text: string) => [{ role: "user", content: [{ type: "text", text }] }]

export const runs: Inputs<ReadonlyArray<object>> = {
  ...mapped(
    Object.fromEntries(Object.entries(texts).map(([family, make]) => [family, (size: number) => make(size >> 5)])),
    textsOf
  ),
  "many calls": calls((n) => `c${n}`),
  "many calls of one id": calls(() => "c1"),
  "many calls at once": (size) =>
    between(size, 100, (n) => [{ at: 1000, type: "tool-start", callId: `c${n}`, tool: "a", arguments: {} }]),
  "many attempts": (size) =>
    between(size, 220, (n) => [
      { type: "model-start", model: "m", provider: "p", attempt: n },
      { type: "model-failed", model: "m", attempt: n, error: { _tag: `E${n % 9}`, message: "a" } }
    ]),
  "many verdicts": (size) =>
    between(size, 160, (n) => [
      { type: "verdict", layer: "agent", tag: `E${n}`, verdict: "retry", rung: 0, attempt: n, delay: 1 }
    ]),
  "many tags and tools": (size) =>
    between(size, 160, (n) => {
      const error = { _tag: `E${n}`, message: "a" }
      return [{ type: "tool-failed", callId: `c${n}`, tool: `t${n}`, attempt: 1, error }]
    }),
  "many deltas": (size) => between(size, 100, () => [{ type: "text-delta", text: "a", attempt: 1 }]),
  "many runs side by side": (size) => many(size, 330, (n) => child(n, -1)).flat(),
  "many runs of one": (size) => many(size, 330, (n) => child(n, n === 0 ? -1 : 0)).flat(),
  "many runs, each a child of the one before": (size) => many(size, 330, (n) => child(n, n - 1)).flat(),
  "many unknown types": (size) => many(size, 80, (n) => ({ ...origin, type: `type-${n}` })),
  "a long transcript": (size) => [{ ...begun, transcript: said(repeated("a. ", size)) }, ended],
  "many messages": (size) => [begun, { ...ended, transcript: many(size, 60, (n) => said(`a${n}`)).flat() }]
}
