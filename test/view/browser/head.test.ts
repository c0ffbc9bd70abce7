/** The head of a report and its sums, as HTML. */
import { Recording } from "@kintsugi/view"
import { describe, expect, it, vi } from "vitest"
import { header } from "../../../packages/view/src/browser/header.ts"
import { Store } from "../../../packages/view/src/browser/store.ts"
import { sums } from "../../../packages/view/src/browser/sums.ts"
import * as Scene from "../../../packages/view/src/scene/Scene.ts"
import { buttonIn, elementOf, page, withPage } from "../_support/dom.ts"

withPage()

const recordingOf = (...events: ReadonlyArray<object>) =>
  Recording.fromEvents(
    events.map((event, index) => ({
      runId: "run-0123456789abcdef",
      agent: "clerk",
      turn: 1,
      at: index * 1000,
      ...event
    }))
  )

const acts = () => ({
  goToFailure: vi.fn(),
  links: {},
  issue: () => "the issue",
  test: { isWritten: true, text: () => "the test" },
  link: () => "the link",
  keys: vi.fn(),
  theme: vi.fn()
})

const still = { isLive: false, title: undefined }

/** The head as the texts of its elements with a class or a name. */
const head = (
  recording: Recording.Recording,
  options: { isLive: boolean; title: string | undefined } = still,
  all: object = {}
) => {
  const parts = header(new Store(recording), { ...acts(), ...all }, options)
  return parts.map(String)
}

const start = { type: "run-start", input: "Pay." }
const busy = { name: "Busy", message: "later" }
const failing = recordingOf(
  start,
  { type: "tool-failed", callId: "c", tool: "pay", attempt: 1, error: busy },
  { type: "run-failed", error: busy }
)

