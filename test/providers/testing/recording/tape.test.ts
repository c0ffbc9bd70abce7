/** What a recording has of requests and exchanges. */
import { assert, describe, it } from "@effect/vitest"
import { Secrets } from "../../../../packages/providers/src/testing/recording/secrets.ts"
import * as Tape from "../../../../packages/providers/src/testing/recording/tape.ts"

const asked = (body: string, url = "https://a.test/v1/chat"): Tape.Asked => ({
  method: "POST",
  url: new URL(url),
  body
})

describe("a request", () => {
  it("has its path with its parameters by name, without keys, and its body as JSON or as text [P202]", () => {
    const of = (body: string, url?: string) => Tape.requestOf(new Secrets(), asked(body, url))
    const path = "/v1/chat"
    assert.deepStrictEqual(of(""), { method: "POST", path })
    assert.deepStrictEqual(of('{"a":1}'), { method: "POST", path, json: { a: 1 } })
    assert.deepStrictEqual(of('{"secret":"words"}').json, { secret: "<redacted>" })
    assert.deepStrictEqual(of("a b"), { method: "POST", path, text: "a b" })
    assert.strictEqual(of("", "https://a.test/x?b=1&key=k&a=2&b=0&a=1").path, "/x?a=2&a=1&b=1&b=0")
    assert.strictEqual(of("", "https://a.test/x?key=k").path, "/x")
  })
})

describe("an exchange", () => {
  const bytes = (text: string) => [new TextEncoder().encode(text)]

  it("has its answer as JSON if that is whole and no stream, and a failure if it failed", () => {
    const made = (type: string | undefined, end: "complete" | "left" | "failed", failure?: unknown) => {
      const tape = new Tape.Tape()
      const slot = tape.begin(asked(""))
      slot.pieces.push(...bytes('{"a":1}'))
      slot.response = { status: 200, headers: { "content-type": type, "x-own": "1" } }
      slot.end = end
      slot.failure = failure
      return tape.exchanges()[0]
    }
    const request = { method: "POST", path: "/v1/chat" }
    const answer = (headers: object, body: object) => ({ status: 200, headers, ...body })
    const json = { "content-type": "application/json" }
    const whole = { json: { a: 1 } }
    const chunks = { chunks: ['{"a":1}'] }
    assert.deepStrictEqual<unknown>(made("application/json", "complete", new Error("unread")), {
      request,
      response: answer(json, whole),
      end: "complete"
    })
    assert.deepStrictEqual<unknown>(made(undefined, "complete"), {
      request,
      response: answer({}, whole),
      end: "complete"
    })
    for (const type of ["text/event-stream", "application/x-ndjson"]) {
      assert.deepStrictEqual<unknown>(made(type, "complete")?.response, answer({ "content-type": type }, chunks))
    }
    assert.deepStrictEqual<unknown>(made("application/json", "left")?.response, answer(json, chunks))
    const cause = Object.assign(new Error("inner"), { code: "ECONNRESET" })
    assert.deepStrictEqual<unknown>(made("application/json", "failed", new TypeError("outer", { cause })), {
      request,
      response: answer(json, chunks),
      end: "failed",
      failure: [
        { name: "TypeError", message: "outer" },
        { name: "Error", message: "inner", code: "ECONNRESET" }
      ]
    })
  })

  it("has the address in `location` without its query", () => {
    const tape = new Tape.Tape()
    const slot = tape.begin(asked(""))
    slot.response = { status: 302, headers: { location: "https://b.test/x?state=a\n?b" } }
    slot.end = "complete"
    assert.deepStrictEqual(tape.exchanges()[0]?.response?.headers, { location: "https://b.test/x" })
  })

  it("that runs when the recording is closed was left, or interrupted before its answer", () => {
    const tape = new Tape.Tape()
    const [ended, answered] = [tape.begin(asked("1")), tape.begin(asked("2")), tape.begin(asked("3"))]
    ended.end = "complete"
    answered.response = { status: 200, headers: {} }
    assert.lengthOf(tape.exchanges(), 1)
    assert.isTrue(tape.close())
    const ends = () => tape.exchanges().map(({ end }) => end)
    assert.deepStrictEqual(ends(), ["complete", "left", "interrupted"])
    assert.isFalse(tape.close())
    assert.deepStrictEqual(ends(), ["complete", "left", "interrupted"])
    assert.isFalse(new Tape.Tape().close())
  })
})
