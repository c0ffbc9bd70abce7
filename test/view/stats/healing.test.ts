/** What healed failures, and the failures without a row: how they add up. */
import { describe, expect, it } from "vitest"
import type { Incident } from "../../../packages/view/src/recording/Incidents.ts"
import { addEnded, type Ended, endedKey } from "../../../packages/view/src/stats/ended.ts"
import {
  addHealing,
  addUnhandled,
  healingKey,
  healingOf,
  percentile,
  unhandledKey,
  unhandledOf
} from "../../../packages/view/src/stats/healing.ts"

const same = (cost: number): number => cost

const incident = (fields: Partial<Incident> = {}): Incident => ({
  layer: "tool",
  tag: "Busy",
  agent: "desk",
  tool: "pay",
  failures: 2,
  verdict: "retry",
  gaveUp: false,
  byModel: false,
  isHealed: true,
  wasRead: false,
  millis: 1000,
  cost: 0.5,
  unpriced: 1,
  row: undefined,
  ...fields
})

const healing = (fields: Partial<Incident> = {}) => {
  const [one] = healingOf(incident(fields), same)
  if (one === undefined) throw new Error("it was not healed")
  return one
}

describe("what healed failures", () => {
  it("is of incidents with a good end alone, with what they have cost [P1703]", () => {
    expect(healingOf(incident({ isHealed: false }), same)).toEqual([])
    expect(healingOf(incident(), (cost) => cost + 1)).toEqual([
      {
        layer: "tool",
        tag: "Busy",
        verdict: "retry",
        byModel: false,
        incidents: 1,
        attempts: 2,
        took: [{ upTo: 1024, count: 1 }],
        cost: 1.5,
        unpriced: 1
      }
    ])
  })

  it("took a time in steps that are a fifth apart [P1703]", () => {
    const steps = [0, 0.9, 1, 1.1, 2, 3, 100, 1000, 1024, 1025].map((millis) => healing({ millis }).took[0]?.upTo)
    expect(steps).toEqual([0, 0, 1, 1, 2, 3, 108, 1024, 1024, 1218])
  })

  it("adds up by its error and verdict, with the times in order [P1703]", () => {
    const add = addHealing((cost) => cost * 10)
    const sum = add(healing({ millis: 2000 }), healing({ millis: 1, failures: 1, unpriced: 0 }))
    expect(sum).toEqual({
      layer: "tool",
      tag: "Busy",
      verdict: "retry",
      byModel: false,
      incidents: 2,
      attempts: 3,
      took: [
        { upTo: 1, count: 1 },
        { upTo: 2048, count: 1 }
      ],
      cost: 10,
      unpriced: 1
    })
    expect(add(sum, sum).took).toEqual([
      { upTo: 1, count: 2 },
      { upTo: 2048, count: 2 }
    ])
    const keys = [{}, { layer: "model" }, { tag: "B" }, { verdict: "fix" }, { byModel: true }]
    expect(new Set(keys.map((fields) => healingKey(healing(fields)))).size).toBe(5)
    expect(healingKey(healing({ agent: "other", tool: undefined }))).toBe(healingKey(healing()))
  })

  it("has the time within which a share of the incidents healed [P1703]", () => {
    const took = [
      { upTo: 10, count: 2 },
      { upTo: 20, count: 1 },
      { upTo: 30, count: 1 }
    ]
    const of = { ...healing(), incidents: 4, took }
    expect([0, 0.5, 0.51, 0.75, 0.95, 1, 2].map((share) => percentile(of, share))).toEqual([10, 10, 20, 20, 30, 30, 30])
    expect(percentile({ ...of, took: [] }, 0.5)).toBe(0)
  })
})

describe("errors without a row", () => {
  const row = (code: string) => ({ code, page: `page of ${code}` })

  it("are those without a verdict, with what is known of them [P1703]", () => {
    expect(unhandledOf(incident())).toEqual([])
    expect(unhandledOf(incident({ verdict: "none" }))).toStrictEqual([
      { layer: "tool", tag: "Busy", agent: "desk", tool: "pay", incidents: 1 }
    ])
    expect(unhandledOf(incident({ verdict: "none", tool: undefined, row: row("a") }))).toStrictEqual([
      { layer: "tool", tag: "Busy", agent: "desk", incidents: 1, row: row("a") }
    ])
  })

  it("add up to one row, the same in any order [P1230]", () => {
    const one = { layer: "tool", tag: "Busy", agent: "desk", incidents: 1 }
    const [a, b] = [
      { ...one, row: row("a") },
      { ...one, incidents: 2, row: row("b") }
    ]
    for (const sum of [addUnhandled(a, b), addUnhandled(b, a)])
      expect(sum).toEqual({ ...one, incidents: 3, row: row("a") })
    expect(addUnhandled(one, b)).toEqual({ ...one, incidents: 3, row: row("b") })
    expect(addUnhandled(one, one)).toStrictEqual({ ...one, incidents: 2 })
    const others = [
      one,
      { ...one, layer: "model" },
      { ...one, tag: "B" },
      { ...one, agent: "b" },
      { ...one, tool: "t" }
    ]
    expect(new Set(others.map(unhandledKey)).size).toBe(5)
  })
})

describe("what ended runs", () => {
  const one: Ended = {
    tag: "Busy",
    agent: "desk",
    why: "no-row",
    runs: 1,
    example: { runId: "a", at: 5, reason: "no row" }
  }

  it("adds up with the latest example, at one instant the same in any order [P1230]", () => {
    const later = { ...one, runs: 2, example: { ...one.example, at: 6, runId: "0" } }
    const beside = { ...one, example: { ...one.example, runId: "b" } }
    for (const sum of [addEnded(one, later), addEnded(later, one)])
      expect(sum).toEqual({ ...one, runs: 3, example: later.example })
    for (const sum of [addEnded(one, beside), addEnded(beside, one)])
      expect(sum).toEqual({ ...one, runs: 2, example: beside.example })
  })

  it("is told apart by error, agent, tool and reason [P1703]", () => {
    const others: ReadonlyArray<Ended> = [
      one,
      { ...one, tag: "B" },
      { ...one, agent: "b" },
      { ...one, tool: "t" },
      { ...one, why: "gave-up" }
    ]
    expect(new Set(others.map(endedKey)).size).toBe(5)
    expect(endedKey({ ...one, runs: 7 })).toBe(endedKey(one))
  })
})
