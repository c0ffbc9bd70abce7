/** The inspector of a report: what each of its tabs says about a call, an attempt, a wait for a person and a group. */
import { beforeEach, describe, expect, it, vi } from "vitest"
import { Inspector } from "../../../packages/view/src/browser/inspector.ts"
import { Store } from "../../../packages/view/src/browser/store.ts"
import { buttonIn, elementOf, page, type PageElement, withPage } from "../_support/dom.ts"
import { PageEvent } from "../_support/pageEvent.ts"
import { events, recordingOf } from "./_support/desk.ts"

withPage()

beforeEach(() => {
  page.activeElement = undefined
})

const pay = { turn: 1, callId: "c", tool: "pay" }
const look = (callId: string) => [
  { turn: 1, callId, tool: "look", type: "tool-start", arguments: { id: callId } },
  { turn: 1, callId, tool: "look", type: "tool-end", use: { settlement: { kind: "result", text: `seen ${callId}` } } }
]
const used = (inputTokens: number, cost: number) => ({ entry: { usage: { inputTokens, outputTokens: 0 }, cost } })

/** A model that is asked twice, a call that waits for a person and fails once, and two calls that are one row. */
const rich = [
  { turn: 0, type: "run-start", input: "Go." },
  { turn: 1, type: "turn-start" },
  { turn: 1, type: "model-start", model: "m", attempt: 1 },
  { turn: 1, type: "model-failed", attempt: 1, error: { name: "Busy", message: "" }, ...used(5, 0.5) },
  { turn: 1, type: "verdict", layer: "model", tag: "Busy", verdict: "retry", attempt: 1, delay: 500, rung: 0 },
  { turn: 1, type: "model-start", model: "m", attempt: 2 },
  { turn: 1, type: "model-end", attempt: 2, reply: { content: [{ type: "text", text: "Hi." }] }, ...used(7, 1.5) },
  { ...pay, type: "tool-start", arguments: { cents: 5 }, sideEffects: "unsafe", definedAt: "src/pay.ts:3:1" },
  { ...pay, type: "approval-requested", request: { reason: "money", arguments: { cents: 5 } } },
  { ...pay, type: "approval-decided", decision: { type: "approve", reason: "fine" } },
  { ...pay, type: "tool-failed", attempt: 1, error: { name: "Declined", message: "no" } },
  { ...pay, type: "verdict", layer: "tool", tag: "Declined", verdict: "retry", attempt: 1, delay: 250, rung: 1 },
  { ...pay, type: "tool-end", use: { settlement: { kind: "result", text: "paid" }, attempts: 2 } },
  ...look("a"),
  ...look("b"),
  { turn: 1, type: "turn-end" },
  { turn: 1, type: "run-completed", output: "Done." }
]

const shown = (all: ReadonlyArray<object> = rich, links: object = {}) => {
  const store = new Store(recordingOf(all))
  const leave = vi.fn()
  const inspector = new Inspector(store, leave, links)
  const section = elementOf(inspector.section)
  const panel = () => section.querySelector(".panel")
  const list = () => section.querySelector(".tabs")
  const tab = (name: string) => {
    buttonIn(list(), name).click()
    return (panel()?.children ?? []).flatMap(said)
  }
  const select = (name: string, at = 0) =>
    store.select(store.outline.branches.filter((one) => one.name === name)[at]?.id)
  /** The heading, the path and what each tab but those of the events says. */
  const saysOf = (name: string, at = 0) => {
    select(name, at)
    const names = list()?.children.map((one) => one.textContent) ?? []
    return [
      `${section.querySelector("h2")?.textContent} | ${section.querySelector(".quiet")?.textContent}`,
      ...names.filter((one) => one !== "Context" && one !== "Raw").map((one) => [one, ...tab(one)])
    ]
  }
  const raw = () => {
    tab("Raw")
    return panel()
      ?.querySelectorAll("pre")
      .map((one) => Number(one.textContent.split(":")[0]))
  }
  return { store, inspector, section, leave, list, panel, raw, select, tab, says: saysOf }
}

