/** The pane of a run: what a person can do with it while it is at work, while it waits, and when it is over. */
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest"
import type { RunShown } from "../../../../packages/view/src/serve/browser/Wire.ts"
import { buttonIn, elementOf, withPage } from "../../_support/dom.ts"
import { PageEvent } from "../../_support/pageEvent.ts"
import { run } from "./_support/runs.ts"

withPage()

const asked: Array<string> = []
let events: ReadonlyArray<object> = []
let isRefused = false
let isRead = false
let RunPane: typeof import("../../../../packages/view/src/serve/browser/runPane.ts").RunPane

beforeAll(async () => {
  // the same token as in all tests of this page, which reads it once
  vi.stubGlobal("location", { search: "?token=a%26b" })
  ;({ RunPane } = await import("../../../../packages/view/src/serve/browser/runPane.ts"))
})
beforeEach(() => {
  vi.stubGlobal("fetch", (path: string, init?: RequestInit) => {
    if (path.startsWith("/events/")) {
      asked.push(path)
      const text = events.map((event, index) => `id: ${index + 1}\ndata: ${JSON.stringify(event)}\n\n`).join("")
      isRead = false
      // the page asks for more when it has taken all events
      let pulls = 0
      const body = new ReadableStream<Uint8Array>({
        pull: (controller) => {
          if (pulls++ === 0) return controller.enqueue(new TextEncoder().encode(text))
          controller.close()
          isRead = true
        }
      })
      return Promise.resolve(new Response(body))
    }
    asked.push(`${path} ${String(init?.body)}`)
    return Promise.resolve(isRefused ? new Response("not now", { status: 409 }) : Response.json({ id: "r9" }))
  })
  asked.length = 0
  events = []
  isRefused = false
})
afterAll(() => vi.unstubAllGlobals())

const shown = async (first: Partial<RunShown> = {}, all: ReadonlyArray<RunShown> = []) => {
  const acts = { show: vi.fn(), complain: vi.fn() }
  const pane = new RunPane("r1", acts)
  const root = elementOf(pane.root)
  pane.renew(run({ status: "running", turns: 3, ...first }), all)
  // the events have come
  await vi.waitFor(() => expect(asked.some((path) => path.startsWith("/events/"))).toBe(true))
  await vi.waitFor(() => expect(isRead).toBe(true))
  pane.leave()
  const texts = (selector: string) => root.querySelectorAll(selector).map((one) => one.textContent)
  return { acts, pane, root, texts }
}

const request = { digest: "d", tool: "pay", arguments: { cents: 5 }, reason: "money" }

describe("a run at work", () => {
  it("shows its events, and takes a stop and words [P1284]", async () => {
    events = [{ type: "model-start", runId: "r", at: 0, model: "m" }]
    const { acts, pane, root, texts } = await shown({ healed: 2 })
    expect(asked.splice(0)).toEqual(["/events/r1?after=0"])
    expect([texts(".head"), texts(".title"), document.title]).toEqual([
      ["● RUNNING · ◆ 2 healed"],
      ["m"],
      "● RUNNING · desk"
    ])
    expect([root.getAttribute("class"), root.getAttribute("aria-label")]).toEqual(["shown", "Run"])
    expect([texts(".after"), root.querySelector("iframe")]).toEqual([[""], null])
    const box = root.querySelector("input")
    expect(box?.getAttribute("placeholder")).toBe("say something to the run")
    buttonIn(root, "Say").click()
    if (box !== null) box.value = " Wait. "
    box?.dispatch(new PageEvent("keydown", { key: "x" }))
    box?.dispatch(new PageEvent("keydown", { key: "Enter" }))
    buttonIn(root, "Say").click()
    buttonIn(root, "Stop").click()
    expect(asked).toEqual(['/runs/r1/say {"text":"Wait."}', "/runs/r1/stop {}"])
    expect(box?.value).toBe("")
    expect(pane.acts().map(({ name }) => name)).toEqual(["This run: Stop"])
    isRefused = true
    pane.acts()[0]?.act()
    await vi.waitFor(() => expect(acts.complain).toHaveBeenCalledTimes(1))
  })
})

describe("a run that waits", () => {
  it("asks when it is suspended, and no more when it has been decided or goes on [P1284]", async () => {
    const requested = { type: "approval-requested", runId: "r", callId: "c", request }
    events = [requested]
    const atWork = await shown()
    expect(atWork.texts(".approval h3")).toEqual([])
    events = [requested, { type: "run-suspended", runId: "r" }]
    const { pane, root, texts } = await shown({ status: "waiting" })
    await vi.waitFor(() => expect(texts(".approval h3")).toEqual(["△ pay waits for you"]))
    expect([texts(".after"), root.querySelector("iframe")]).toEqual([[""], null])
    pane.renew(run({ status: "running" }), [])
    expect(texts(".approval h3")).toEqual([])
    events = [requested, { type: "run-suspended", runId: "r" }, { ...requested, type: "approval-decided" }]
    const decided = await shown({ status: "waiting" })
    await vi.waitFor(() => expect(decided.texts(".approval h3")).toEqual([]))
  })

  it("asks for each decision that was not made, and sends it [P1284]", async () => {
    const requested = { type: "approval-requested", runId: "r", callId: "c", request }
    events = [
      requested,
      { ...requested, callId: "d", request: { ...request, tool: "look" } },
      { type: "approval-decided", runId: "r", callId: "d" },
      { type: "run-suspended", runId: "r" }
    ]
    const { root, texts } = await shown({ status: "waiting" })
    expect([texts(".head"), texts(".approval h3"), document.title]).toEqual([
      ["△ WAITS FOR YOU"],
      ["△ pay waits for you"],
      "△ waits for you"
    ])
    asked.length = 0
    buttonIn(root, "Approve").click()
    await vi.waitFor(() => expect(asked).toHaveLength(2))
    // the stream had ended, and is followed on from its last number
    expect(asked).toEqual(['/runs/r1/decide {"digest":"d","answer":{"type":"approve"}}', "/events/r1?after=4"])
  })
})

