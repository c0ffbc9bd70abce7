/** What the load draws, and how it judges. */
import { describe, expect, it } from "vitest"
import { Usage } from "../../../scripts/commandLine.ts"
import type { Ended } from "../src/clients.ts"
import { answerOf, piecesOf, inputOf, runOf } from "../src/conversation.ts"
import { endOf } from "../src/ends.ts"
import { faultOf, paceOf, share, type Step } from "../src/faults.ts"
import { judge, percentile } from "../src/judge.ts"
import type { Served } from "../src/modelServer.ts"
import { faultsOf, type Mark, type Played, table } from "../src/report.ts"
import { parse } from "../src/settings.ts"

const body = (...chunks: ReadonlyArray<object>) =>
  [...chunks.map((chunk) => JSON.stringify(chunk)), "[DONE]"].map((line) => `data: ${line}\n\n`).join("")

const start = { type: "start", messageId: "m7" }
const said = (run: number) => piecesOf(answerOf(run)).map((delta) => ({ type: "text-delta", id: "1", delta }))

describe("the end of a stream", () => {
  it("is an answer if the text is that of its own run, without what was taken back", () => {
    expect(endOf(7, 200, body(start, ...said(7), { type: "finish" }))).toEqual({ type: "answer" })
    const takenBack = [...said(7).slice(0, 3), { type: "reset-step" }, ...said(7)]
    expect(endOf(7, 200, body(start, ...takenBack))).toEqual({ type: "answer" })
    expect(endOf(7, 200, body(start, ...said(8))).type).toBe("wrong")
    expect(endOf(7, 200, body(start, ...said(7), ...said(7))).type).toBe("wrong")
  })

  it("is a failure if it has a name, and lost without an end", () => {
    const failed = body(start, ...said(7).slice(0, 3), { type: "error", errorText: "BUSY" })
    expect(endOf(7, 200, failed)).toEqual({ type: "failure", code: "BUSY", id: "m7" })
    expect(endOf(7, 200, body(start, ...said(7)).replace("data: [DONE]\n\n", "")).type).toBe("lost")
    expect(endOf(7, 503, "busy")).toEqual({ type: "lost", why: "status 503: busy" })
  })
})

describe("what is drawn", () => {
  const steps: ReadonlyArray<Step> = ["call", "answer"]
  const runs = Array.from({ length: 5000 }, (_, index) => index + 1)
  const drawn = (seed: number) => runs.flatMap((run) => steps.map((step) => faultOf(seed, run, step)))

  it("are faults of all kinds in as many steps as was said, the same for the same seed", () => {
    const faults = drawn(1).filter((fault) => fault !== undefined)
    expect(faults.length / (2 * runs.length)).toBeGreaterThan(0.8 * share)
    expect(faults.length / (2 * runs.length)).toBeLessThan(1.2 * share)
    for (const kind of ["429", "503", "reset", "malformed"] as const) {
      expect(faults.filter((fault) => fault === kind).length, kind).toBeGreaterThan(0.05 * faults.length)
    }
    expect(drawn(1)).toEqual(drawn(1))
    expect(drawn(2)).not.toEqual(drawn(1))
  })

  it("are times that add up to the mean of a run", () => {
    const all = runs.map((run) =>
      steps.map((step) => paceOf(1, run, step, 1000)).reduce((sum, { first, rest }) => sum + first + rest, 0)
    )
    expect(Math.max(...all)).toBeLessThanOrEqual(1500)
    expect(all.reduce((sum, one) => sum + one, 0) / all.length).toBeCloseTo(1000, -2)
  })

  it("are inputs that the model knows by their number", () => {
    expect(runOf(JSON.stringify({ messages: [{ role: "user", content: inputOf(17) }] }))).toBe(17)
    expect(answerOf(17)).not.toBe(answerOf(18))
  })
})

describe("the judge", () => {
  const answered = (run: number, took: number): Ended => ({ run, took, end: { type: "answer" } })
  const failed = (run: number): Ended => ({ run, took: 1, end: { type: "failure", code: "BUSY", id: `m${run}` } })
  const served = (run: number, ...faults: Served["faults"]): Served => ({ run, own: 100, turns: 2, faults })
  const log = ["m2 has failed: BUSY", "m3 has failed: OTHER"]

  it("takes the model's own time off, apart for runs with a fault", () => {
    const ends = [answered(1, 103), answered(2, 105), answered(3, 1104)]
    const judged = judge(3, ends, [served(1), served(2), served(3, "429")], log)
    expect(judged).toMatchObject({ answered: 3, faulted: 1, recovered: 1, failed: 0, lost: [] })
    expect(judged.clean).toEqual({ p50: 3, p99: 5 })
    expect(judged.mended).toEqual({ p50: 1004, p99: 1004 })
  })

  it("loses runs that the log does not know, that fail without a fault, that say something else, or that no client has", () => {
    const wrong: Ended = { run: 5, took: 1, end: { type: "wrong", said: "no" } }
    const ends = [failed(2), failed(3), failed(4), wrong]
    const judged = judge(6, ends, [served(2, "503"), served(3, "503"), served(4), served(5)], log)
    expect(judged).toMatchObject({ answered: 0, failed: 1 })
    expect(judged.lost).toEqual([
      "run 3, 503: the log does not know that m3 has failed with BUSY",
      "run 4, no fault: it has failed with BUSY",
      "run 5, no fault: it says 'no'",
      "run 1: no client knows it",
      "run 6: no client knows it"
    ])
  })

  it("takes percentiles by rank", () => {
    const values = Array.from({ length: 100 }, (_, index) => 100 - index)
    expect([percentile(values, 0.5), percentile(values, 0.99), percentile([], 0.5)]).toEqual([50, 99, Number.NaN])
  })
})

describe("the report", () => {
  const mark = (heap: number): Mark => ({
    heap,
    resident: heap,
    reserved: heap,
    cpu: 1,
    descriptors: 20,
    streams: 0,
    turns: 1
  })
  const played = (subject: Played["subject"], late: number, runs = 1): Played => ({
    subject,
    judged: judge(runs, [{ run: 1, took: 1, end: { type: "answer" } }], [], []),
    early: mark(2 ** 20),
    late: mark(late),
    over: mark(late),
    busy: 0.5,
    own: 0.4
  })

  it("fails for lost runs, and for memory that grows in a run that is long enough", () => {
    expect(faultsOf(played("kintsugi", 1.04 * 2 ** 20), { minutes: 10 })).toEqual([])
    expect(faultsOf(played("kintsugi", 2 ** 21), { minutes: 1 })).toEqual([])
    expect(faultsOf(played("kintsugi", 2 ** 21), { minutes: 10 }).map(({ text }) => text)).toEqual([
      "kintsugi: the heap memory has grown by 100.0 %",
      "kintsugi: the resident memory has grown by 100.0 %"
    ])
    expect(faultsOf(played("ai", 1, 2), { minutes: 1 })).toEqual([
      { text: "ai: run 2: no client knows it", isPeer: true }
    ])
  })

  it("has a column for each subject", () => {
    expect(
      table([played("bare", 1), played("ai", 1)])
        .split("\n")[0]
        ?.trim()
    ).toMatch(/^bare +ai$/)
  })
})

it("the command line refuses what cannot be played", () => {
  expect(parse(["--minutes=0.3", "--clients=50", "--subject=ai,bare"])).toMatchObject({ minutes: 0.3, clients: 50 })
  for (const wrong of ["--minutes=0", "--rate=0", "--rate=10", "--subject=other", "--clients=a"]) {
    expect(() => parse([wrong]), wrong).toThrow(Usage)
  }
})
