/** The file of a recording: what is written, and what is wrong with a file that was changed. */
import { assert, it } from "@effect/vitest"
import { Result } from "effect"
import * as Format from "../../../../packages/providers/src/testing/recording/format.ts"

const exchange: Format.Exchange = {
  request: { method: "POST", path: "/a", json: { a: 1 } },
  response: { status: 200, headers: { "content-type": "text/event-stream" }, chunks: ["a", { base64: "AQID" }] },
  end: "failed",
  failure: [{ name: "Error", message: "lost", code: "ECONNRESET" }]
}

const file = (...exchanges: ReadonlyArray<unknown>) =>
  JSON.stringify({ format: "kintsugi-recording", version: 1, exchanges })

it("what is written, in lines and with a line break at its end, is read", () => {
  const text = Format.print([exchange])
  assert.strictEqual(text, `${JSON.stringify(JSON.parse(file(exchange)), null, 2)}\n`)
  assert.deepStrictEqual(Format.parse(text), Result.succeed([exchange]))
})

it("a file that is broken is refused with the fields that are wrong", () => {
  const response = (more: object) => ({ ...exchange, response: { status: 200, headers: {}, ...more } })
  const cases: ReadonlyArray<readonly [string, string, RegExp]> = [
    ["no JSON", "", /^it is not JSON: /],
    ["[]", "", /./],
    [JSON.stringify({ format: "other", version: 1, exchanges: [] }), "format", /kintsugi-recording/],
    [file({ ...exchange, request: {} }), "exchanges[0].request.method", /method.*path/s],
    [file({ ...exchange, request: { method: "GET" } }), "exchanges[0].request.path", /path/],
    [file(exchange, response({ status: 99 })), "exchanges[1].response.status", /status/],
    [file(response({ layout: "wide" })), "exchanges[0].response.layout", /layout/],
    [file(response({ chunks: [{ base64: 5 }] })), "exchanges[0].response.chunks[0].base64", /base64|string/i],
    [file(response({ chunks: [{}] })), "exchanges[0].response.chunks[0].base64", /base64|string/i],
    [file({ ...exchange, end: "never" }), "exchanges[0].end", /complete/],
    [file({ ...exchange, failure: [{ name: "Error" }] }), "exchanges[0].failure[0].message", /message/],
    [file({ ...exchange, failure: [{ name: "Error", message: "m", code: 5 }] }), "exchanges[0].failure[0].code", /code/]
  ]
  for (const [text, field, says] of cases) {
    const parsed = Format.parse(text)
    assert(Result.isFailure(parsed), text)
    assert.match(parsed.failure.message, says)
    assert.strictEqual(parsed.failure.field, field, text)
  }
})
