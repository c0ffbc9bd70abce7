/** Texts that would like to be more than text, and a run that has one of them wherever a text may be. */
import { Recording } from "@kintsugi/view"

export const hostile: ReadonlyArray<string> = [
  "</script><script>globalThis.hacked = 1</script>",
  "<!--<script>",
  "--><img src=x onerror=globalThis.hacked=1>",
  '"><svg onload="globalThis.hacked=1">',
  "' onfocus='globalThis.hacked=1' autofocus='",
  "]]><script>globalThis.hacked=1</script>",
  "</title><script>globalThis.hacked=1</script>",
  "</style><style>*{display:none}</style>",
  "</textarea><iframe src=javascript:globalThis.hacked=1>",
  "{{constructor.constructor('globalThis.hacked=1')()}}",
  "javascript:globalThis.hacked=1",
  "line\u2028separator\u2029paragraph",
  "\u0000\u0001\u0008\u001b[31mred\u007f\u0085",
  "\u202egpj.exe\u202c \u2066hidden\u2069 \u200f",
  "&lt;b&gt; &amp;amp; &#x3c;script&#x3e;",
  "\ud800 half \udfff",
  "__proto__",
  "a".repeat(5000)
]

export const hostileRun = (text: string): Recording.Recording => {
  const origin = { runId: text, agent: text, turn: 1, at: 1000 }
  const call = { callId: text, tool: text }
  const usage = { inputTokens: 1, outputTokens: 1, cachedInputTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 }
  const error = { _tag: text, name: text, message: text }
  const spent = { ...origin, attempt: 1, model: text, provider: text, purpose: "agent", outcome: "used", usage }
  const settlement = { kind: "told", text }
  return Recording.fromEvents([
    { ...origin, type: "run-start", input: { [text]: text }, transcript: [{ role: "system", text }] },
    { ...origin, type: "turn-start" },
    { ...origin, type: "model-start", model: text, provider: text, attempt: 1 },
    {
      ...origin,
      at: 1100,
      type: "verdict",
      layer: "transport",
      tag: text,
      verdict: text,
      rung: 0,
      attempt: 1,
      delay: 50,
      error
    },
    {
      ...origin,
      at: 1300,
      type: "model-end",
      model: text,
      attempt: 1,
      entry: spent,
      reply: {
        content: [
          { type: "text", text },
          { type: "tool-call", id: text, name: text, arguments: text }
        ],
        usage
      }
    },
    { ...origin, at: 1300, type: "tool-start", ...call, arguments: { [text]: text } },
    { ...origin, at: 1500, type: "tool-failed", ...call, attempt: 1, error },
    {
      ...origin,
      at: 1500,
      type: "verdict",
      ...call,
      layer: "tool",
      tag: text,
      verdict: "fix",
      rung: 0,
      attempt: 1,
      delay: 0,
      error
    },
    { ...origin, at: 1500, type: "fix-start", ...call, repair: 1, input: text },
    { ...origin, at: 1700, type: "fix-end", ...call, repair: 1, answer: text },
    {
      ...origin,
      at: 1900,
      type: "tool-end",
      ...call,
      use: { arguments: text, settlement, attempts: 2, recoveredBy: text }
    },
    { ...origin, at: 1900, type: "approval-requested", ...call, request: { reason: text, arguments: text } },
    { ...origin, at: 1950, type: text },
    {
      ...origin,
      at: 2000,
      type: "run-failed",
      usage,
      ledger: [spent],
      error,
      isDefect: false,
      reasons: [error],
      transcript: []
    }
  ])
}
