/** What the page of the playground asks its server for. */
import { afterAll, beforeEach, describe, expect, it, vi } from "vitest"

const asked: Array<readonly [string, RequestInit | undefined]> = []
let answers: Array<Response> = []

/** The module of a page that was opened at an address. It reads its token when it is loaded. */
const opened = async (search = "?token=a%26b") => {
  vi.resetModules()
  vi.stubGlobal("location", { search })
  return import("../../../../packages/view/src/serve/browser/api.ts")
}

beforeEach(() => {
  vi.stubGlobal("fetch", (path: string, init?: RequestInit) => {
    asked.push([path, init])
    return Promise.resolve(answers.shift() ?? Response.json({ id: "r1" }))
  })
})
afterAll(() => vi.unstubAllGlobals())

const streamOf = (pieces: ReadonlyArray<Uint8Array>) =>
  new ReadableStream<Uint8Array>({
    start: (controller) => {
      for (const piece of pieces) controller.enqueue(piece)
      controller.close()
    }
  })

const headers = { authorization: "Bearer a&b" }
const posted = (body: string) => ({ method: "POST", headers: { ...headers, "content-type": "application/json" }, body })

describe("the page of the playground", () => {
  it("has the token in each request, and in the address of a frame [P1283]", async () => {
    const api = await opened()
    expect(api.reportOf("a/b")).toBe("/runs/a%2Fb?token=a%26b")
    expect(api.comparisonOf("a/b", "c d")).toBe("/compare/a%2Fb/c%20d?token=a%26b")
    expect(api.eventsOf("a/b")).toBe("/events/a%2Fb")
    answers = [Response.json({ version: 1 })]
    expect(await api.state()).toEqual({ version: 1 })
    expect(asked.splice(0)).toEqual([["/state", { headers }]])
  })

  it("asks with an empty token where its address has none, which the server refuses [P1283]", async () => {
    const api = await opened("")
    expect([api.reportOf("r"), api.comparisonOf("r", "s")]).toEqual(["/runs/r?token=", "/compare/r/s?token="])
    answers = [new Response("no token\n", { status: 401 })]
    await expect(api.state()).rejects.toThrow(/^no token$/)
    expect(asked.splice(0)).toEqual([["/state", { headers: { authorization: "Bearer " } }]])
  })

  it("posts what a person does [P1284]", async () => {
    const api = await opened()
    const choice = { input: "Hi", model: "own", tools: "run", faults: [], seed: 1 } as const
    expect([await api.start(choice), await api.repeat("a/b"), await api.from("r", { turn: 2 })]).toEqual([
      "r1",
      "r1",
      "r1"
    ])
    await api.stop("r")
    await api.say("r", "Wait.")
    await api.decide("r", "d", { type: "approve" })
    await api.replay()
    await api.clear()
    await api.reload()
    expect(asked.splice(0)).toEqual([
      ["/runs", posted(JSON.stringify(choice))],
      ["/runs/a%2Fb/repeat", posted("{}")],
      ["/runs/r/from", posted('{"turn":2}')],
      ["/runs/r/stop", posted("{}")],
      ["/runs/r/say", posted('{"text":"Wait."}')],
      ["/runs/r/decide", posted('{"digest":"d","answer":{"type":"approve"}}')],
      ["/replay", posted("{}")],
      ["/clear", posted("{}")],
      ["/reload", posted("{}")]
    ])
  })

  it("fails with the words of the server [P1287]", async () => {
    const api = await opened()
    answers = [new Response(" not now \n", { status: 409 }), new Response("gone\n", { status: 404 })]
    await expect(api.stop("r")).rejects.toThrow(/^not now$/)
    await expect(api.follow("/events/r", 0, () => undefined)).rejects.toThrow(/^gone$/)
    asked.splice(0)
  })

  it("follows events after a number, however a stream cuts them [P1284]", async () => {
    const api = await opened()
    const text = 'id: 4\ndata: {"a":1}\n\n: nothing\n\ndata: "é"\n\nid: 6\ndata: 2\n\nid: 7\ndata: 3'
    const bytes = new TextEncoder().encode(text)
    for (const size of [1, 7, bytes.length]) {
      const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) =>
        bytes.slice(at * size, (at + 1) * size)
      )
      answers = [new Response(streamOf(pieces))]
      const each = vi.fn()
      // the last block has not ended
      expect(await api.follow("/events/r", 3, each)).toBe(6)
      expect(each.mock.calls).toEqual([[{ a: 1 }], ["é"], [2]])
    }
    expect(asked.splice(0)).toEqual([1, 2, 3].map(() => ["/events/r?after=3", { headers }]))
    const { signal } = new AbortController()
    answers = [new Response("")]
    expect(await api.follow("/x", 9, () => undefined, signal)).toBe(9)
    expect(asked.splice(0)).toEqual([["/x?after=9", { headers, signal }]])
  })
})
