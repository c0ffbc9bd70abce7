/** The history of benchmark ratios: a slow loss shows before any single record passes its margin. */
import { expect, it } from "vitest"
import { added, courses, isLost, lineOf, lossOf, type Past } from "../../bench/src/history.ts"

const at = (commit: string, ratios: Past["ratios"]): Past => ({ commit, date: "2026-11-27", processor: "p", ratios })
const historyOf = (values: ReadonlyArray<number>) =>
  values.map((value, i) => at(`c${i}`, { "happy turn: time": value }))

it("a loss of 1.5 per cent at each of four commits is a loss of about 6 per cent over five records", () => {
  const [course] = courses(historyOf([2, 2.03, 2.06, 2.09, 2.12]))
  expect(course?.loss).toBeCloseTo(0.12 / 2.06, 10)
  expect(course && isLost(course)).toBe(true)
  expect(course && lineOf(course)).toMatch(/^happy turn: time +2\.00 +2\.03 +2\.06 +2\.09 +2\.12 +\+5\.8 %  worse$/)
})

it.each([
  ["one record that is off", [2, 2, 2.6, 2, 2]],
  ["a last record that is off", [2, 2, 2, 2, 2.6]],
  ["a loss of 4 per cent in all", [2, 2.02, 2.04, 2.06, 2.08]],
  ["what gets better", [2.4, 2.3, 2.2, 2.1, 2]]
])("%s is no loss", (_, values) => {
  expect(courses(historyOf(values)).filter(isLost)).toEqual([])
})

it("four records say nothing yet, and of more than five the last five count", () => {
  expect(lossOf([1, 2, 3, 4])).toBeUndefined()
  expect(courses(historyOf([9, 1, 1, 1, 1, 1]))).toEqual([
    { name: "happy turn: time", values: [1, 1, 1, 1, 1], loss: 0 }
  ])
})

it("a second record of a commit replaces its rows, and keeps those that it did not measure", () => {
  const all = added([at("a", { x: 1 }), at("b", { x: 2, y: 2 })], at("b", { x: 3 }))
  expect(all).toEqual([at("a", { x: 1 }), at("b", { x: 3, y: 2 })])
})
