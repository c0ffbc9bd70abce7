/** The panes of the playground, as HTML and as what a person chooses in them. */
import { describe, expect, it, vi } from "vitest"
import { agentPane } from "../../../../packages/view/src/serve/browser/agentPane.ts"
import { approval } from "../../../../packages/view/src/serve/browser/approval.ts"
import { breakPane } from "../../../../packages/view/src/serve/browser/breakPane.ts"
import { asText, tick } from "../../../../packages/view/src/serve/browser/dom.ts"
import { inputForm } from "../../../../packages/view/src/serve/browser/inputForm.ts"
import { nameOf, runList, words } from "../../../../packages/view/src/serve/browser/runList.ts"
import type { AgentShown, ToolShown } from "../../../../packages/view/src/serve/browser/Wire.ts"
import { buttonIn, elementOf, page, withPage } from "../../_support/dom.ts"
import { PageEvent } from "../../_support/pageEvent.ts"
import { run } from "./_support/runs.ts"

withPage()

describe("the list of runs [P1285]", () => {
  it("has each run with its sign, its facts and its error [P1285]", () => {
    const all = [
      run(),
      run({ id: "r2", status: "cut off", healed: 2, of: { id: "r1", turn: 3 }, error: "x".repeat(60), input: { a: 1 } })
    ]
    const acts = { show: vi.fn(), clear: vi.fn() }
    const made = runList(all, "r2", acts)
    expect(String(made)).toBe(
      [
        '<section class="runs" aria-label="Runs"><h3>Runs</h3><ul>',
        '<li class="run is-completed" data-run="r1"><button type="button" class="open">✓ Hello</button><span class="faint">1.5 s</span></li>',
        '<li class="run is-cut-off is-selected" data-run="r2"><button type="button" class="open">… { &quot;a&quot;: 1 }</button>',
        `<span class="faint">1.5 s · ◆ 2 · from turn 3 · ${"x".repeat(49)}…</span></li></ul>`,
        '<p class="faint">Runs are kept in .kintsugi/runs. They hold what was said.</p><button type="button">Clear</button></section>'
      ].join("")
    )
    buttonIn(made, "✓ Hello").click()
    expect(acts.show.mock.calls).toEqual([["r1"]])
    buttonIn(made, "Clear").click()
    expect(acts.clear).toHaveBeenCalledTimes(1)
    expect(String(runList([], undefined, acts))).toBe(
      '<section class="runs" aria-label="Runs"><h3>No runs yet</h3><p class="faint">Runs are kept in .kintsugi/runs. They hold what was said.</p></section>'
    )
  })

  it("has a sign and words for each status [P1285]", () => {
    const statuses = ["running", "waiting", "completed", "failed", "interrupted", "cut off"] as const
    expect(statuses.map((status) => nameOf(run({ status, input: "" })))).toEqual(
      ["●", "△", "✓", "✕", "■", "…"].map((sign) => `${sign} the recorded input`)
    )
    expect(nameOf(run({ input: "x".repeat(50) }))).toBe(`✓ ${"x".repeat(39)}…`)
    expect(statuses.map((status) => words[status])).toEqual([
      "● RUNNING",
      "△ WAITS FOR YOU",
      "✓ COMPLETED",
      "✕ FAILED",
      "■ STOPPED",
      "… CUT OFF"
    ])
  })
})

