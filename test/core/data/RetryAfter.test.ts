import { assert, it } from "@effect/vitest"
import type * as RetryAfter from "@kintsugi/core/RetryAfter"
import { parse } from "@kintsugi/core/RetryAfter"
import { fromHttp429 } from "@kintsugi/core/Factories"
import { DateTime, Duration } from "effect"

/** Friday, 1 January 2027, noon. */
const noon = 1_798_804_800_000

const hintOf = (header: string | null | undefined, now: Parameters<typeof RetryAfter.parse>[1] = noon) => {
  const { retryAfter } = fromHttp429("openai", header, { now })
  return retryAfter === undefined ? undefined : Duration.toMillis(retryAfter)
}

it("fromHttp429 reads seconds, fractions included, and dates in the three forms of HTTP [T12]", () => {
  for (const [header, millis] of [
    ["30", 30_000],
    [" 30 ", 30_000],
    ["1.5", 1500],
    ["0.0001", 1],
    ["0", 0],
    ["999999", 999_999_000],
    ["Fri, 01 Jan 2027 12:00:07 GMT", 7000],
    ["Friday, 01-Jan-27 12:00:07 GMT", 7000],
    ["Fri Jan  1 12:00:07 2027", 7000],
    ["Mon Jan 11 12:00:07 2027", 864_007_000],
    ["Fri, 01 Jan 2027 11:59:00 GMT", 0]
  ] as const) {
    assert.strictEqual(hintOf(header), millis, header)
  }
})

it("a blank, negative, unreadable or missing header is no hint, and the advice is then 60 s [T12]", () => {
  const junk = ["", "  ", "soon", "-5", "-0.5", "NaN", "Infinity", "1e3", "0x10", "1,5", "10 s", "Fri", "2027-01-01"]
  for (const header of [...junk, "Fri, 99 Jan 2027 12:00:07 GMT", null, undefined]) {
    const error = fromHttp429("openai", header, { now: noon })
    assert.notProperty(error, "retryAfter")
    assert.deepStrictEqual(error.suggestedDelay, Duration.seconds(60))
  }
})

it("a number that is larger than every date is the longest wait, and no wait is longer [T12]", () => {
  for (const header of ["99999999999999999999", "9".repeat(400), "8640000000001", "99999999999"]) {
    assert.strictEqual(hintOf(header), 1e12, header)
  }
  // without an instant a date says nothing
  assert.property(fromHttp429("openai", "99999999999999999999"), "retryAfter")
  assert.notProperty(fromHttp429("openai", "99999999999"), "retryAfter")
})

it("a date is relative to the given instant, in any form of that instant [T12]", () => {
  const header = "Fri, 01 Jan 2027 12:01:00 GMT"
  const instants = [
    noon,
    new Date(noon),
    DateTime.makeUnsafe(noon),
    DateTime.makeZonedUnsafe(noon, { timeZone: "Asia/Tokyo" })
  ]
  for (const now of instants) assert.strictEqual(hintOf(header, now), 60_000)
  assert.strictEqual(hintOf(header, noon + 59_000), 1000)
})

it("the error names the service, the status and the wait [T12]", () => {
  const error = fromHttp429("openai", "30", { now: noon })
  assert.deepInclude(error, { service: "openai", status: 429, retryAfter: Duration.seconds(30) })
  for (const part of ["openai", "429", "30s"]) assert.include(error.message, part)
})

it("a number is a wait, an instant or an endless wait, by its size [T12]", () => {
  for (const [header, now, millis] of [
    ["1000000000", undefined, 1e12],
    ["1000000001", undefined, undefined],
    ["1798804807", noon, 7000],
    ["8640000000000", undefined, undefined],
    ["8640000000000", noon, 1e12],
    ["8640000000001", undefined, 1e12],
    [null, noon, undefined],
    ["", noon, undefined]
  ] as const) {
    const wait = parse(header, now)
    assert.strictEqual(wait === undefined ? undefined : Duration.toMillis(wait), millis, String(header))
  }
})
