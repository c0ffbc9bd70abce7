/** The script of the playground: what it shows of the server's state, and what it asks for. */
import { setImmediate } from "node:timers/promises"
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest"
import type { AgentShown, State } from "../../../../packages/view/src/serve/browser/Wire.ts"
import { buttonIn, page, PageElement, withPage } from "../../_support/dom.ts"
import { PageEvent } from "../../_support/pageEvent.ts"
import { run } from "./_support/runs.ts"

withPage()

const agent: AgentShown = {
  name: "desk",
  kind: "agent",
  where: "desk.ts",
  prompt: "",
  tools: [],
  model: { rows: [], missing: [] },
  budget: [
    ["turns", "8"],
    ["cost", "1 $"]
  ],
  worst: "8 calls",
  hasModel: true,
  prefersModel: false
}

const faults = [
  { name: "busy", title: "The model is busy", isPreset: false },
  { name: "slow", title: "The model is slow", isPreset: false }
]

let state: State
let refusal: string | undefined
let replayed: object
let asked: Array<string>
/** Ends the stream of changes after a change. */
let changes: ReadableStreamDefaultController<Uint8Array> | undefined
let addresses: Array<string>
const address = { hash: "", href: "http://127.0.0.1/?token=a%26b", pathname: "/", search: "?token=a%26b" }

beforeEach(() => {
  vi.resetModules()
  state = { version: 1, agent, faults, runs: [] }
  refusal = undefined
  replayed = { runs: 0, before: 0, now: 0, each: [] }
  asked = []
  addresses = []
  changes = undefined
  address.hash = ""
  page.body.replaceChildren(new PageElement("main"))
  page.body.listeners.splice(0)
  vi.stubGlobal("location", address)
  vi.stubGlobal("history", { replaceState: (_: unknown, __: string, url: string) => void addresses.push(url) })
  vi.stubGlobal("fetch", (path: string, init: RequestInit = {}) => {
    if (path.startsWith("/changes")) {
      asked.push(path)
      const body = new ReadableStream<Uint8Array>({
        start: (controller) => {
          changes = controller
        }
      })
      return Promise.resolve(new Response(body))
    }
    if (path.startsWith("/events/")) return Promise.resolve(new Response(""))
    if (path === "/state") {
      asked.push(path)
      return Promise.resolve(
        refusal === undefined ? Response.json(state) : new Response(`${refusal}\n`, { status: 500 })
      )
    }
    asked.push(`${path} ${String(init.body)}`)
    if (refusal !== undefined) return Promise.resolve(new Response(`${refusal}\n`, { status: 409 }))
    return Promise.resolve(Response.json(path === "/replay" ? replayed : { id: "r9" }))
  })
})
afterEach(() => vi.restoreAllMocks())

/** Lets all answers arrive that are on their way. */
const settle = async () => {
  // each answer takes a few turns of the loop
  for (let turn = 0; turn < 20; turn++) await setImmediate()
}

const shown = async (given: Partial<State> = {}) => {
  state = { ...state, ...given }
  await import("../../../../packages/view/src/serve/browser/main.ts")
  await settle()
}

/** The server tells of a change, and the page takes it. */
const change = async (given: Partial<State>) => {
  state = { ...state, ...given }
  changes?.enqueue(new TextEncoder().encode("id: 4\ndata: {}\n\n"))
  await settle()
}

const find = (selector: string) => page.body.querySelector(selector)
const textOf = (selector: string) => find(selector)?.textContent
const press = async (text: string) => {
  buttonIn(page.body, text).click()
  await settle()
}

