/** The statuses of conversations, as a client without the contract reads them on the loopback interface. */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { played, talking } from "../../durable/entity/_support/talking.ts"
import { listening } from "./_support/conversing.ts"
import { ticking } from "./_support/served.ts"

interface Sent {
  readonly as?: string
  readonly method?: string
  readonly body?: unknown
}

/** Conversations on a server, and what it answers to a client of plain HTTP. */
const serving = (talk: ReturnType<typeof talking>) =>
  Effect.gen(function* () {
    yield* ticking
    const url = yield* listening(talk)
    return (path: string, { as = "ann", body, method = body === undefined ? "GET" : "POST" }: Sent = {}) =>
      Effect.promise(async () => {
        const response = await fetch(`${url}${path}`, {
          method,
          headers: { authorization: `Bearer ${as}`, "content-type": "application/json" },
          ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) })
        })
        const answer = await response.text()
        return {
          status: response.status,
          type: response.headers.get("content-type"),
          retryAfter: response.headers.get("retry-after"),
          answer,
          json: (): Record<string, unknown> => JSON.parse(answer)
        }
      })
  })

const problem = "application/problem+json"

it.effect("202 is a message that was sent, 200 an answer or a page, and 204 an edit or a withdrawal [P1853]", () => {
  const talk = talking()
  return Effect.gen(function* () {
    const send = yield* serving(talk)
    const first = yield* send("/clerk/c-1/messages", { body: { id: "m-1", message: "pay rent" } })
    assert.deepStrictEqual([first.status, first.json()], [202, { _tag: "Working", id: "m-1" }])
    const drawn = yield* send("/clerk/c-1/messages", { body: { message: "two" } })
    const id = drawn.json()["id"]
    assert.match(String(id), /^\w{8,}$/)
    const at = `/clerk/c-1/messages/${String(id)}`
    assert.strictEqual((yield* send(at, { method: "PUT", body: { message: "edited" } })).status, 204)
    assert.strictEqual((yield* send(at, { method: "DELETE" })).status, 204)
    assert.strictEqual((yield* send(at)).status, 200)
    assert.strictEqual((yield* send("/clerk/c-1/queue")).status, 200)
    assert.strictEqual((yield* send("/clerk/c-1/words", { body: { id: "m-3", message: "quick" } })).status, 202)
    talk.release("pay rent")
    const answer = yield* send("/clerk/c-1/messages/m-1/answer")
    assert.deepInclude(answer.json(), { _tag: "Answered", run: "m-1" })
    const page = yield* send("/clerk/c-1?from=0&limit=1")
    assert.deepInclude(page.json(), { next: 1 })
    const stopped = yield* send("/clerk/c-1/interrupt", { body: {} })
    assert.deepStrictEqual([stopped.status, Object.keys(stopped.json())], [200, ["stopped"]])
  }).pipe(played(talk))
})

it.effect("401, 404, 409, 413, 422 and 429 are problem documents [P1853]", () => {
  const talk = talking({ capacity: 1 })
  return Effect.gen(function* () {
    const send = yield* serving(talk)
    const said = (id: string, message: unknown) => ({ body: { id, message } })
    yield* send("/clerk/c-1/messages", said("m-1", "pay rent"))
    yield* send("/clerk/c-1/messages", said("m-2", "two"))
    const busy = yield* send("/clerk/c-1/messages", said("m-3", "three"))
    assert.deepStrictEqual([busy.status, busy.type, busy.retryAfter], [429, problem, "5"])
    const none = yield* send("/clerk/c-1", { as: "none" })
    assert.deepStrictEqual([none.status, none.type], [401, problem])
    const other = yield* send("/clerk/c-1", { as: "bob" })
    assert.deepStrictEqual([other.status, other.type], [404, problem])
    assert.strictEqual(other.answer, (yield* send("/clerk/c-2", { as: "bob" })).answer.replace("c-2", "c-1"))
    yield* send("/clerk/c-1/messages/m-2", { method: "DELETE" })
    const conflict = yield* send("/clerk/c-1/messages/m-2/answer")
    assert.deepStrictEqual([conflict.status, conflict.json()["reason"]], [409, "withdrawn"])
    const large = yield* send("/clerk/c-1/messages", said("m-4", "x".repeat(1024 * 1024 + 1)))
    assert.deepStrictEqual([large.status, large.type], [413, problem])
    const unfit = yield* send("/clerk/c-1/messages", said("m-4", { secret: "hunter2" }))
    assert.deepStrictEqual([unfit.status, unfit.type], [422, problem])
    assert.notInclude(unfit.answer, "hunter2")
    for (const path of ["/clerk/c-1?limit=0", "/clerk/c-1?limit=1001", "/clerk/c-1?from=-1", "/clerk/a%20b"]) {
      assert.strictEqual((yield* send(path)).status, 422, path)
    }
    for (const message of ["", " "]) {
      assert.strictEqual((yield* send("/clerk/c-1/words", said("m-5", message))).status, 422)
    }
  }).pipe(played(talk))
})

// Finds out nothing of its own: no small mistake leaves out the check of a payload, or the layer with the bound of a body
it.effect(
  "a procedure refuses a payload that does not fit by name, and a body that is too large with 413 [P1853]",
  () => {
    const talk = talking()
    return Effect.gen(function* () {
      const send = yield* serving(talk)
      const call = (payload: unknown) => ({
        body: `${JSON.stringify({ _tag: "Request", id: "1", tag: "clerk.send", payload, headers: [["authorization", "ann"]] })}\n`
      })
      const unfit = yield* send("/rpc", call({ conversation: "c-1", id: "m-1", message: { secret: "hunter2" } }))
      assert.include(unfit.answer, "urn:kintsugi:error:unfit-request")
      assert.include(unfit.answer, '"path":"message"')
      assert.notInclude(unfit.answer, "hunter2")
      const fits = yield* send("/rpc", call({ conversation: "c-1", id: "m-1", message: "hello" }))
      assert.include(fits.answer, '"Working"')
      const large = yield* send("/rpc", call({ conversation: "c-1", id: "m-2", message: "x".repeat(1024 * 1024) }))
      assert.strictEqual(large.status, 413)
    }).pipe(played(talk))
  }
)