describe("a run that is over", () => {
  it("has its report, and the ways to go on [P1285]", async () => {
    events = [
      { type: "model-start", runId: "r", transcript: [{ role: "system", text: "No start." }] },
      { type: "run-start", runId: "r", transcript: [{ role: "system", text: "Help." }] },
      { type: "run-start", runId: "child", transcript: [{ role: "system", text: "Help the other." }] }
    ]
    const older = [run({ id: "r2" }), run(), run({ id: "r0", agent: "other" }), run({ id: "r-1" })]
    const { acts, pane, root, texts } = await shown({ status: "failed", error: "Busy: later" }, older)
    expect(texts(".head")).toEqual(["✕ FAILED · Busy: later"])
    expect(root.querySelector(".head")?.getAttribute("class")).toBe("head is-failed")
    expect(root.querySelectorAll("a").map((one) => [one.textContent, one.getAttribute("href")])).toEqual([
      ["Open the report", "/runs/r1?token=a%26b"],
      ["Compare with the run before", "/compare/r-1/r1?token=a%26b"]
    ])
    expect(root.querySelectorAll("a").map((one) => one.getAttribute("target"))).toEqual(["_blank", "_blank"])
    expect(texts(".from label")).toEqual(["Turn", "Prompt", "Input"])
    expect(String(root.querySelector("iframe"))).toBe(
      '<iframe src="/runs/r1?token=a%26b" title="The report of the run" class="report"></iframe>'
    )
    expect(pane.acts().map(({ name }) => name)).toEqual([
      "This run: Run again",
      "This run: Open the report",
      "This run: Compare with the run before"
    ])
    asked.length = 0
    const prompt = root.querySelector("textarea")
    await vi.waitFor(() => expect(prompt?.value).toBe("Help."))
    buttonIn(root, "Run again").click()
    buttonIn(root, "Run from here").click()
    const [turn, input] = root.querySelectorAll("input")
    expect([turn?.getAttribute("max"), turn?.value]).toEqual(["3", "3"])
    Object.assign(turn ?? {}, { value: "2" })
    Object.assign(input ?? {}, { value: "More." })
    Object.assign(prompt ?? {}, { value: "Be brief." })
    buttonIn(root, "Run from here").click()
    expect(asked).toEqual([
      "/runs/r1/repeat {}",
      '/runs/r1/from {"turn":3}',
      '/runs/r1/from {"turn":2,"prompt":"Be brief.","input":"More."}'
    ])
    await vi.waitFor(() => expect(acts.show.mock.calls).toEqual([["r9"], ["r9"], ["r9"]]))
  })

  it("is compared with the run that it goes on from, if there is one, and is not settled twice [P1285]", async () => {
    const older = [run(), run({ id: "r0" }), run({ id: "r-1" })]
    const of = { id: "r-1", turn: 1 }
    const { pane, root } = await shown({ status: "completed", of }, older)
    expect(root.querySelectorAll("a")[1]?.getAttribute("href")).toBe("/compare/r-1/r1?token=a%26b")
    const frame = root.querySelector("iframe")
    pane.renew(run({ status: "completed", of, healed: 1 }), older)
    expect(root.querySelector("iframe")).toBe(frame)
    const alone = await shown({ status: "cut off", turns: 0 })
    expect(alone.root.querySelectorAll("a")).toHaveLength(1)
    expect(alone.root.querySelector(".head")?.getAttribute("class")).toBe("head is-cut-off")
    expect(alone.root.querySelectorAll("input")[0]?.value).toBe("1")
  })

  it("has no clock any more [P1284]", async () => {
    const cleared = vi.spyOn(globalThis, "clearInterval")
    const pane = new RunPane("r1", { show: vi.fn(), complain: vi.fn() })
    pane.renew(run({ status: "running" }), [])
    expect(cleared).not.toHaveBeenCalled()
    pane.renew(run({ status: "completed" }), [])
    expect(cleared).toHaveBeenCalledTimes(1)
    pane.leave()
    cleared.mockRestore()
  })

  it("says why its events cannot be had, unless the pane was left [P1284]", async () => {
    const acts = { show: vi.fn(), complain: vi.fn() }
    vi.stubGlobal("fetch", () => Promise.resolve(new Response("no such run", { status: 404 })))
    const pane = new RunPane("r1", acts)
    await vi.waitFor(() => expect(acts.complain).toHaveBeenCalledTimes(1))
    pane.leave()
  })

  it("names the services that were missing, and what to paste [P1287]", async () => {
    const { root } = await shown({ status: "failed", missing: ["app/Bank", "app/Desk"] })
    expect(root.querySelector(".problem h3")?.textContent).toBe(
      "desk needs services that the module does not provide: app/Bank, app/Desk"
    )
    expect(root.querySelector(".problem pre")?.textContent).toBe(`import { Layer } from "effect"
import { agent } from "./agent.ts"
import { Bank, Desk } from "./services.ts"

const layer = Layer.mergeAll(Layer.succeed(Bank, { /* its functions */ }), Layer.succeed(Desk, { /* its functions */ }))
export default { agent, layer }`)
  })
})