describe("the page of the playground [P1285]", () => {
  it("shows the agent, the form and what a run may cost [P1285]", async () => {
    await shown()
    expect(asked).toEqual(["/state", "/changes?after=0"])
    expect(document.title).toBe("desk · kintsugi serve")
    expect(find("main")?.children.map((one) => one.getAttribute("class") ?? one.textContent)).toEqual([
      "◆ kintsugi serveActs",
      "left",
      "middle",
      "right"
    ])
    expect(String(find(".ask .acts"))).toBe(
      [
        '<p class="acts"><button type="submit" class="main" id="run">Run it</button>',
        '<span class="faint">At most 8 turns, cost: 1 $</span>',
        '<button type="button" id="replay">Replay the last failures</button></p>'
      ].join("")
    )
    expect(find(".middle")?.children.map((one) => one.getAttribute("class"))).toEqual(["ask", "complaint", "place"])
    expect(page.activeElement?.name).toBe("textarea")
    expect(textOf(".agent h2")).toBe("desk")
    expect(textOf(".runs h3")).toBe("No runs yet")
  })

  it("has no form without an agent, and says what is missing [P1285]", async () => {
    await shown({ agent: undefined as never })
    expect([document.title, textOf(".middle p"), find(".ask")]).toEqual(["kintsugi serve", "Loading…", null])
    const problem = { title: "No agent", found: "found nothing", missing: ["Db", "Mail"], paste: "import x" }
    await change({ version: 2, problem })
    expect(document.title).toBe("✕ No agent")
    expect(String(find(".problem"))).toBe(
      [
        '<section class="problem" role="alert"><h2>No agent</h2><p>found nothing</p><ul><li>Db</li><li>Mail</li></ul>',
        '<h3>Paste this</h3><pre>import x</pre><button type="button">Load again</button></section>'
      ].join("")
    )
    await press("Load again")
    expect(asked.at(-1)).toBe("/reload {}")
    await change({ version: 3, problem: { title: "No agent", found: "found nothing", missing: [], paste: "" } })
    expect(String(find(".problem"))).toBe(
      '<section class="problem" role="alert"><h2>No agent</h2><p>found nothing</p><button type="button">Load again</button></section>'
    )
  })

  it("begins a run with the input, the faults and a seed, and shows it [P1285]", async () => {
    vi.spyOn(Math, "random").mockReturnValue(0.5)
    await shown({ runs: [run({ input: "Again, please." })] })
    expect(find("textarea")?.value).toBe("Again, please.")
    const box = find("textarea")
    if (box !== null) box.value = "Pay 5."
    await press("Run it")
    find(".ask")?.dispatch(new PageEvent("submit"))
    await settle()
    const body = '{"input":"Pay 5.","seed":1073741824,"faults":[],"model":"stand-in","tools":"run"}'
    expect(asked.filter((one) => one.startsWith("/runs"))).toEqual([`/runs ${body}`])
    expect(addresses).toEqual(["/?token=a%26b#r9"])
    const pressed = page.body.dispatch(new PageEvent("keydown", { key: "Enter", ctrlKey: true }))
    await settle()
    expect([pressed.defaultPrevented, asked.filter((one) => one.startsWith("/runs")).length]).toEqual([true, 2])
    for (const event of [{ key: "Enter" }, { key: "a", ctrlKey: true }])
      expect(page.body.dispatch(new PageEvent("keydown", event)).defaultPrevented).toBe(false)
    await settle()
    expect(asked.filter((one) => one.startsWith("/runs")).length).toBe(2)
  })

  it("names its button by the faults that are chosen, and keeps them when the file is loaded again [P1285]", async () => {
    await shown({ faults: faults.map((one) => ({ ...one, isPreset: one.name === "busy" })) })
    expect(textOf("#run")).toBe("Run it, broken")
    const busy = find('[data-fault="busy"]')
    if (busy !== null) busy.checked = false
    busy?.dispatch(new PageEvent("change"))
    expect(textOf("#run")).toBe("Run it")
    await change({ version: 2 })
    expect([textOf("#run"), textOf(".replayed")]).toEqual(["Run it", "The file was loaded again."])
    // what is typed stays while the schema of the input is the same
    const box = find("textarea")
    if (box !== null) box.value = "typed"
    await change({ version: 3 })
    expect(find("textarea")?.value).toBe("typed")
    await change({ version: 4, agent: { ...agent, input: { type: "object", properties: { id: { type: "string" } } } } })
    expect(find('input[name="id"]')?.value).toBe("")
  })

  it("breaks nothing by itself where runs stand already [P1285]", async () => {
    await shown({ faults: faults.map((one) => ({ ...one, isPreset: true })), runs: [run()] })
    expect(textOf("#run")).toBe("Run it")
  })

  it("takes no state that is older than the one it shows [P1285]", async () => {
    await shown({ version: 5 })
    await change({ version: 4, agent: { ...agent, name: "old" } })
    expect(document.title).toBe("desk · kintsugi serve")
    await change({ version: 5, runs: [run()] })
    expect([textOf(".runs h3"), page.body.querySelectorAll(".runs").length]).toEqual(["Runs", 1])
  })

  it("shows the run that its address names, if the server has it [P1285]", async () => {
    address.hash = "#r1"
    await shown({ runs: [run(), run({ id: "r2", status: "failed", input: "Refund." })] })
    expect(addresses).toEqual(["/?token=a%26b#r1"])
    expect(find(".is-selected")?.dataset["run"]).toBe("r1")
    expect(textOf(".place .head")).toBe("✓ COMPLETED")
    await press("✕ Refund.")
    expect(page.body.querySelectorAll(".place .head").map((one) => one.textContent)).toEqual(["✕ FAILED"])
    vi.resetModules()
    page.body.replaceChildren(new PageElement("main"))
    addresses.length = 0
    address.hash = "#r7"
    await shown()
    expect([addresses, find(".is-selected")]).toEqual([[], null])
  })

  it.each([
    [{ runs: 0, before: 0, now: 0, each: [] }, "No run with failures was kept."],
    [{ runs: 3, before: 1, now: 3, each: [{ id: "a", before: false, now: true }] }, "1 → 3 of 3 healed"],
    [
      {
        runs: 2,
        before: 0,
        now: 0,
        each: [
          { id: "a", before: false, now: true, error: "Fine" },
          { id: "b", before: false, now: false, error: "Busy: later" }
        ]
      },
      "0 → 0 of 2 healed. The first that is not: Busy: later"
    ]
  ])("replays the last failures, and says how many are healed now [P1285]", async (answer, says) => {
    await shown()
    replayed = answer
    const pressed = buttonIn(page.body, "Replay the last failures")
    pressed.click()
    expect(textOf(".replayed")).toBe("…")
    await settle()
    expect([asked.at(-1), textOf(".replayed")]).toEqual(["/replay {}", says])
  })

  it("shows why the server refuses [P1285]", async () => {
    await shown({ runs: [run()] })
    refusal = "not now"
    for (const button of ["Clear", "Replay the last failures"]) {
      const complaint = find(".complaint")
      if (complaint !== null) complaint.textContent = ""
      await press(button)
      expect(textOf(".complaint")).toBe("not now")
    }
    find(".ask")?.dispatch(new PageEvent("submit"))
    await settle()
    expect(textOf(".complaint")).toBe("not now")
    refusal = undefined
    await press("Clear")
    expect(asked.at(-1)).toBe("/clear {}")
  })

  it("says what is wrong with the input, and begins no run [P1285]", async () => {
    await shown({ agent: { ...agent, input: { type: "array" } } })
    const box = find("textarea")
    if (box !== null) box.value = "{"
    find(".ask")?.dispatch(new PageEvent("submit"))
    await settle()
    expect(textOf(".complaint")).toMatch(/JSON/)
    expect(asked).toEqual(["/state", "/changes?after=0"])
  })

  it("lists in its palette what a person can do now [P1285]", async () => {
    const actsNow = () => {
      buttonIn(page.body, "Acts").click()
      const acts = page.body.querySelectorAll(".palette li").map((one) => one.textContent)
      find(".palette")?.close()
      return acts
    }
    await shown({ runs: [run(), run({ id: "r2", status: "failed", input: "Refund." })] })
    const busy = find('[data-fault="busy"]')
    if (busy !== null) busy.checked = true
    expect(actsNow()).toEqual([
      "Run it",
      "Replay the last failures",
      "Load the file again",
      "Do not break: The model is busy",
      "Break: The model is slow",
      "Show ✓ Hello",
      "Show ✕ Refund."
    ])
    const act = async (name: string) => {
      buttonIn(page.body, "Acts").click()
      page.body
        .querySelectorAll(".palette li")
        .find((one) => one.textContent === name)
        ?.click()
      await settle()
    }
    await act("Load the file again")
    expect(asked.at(-1)).toBe("/reload {}")
    await act("Show ✕ Refund.")
    expect(addresses).toEqual(["/?token=a%26b#r2"])
    await change({ version: 2, agent: undefined as never })
    expect(actsNow().filter((name) => /^(Run|Replay|Break|Do not)/.test(name))).toEqual([])
  })

  it("follows the changes from where they ended, and says when the server has ended [P1285]", async () => {
    await shown()
    await change({})
    changes?.close()
    await settle()
    expect(asked.at(-1)).toBe("/changes?after=4")
    changes?.error(new Error("gone"))
    await settle()
    expect(textOf(".complaint")).toBe("The server has ended. Start it again: kintsugi serve")
  })

  it("makes its main part where the page has none [P1285]", async () => {
    page.body.replaceChildren()
    await shown()
    expect(page.body.children.map(({ name }) => name)).toEqual(["main", "dialog"])
  })
})