describe("the head of a report", () => {
  it("says how the run ended, with its input, its time and its id [P1700]", () => {
    const [line] = head(recordingOf(start, { type: "run-completed", output: "Paid." }))
    expect(line?.replace(/title="[^"]*\d{4}[^"]*"/, "title")).toBe(
      [
        '<div class="line"><span class="status is-completed">✓ Completed</span><h1 dir="auto">clerk</h1>',
        '<span class="input" dir="auto" title="Pay.">“Pay.”</span>',
        '<time class="clock" datetime="1970-01-01T00:00:00.000Z" title>1 Jan 1970 00:00:00 → 00:00:01 UTC</time>',
        '<span class="run"><code title="run-0123456789abcdef">run-012345…def</code><button type="button" class="copy" title="Copy the id of the run">Copy</button></span>',
        '<button type="button" class="theme">Light or dark</button><button type="button" class="help">Keys <kbd>?</kbd></button></div>'
      ].join("")
    )
    const [bare] = head(recordingOf({ type: "turn-start", runId: "0123456789abcdef" }), {
      isLive: false,
      title: "<Mine>"
    })
    expect(bare).toContain(
      '<span class="status is-unfinished">… No end</span><h1 dir="auto">&lt;Mine&gt;</h1><span class="input" dir="auto" title></span>'
    )
    expect(bare).toContain('<code title="0123456789abcdef">0123456789abcdef</code>')
  })

  it("says that a run is at work while more events may come [P1219]", () => {
    const live = { isLive: true, title: undefined }
    expect(head(recordingOf(start), live)[0]).toContain('<span class="status is-unfinished">● Running</span>')
    expect(head(recordingOf(start, { type: "run-completed" }), live)[0]).toContain("✓ Completed")
    const none = Recording.fromEvents([])
    expect(head(none, live)).toEqual(['<div class="line"><h1>A run at work</h1></div>'])
    expect(head(none)).toEqual(['<div class="line"><h1>No run</h1></div>'])
    expect(head(none, { isLive: true, title: "Mine" })).toEqual(['<div class="line"><h1>Mine</h1></div>'])
  })

  it("has the answer with what failed on the way, or the sentence of another end [P1700]", () => {
    const [, answered] = head(recordingOf(start, { type: "run-completed", output: "Paid." }))
    expect(answered).toBe(
      [
        '<section class="answer" aria-label="Answer"><pre class="said" dir="auto">Paid.</pre><p class="sentence">No failures; $0.</p><div class="acts">',
        '<button type="button" class="copy" title="A test that plays this run without a model, and fails as the run did until a row handles the failure">Copy as a test <kbd>t</kbd></button>',
        '<button type="button" class="copy">Copy for an issue</button><button type="button" class="copy">Link to here</button></div></section>'
      ].join("")
    )
    const healed = recordingOf(
      start,
      { type: "verdict", layer: "model", tag: "Busy", verdict: "retry", attempt: 1 },
      { type: "model-end" },
      { type: "run-completed", output: "" }
    )
    expect(head(healed)[1]).toContain(
      'aria-label="Answer"><p class="sentence">1 failure, healed; spending unknown.</p>'
    )
    expect(head(recordingOf(start), still, { test: { isWritten: false, text: () => "" } })[1]).toContain(
      '<p class="sentence">… No end: clerk (0 ms; $0).</p><div class="acts"><button type="button" class="copy" title="The command that writes a test of this run">'
    )
  })

  it("says why the run failed, where, and which row would have helped [P1701]", () => {
    const [, why] = head(failing)
    expect(why).toBe(
      [
        '<section class="why" aria-label="Why it failed"><div class="what"><h2 dir="auto">Busy: later</h2>',
        '<p class="place"><span dir="auto">clerk</span><span aria-hidden="true"> › </span><span dir="auto">turn 1</span><span aria-hidden="true"> › </span><span dir="auto">pay</span><span aria-hidden="true"> › </span><strong dir="auto">attempt 1 of 1</strong></p>',
        '<p class="reason">Why it ended the run: pay has no row for Busy.</p><div class="acts">',
        '<button type="button" class="primary">Go to the failure <kbd>.</kbd></button>',
        '<button type="button" class="copy" title="A test that plays this run without a model, and fails as the run did until a row handles the failure">Copy as a test <kbd>t</kbd></button>',
        '<button type="button" class="copy">Copy for an issue <kbd>c</kbd></button><button type="button" class="copy">Link to here <kbd>l</kbd></button></div></div>',
        '<div class="hint"><h3>A recovery row that would have let it go on</h3><pre dir="auto">Tool.onError({ Busy: Recovery.tell() })</pre>',
        '<p class="quiet">Documentation: <span>guide/tool-recovery#which-verdict-for-which-failure</span></p></div></section>'
      ].join("")
    )
  })

  it("has links where it knows the addresses, and the code of an error of the library [P1706]", () => {
    const error = { _tag: "AuthenticationError", message: "" }
    const [line, why] = head(
      recordingOf(
        start,
        { type: "tool-start", callId: "c", tool: "pay", sideEffects: "unsafe" },
        { type: "tool-failed", callId: "d", tool: "pay", attempt: 1, error: busy },
        { type: "tool-failed", callId: "c", tool: "pay", attempt: 1, error },
        { type: "run-failed", error }
      ),
      still,
      { links: { trace: "https://t.example/{from}", docs: "https://d.example" } }
    )
    expect(line).toContain('<a href="https://t.example/0" rel="noreferrer">Open the trace ↗</a>')
    expect(why).toContain('<h2 dir="auto">AuthenticationError</h2>')
    expect(why).toContain(
      '<p class="quiet"><a href="https://d.example/errors#authenticationerror" rel="noreferrer">KINTSUGI-AUTHENTICATION</a></p>'
    )
    expect(why).toContain(
      "Why it ended the run: pay has no row for AuthenticationError. Its effect may have happened. Other failures: 1, healed: 0.<"
    )
    expect(why).not.toContain('class="hint"')
  })

  it("has buttons that do what they say [P1708]", () => {
    const all = acts()
    const parts = header(new Store(failing), all, still)
    const click = (text: string) => buttonIn({ within: parts.flatMap((part) => elementOf(part).within) }, text).click()
    for (const text of ["Copy", "Copy as a test t", "Copy for an issue c", "Link to here l"]) click(text)
    expect(page.copied.splice(0)).toEqual(["run-0123456789abcdef", "the test", "the issue", "the link"])
    for (const text of ["Go to the failure .", "Keys ?", "Light or dark"]) click(text)
    for (const act of [all.goToFailure, all.keys, all.theme]) expect(act).toHaveBeenCalledTimes(1)
  })
})

