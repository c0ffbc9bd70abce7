/** Each invariant is broken by a forged log. */
import { describe, expect, it } from "vitest"
import type { Seen } from "../src/evidence.ts"
import { growing, growthOf, leftAtRest } from "../src/growth.ts"
import { booksOf, breaches, type Evidence, type Noted, orphans, repeated, stray, strayEnds } from "../src/judge.ts"
import type { Asked } from "../src/modelServer.ts"
import { repliesIn, usageOf } from "../src/usage.ts"

const run = (over: Partial<Seen> = {}): Seen => ({
  run: "r1",
  customer: "ada",
  state: "answered",
  unsettled: 0,
  booked: [usageOf(0), usageOf(1)],
  ends: 1,
  ...over
})
const asked = (nth: number, over: Partial<Asked> = {}): Asked => ({
  id: `r1/${nth}`,
  run: "r1",
  nth,
  kind: "plain",
  at: 0,
  isSent: true,
  ...over
})
const read = (nth: number, process = "p1"): Noted => ({ type: "read", id: `r1/${nth}`, at: 1000, process })
const lifetime = (over: Partial<Evidence["lifetimes"][number]> = {}) => ({
  process: "p1",
  slot: 0,
  begun: 0,
  sent: [],
  ...over
})
const killed = (at: number) => lifetime({ sent: ["SIGKILL"], ended: { at, how: "SIGKILL" } })

/** A run of two replies, and nothing wrong. */
const evidence = (over: Partial<Evidence> = {}): Evidence => ({
  runs: [run()],
  clients: [{ run: "r1", isAccepted: true, hasStopped: false, breaches: [] }],
  asked: [asked(0), asked(1)],
  noted: [read(0), read(1)],
  lifetimes: [lifetime()],
  cuttings: [],
  ...over
})

describe("no orphan", () => {
  it("holds for runs that have ended or wait, and breaks for all others", () => {
    expect(orphans(evidence())).toEqual([])
    expect(orphans(evidence({ runs: [run({ state: "waits", ends: 0 })] }))).toEqual([])
    expect(orphans(evidence({ runs: [] }))).toEqual(["r1 was accepted, and is gone"])
    expect(orphans(evidence({ runs: [run({ state: "unfinished" })] }))).toEqual([
      "r1 has not ended, and waits for no person"
    ])
    expect(orphans(evidence({ runs: [run({ unsettled: 2 })] }))).toEqual(["r1 has 2 calls without a settlement"])
    expect(orphans(evidence({ runs: [run({ ends: 2 })] }))).toEqual(["r1 is over, and its events have 2 ends"])
  })

  it("takes a run that no server has accepted for none", () => {
    const clients = [{ run: "r2", isAccepted: false, hasStopped: false, breaches: [] }]
    expect(orphans(evidence({ clients }))).toEqual([])
  })
})

describe("a run that is stopped", () => {
  it("was stopped by its client", () => {
    const runs = [run({ state: "stopped" })]
    const clients = [{ run: "r1", isAccepted: true, hasStopped: true, breaches: [] }]
    expect(stray(evidence({ runs, clients }))).toEqual([])
    expect(stray(evidence({ runs }))).toEqual(["r1 is stopped, and its client has not stopped it"])
    expect(stray(evidence())).toEqual([])
  })
})

describe("an unsafe tool", () => {
  const pays: Noted = { type: "pays", key: "k", at: 0, process: "p1" }
  const looked = (found: boolean): Noted => ({ type: "looked", key: "k", found, at: 0, process: "p2" })

  it("runs once, and once more for each look that found nothing", () => {
    expect(repeated(evidence({ noted: [pays] }))).toEqual([])
    expect(repeated(evidence({ noted: [pays, looked(false), pays] }))).toEqual([])
    expect(repeated(evidence({ noted: [pays, pays] }))).toEqual([
      "the refund k began 2 times, and was looked up in vain 0 times"
    ])
    expect(repeated(evidence({ noted: [pays, looked(true), pays] }))).toHaveLength(1)
    expect(repeated(evidence({ noted: [pays, { ...pays, key: "other" }] }))).toEqual([])
  })
})