describe("the form of an input [P1281]", () => {
  it("is a text without a schema, and for one of a text [P1281]", () => {
    const form = inputForm(undefined, undefined)
    expect(String(form.root)).toBe(
      '<label class="field"><span>Input</span><textarea id="input" rows="3" aria-label="Input"></textarea></label>'
    )
    expect(form.read()).toBe("Hello")
    expect(inputForm({ type: "string" }, "before").read()).toBe("before")
    expect(inputForm({ $ref: "#/$defs/T", $defs: { T: { type: "string" } } }, undefined).read()).toBe("Hello")
    form.focus()
    expect(page.activeElement?.name).toBe("textarea")
  })

  it("is JSON for any other schema without fields [P1281]", () => {
    const form = inputForm({ type: "array" }, [1])
    expect(String(form.root)).toContain("<span>Input, as JSON</span>")
    expect(form.read()).toEqual([1])
    expect(() => inputForm({ type: "array" }, undefined).read()).toThrow(SyntaxError)
  })

  it("has a field for each property, of its own kind [P1281]", () => {
    const schema = {
      properties: {
        name: { type: "string" },
        many: { type: "integer" },
        share: { type: "number" },
        gift: { type: "boolean" },
        size: { $ref: "#/$defs/Size" },
        tags: { type: "array" }
      },
      $defs: { Size: { enum: ["s", "m", 3] } }
    }
    const bare = inputForm(schema, undefined)
    expect(String(bare.root)).toBe(
      [
        '<div class="fields"><label class="field"><span>name</span><input name="name" type="text"></input></label>',
        '<label class="field"><span>many</span><input name="many" type="number" step="any"></input></label>',
        '<label class="field"><span>share</span><input name="share" type="number" step="any"></input></label>',
        '<label class="field"><span>gift</span><select name="gift"><option>false</option><option>true</option></select></label>',
        '<label class="field"><span>size</span><select name="size"><option>s</option><option>m</option><option>3</option></select></label>',
        '<label class="field"><span>tags, as JSON</span><input name="tags" type="text"></input></label></div>'
      ].join("")
    )
    expect(bare.read()).toEqual({ name: "", gift: false, size: "s" })
    const before = { name: "Ada", many: 2, share: 0.5, gift: true, size: 3, tags: ["a"] }
    expect(inputForm(schema, before).read()).toEqual(before)
    expect(inputForm(schema, { size: "other" }).read()).toMatchObject({ size: "s" })
    bare.focus()
    expect(page.activeElement?.attributes.get("name")).toBe("name")
    const field = (name: string) =>
      elementOf(bare.root)
        .querySelectorAll("input")
        .find((one) => one.getAttribute("name") === name)
    Object.assign(field("many") ?? {}, { value: "7" })
    Object.assign(field("tags") ?? {}, { value: "[1" })
    expect(() => bare.read()).toThrow(SyntaxError)
    Object.assign(field("tags") ?? {}, { value: "[1]" })
    expect(bare.read()).toMatchObject({ many: 7, tags: [1] })
    expect(inputForm({ properties: {} }, undefined).read()).toEqual({})
  })
})

describe("a request for approval [P1284]", () => {
  it("is approved as it is, with other arguments, or refused with a reason [P1284]", () => {
    const answer = vi.fn()
    const made = approval({ digest: "d", tool: "pay", arguments: { cents: 5 }, reason: "money" }, answer)
    expect(String(made)).toBe(
      [
        '<section class="approval" aria-label="Approve pay?"><h3>△ pay waits for you</h3><p>money</p>',
        '<label class="field"><span>Arguments</span><textarea rows="5" aria-label="Arguments" spellcheck="false"></textarea></label>',
        '<p class="complaint" role="alert"></p><p class="acts"><button type="button" class="main">Approve</button><button type="button">Approve with these</button>',
        '<button type="button">Refuse</button><input type="text" aria-label="Reason" placeholder="reason"></input></p></section>'
      ].join("")
    )
    const box = elementOf(made).querySelector("textarea")
    expect(box?.value).toBe('{\n  "cents": 5\n}')
    buttonIn(made, "Approve").click()
    buttonIn(made, "Approve with these").click()
    Object.assign(box ?? {}, { value: "{" })
    buttonIn(made, "Approve with these").click()
    expect(elementOf(made).querySelector(".complaint")?.textContent).toBe("The arguments are no JSON.")
    buttonIn(made, "Refuse").click()
    Object.assign(elementOf(made).querySelector("input") ?? {}, { value: "not now" })
    buttonIn(made, "Refuse").click()
    expect(answer.mock.calls).toEqual([
      ["d", { type: "approve" }],
      ["d", { type: "approve", arguments: { cents: 5 } }],
      ["d", { type: "refuse", reason: "refused" }],
      ["d", { type: "refuse", reason: "not now" }]
    ])
    expect(String(approval({ digest: "d", tool: "pay", arguments: "{}", reason: "" }, answer))).not.toContain("<p></p>")
  })
})

const tool = (fields: Partial<ToolShown> = {}): ToolShown => ({
  name: "pay",
  description: "Pays.",
  parameters: { type: "object" },
  sideEffects: "undeclared",
  rows: [],
  tags: [],
  missing: [],
  ...fields
})

const agent = (fields: Partial<AgentShown> = {}): AgentShown => ({
  name: "desk",
  kind: "agent",
  where: "desk.ts#desk",
  prompt: "",
  tools: [],
  model: { rows: [], missing: [] },
  budget: [
    ["maxTurns", "8"],
    ["maxCost", "$1"]
  ],
  worst: "8 turns",
  hasModel: false,
  prefersModel: false,
  ...fields
})