describe("the sums of a report", () => {
  const said = (recording: Recording.Recording) => {
    const made = elementOf(sums(Scene.make(recording)))
    return {
      facts: made
        .querySelectorAll("div")
        .filter(({ children: [first] }) => first?.name === "dt")
        .map(({ children }) => children.map((one) => one.textContent)),
      where: made.querySelectorAll(".quiet").map((one) => [...one.nodes].map((node) => node.textContent)),
      bar: made
        .querySelectorAll(".split")
        .flatMap(({ children }) => children.map((one) => [one.attributes.get("class"), one.style["flexGrow"]])),
      problems: made.querySelectorAll("details").map(String)
    }
  }
  const entry = (tokens: number, cost?: number, outcome = "used") => ({
    entry: { outcome, usage: { inputTokens: tokens, outputTokens: 0 }, cost }
  })

  it("are its time, its spending, its turns and its calls [P1206]", () => {
    const child = { runId: "child", parent: { runId: "run-0123456789abcdef" } }
    const events = [
      start,
      { type: "turn-start" },
      { type: "model-start", attempt: 1 },
      { type: "model-failed", attempt: 1, error: busy, ...entry(10, 0.5, "failed") },
      { type: "model-start", attempt: 2 },
      { type: "model-end", ...entry(30, 1.5) },
      { type: "tool-start", callId: "c", tool: "pay" },
      { ...child, type: "turn-start" },
      { type: "tool-end", callId: "c", tool: "pay", use: { settlement: { kind: "result" } } },
      { type: "run-completed", output: "ok" }
    ]
    expect(said(recordingOf(...events))).toEqual({
      facts: [
        ["Duration", "9 s"],
        ["At work", "4 s"],
        ["Spent", "$2.00 40 tokens"],
        ["Turns · tool calls", "1 · 1 1 more turn in sub-agents"]
      ],
      where: [
        [
          "Time at work:",
          "models 1 s",
          "tools 2 s",
          "failed attempts, waits and repairs 1 s",
          "$0.5 of the spending is recovery"
        ]
      ],
      bar: [
        ["model", "0.25"],
        ["tool", "0.5"],
        ["recovery", "0.25"]
      ],
      problems: [expect.stringContaining("This recording is not complete: 2 problems")]
    })
  })

  it("are a list, a bar and its labels, with the time that a person took [P1206]", () => {
    const call = { callId: "c", tool: "pay" }
    const made = sums(
      Scene.make(
        recordingOf(
          start,
          { ...call, type: "tool-start" },
          { ...call, type: "approval-requested", request: {} },
          { ...call, type: "approval-decided", decision: { type: "approve" } },
          { ...call, type: "tool-end", use: { settlement: { kind: "result" } } },
          { type: "run-completed", output: "ok" }
        )
      )
    )
    const fact = (name: string, value: string, note = "") =>
      `<div><dt>${name}</dt><dd><strong>${value}</strong>${note === "" ? "" : ` <span>${note}</span>`}</dd></div>`
    expect(String(made)).toBe(
      [
        '<section class="sums" aria-label="Sums"><dl>',
        fact("Duration", "5 s"),
        fact("At work", "2 s", "1 s for a person"),
        fact("Spent", "0 tokens", "cost unknown"),
        fact("Turns · tool calls", "0 · 1"),
        '</dl><div class="where"><p class="quiet">Time at work:<span><i class="tool" aria-hidden="true"></i>tools 2 s</span></p>',
        '<div class="split" aria-hidden="true"><span class="tool"></span></div></div></section>'
      ].join("")
    )
  })

  it("count the attempts of recovery with those of work [P1704]", () => {
    const answered = { type: "model-end", ...entry(5) }
    const failed = { type: "model-failed", error: busy }
    const recording = recordingOf(
      start,
      answered,
      answered,
      answered,
      { type: "model-end" },
      { ...failed, ...entry(10, undefined, "failed") },
      failed,
      { type: "run-completed" }
    )
    expect(said(recording).facts[2]).toEqual(["Spent", "at least 25 tokens cost unknown"])
    expect(String(sums(Scene.make(recording)))).toContain(
      "<span>at least 10 tokens of the spending is recovery</span></p>"
    )
  })

  it("say what is not known, and leave out what there is none of [P1704]", () => {
    const facts = (...events: ReadonlyArray<object>) => said(recordingOf(start, ...events, { type: "run-completed" }))
    expect(facts().facts.slice(2)).toEqual([
      ["Spent", "0 tokens cost unknown"],
      ["Turns · tool calls", "0 · 0"]
    ])
    expect(facts({ type: "model-end" }).facts[2]).toEqual(["Spent", "unknown"])
    expect(facts({ type: "model-failed", ...entry(5, undefined, "failed") }).where[0]?.at(-1)).toBe(
      "5 tokens of the spending is recovery"
    )
    expect(facts().where).toEqual([["Time at work:"]])
    expect(facts().problems).toEqual([])
  })

  it("list the problems of the file, a hundred of them [P1215]", () => {
    const problems = (many: number) =>
      said({
        ...recordingOf(start, { type: "run-completed" }),
        problems: Array.from({ length: many }, (_, line) => ({ kind: "broken", line: line + 1, says: "It is <none>." }))
      }).problems[0]
    expect(problems(2)).toBe(
      '<details class="problems" open><summary>This recording is not complete: 2 problems</summary><ul><li>Line 1: It is &lt;none&gt;.</li><li>Line 2: It is &lt;none&gt;.</li></ul></details>'
    )
    expect(problems(3)).toMatch(/^<details class="problems"><summary>/)
    expect(problems(100)).not.toContain("And ")
    expect(problems(102)).toMatch(/<li>Line 100: It is &lt;none&gt;\.<\/li><li>And 2 more\.<\/li><\/ul>/)
    const whole = said({
      ...recordingOf(start, { type: "run-completed" }),
      problems: [{ kind: "order", says: "Late." }]
    })
    expect(whole.problems[0]).toContain("<li>Late.</li>")
  })
})
