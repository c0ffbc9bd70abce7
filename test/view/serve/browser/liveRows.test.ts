/** The rows of a run at work. */
import { describe, expect, it } from "vitest"
import { LiveRows } from "../../../../packages/view/src/serve/browser/liveRows.ts"
import { withPage } from "../../_support/dom.ts"

withPage()

/** The rows after these events, a hundred milliseconds apart. */
const rowsOf = (...events: ReadonlyArray<object>) => {
  const rows = new LiveRows()
  for (const [index, event] of events.entries()) rows.take({ runId: "r", at: index * 100, ...event })
  return rows
}

const html = (...events: ReadonlyArray<object>) => {
  const [, inner] =
    /^<ol class="rows" aria-label="Events of the run">(.*)<\/ol>$/s.exec(String(rowsOf(...events).root)) ?? []
  return inner
}

const row = (kind: string, title: string, time: string, said = "", notes = "") =>
  `<li class="row ${kind}"><span class="title">${title}</span><span class="time">${time}</span><pre class="said">${said}</pre>${notes}</li>`

const note = (tone: string, text: string) => `<p class="note is-${tone}">${text}</p>`

const asked = { type: "model-start", model: "m" }
const call = { callId: "c", tool: "pay" }
const called = { ...call, type: "tool-start", arguments: { cents: 5 } }

describe("the rows of a run at work [P1284]", () => {
  it("have a model call with its words, and how it ended [P1284]", () => {
    expect(
      html(asked, { type: "text-delta", text: "He" }, { type: "text-delta", text: "<llo" }, { type: "text-delta" })
    ).toBe(row("is-model is-open", "m", "0 ms", "He&lt;llo"))
    expect(html({ type: "text-delta", text: "lost" }, { type: "model-start" }, { type: "model-end" })).toBe(
      row("is-model is-well", "model", "100 ms")
    )
    expect(html(asked, { type: "model-failed", error: { _tag: "Busy", message: "later" } })).toBe(
      row("is-model is-failed", "m", "100 ms", "Busy: later")
    )
    expect(html(asked, { type: "model-interrupted" })).toBe(row("is-model is-failed", "m", "100 ms", "interrupted"))
    expect(html({ type: "model-end" }, { type: "run-completed" })).toBe("")
  })

  it("have a tool call with its arguments, its failures and its result [P1284]", () => {
    const failed = { ...call, type: "tool-failed", error: { name: "Busy", message: "x".repeat(300) } }
    const ended = (kind: string, text?: string) => ({ ...call, type: "tool-end", use: { settlement: { kind, text } } })
    expect(html(called, failed, ended("result", "paid"))).toBe(
      row(
        "is-tool is-well",
        "pay {&quot;cents&quot;:5}",
        "200 ms",
        "paid",
        note("failed", `✕ Busy: ${"x".repeat(193)}…`)
      )
    )
    expect(html(called, ended("told", "y".repeat(500)))).toBe(
      row("is-tool is-failed", "pay {&quot;cents&quot;:5}", "100 ms", `${"y".repeat(399)}…`)
    )
    for (const type of ["tool-denied", "tool-skipped"])
      expect(html({ ...called, arguments: "x".repeat(100) }, { ...call, type, settlement: { text: "no" } })).toBe(
        row("is-tool is-failed", `pay ${"x".repeat(89)}…`, "100 ms", "no")
      )
    expect(html(called, ended("result"))).toBe(row("is-tool is-well", "pay {&quot;cents&quot;:5}", "100 ms"))
  })

  it("have one row for a call that goes on after it has waited, and rows of their own for other runs [P1284]", () => {
    expect(html(called, called)).toBe(row("is-tool is-open", "pay {&quot;cents&quot;:5}", "0 ms"))
    expect(html(called, { ...called, runId: "s" }, { ...called, callId: "d" })?.match(/<li/g)).toHaveLength(3)
    expect(html(asked, asked)?.match(/<li/g)).toHaveLength(2)
  })

  it("have the words and the end of each model call where runs are at work beside each other [P1284]", () => {
    const other = { runId: "s" }
    const delta = (text: string) => ({ type: "text-delta", text })
    const ended = { type: "model-end" }
    expect(html(asked, { ...asked, ...other }, delta("one"), { ...delta("two"), ...other }, ended)).toBe(
      row("is-model is-well", "m", "400 ms", "one") + row("is-model is-open", "m", "0 ms", "two")
    )
  })

  it("have the verdicts beside what they are about [P1284]", () => {
    const verdict = (kind: string, fields: object = {}) => ({ type: "verdict", verdict: kind, tag: "Busy", ...fields })
    expect(html(asked, verdict("retry", { delay: 1500 }), verdict("fix"))).toBe(
      row(
        "is-model is-open",
        "m",
        "0 ms",
        "",
        note("gold", "◆ retry after Busy, in 1.5 s") + note("gold", "◆ fix after Busy")
      )
    )
    for (const lost of [verdict("rethrow"), verdict("raise"), verdict("escalate"), verdict("retry", { gaveUp: true })])
      expect(html(called, { ...lost, callId: "c" })).toBe(
        row("is-tool is-open", "pay {&quot;cents&quot;:5}", "0 ms", "", note("failed", `✕ ${lost.verdict} after Busy`))
      )
    // the row is over: the verdict has one of its own
    expect(html(asked, { type: "model-failed" }, verdict("retry"))).toBe(
      `${row("is-model is-failed", "m", "100 ms", "Error:")}<li class="row">${note("gold", "◆ retry after Busy")}</li>`
    )
    expect(html(called, { ...call, type: "arguments-coerced", change: { step: "fence" } })).toContain(
      note("gold", "◆ broken arguments repaired: fence")
    )
  })

  it("tick while they are at work [P1284]", () => {
    const rows = rowsOf(asked, called, { ...call, type: "tool-end" })
    rows.tick(2000)
    expect(String(rows.root).match(/<span class="time">[^<]*/g)).toEqual([
      '<span class="time">2 s',
      '<span class="time">100 ms'
    ])
    rows.tick(-1)
    expect(String(rows.root)).toContain('<span class="time">0 ms')
  })
})
