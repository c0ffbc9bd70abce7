import { assert, describe, it } from "@effect/vitest"
import { type Answer, Hints } from "@kintsugi/providers"
import { Duration } from "effect"
import * as fc from "fast-check"

/** Friday, 1 January 2027, noon. */
const noon = 1_798_804_800_000

const answer = (headers: Readonly<Record<string, string>>, status = 429): Answer.Answer => ({
  status,
  headers,
  body: "",
  at: noon,
  elapsed: Duration.zero
})

const millis = (headers: Readonly<Record<string, string>>, text = "", status = 429) => {
  const hint = Hints.of(answer(headers, status), text)
  return hint === undefined ? undefined : Duration.toMillis(hint)
}

describe("P801 headers", () => {
  const readable: ReadonlyArray<readonly [string, Readonly<Record<string, string>>, number]> = [
    ["retry-after-ms", { "retry-after-ms": "3862" }, 3862],
    ["retry-after in seconds", { "retry-after": "4" }, 4000],
    ["retry-after with a fraction", { "retry-after": "1.5" }, 1500],
    ["retry-after with blanks", { "retry-after": " 30 " }, 30_000],
    ["retry-after as a date", { "retry-after": "Fri, 01 Jan 2027 12:00:07 GMT" }, 7000],
    ["a date in the past", { "retry-after": "Fri, 01 Jan 2027 11:00:00 GMT" }, 0],
    [
      "a date, by the server's own clock",
      { "retry-after": "Fri, 01 Jan 2027 18:00:07 GMT", date: "Fri, 01 Jan 2027 18:00:00 GMT" },
      7000
    ],
    ["a zero", { "retry-after": "0" }, 0],
    ["the larger of two", { "retry-after": "1", "retry-after-ms": "0" }, 1000],
    ["the larger of two, the other way round", { "retry-after": "4", "retry-after-ms": "4500" }, 4500],
    ["a reset as a Go duration", { "x-ratelimit-reset-requests": "6m0s" }, 360_000],
    ["a reset with several units", { "x-ratelimit-reset-tokens": "1h2m3.5s" }, 3_723_500],
    ["a reset in milliseconds", { "x-ratelimit-reset-tokens": "120ms" }, 120],
    ["a reset in seconds", { "x-ratelimit-reset": "20" }, 20_000],
    ["a reset as an instant in milliseconds", { "x-ratelimit-reset": String(noon + 900) }, 900],
    ["a reset as an instant in seconds", { "x-ratelimit-reset": String(noon / 1000 + 9) }, 9000],
    ["a reset as an RFC 3339 date", { "anthropic-ratelimit-tokens-reset": "2027-01-01T12:00:30Z" }, 30_000]
  ]
  for (const [what, headers, expected] of readable) {
    it(`P801 reads ${what}`, () => assert.strictEqual(millis(headers), expected))
  }

  for (const value of ["", " ", "soon", "-5", "-0.5", "NaN", "Infinity", "1e3", "0x10", "1,5", "10 s", "Fri"]) {
    it(`P801 reads nothing from '${value}'`, () => {
      assert.strictEqual(millis({ "retry-after": value }), undefined)
      assert.strictEqual(millis({ "retry-after-ms": value }), undefined)
    })
  }

  it("P801 takes a reset for a wait only where that limit is used up", () => {
    const of = (remaining: string) =>
      millis({ "x-ratelimit-reset-tokens": "53.622s", "x-ratelimit-remaining-tokens": remaining })
    assert.strictEqual(of("0"), 53_622)
    assert.strictEqual(of("3189"), undefined)
  })

  it("P801 takes a reset for a wait only with status 429", () => {
    assert.strictEqual(millis({ "x-ratelimit-reset-tokens": "53s" }, "", 500), undefined)
  })

  it("P803 ignores the headers of a success", () => {
    for (const status of [200, 204, 299]) {
      assert.strictEqual(millis({ "retry-after": "4", "retry-after-ms": "5" }, "", status), undefined)
    }
  })
})

describe("P801 texts", () => {
  const readable: ReadonlyArray<readonly [string, number]> = [
    ["Rate limit reached for m. Limit 30000, Used 26811. Please try again in 3.862s. Visit x", 3862],
    ["Please try again in 644ms", 644],
    ["Please try again in 6m0s.", 360_000],
    ["try again in 1h2m", 3_720_000],
    ["please try again after 1 seconds", 1000],
    ["Please retry in 48.939935699s.", 48_940],
    ["Retry after 2 minutes", 120_000],
    ["try again in 1 minute 30 seconds", 90_000],
    ["try again in 250 milliseconds", 250]
  ]
  for (const [text, expected] of readable) {
    it(`P801 reads "${text}"`, () => assert.strictEqual(millis({}, text), expected))
  }

  for (const text of ["", "try again later", "try again in 5 parsecs", "in 5s", "retry 5s", "Used 20s"]) {
    it(`P801 reads nothing from "${text}"`, () => assert.strictEqual(millis({}, text), undefined))
  }

  it("P801 the largest of all wins", () => {
    const headers = { "retry-after": "2", "retry-after-ms": "1500", "x-ratelimit-reset-requests": "1s" }
    assert.strictEqual(millis(headers, "try again in 3s"), 3000)
    assert.strictEqual(millis(headers, "try again in 1s"), 2000)
  })

  it("P801 is total: any header and any text give nothing, or a finite wait of at least 0", () => {
    const value = fc.oneof(
      fc.string(),
      fc.double().map(String),
      fc.date().map(String),
      fc.stringMatching(/^[\d.hms]*$/)
    )
    fc.assert(
      fc.property(value, value, value, fc.integer({ min: 100, max: 599 }), (one, other, text, status) => {
        const headers = { "retry-after": one, "retry-after-ms": other, "x-ratelimit-reset-tokens": one, date: other }
        const wait = millis(headers, `try again in ${text}`, status)
        assert(wait === undefined || (Number.isFinite(wait) && wait >= 0), String(wait))
      })
    )
  })
})

it("P802 only `x-should-retry: false` forbids to send again", () => {
  assert.isTrue(Hints.forbidsResend(answer({ "x-should-retry": "false" })))
  assert.isTrue(Hints.forbidsResend(answer({ "x-should-retry": " False " })))
  assert.isFalse(Hints.forbidsResend(answer({ "x-should-retry": "true" })))
  assert.isFalse(Hints.forbidsResend(answer({})))
})
