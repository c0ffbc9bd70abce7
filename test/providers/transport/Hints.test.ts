import { assert, describe, it } from "@effect/vitest"
import type * as Answer from "../../../packages/providers/src/transport/Answer.ts"
import * as GeminiContent from "@kintsugi/providers/GeminiContent"
import * as Hints from "../../../packages/providers/src/transport/Hints.ts"
import * as OpenAiChat from "@kintsugi/providers/OpenAiChat"
import { DateTime, Duration, Option, type Schema } from "effect"
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

describe("headers [P801]", () => {
  const readable: ReadonlyArray<readonly [string, Readonly<Record<string, string>>, number]> = [
    ["retry-after-ms", { "retry-after-ms": "3862" }, 3862],
    ["retry-after in seconds", { "retry-after": "4" }, 4000],
    ["retry-after with a fraction", { "retry-after": "1.5" }, 1500],
    ["retry-after with blanks", { "retry-after": " 30 " }, 30_000],
    ["retry-after sent twice", { "retry-after": "4, 4" }, 4000],
    ["retry-after sent three times", { "retry-after": "1.5,1.5 , 1.5" }, 1500],
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
    ["retry-after with more digits than a date has", { "retry-after": "99999999999999999999" }, 1e12],
    ["retry-after-ms with more digits than a number has", { "retry-after-ms": "9".repeat(400) }, 1e12],
    ["a reset as a Go duration", { "x-ratelimit-reset-requests": "6m0s" }, 360_000],
    ["a reset with several units", { "x-ratelimit-reset-tokens": "1h2m3.5s" }, 3_723_500],
    ["a reset with blanks", { "x-ratelimit-reset-tokens": " 6m0s " }, 360_000],
    ["a reset in seconds as large as an instant", { "x-ratelimit-reset": "1000000000" }, 1e12],
    ["an instant in seconds as large as one in milliseconds", { "x-ratelimit-reset": "100000000000" }, 1e12],
    ["a reset in milliseconds", { "x-ratelimit-reset-tokens": "120ms" }, 120],
    ["a reset in seconds", { "x-ratelimit-reset": "20" }, 20_000],
    ["a reset as an instant in milliseconds", { "x-ratelimit-reset": String(noon + 900) }, 900],
    ["a reset as an instant in seconds", { "x-ratelimit-reset": String(noon / 1000 + 9) }, 9000],
    ["a reset as an RFC 3339 date", { "anthropic-ratelimit-tokens-reset": "2027-01-01T12:00:30Z" }, 30_000]
  ]
  for (const [what, headers, expected] of readable) {
    it(`reads ${what} [P801]`, () => assert.strictEqual(millis(headers), expected))
  }

  for (const value of [
    "",
    " ",
    "soon",
    "-5",
    "-0.5",
    "NaN",
    "Infinity",
    "1e3",
    "0x10",
    "1,5",
    "4, 5",
    "4,4,5",
    "x4, 4",
    "10 s",
    "Fri"
  ]) {
    it(`reads nothing from '${value}' [P801]`, () => {
      assert.strictEqual(millis({ "retry-after": value }), undefined)
      assert.strictEqual(millis({ "retry-after-ms": value }), undefined)
    })
  }

  for (const value of ["6m0s later", "later 6m0s", "6m 0s", "m", "6w"]) {
    it(`reads no reset from '${value}' [P801]`, () => {
      assert.strictEqual(millis({ "x-ratelimit-reset-tokens": value }), undefined)
    })
  }

  const dates = [
    ...[
      "",
      "Z",
      "z",
      "+00:00",
      "+09:00",
      "-0500",
      "+05",
      "GMT",
      "gmt",
      " GMT",
      " (no zone)",
      "[Asia/Tokyo]",
      "Z, or so"
    ].map((zone) => `2027-01-01T12:00:30${zone}`),
    "2027-01-01T12:00",
    "2027-01-01T12:00:30.25Z",
    " 2027-01-01T23:59:60Z ",
    "2027-13-01T12:00:00Z",
    "2027-01-01T",
    "2027-01-01Tnoon",
    "2027-02-30T12:00:00",
    "2027-01-01T24:00:00"
  ]
  it("reads dates with a zone and without as Effect does, in each zone that the process may run in [P801]", () => {
    const { TZ } = process.env
    try {
      process.env["TZ"] = "Asia/Tokyo"
      assert.strictEqual(new Date(noon).getTimezoneOffset(), -540)
      for (const date of dates) {
        const expected = Option.map(DateTime.make(date.trim()), (at) => Math.max(0, DateTime.toEpochMillis(at) - noon))
        assert.strictEqual(millis({ "x-ratelimit-reset": date }), Option.getOrUndefined(expected), date)
      }
      assert.strictEqual(millis({ "x-ratelimit-reset": "2027-01-01T12:00:30" }), 30_000)
      assert.strictEqual(millis({ "x-ratelimit-reset": "2027-01-01T21:00:30+09:00" }), 30_000)
    } finally {
      if (TZ === undefined) delete process.env["TZ"]
      else process.env["TZ"] = TZ
    }
  })

  it("takes a reset for a wait only where that limit is used up [P801]", () => {
    const of = (remaining: string) =>
      millis({ "x-ratelimit-reset-tokens": "53.622s", "x-ratelimit-remaining-tokens": remaining })
    assert.strictEqual(of("0"), 53_622)
    assert.strictEqual(of("3189"), undefined)
  })

  it("takes a reset for a wait only with status 429 [P801]", () => {
    assert.strictEqual(millis({ "x-ratelimit-reset-tokens": "53s" }, "", 500), undefined)
  })

  it("ignores the headers of a success [P803]", () => {
    for (const status of [200, 204, 299]) {
      assert.strictEqual(millis({ "retry-after": "4", "retry-after-ms": "5" }, "", status), undefined)
    }
  })
})

