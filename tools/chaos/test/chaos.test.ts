/** What the chaos draws, and what it does to bytes and replies. */
import { describe, expect, it } from "vitest"
import { Usage } from "../../../scripts/commandLine.ts"
import { drawOf } from "../../eval/src/seeds.ts"
import { digestsIn } from "../src/people.ts"
import { clockOf, survivor, troublesOf } from "../src/plan.ts"
import { observed } from "../src/process/reading.ts"
import { askedIn, inputOf, isSound, kindOf, piecesOf, sound, unsound } from "../src/replies.ts"
import { parse } from "../src/settings.ts"
import { usageOf } from "../src/usage.ts"
import { Cut, passing, type Sky } from "../src/weather.ts"

describe("the plan", () => {
  const lasts = 600_000
  const troubles = troublesOf(1, lasts)

  it("has all troubles in the order of time, the same for the same seed", () => {
    expect(troubles.map(({ at }) => at)).toEqual(troubles.map(({ at }) => at).toSorted((one, other) => one - other))
    expect(troubles.every(({ at }) => at < lasts)).toBe(true)
    const kinds = new Set(troubles.map((one) => (one.type === "weather" ? `${one.link} ${one.weather}` : one.type)))
    expect([...kinds].toSorted()).toEqual([
      "SIGKILL",
      "SIGTERM",
      "database cut",
      "database halved",
      "database slow",
      "model cut",
      "model halved",
      "model slow"
    ])
    expect(troublesOf(1, lasts)).toEqual(troubles)
    expect(troublesOf(2, lasts)).not.toEqual(troubles)
  })

  it("lets one process live through the second half", () => {
    const ends = troubles.filter(({ type }) => type !== "weather")
    expect(ends.some(({ slot }) => slot === survivor)).toBe(true)
    expect(ends.some(({ at, slot }) => slot === survivor && at > lasts / 2)).toBe(false)
  })

  it("has clocks that are right, seconds off and minutes off, in both directions", () => {
    const clocks = Array.from({ length: 300 }, (_, nth) => clockOf(1, nth % 3, nth))
    expect(clocks.filter((off) => off === 0).length).toBeGreaterThan(60)
    expect(Math.max(...clocks)).toBeGreaterThan(60_000)
    expect(Math.min(...clocks)).toBeLessThan(-60_000)
    expect(Math.max(...clocks.map(Math.abs))).toBeLessThanOrEqual(180_000)
  })
})

describe("the weather", () => {
  const through = async (weather: Sky["weather"], chunks: ReadonlyArray<string>) => {
    const waits: Array<number> = []
    let cuts = 0
    const sky = { weather, cut: () => void cuts++ }
    const stream = passing(sky, drawOf(1, "bytes"), (callback, milliseconds) => {
      waits.push(milliseconds)
      callback()
    })
    let [said, error]: [string, unknown] = ["", undefined]
    stream.on("data", (part) => (said += String(part))).on("error", (one) => (error = one))
    const closed = new Promise((resolve) => stream.once("close", resolve))
    for (const chunk of chunks) stream.write(chunk)
    stream.end()
    await closed
    return { said, waits, cuts, error }
  }
  const chunks = Array.from({ length: 30 }, (_, nth) => `${nth};`.padStart(8))

  it("lets all bytes pass when it is fair, and late when it is slow", async () => {
    expect(await through(undefined, chunks)).toEqual({ said: chunks.join(""), waits: [], cuts: 0, error: undefined })
    const slow = await through("slow", chunks)
    expect(slow).toMatchObject({ said: chunks.join(""), cuts: 0 })
    expect(slow.waits).toHaveLength(30)
  })

  it("cuts between chunks, or in the middle of one", async () => {
    const cut = await through("cut", chunks)
    expect(cut.error).toBeInstanceOf(Cut)
    expect(cut.cuts).toBe(1)
    expect([chunks.join("").startsWith(cut.said), cut.said.length % 8]).toEqual([true, 0])
    const halved = await through("halved", chunks)
    expect([chunks.join("").startsWith(halved.said), halved.said.length % 8]).toEqual([true, 4])
  })
})

describe("the model server", () => {
  const body = (run: string, request: string, ...more: ReadonlyArray<object>) =>
    JSON.stringify({ messages: [{ role: "user", content: inputOf(run, request) }, ...more] })

  it("knows the run and its request by what a request holds", () => {
    expect(askedIn(body("r7", "refund 12 of order A-17"))).toEqual({
      run: "r7",
      request: "refund 12 of order A-17",
      hasResult: false
    })
    expect(askedIn(body("r7", "x", { role: "tool" })).hasResult).toBe(true)
  })

  it("is honest most of the time, and hostile in each way", () => {
    const kinds = Array.from({ length: 3000 }, (_, nth) => kindOf(drawOf(1, nth)))
    expect(kinds.filter((kind) => kind === "plain").length).toBeGreaterThan(2000)
    expect(new Set(kinds)).toEqual(new Set([...sound, ...unsound]))
    expect([sound.every(isSound), unsound.some(isSound)]).toEqual([true, false])
  })

  it("gives each reply of a run another usage", () => {
    const said = piecesOf(askedIn(body("r7", "order A-17")), "plain", 5).join("")
    expect(said).toContain(`"completion_tokens":${usageOf(5)}`)
    expect(said).toContain("findOrder")
    expect(piecesOf(askedIn(body("r7", "refund 12 of order A-17")), "unknown-tool", 0).join("")).not.toContain(
      '"refund"'
    )
  })
})

it("a reply counts as read once its last bytes have come to the reader, however they were cut", async () => {
  const heard: Array<string> = []
  const bytesOf = (parts: ReadonlyArray<string>) =>
    new ReadableStream<Uint8Array>({
      start: (controller) => {
        for (const part of parts) controller.enqueue(new TextEncoder().encode(part))
        controller.close()
      }
    })
  const replying = (...parts: ReadonlyArray<string>) =>
    observed(
      async () =>
        new Response(bytesOf(parts), {
          headers: { "x-request-id": "r1/0" }
        }),
      (id) => heard.push(id)
    )
  const whole = await replying("data: {}\n\nda", "ta: [DO", "NE]\n\n")("http://localhost")
  expect(heard).toEqual([])
  expect(await whole.text()).toBe("data: {}\n\ndata: [DONE]\n\n")
  expect(heard).toEqual(["r1/0"])
  const cut = await replying("data: {}\n\n", "data: [DO")("http://localhost")
  await cut.text()
  expect(heard).toEqual(["r1/0"])
})

it("people find the digests of what a run waits for", () => {
  const waiting = {
    _tag: "Waiting",
    run: "r1",
    waiting: [{ request: { digest: "d1" } }, { request: { digest: "d1" } }]
  }
  expect(digestsIn(JSON.stringify(waiting))).toEqual(["d1"])
  expect(digestsIn('{"_tag":"Answered","output":"\\"digest\\":\\"d1\\""}')).toEqual([])
})

it("the command line has the minutes, a seed and a rate", () => {
  expect(parse(["60"])).toEqual({ minutes: 60, seed: 1, rate: 1 })
  expect(parse(["0.5", "--seed=7", "--rate=2"])).toEqual({ minutes: 0.5, seed: 7, rate: 2 })
  for (const wrong of [["0"], ["--rate=0"], ["1", "2"], ["--seed=a"], ["--other=1"]]) {
    expect(() => parse(wrong), wrong.join(" ")).toThrow(Usage)
  }
})
