/** The script of a report: it shows the recording in the page, or follows a run at work. */
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest"
import { page, PageElement, withPage } from "../_support/dom.ts"
import { events } from "./_support/desk.ts"

withPage()

/** The streams that the page has asked for, and their writers. */
const asked: Array<{ readonly url: string; readonly init: RequestInit }> = []
let writer: ReadableStreamDefaultController<Uint8Array> | undefined
let refuses: Response | undefined

const numbered = events.map((event, index) => ({ runId: "r", agent: "desk", at: index * 1000, ...event }))

beforeEach(() => {
  vi.resetModules()
  vi.useFakeTimers({ toFake: ["setTimeout"] })
  asked.length = 0
  refuses = undefined
  page.body.replaceChildren()
  page.body.listeners.splice(0)
  vi.stubGlobal("location", { hash: "", href: "file:///run.html", pathname: "/run.html", search: "" })
  vi.stubGlobal("history", { replaceState: () => undefined })
  vi.stubGlobal("fetch", (url: string, init: RequestInit) => {
    asked.push({ url, init })
    if (refuses !== undefined) return Promise.resolve(refuses)
    return Promise.resolve(
      new Response(
        new ReadableStream<Uint8Array>({
          start: (controller) => {
            writer = controller
          }
        })
      )
    )
  })
})
afterEach(() => vi.useRealTimers())

/** A page with data, whose script has begun. */
const shown = async (data: object | undefined) => {
  const [head, main] = [new PageElement("header"), new PageElement("main")]
  document.title = ""
  page.body.append(head, main)
  if (data !== undefined) {
    const script = new PageElement("script")
    script.id = "data"
    script.append(JSON.stringify(data))
    page.body.append(script)
  }
  await import("../../../packages/view/src/browser/main.ts")
  await vi.advanceTimersByTimeAsync(1)
  const status = () => main.querySelector(".stream")?.textContent
  return { head, main, status }
}

const send = async (text: string, wait = 100) => {
  writer?.enqueue(new TextEncoder().encode(text))
  await vi.advanceTimersByTimeAsync(wait)
}

const sent = (all: ReadonlyArray<object>) => all.map((event) => `event: e\ndata: ${JSON.stringify(event)}\n\n`).join("")

describe("the script of a report [P1219]", () => {
  it("shows the recording of the page with what its maker has given [P1219]", async () => {
    const { head, main, status } = await shown({
      events: numbered,
      problems: [],
      title: "Mine",
      test: "the test",
      links: { trace: "https://traces.example/{runId}", folder: 5, other: "no" }
    })
    expect(head.querySelector("h1")?.textContent).toBe("Mine")
    expect(head.querySelector("a")?.getAttribute("href")).toBe("https://traces.example/r")
    expect(head.querySelector(".status")?.textContent).toBe("✕ Failed")
    expect(main.querySelectorAll(".events").length).toBe(1)
    expect(status()).toBe(undefined)
    expect(asked).toEqual([])
  })

  it("shows a recording without an end as one that has ended [P1219]", async () => {
    const { head } = await shown({ events: numbered.slice(0, 4), problems: [] })
    expect(head.querySelector(".status")?.textContent).toBe("… No end")
  })

  it("does nothing in a page without its parts [P1219]", async () => {
    const { main } = await shown(undefined)
    expect(String(main)).toBe("<main></main>")
  })

  it("follows a run at work, and draws what comes [P1219]", async () => {
    const { head, status } = await shown({ url: "/events" })
    expect(asked).toEqual([{ url: "/events", init: { headers: { accept: "text/event-stream" } } }])
    expect([head.querySelector("h1")?.textContent, status()]).toEqual(["A run at work", "The run is at work."])
    await send(sent(numbered.slice(0, 8)), 99)
    expect(head.querySelector("h1")?.textContent).toBe("A run at work")
    await vi.advanceTimersByTimeAsync(1)
    expect([head.querySelector(".status")?.textContent, document.title]).toEqual(["● Running", "● desk"])
    await send("data: the disk is full\n\n")
    expect(status()).toBe("The server says: the disk is full")
    await send(sent(numbered.slice(8)))
    expect([head.querySelector(".status")?.textContent, document.title]).toEqual(["✕ Failed", "✕ Declined · desk"])
    writer?.close()
    await vi.advanceTimersByTimeAsync(0)
    expect(status()).toBe("The server says: the disk is full The stream has ended.")
  })

  it("says of a run without an end that its stream has ended [P1219]", async () => {
    const { head, status } = await shown({ url: "/events", body: { customer: 1 } })
    expect(asked[0]?.init).toEqual({
      method: "POST",
      body: '{"customer":1}',
      headers: { "content-type": "application/json", accept: "text/event-stream" }
    })
    await send(sent(numbered.slice(0, 8)))
    writer?.close()
    await vi.advanceTimersByTimeAsync(0)
    expect(status()).toBe("The stream has ended.")
    expect([head.querySelector(".status")?.textContent, document.title]).toEqual(["… No end", "… No end · desk"])
  })

  it.each([
    [() => writer?.error(new Error("reset")), "The stream broke off: reset"],
    [() => writer?.error("gone"), "The stream broke off: gone"]
  ])("says that its stream broke off [P1219]", async (fail, says) => {
    const { status } = await shown({ url: "/events" })
    fail()
    await vi.advanceTimersByTimeAsync(0)
    expect(status()).toBe(says)
  })

  it("says what the server answers if it refuses [P1219]", async () => {
    refuses = new Response("no", { status: 403 })
    const { status } = await shown({ url: "/events" })
    expect(status()).toBe("The stream broke off: The server answers 403")
  })

  it("rests four times as long as it has drawn [P1219]", async () => {
    const { head } = await shown({ url: "/events" })
    const clock = vi.spyOn(performance, "now")
    // the first drawing takes 50 milliseconds
    clock.mockReturnValueOnce(1000).mockReturnValueOnce(1050)
    await send(sent(numbered.slice(0, 4)))
    expect(head.querySelector(".status")?.textContent).toBe("● Running")
    await send(sent(numbered.slice(4)), 199)
    expect(head.querySelector(".status")?.textContent).toBe("● Running")
    await vi.advanceTimersByTimeAsync(1)
    expect(head.querySelector(".status")?.textContent).toBe("✕ Failed")
    clock.mockRestore()
  })
})