describe("the books", () => {
  it("have each reply that was read once", () => {
    expect(booksOf(evidence())).toEqual({ read: 2, booked: 2, cutOff: [], faults: [] })
  })

  it("break for a reply that is booked twice, in one attempt or two, or that was never asked for", () => {
    const twice = booksOf(evidence({ runs: [run({ booked: [usageOf(0), usageOf(1), usageOf(1)] })] }))
    expect(twice.faults).toEqual(["r1/1 is booked 2 times"])
    // 2 + 2 is the usage of the third reply
    expect(booksOf(evidence({ runs: [run({ booked: [usageOf(0), 2 * usageOf(1)] })] })).faults).toContain(
      "r1/2 is booked, and was never asked for"
    )
    expect(booksOf(evidence({ runs: [run({ booked: [usageOf(0), usageOf(1), 0.5] })] })).faults).toEqual([
      "r1 has booked 0.5, which is the usage of no replies"
    ])
  })

  const lost = { runs: [run({ booked: [usageOf(0)] })] }

  it("break for a reply that was read and is not booked, where nothing has cut it off", () => {
    const { faults } = booksOf(evidence(lost))
    expect(faults).toEqual(["r1/1 was read by p1, is not booked by r1 (answered), and nothing has cut it off"])
    // a process that had ended before
    expect(booksOf(evidence({ ...lost, lifetimes: [killed(999)] })).faults).toHaveLength(1)
    // a process that has lived on for more than a minute
    expect(booksOf(evidence({ ...lost, lifetimes: [killed(61_001)] })).faults).toHaveLength(1)
    // an outage of another process, and one of the link to the model server
    const cuttings = [
      { slot: 1, link: "database", at: 1000 },
      { slot: 0, link: "model", at: 1000 }
    ] as const
    expect(booksOf(evidence({ ...lost, cuttings })).faults).toHaveLength(1)
  })

  it("list a reply that a kill or the database has cut off, and ask for no reply that was not read, or not sound", () => {
    const cutOff = [{ id: "r1/1", process: "p1", by: "SIGKILL" }]
    expect(booksOf(evidence({ ...lost, lifetimes: [killed(1500)] }))).toEqual({
      read: 2,
      booked: 1,
      cutOff,
      faults: []
    })
    const cuttings = [{ slot: 0, link: "database", at: 1500 }] as const
    expect(booksOf(evidence({ ...lost, cuttings })).cutOff).toEqual([{ ...cutOff[0], by: "database" }])
    expect(booksOf(evidence({ ...lost, noted: [read(0)] }))).toEqual({ read: 1, booked: 1, cutOff: [], faults: [] })
    const requests = [asked(0), asked(1, { kind: "malformed-frames" })]
    expect(booksOf(evidence({ ...lost, asked: requests })).faults).toEqual([])
  })

  it("list a reply of a run that was taken over from a process that has just ended, and was asked for by both", () => {
    const next = { type: "read", id: "r1/1", at: 3000, process: "p2" } as const
    const of = (over: Partial<Evidence>) =>
      booksOf(
        evidence({ ...lost, noted: [read(0), next], lifetimes: [killed(1500), lifetime({ process: "p2" })], ...over })
      )
    expect(of({})).toEqual({ read: 2, booked: 1, cutOff: [{ id: "r1/1", process: "p1", by: "SIGKILL" }], faults: [] })
    // a process that lives on, one that had ended before it could read, or long before, and one that comes later
    expect(of({ lifetimes: [lifetime(), lifetime({ process: "p2" })] }).faults).toHaveLength(1)
    expect(of({ lifetimes: [killed(999), lifetime({ process: "p2" })] }).faults).toHaveLength(1)
    expect(of({ noted: [read(0), { ...next, at: 61_501 }] }).faults).toHaveLength(1)
    expect(of({ noted: [{ ...read(0), at: 3001 }, next], lifetimes: [killed(3500)] }).faults).toHaveLength(1)
    // one end, one reply
    const both = { runs: [run({ booked: [] })], asked: [asked(0), asked(1), asked(2)] }
    const noted = [read(0), next, { ...next, id: "r1/2" }]
    expect(of({ ...both, noted }).faults).toEqual([
      "p1 has cut off more than one reply of r1",
      "p1 has cut off more than one reply of r1"
    ])
  })

  it("list a reply of a run that its client has stopped, and of no other run that was stopped", () => {
    const stopped = { runs: [run({ booked: [usageOf(0)], state: "stopped" })] }
    const clients = [{ run: "r1", isAccepted: true, hasStopped: true, breaches: [] }]
    expect(booksOf(evidence({ ...stopped, clients })).cutOff).toEqual([{ id: "r1/1", process: "p1", by: "client" }])
    expect(booksOf(evidence({ ...lost, clients })).faults).toHaveLength(1)
    expect(booksOf(evidence(stopped)).faults).toHaveLength(1)
  })

  it("break where one kill cuts off two replies of a run", () => {
    const both = evidence({ runs: [run({ booked: [] })], lifetimes: [killed(1500)] })
    expect(booksOf(both).faults).toEqual(["p1 has cut off more than one reply of r1"])
    // unless the database was out of reach too: it may have cut off one of them
    const cuttings = [{ slot: 0, link: "database", at: 1200 }] as const
    expect(booksOf({ ...both, cuttings })).toEqual({
      read: 2,
      booked: 0,
      cutOff: [
        { id: "r1/0", process: "p1", by: "SIGKILL" },
        { id: "r1/1", process: "p1", by: "database" }
      ],
      faults: []
    })
  })

  it("take the usage of each reply for a bit of the sum", () => {
    expect(repliesIn(usageOf(0) + usageOf(3) + usageOf(41))).toEqual([0, 3, 41])
    expect([repliesIn(-1), repliesIn(1.5), repliesIn(2 ** 60)]).toEqual([undefined, undefined, undefined])
  })
})