/** What an element of a panel says: a heading, a text, facts or a button. */
const said = (one: PageElement): ReadonlyArray<string> =>
  one.name === "dl"
    ? [one.children.map((each) => (each.name === "dt" ? `${each.textContent}:` : `${each.textContent};`)).join(" ")]
    : one.name === "div"
      ? [one.children.map((each) => each.textContent).join(" ")]
      : [one.textContent]

describe("the tabs of the inspector [P1218]", () => {
  it("say of a call what failed, what it was given, and how each decision was made [P1218]", () => {
    const { raw, says } = shown()
    expect(says("pay")).toEqual([
      "pay | desk › turn 1",
      [
        "Error",
        "Declinedcopy",
        "no",
        "Began: 00:00:07.000 UTC (+7 s); Lasted: 5 s; For a person: 1 s; Attempt: 1; Side effects: unsafe; Run: r; Defined: src/pay.ts:3:1;",
        "Resultcopy paid"
      ],
      ["Arguments", 'Argumentscopy {"cents":5}'],
      [
        "Decisions",
        "approval asked: money",
        "Outcome: approval; Begins: 8 s after the start;",
        "decided: approve",
        "Outcome: approval; Begins: 9 s after the start;",
        "Declined → retry in 250 ms",
        "Outcome: recovered; Begins: 11 s after the start; Verdict: retry; Rung: 2; Attempt: 1; Waits: 250 ms;"
      ]
    ])
    expect(raw()).toEqual([7, 8, 9, 10, 11, 12])
  })

  it("say of a wait for a person what was asked and decided, and of an attempt what its call was given [P1218]", () => {
    const { raw, says } = shown()
    expect(says("waits for a person")).toEqual([
      "pay: waits for a person | desk › turn 1 › pay",
      [
        "Result",
        "Began: 00:00:08.000 UTC (+8 s); Lasted: 1 s; For a person: 1 s; Run: r; Defined: src/pay.ts:3:1;",
        "Resultcopy paid"
      ],
      ["Arguments", 'Argumentscopy {"cents":5}', 'Arguments to decide oncopy {"cents":5}'],
      [
        "Decisions",
        "approval asked: money",
        "Outcome: approval; Begins: 8 s after the start;",
        "decided: approve",
        "Outcome: approval; Begins: 9 s after the start;"
      ]
    ])
    expect(raw()).toEqual([8, 9])
    expect(says("attempt 2", 1)).toEqual([
      "pay: attempt 2 | desk › turn 1 › pay",
      [
        "Result",
        "Began: 00:00:11.250 UTC (+11.25 s); Lasted: 750 ms; Run: r; Defined: src/pay.ts:3:1;",
        "Resultcopy paid"
      ],
      ["Arguments", 'Argumentscopy {"cents":5}']
    ])
    expect(raw()).toEqual([12])
  })

  it("say of a model what it spent and answered, of an error without a message that it has none [P1218]", () => {
    const { says } = shown()
    expect(says("m")).toEqual([
      "m | desk › turn 1",
      [
        "Error",
        "Busycopy",
        "no message",
        "Began: 00:00:02.000 UTC (+2 s); Lasted: 4 s; Attempt: 2; Model: m; Spent: 7 tokens, $1.50; Run: r;",
        "Replycopy Hi."
      ],
      [
        "Decisions",
        "Busy → retry in 500 ms",
        "Outcome: recovered; Begins: 4 s after the start; Verdict: retry; Rung: 1; Attempt: 1; Waits: 500 ms;"
      ]
    ])
    expect(says("attempt 1")[0]).toBe("m: attempt 1 | desk › turn 1 › m")
    expect(shown([{ turn: 1, type: "model-start", model: "", attempt: 1 }]).says("")).toEqual([
      " | desk › turn ?",
      ["Result", "Began: 00:00:00.000 UTC (+0 ms); Lasted: 0 ms; Attempt: 1; Run: r;"]
    ])
  })

  it("say of a group what its first call was given, and of a run its input and its output [P1218]", () => {
    const { raw, says } = shown()
    expect(says("2 × look")).toEqual([
      "2 × look | desk › turn 1",
      ["Result", "Began: 00:00:13.000 UTC (+13 s); Lasted: 3 s; Run: r;"],
      ["Arguments", 'Argumentscopy {"id":"a"}']
    ])
    expect(raw()).toEqual([13, 14])
    expect(says("look", 1)).toEqual([
      "look | desk › turn 1",
      ["Result", "Began: 00:00:15.000 UTC (+15 s); Lasted: 1 s; Run: r;", "Resultcopy seen b"],
      ["Arguments", 'Argumentscopy {"id":"b"}']
    ])
    expect(says("desk")).toEqual([
      "desk | run",
      ["Result", "Began: 00:00:00.000 UTC (+0 ms); Lasted: 18 s; For a person: 1 s; Run: r;", "Outputcopy Done."],
      ["Arguments", "Inputcopy Go."]
    ])
  })

  it("say once of an error that ended the run what it was, and why it ended it [P1218]", () => {
    const { says } = shown(events)
    expect(says("pay")).toEqual([
      "pay | desk › turn 2",
      [
        "Error",
        "Declinedcopy",
        "no",
        "It ended the run: pay has no row for Declined.",
        "Began: 00:00:10.000 UTC (+10 s); Lasted: 1 s; Attempt: 1; Run: r;"
      ],
      ["Arguments", 'Argumentscopy {"cents":5}']
    ])
  })

  it("have the entries of the conversation up to the selection [P1218]", () => {
    const { panel, select, store, tab } = shown()
    select("attempt 1", 1)
    const context = [
      "model: Busy → retry in 500 ms",
      "Model",
      "Hi.",
      "pay waits for approval: money",
      '{"cents":5}',
      "pay: approve",
      "fine",
      "pay failed: Declined",
      "no",
      "Show in the conversation"
    ]
    expect(tab("Context")).toEqual(context)
    store.selectEvent(11)
    expect(tab("Context").slice(-2)).toEqual(["tool: Declined → retry in 250 ms", "Show in the conversation"])
    store.select(0, undefined, 0)
    expect(String(panel())).toBe(
      [
        '<div class="panel" role="tabpanel" tabindex="0" aria-labelledby="tab-chosen"><h3 dir="auto">Input</h3><pre class="said" dir="auto">Go.</pre>',
        '<button type="button" class="copy">Show in the conversation</button></div>'
      ].join("")
    )
    const late = shown([...rich.slice(0, 7), { turn: 1, type: "turn-end" }])
    late.store.selectEvent(7)
    expect(late.tab("Context")).toEqual([
      "Input",
      "Go.",
      "The model failed",
      "Busy:",
      "model: Busy → retry in 500 ms",
      "Model",
      "Hi.",
      "Show in the conversation"
    ])
    const long = shown([{ turn: 0, type: "run-start", input: "x".repeat(2500) }])
    long.select("desk")
    expect(long.tab("Context")[1]).toMatch(/^x{1999}…/)
  })

  it("have fifty events and two hundred decisions at most, and what ended a reply of many events [P1218]", () => {
    const deltas = Array.from({ length: 300 }, () => ({ turn: 1, type: "text-delta", text: "x" }))
    const { panel, raw, says } = shown([
      { turn: 1, type: "model-start", model: "m", attempt: 1 },
      ...deltas,
      { turn: 1, type: "model-failed", attempt: 1, error: { name: "Cut", message: "gone" } },
      { turn: 1, type: "verdict", layer: "model", tag: "Cut", verdict: "retry", attempt: 1 },
      { turn: 1, type: "model-start", model: "m", attempt: 2 }
    ])
    expect(says("m").slice(1)).toEqual([
      ["Error", "Cutcopy", "gone", "Began: 00:00:00.000 UTC (+0 ms); Lasted: 5 min 3 s; Attempt: 2; Model: m; Run: r;"],
      ["Decisions", "Cut → retry", "Outcome: recovered; Begins: 5 min 2 s after the start; Verdict: retry; Attempt: 1;"]
    ])
    expect(raw()).toEqual(Array.from({ length: 50 }, (_, index) => index))
    expect(panel()?.children[0]?.textContent).toBe("Events (the first 50 of 304)copy")
    const verdicts = Array.from({ length: 201 }, (_, nth) => [
      { turn: 1, type: "model-start", model: "m", attempt: nth },
      { turn: 1, type: "model-failed", attempt: nth, error: { name: "Busy", message: "later" } },
      { turn: 1, type: "verdict", layer: "model", tag: "Busy", verdict: "retry", attempt: nth }
    ])
    const many = shown(verdicts.flat())
    many.select("m")
    expect(many.tab("Decisions")).toHaveLength(400)
  })

  it("have each event that decides something, and of it what bears on the decision [P1218]", () => {
    const deciding =
      "verdict arguments-coerced approval-requested approval-decided approval-expired fix-start fix-end fix-failed compacted output-coerced output-rejected guardrail budget-exceeded".split(
        " "
      )
    const others = ["tool-start", "tool-failed", "tool-progress", "tool-end", "result-put-aside", "budget-warning"]
    const decides = (type: string) => {
      const { list, store } = shown([
        { turn: 1, type: "turn-start" },
        { ...pay, type }
      ])
      store.selectEvent(1)
      return list()?.children.some((one) => one.textContent === "Decisions")
    }
    expect(deciding.filter(decides)).toEqual(deciding)
    expect(others.filter(decides)).toEqual([])
    const verdict = { turn: 1, type: "verdict", layer: "model", tag: "Busy", verdict: "retry", attempt: 3, rung: 1 }
    const hinted = { ...verdict, delay: 500, hint: 250, hintFrom: "server", left: { turns: 4 } }
    const { select, tab } = shown([{ turn: 1, type: "model-start", model: "m", attempt: 1 }, hinted])
    select("m")
    expect(tab("Decisions")[1]).toBe(
      "Outcome: recovered; Begins: 1 s after the start; Verdict: retry; Rung: 2; Attempt: 3; Waits: 500 ms; Hint: wait 250 ms, by server; Left: 4 turns, any calls;"
    )
  })

  it("have what was asked, what was before and after a change, and what a fixer was given, among the arguments [P1218]", () => {
    const asked = { ...pay, type: "approval-requested", request: { reason: "money", arguments: { cents: 7 } } }
    expect(shown([asked]).says("pay").slice(2, 3)).toEqual([
      ["Arguments", 'Argumentscopy {"cents":7}', 'Arguments to decide oncopy {"cents":7}']
    ])
    const change = { step: "json", before: "{a", after: "{}" }
    expect(
      shown([{ ...pay, type: "arguments-coerced", change }])
        .says("pay")
        .slice(1, 3)
    ).toEqual([
      ["Result", "Began: 00:00:00.000 UTC (+0 ms); Lasted: 0 ms; Run: r;"],
      ["Arguments", "Beforecopy {a", "Aftercopy {}"]
    ])
    const fixed = shown([
      { ...pay, type: "tool-start" },
      { ...pay, type: "tool-failed", attempt: 1, error: { name: "Bad", message: "no" } },
      { ...pay, type: "fix-start", input: "Mend it." },
      { ...pay, type: "fix-end", answer: "Mended." }
    ])
    expect(fixed.says("fixes pay, repair 1").slice(1, 3)).toEqual([
      ["Result", "Began: 00:00:02.000 UTC (+2 s); Lasted: 1 s; Run: r;", "What the fixer answeredcopy Mended."],
      ["Arguments", "What the fixer was givencopy Mend it."]
    ])
  })
})