describe("the pane of an agent [P1281]", () => {
  it("has its tools with their rows, and the errors without one [P1281]", () => {
    const made = agentPane(
      agent({
        kind: "composition",
        prompt: "Help.",
        tools: [
          tool({
            sideEffects: "unsafe",
            approval: "money",
            rows: [{ key: "Busy", verdicts: "retry" }],
            missing: ["Locked"]
          }),
          tool({ name: "look", approval: "" })
        ],
        model: { rows: [{ key: "NetworkError", verdicts: "retry, tell" }], missing: ["ServerError", "RateLimitError"] }
      })
    )
    expect(String(made)).toBe(
      [
        '<section class="agent" aria-labelledby="agent-name"><h2 id="agent-name">desk</h2><p class="faint">desk.ts#desk, a composition</p>',
        "<details><summary>Prompt</summary><pre>Help.</pre></details><h3>Tools</h3>",
        '<article class="tool" data-tool="pay"><h4>pay</h4><p>Pays.</p><p class="faint">side effects: unsafe · needs approval: money</p>',
        '<ul class="chips"><li class="chip">Busy → retry</li><li class="chip is-missing">no row: Locked</li></ul>',
        "<details><summary>Arguments</summary><pre>{\n  &quot;type&quot;: &quot;object&quot;\n}</pre></details></article>",
        '<article class="tool" data-tool="look"><h4>look</h4><p>Pays.</p><p class="faint">needs approval</p><ul class="chips"></ul>',
        "<details><summary>Arguments</summary><pre>{\n  &quot;type&quot;: &quot;object&quot;\n}</pre></details></article>",
        '<h3>Model calls</h3><ul class="chips"><li class="chip">NetworkError → retry, tell</li></ul>',
        '<details><summary class="is-missing">2 model errors without a row</summary><p class="faint">ServerError, RateLimitError. The transport of a provider sends some of them again.</p></details>',
        '<h3>Limits</h3><p>maxTurns 8 · maxCost $1</p><p class="faint">At worst: 8 turns</p></section>'
      ].join("")
    )
  })

  it("leaves out what an agent has none of [P1281]", () => {
    expect(String(agentPane(agent()))).toBe(
      '<section class="agent" aria-labelledby="agent-name"><h2 id="agent-name">desk</h2><p class="faint">desk.ts#desk</p><h3>No tools</h3><h3>Model calls</h3><ul class="chips"></ul><h3>Limits</h3><p>maxTurns 8 · maxCost $1</p><p class="faint">At worst: 8 turns</p></section>'
    )
    expect(String(agentPane(agent({ tools: [tool()] })))).toContain('<p>Pays.</p><ul class="chips">')
  })
})

describe("the pane of faults [P1282]", () => {
  const faults = [
    { name: "a", title: "A", isPreset: true },
    { name: "b", title: "B", isPreset: false }
  ]

  it("begins with the preset faults, or with those that were chosen before [P1282]", () => {
    const changed = vi.fn()
    const pane = breakPane(agent(), faults, undefined, changed)
    expect(String(pane.root)).toBe(
      [
        '<section class="break" aria-labelledby="break-title"><h2 id="break-title">Break it</h2>',
        '<label class="tick"><input type="checkbox" checked data-fault="a"></input>A</label><label class="tick"><input type="checkbox" data-fault="b"></input>B</label>',
        '<label class="field"><span>Model</span><select id="model"><option value="stand-in">Stand-in (no key)</option></select></label>',
        '<label class="field"><span>Tools</span><select id="tools"><option value="run">Run them</option><option value="made up">Make results up</option></select></label>',
        '<p class="faint">The stand-in calls each tool with made-up arguments. Its sends are repeated as a transport repeats them.</p></section>'
      ].join("")
    )
    expect(pane.read()).toEqual({ faults: ["a"], model: "stand-in", tools: "run" })
    expect(breakPane(agent(), faults, ["b"], changed).read().faults).toEqual(["b"])
    const [, second] = elementOf(pane.root).querySelectorAll("input")
    Object.assign(second ?? {}, { checked: true })
    second?.dispatch(new PageEvent("change"))
    expect(pane.read().faults).toEqual(["a", "b"])
    expect(changed).toHaveBeenCalledTimes(1)
  })

  it("takes the agent's own model where it prefers it, and runs no unsafe tool with made-up arguments [P1282]", () => {
    const read = (fields: Partial<AgentShown>) => {
      const { model, tools } = breakPane(agent(fields), [], undefined, () => undefined).read()
      return [model, tools]
    }
    const unsafe = [tool(), tool({ sideEffects: "unsafe" })]
    expect(read({ hasModel: true })).toEqual(["stand-in", "run"])
    expect(read({ hasModel: true, prefersModel: true })).toEqual(["own", "run"])
    expect(read({ tools: unsafe })).toEqual(["stand-in", "made up"])
    expect(read({ tools: unsafe, hasModel: true, prefersModel: true })).toEqual(["own", "run"])
    expect(read({ tools: [tool({ sideEffects: "none" })] })).toEqual(["stand-in", "run"])
  })
})

it("fields have their labels, and values are texts [P1281]", () => {
  const [root, box] = tick("Text", false)
  expect(String(root)).toBe('<label class="tick"><input type="checkbox"></input>Text</label>')
  expect(box.checked).toBe(false)
  expect([asText("a"), asText({ a: 1 }), asText(undefined), asText(null)]).toEqual(["a", '{\n  "a": 1\n}', "", "null"])
})
