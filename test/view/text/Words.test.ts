/** Durations, counts, amounts and cut texts, at the limits between one form and the next. */
import { describe, expect, it } from "vitest"
import { clip, count, decided, duration, moment, money } from "../../../packages/view/src/text/Words.ts"

describe("a text in one line [P1218]", () => {
  it("has blanks for all white space, and none at its ends [P1218]", () => {
    expect(clip(" a\n\t b\r\nc ")).toBe("a b c")
  })

  it("is whole up to its length, and ends with an ellipsis beyond it [P1218]", () => {
    expect(clip("x".repeat(80))).toBe("x".repeat(80))
    expect(clip("x".repeat(81))).toBe(`${"x".repeat(79)}…`)
    expect([clip("abcde", 5), clip("abcdef", 5), clip("abc def", 5)]).toEqual(["abcde", "abcd…", "abc…"])
  })

  it("looks at four times its length, however long the text is [P1218]", () => {
    expect(clip(`${" ".repeat(11)}abc`, 3)).toBe("a")
    expect(clip(`${" ".repeat(12)}abc`, 3)).toBe("")
  })
})

describe("words for figures [P1218]", () => {
  it("say whether a verdict gave up [P1218]", () => {
    expect([decided("fix", false), decided("retry", true)]).toEqual(["fix", "retry gave up"])
  })

  it("change their form where the next one is as exact [P1218]", () => {
    const of = [NaN, Infinity, 0, 0.0123, 0.999, 1, 999.4, 999.5, 9994, 9995, 59_949, 59_950, -1500]
    expect(of.map(duration)).toEqual([
      "?",
      "?",
      "0 ms",
      "0.012 ms",
      "1 ms",
      "1 ms",
      "999 ms",
      "1 s",
      "9.99 s",
      "10 s",
      "59.9 s",
      "1 min",
      "-1.5 s"
    ])
  })

  it("have two units at most, and leave out a second one that is none [P1218]", () => {
    const [second, minute, hour, day] = [1000, 60_000, 3_600_000, 86_400_000]
    const of = [hour + second, hour + 59 * minute, day + minute, day + 23 * hour, 4 * day + 2 * hour + 3 * minute]
    expect(of.map(duration)).toEqual(["1 h", "1 h 59 min", "1 d", "1 d 23 h", "4 d 2 h"])
  })

  it("have every unit of a moment, to the millisecond [P1218]", () => {
    expect([999.9994, 999.9995, 1000, 61_001, 90_061_001, -1500, Infinity].map(moment)).toEqual([
      "999.999 ms",
      "1 s",
      "1 s",
      "1 min 1.001 s",
      "1 d 1 h 1 min 1.001 s",
      "-1.5 s",
      "?"
    ])
  })

  it("count one in the singular, and group thousands [P1218]", () => {
    expect([count(0, "event"), count(1, "event"), count(1234, "event")]).toEqual([
      "0 events",
      "1 event",
      "1,234 events"
    ])
    expect([count(1, "reply", "replies"), count(2, "reply", "replies")]).toEqual(["1 reply", "2 replies"])
  })

  it("have cents from a dollar on, and two digits of less [P1218]", () => {
    expect([0.5, 0.994, 0.999, -0.999, -2, 0.000_000_000_012_34].map(money)).toEqual([
      "$0.5",
      "$0.99",
      "$1.00",
      "$-1.00",
      "$-2.00",
      "$0.000000000012"
    ])
  })
})