describe("the elements of the inspector [P1218]", () => {
  it("are a heading with a badge, a path, tabs and the panel of the chosen one [P1218]", () => {
    const { section, select } = shown(rich, { editor: "code://{file}:{line}", folder: "/app" })
    select("attempt 1", 1)
    expect(String(section)).toBe(
      [
        '<aside class="inspector is-shown" aria-label="Inspector"><div class="title"><h2 dir="auto">pay: attempt 1</h2><span class="badge lost">failed</span><button type="button" class="close">Close</button></div>',
        '<p class="quiet" dir="auto">desk › turn 1 › pay</p><div class="tabs" role="tablist" aria-label="About the selection">',
        '<button type="button" role="tab" aria-selected="true" tabindex="0" id="tab-chosen">Error</button>',
        ...["Arguments", "Context", "Raw"].map(
          (name) => `<button type="button" role="tab" aria-selected="false" tabindex="-1">${name}</button>`
        ),
        '</div><div class="panel" role="tabpanel" tabindex="0" aria-labelledby="tab-chosen"><h3 dir="auto">Declined<button type="button" class="copy">copy</button></h3><pre class="said" dir="auto">no</pre>',
        '<dl class="facts" title="1970-01-01T00:00:10.000Z"><dt>Began</dt><dd dir="auto">00:00:09.000 UTC (+9 s)</dd><dt>Lasted</dt><dd dir="auto">1 s</dd><dt>Attempt</dt><dd dir="auto">1</dd><dt>Run</dt><dd dir="auto">r</dd>',
        '<dt>Defined</dt><dd><a href="code:///app/src/pay.ts:3" rel="noreferrer">src/pay.ts:3:1</a></dd></dl>',
        '<div><h3 dir="auto">Result<button type="button" class="copy">copy</button></h3><pre class="said" dir="auto">paid</pre></div></div></aside>'
      ].join("")
    )
    select("pay")
    buttonIn(section, "Decisions").click()
    expect(String(section.querySelector(".panel"))).toContain(
      '<h3 dir="auto">decided: approve</h3><dl class="facts"><dt>Outcome</dt><dd dir="auto">approval</dd>'
    )
  })

  it("copy what they show [P1218]", () => {
    const { panel, select, store } = shown()
    select("attempt 1", 1)
    for (const one of panel()?.querySelectorAll(".copy") ?? []) one.click()
    expect(page.copied.splice(0)).toEqual(["Declined: no", "paid"])
    store.select(undefined)
    expect(panel()).toBe(null)
  })

  it("are shown by a selection that the reader makes, and not by the start or another view [P1218]", () => {
    const { inspector, leave, section, store } = shown()
    const isShown = () => section.classList.contains("is-shown")
    store.selectEvent(10, "start")
    expect(isShown()).toBe(false)
    inspector.focus()
    expect(isShown()).toBe(true)
    inspector.close()
    store.look("events")
    expect([isShown(), leave.mock.calls.length]).toEqual([false, 1])
    store.selectEvent(10)
    expect(isShown()).toBe(true)
    store.select(undefined)
    expect(isShown()).toBe(false)
  })

  it("are drawn anew for other events, and their panel begins at its top [P1218]", () => {
    const { panel, section, select, store } = shown(rich.slice(0, 8))
    select("pay")
    expect(section.querySelector(".panel")?.textContent).not.toContain("paid")
    const box = panel()
    if (box === null) throw new Error("there is no panel")
    box.scrollTop = 100
    box.dispatch(new PageEvent("scroll"))
    store.renew(recordingOf(rich))
    expect([box.textContent.includes("paid"), box.scrollTop]).toEqual([true, 0])
    // to set what was not scrolled would lay out the page
    box.scrollTop = 50
    store.renew(recordingOf(rich))
    expect(box.scrollTop).toBe(50)
  })

  it("take the arrow keys and Escape, and have the focus on the chosen tab, or on the panel [P1218]", () => {
    const { inspector, list, section, select, tab } = shown()
    inspector.focus()
    expect(page.activeElement?.getAttribute("class")).toBe("panel")
    select("pay")
    tab("Arguments")
    list()?.children[0]?.focus()
    inspector.focus()
    expect(page.activeElement?.textContent).toBe("Arguments")
    const press = (key: string, on: PageElement | null) => {
      const event = on?.dispatch(new PageEvent("keydown", { key }))
      return [event?.defaultPrevented, event?.isStopped]
    }
    expect(press("ArrowRight", list())).toEqual([true, false])
    expect(press("Escape", section)).toEqual([true, true])
  })
})