it("a process ends by the signal that it was sent; without a database it need not start", () => {
  const ends = (over: Partial<Evidence["lifetimes"][number]>, cuttings: Evidence["cuttings"] = []) =>
    strayEnds(evidence({ lifetimes: [lifetime(over)], cuttings }))
  expect(ends({})).toEqual([])
  expect(ends({ sent: ["SIGTERM"], ended: { at: 1, how: 0 } })).toEqual([])
  expect(ends({ sent: ["SIGKILL"], ended: { at: 1, how: "SIGKILL" } })).toEqual([])
  expect(ends({ sent: ["SIGTERM", "SIGKILL"], ended: { at: 1, how: "SIGKILL" } })).toEqual([])
  expect(ends({ sent: ["SIGTERM", "SIGKILL"], ended: { at: 1, how: 0 } })).toEqual([])
  expect(ends({ sent: ["SIGTERM", "SIGTERM"], ended: { at: 1, how: 1 } })).toEqual([
    "p1 was sent SIGTERM and SIGTERM, and ended with 1"
  ])
  expect(ends({ sent: ["SIGTERM"], ended: { at: 1, how: "SIGKILL" } })).toEqual([
    "p1 was sent SIGTERM, and ended with SIGKILL"
  ])
  expect(ends({ ended: { at: 1000, how: 1 } })).toEqual(["p1 was sent no signal, and ended with 1"])
  const cuttings = [{ slot: 0, link: "database", at: 500 }] as const
  expect(ends({ ended: { at: 1000, how: 1 } }, cuttings)).toEqual([])
  expect(ends({ ended: { at: 60_000, how: 1 } }, cuttings)).toHaveLength(1)
})

it("what a hostile client achieves is a fault", () => {
  const clients = [
    { run: "r1", isAccepted: true, hasStopped: false, breaches: ["a decision for another customer was taken"] }
  ]
  expect(breaches(evidence({ clients }))).toEqual(["a decision for another customer was taken"])
})

describe("growth", () => {
  const samples = (count: number, of: (nth: number) => number) =>
    Array.from({ length: count }, (_, nth) => ({
      at: 30_000 + nth,
      heap: of(nth) * 2 ** 20,
      resident: 0,
      reserved: 0,
      descriptors: of(nth),
      spans: of(nth)
    }))
  const over = (count: number, of: (nth: number) => number) =>
    growing(growthOf({ process: "p1", begun: 0, samples: samples(count, of) }))

  it("is a fault of a process that lives long enough, and is measured after it has warmed up", () => {
    expect(over(60, () => 50)).toEqual([])
    expect(over(60, (nth) => 50 + 5 * nth)).toEqual(
      [
        "p1 has grown from 97.5 to 297.5 descriptors",
        "p1 has grown from 97.5 to 297.5 open spans",
        `p1 has grown from ${97.5 * 2 ** 20} to ${297.5 * 2 ** 20} bytes of heap`
      ].toSorted((one, other) => Number(other.includes("heap")) - Number(one.includes("heap")))
    )
    expect(over(59, (nth) => 50 * nth)).toEqual([])
    const early = growthOf({ process: "p1", begun: 1, samples: samples(60, (nth) => nth) })
    expect(early).toEqual([])
  })

  it("is a fault at rest where descriptors or spans are left", () => {
    const fresh = { descriptors: 30, spans: 0 }
    expect(leftAtRest("p1", fresh, fresh)).toEqual([])
    expect(leftAtRest("p1", fresh, { descriptors: 90, spans: 50 })).toEqual([
      "p1 has 90 descriptors at rest, and had 30 at its start",
      "p1 has 50 open spans at rest, and had 0 at its start"
    ])
  })
})