describe("texts [P801]", () => {
  const readable: ReadonlyArray<readonly [string, number]> = [
    ["Rate limit reached for m. Limit 30000, Used 26811. Please try again in 3.862s. Visit x", 3862],
    ["Please try again in 644ms", 644],
    ["Please try again in 6m0s.", 360_000],
    ["try again in 1h2m", 3_720_000],
    ["please try again after 1 seconds", 1000],
    ["Please retry in 48.939935699s.", 48_940],
    ["Retry after 2 minutes", 120_000],
    ["try again in 1 minute 30 seconds", 90_000],
    ["try again in 250 milliseconds", 250],
    ["Try again  in   about  5s", 5000],
    ["wait for at least 5s", 5000],
    ["wait  for  5s", 5000],
    ["Please wait 5 seconds", 5000],
    ["Retry-After: 5", 5000],
    ["retry-after:  5.", 5000],
    ["try again later, or retry after 5, and then wait 9s", 5000],
    ["wait 1 day, 1 hour, 1 minute, 1 second and 1 millisecond", 90_061_001],
    ["wait 2 days, 2 hours,  2 minutes and  2 seconds and 2 milliseconds", 180_122_002],
    ["wait 1 hr 1 min 1 sec 1ms", 3_661_001],
    ["wait 2 hrs 2 mins 2 secs 2 ms", 7_322_002],
    ["wait 1D2H3M4.5S", 93_784_500]
  ]
  for (const [text, expected] of readable) {
    it(`reads "${text}" [P801]`, () => assert.strictEqual(millis({}, text), expected))
  }

  for (const text of [
    "",
    "try again later",
    "try again in 5 parsecs",
    "in 5s",
    "retry 5s",
    "Used 20s",
    "await 5s",
    "wait 1234567"
  ]) {
    it(`reads nothing from "${text}" [P801]`, () => assert.strictEqual(millis({}, text), undefined))
  }

  it("the largest of all wins [P801]", () => {
    const headers = { "retry-after": "2", "retry-after-ms": "1500", "x-ratelimit-reset-requests": "1s" }
    assert.strictEqual(millis(headers, "try again in 3s"), 3000)
    assert.strictEqual(millis(headers, "try again in 1s"), 2000)
  })

  const spent = {
    "x-ratelimit-remaining-tokens": "0",
    "x-ratelimit-reset-tokens": "6m0s",
    ratelimit: '"default";r=0;t=500'
  }
  const askedBeside: ReadonlyArray<readonly [string, Readonly<Record<string, string>>, string, number]> = [
    ["retry-after", { "retry-after": "1" }, "", 1000],
    ["retry-after-ms", { "retry-after-ms": "20" }, "", 20],
    ["a text", {}, "Please try again in 200ms.", 200],
    ["a header and a text, of which the largest wins", { "retry-after": "1" }, "Please try again in 1.5s.", 1500],
    ["a zero", { "retry-after": "0" }, "", 0],
    ["a date in the past", { "retry-after": "Fri, 01 Jan 2027 11:00:00 GMT" }, "", 0],
    ["nothing", {}, "", 500_000],
    ["a header that cannot be read", { "retry-after": "-5" }, "try again later", 500_000]
  ]
  for (const [what, headers, text, expected] of askedBeside) {
    it(`an exhausted limit waits for its reset only if the server names no wait: ${what} [P801]`, () => {
      assert.strictEqual(millis({ ...headers, ...spent }, text), expected)
    })
  }

  it("is total: any header and any text give nothing, or a finite wait of at least 0 [P801]", () => {
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

describe("data in the body [P801]", () => {
  const info = (retryDelay: Schema.Json) => ({ "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay })

  /** The wait of a Gemini answer with these details and this text. */
  const gemini = (
    details: ReadonlyArray<object>,
    message = "",
    headers: Readonly<Record<string, string>> = {},
    status = 429
  ) => {
    const body = JSON.stringify({ error: { code: status, message, status: "RESOURCE_EXHAUSTED", details } })
    const source = { provider: "gemini", model: "m", secrets: [] }
    const hint = GeminiContent.make(source).classify({ ...answer(headers, status), body }).retryAfter
    return hint === undefined ? undefined : Duration.toMillis(hint)
  }

  const readable: ReadonlyArray<readonly [string, number]> = [
    ["48s", 48_000],
    ["34.4s", 34_400],
    ["0.8s", 800],
    ["0s", 0],
    ["3.000000001s", 3001],
    ["39043s", 39_043_000]
  ]
  for (const [delay, expected] of readable) {
    it(`reads a retry delay of ${delay} [P801]`, () => assert.strictEqual(gemini([info(delay)]), expected))
  }

  it("a retry delay overrides the reset of a limit [P801]", () => {
    const spent = { "x-ratelimit-reset-tokens": "6m0s" }
    assert.strictEqual(gemini([info("34.4s")], "", spent), 34_400)
    assert.strictEqual(gemini([info("-1s")], "", spent), 360_000)
  })

  for (const delay of [
    "",
    "s",
    "-1s",
    "5",
    "5m",
    "1e3s",
    ".5s",
    "5 s",
    `${"9".repeat(400)}s`,
    5,
    null,
    { seconds: 5 }
  ]) {
    it(`reads nothing from a retry delay of ${JSON.stringify(delay).slice(0, 20)} [P801]`, () => {
      assert.strictEqual(gemini([info(delay)]), undefined)
    })
  }

  it("takes the larger of the delay, which is cut down to whole seconds, and the text [P801]", () => {
    assert.strictEqual(gemini([info("48s")], "Please retry in 48.939935699s."), 48_940)
    assert.strictEqual(gemini([info("50s")], "Please retry in 48.939935699s."), 50_000)
    assert.strictEqual(gemini([{ reason: "x" }, info("2s"), info("1s")]), 2000)
  })

  it("takes the larger of the delay and the headers, dates by the clock of the answer [P801]", () => {
    const date = "Fri, 01 Jan 2027 12:00:07 GMT"
    assert.strictEqual(gemini([info("5s")], "", { "retry-after": date }), 7000)
    assert.strictEqual(gemini([info("9s")], "", { "retry-after": date }), 9000)
  })

  it("reads the delay of a server that is overloaded, and of a chunk in a stream [P801]", () => {
    const body = { error: { status: "UNAVAILABLE", details: [info("2s")] } }
    const source = { provider: "gemini", model: "m", secrets: [] }
    const chunk = GeminiContent.inside(source, answer({ "retry-after": "9" }, 200), body)
    assert.deepStrictEqual(chunk?.retryAfter, Duration.seconds(2))
    const whole = GeminiContent.make(source).classify({ ...answer({}, 503), body: JSON.stringify(body) })
    assert.deepStrictEqual(whole.retryAfter, Duration.seconds(2))
  })

  it("takes the wait along with a daily quota for advice at most [P801]", () => {
    const quota = { violations: [{ quotaId: "GenerateRequestsPerDayPerProjectPerModel-FreeTier" }] }
    assert.strictEqual(gemini([quota, info("2s")]), undefined)
  })

  it("reads the delay of a provider behind a router [P801]", () => {
    const raw = JSON.stringify({ error: { status: "RESOURCE_EXHAUSTED", details: [info("9s")] } })
    const body = JSON.stringify({ error: { code: 429, message: "Provider returned error", metadata: { raw } } })
    const source = { provider: "openrouter", model: "m", secrets: [] }
    const error = OpenAiChat.make(source).classify({ ...answer({ "retry-after": "1" }), body })
    assert.deepStrictEqual(error.retryAfter, Duration.seconds(9))
  })

  it("reads the headers that a router passes on, those of its own answer first [P801]", () => {
    const headers = { "X-RateLimit-Limit": "20", "X-RateLimit-Remaining": "0", "X-RateLimit-Reset": String(noon + 900) }
    const source = { provider: "openrouter", model: "m", secrets: [] }
    const hint = (own: Readonly<Record<string, string>>, passed: object = headers) => {
      const error = { code: 429, message: "Rate limit exceeded", metadata: { headers: passed } }
      return OpenAiChat.make(source).classify({ ...answer(own), body: JSON.stringify({ error }) }).retryAfter
    }
    assert.deepStrictEqual(hint({}), Duration.millis(900))
    assert.deepStrictEqual(hint({ "x-ratelimit-reset": String(noon + 500) }), Duration.millis(500))
    const numbers = { "X-RateLimit-Limit": 20, "x-ratelimit-reset": noon + 100 }
    assert.isUndefined(hint({}, numbers))
    assert.deepStrictEqual(hint({}, { ...numbers, ...headers }), Duration.millis(900))
  })
})

it("only `x-should-retry: false` forbids a resend [P802]", () => {
  assert.isTrue(Hints.forbidsResend(answer({ "x-should-retry": "false" })))
  assert.isTrue(Hints.forbidsResend(answer({ "x-should-retry": " False " })))
  assert.isFalse(Hints.forbidsResend(answer({ "x-should-retry": "true" })))
  assert.isFalse(Hints.forbidsResend(answer({})))
})
