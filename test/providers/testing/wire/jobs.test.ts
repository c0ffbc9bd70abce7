/** Jobs in the background of the server: created, polled, cancelled, streamed again. */
import { assert, describe, it } from "@effect/vitest"
import { Message, Usage } from "@kintsugi/core"
import { AnyWire, Fault, LoopbackServer } from "@kintsugi/providers/testing"
import { Effect, Ref } from "effect"
import type * as Wire from "../../../../packages/providers/src/testing/wire/wire.ts"
import { asked, dataIn } from "./_support/asked.ts"

const usage = Usage.make({ inputTokens: 30, outputTokens: 9 })
const brain = () => Effect.succeed({ content: [Message.text("an otter")], usage })

const wanted = { model: "m", input: "A novel about otters.", background: true }

/** A server with a script for its jobs, and what one asks of it. */
const serving = (jobs: Wire.Jobs = {}, of: Wire.Brain = brain) =>
  Effect.map(LoopbackServer.make(AnyWire.handler(of, { jobs })), ({ url }) => ({
    create: (more: object = {}) => asked(`${url}/v1/responses`, { ...wanted, ...more }),
    poll: (id: unknown, query = "") => asked(`${url}/v1/responses/${String(id)}${query}`),
    cancel: (id: unknown) => asked(`${url}/v1/responses/${String(id)}/cancel`, {})
  }))

const numbers = (text: string) => dataIn(text).map(({ sequence_number }) => sequence_number)

describe("a job in the background", () => {
  it.live("is created once, and reports what its script says until it ends", () =>
    Effect.gen(function* () {
      const asks = yield* Ref.make(0)
      const counted: Wire.Brain = () =>
        Effect.andThen(
          Ref.update(asks, (before) => before + 1),
          brain()
        )
      const { create, poll } = yield* serving({ polls: ["queued", "in_progress"] }, counted)
      const { body: job } = yield* create()
      assert.include(job, { object: "response", status: "queued", background: true, usage: null })
      const seen = yield* Effect.replicateEffect(poll(job["id"]), 4)
      assert.deepStrictEqual(
        seen.map(({ body }) => body["status"]),
        ["queued", "in_progress", "completed", "completed"]
      )
      assert.isTrue(seen.every(({ body }) => body["id"] === job["id"]))
      assert.deepNestedInclude(seen[2]?.body, { "output[0].content[0].text": "an otter", "usage.output_tokens": 9 })
      assert.strictEqual(yield* Ref.get(asks), 1)
    })
  )

  it.live("is in progress once, if there is no script, and goes on for ever, if a function says so", () =>
    Effect.gen(function* () {
      const cases: ReadonlyArray<readonly [Wire.Jobs, Array<string>]> = [
        [{}, ["in_progress", "completed"]],
        [{ polls: () => "queued" }, ["queued", "queued"]],
        [{ polls: [] }, ["completed", "completed"]]
      ]
      for (const [jobs, expected] of cases) {
        const { create, poll } = yield* serving(jobs)
        const { body: job } = yield* create()
        const seen = yield* Effect.replicateEffect(poll(job["id"]), 2)
        assert.deepStrictEqual(
          seen.map(({ body }) => body["status"]),
          expected
        )
      }
    })
  )

  it.live("ends as the reply does, or fails", () =>
    Effect.gen(function* () {
      const cut: Wire.Brain = () => Effect.succeed({ content: [Message.text("an ot")], finish: "length" })
      const short = yield* serving({ polls: [] }, cut)
      const { body: job } = yield* short.create()
      assert.deepInclude((yield* short.poll(job["id"])).body, {
        status: "incomplete",
        incomplete_details: { reason: "max_output_tokens" }
      })
      const bad = yield* serving({ polls: [], failure: { type: "server-error" } })
      const { body: failing } = yield* bad.create()
      const { body, status } = yield* bad.poll(failing["id"])
      assert.strictEqual(status, 200)
      assert.deepInclude(body, { status: "failed", output: [] })
      assert.deepNestedInclude(body, { "error.code": "server_error" })
    })
  )

  it.live("is cancelled, twice with the same answer, and not after its end", () =>
    Effect.gen(function* () {
      const { cancel, create, poll } = yield* serving({ usageWhenCancelled: usage })
      const { body: job } = yield* create()
      const { body: first } = yield* cancel(job["id"])
      assert.deepInclude(first, { status: "cancelled", output: [] })
      assert.deepNestedInclude(first, { "usage.input_tokens": 30 })
      assert.deepStrictEqual((yield* cancel(job["id"])).body, first)
      assert.deepStrictEqual((yield* poll(job["id"])).body, first)
      const { body: other } = yield* create()
      yield* poll(other["id"])
      yield* poll(other["id"])
      assert.include((yield* cancel(other["id"])).body, { status: "completed" })
      const silent = yield* serving()
      const { body: third } = yield* silent.create()
      assert.include((yield* silent.cancel(third["id"])).body, { status: "cancelled", usage: null })
    })
  )

  /** A server that breaks off the stream of the first job. */
  const breaking = Effect.map(
    LoopbackServer.make(
      Fault.inFront([Fault.cut(900, "end")], AnyWire.handler(brain, { jobs: { polls: ["queued", "queued"] } }))
    ),
    ({ url }) => url
  )

  const idOf = (text: string) => (dataIn(text)[0]?.["response"] as { readonly id: string } | undefined)?.id

  it.live("whose stream broke off has no events after it was cancelled [P1406]", () =>
    Effect.gen(function* () {
      const url = `${yield* breaking}/v1/responses`
      const id = idOf((yield* asked(url, { ...wanted, stream: true })).text)
      yield* asked(`${url}/${String(id)}/cancel`, {})
      assert.deepStrictEqual(
        dataIn((yield* asked(`${url}/${String(id)}?stream=true`)).text).map(({ type }) => type),
        ["response.created", "response.queued", "response.in_progress"]
      )
      assert.include((yield* asked(`${url}/${String(id)}`)).body, { status: "cancelled" })
    })
  )

  it.live("is over once its events were read, by the stream that has created it too [P1406]", () =>
    Effect.gen(function* () {
      const url = `${yield* breaking}/v1/responses`
      const id = idOf((yield* asked(url, { ...wanted, stream: true })).text)
      assert.include((yield* asked(`${url}/${String(id)}`)).body, { status: "queued" })
      yield* asked(`${url}/${String(id)}?stream=true&starting_after=0`)
      const { cancel, create, poll } = yield* serving({ polls: ["queued", "queued"] })
      const other = idOf((yield* create({ stream: true })).text)
      for (const { body } of [yield* asked(`${url}/${String(id)}`), yield* poll(other), yield* cancel(other)]) {
        assert.include(body, { status: "completed" })
      }
    })
  )

  it.live("that was created as a stream goes on after an event", () =>
    Effect.gen(function* () {
      const { create, poll } = yield* serving()
      const { text: whole } = yield* create({ stream: true })
      const events = dataIn(whole)
      assert.deepStrictEqual(
        events.slice(0, 3).map(({ type }) => type),
        ["response.created", "response.queued", "response.in_progress"]
      )
      assert.strictEqual(events.at(-1)?.["type"], "response.completed")
      const id = (events[0]?.["response"] as { readonly id: string } | undefined)?.id
      const { text: rest } = yield* poll(id, "?stream=true&starting_after=4")
      assert.deepStrictEqual(numbers(rest), numbers(whole).slice(5))
      assert.strictEqual((yield* poll(id, "?stream=true")).text, whole)
      const { body: unstreamed } = yield* create()
      assert.strictEqual((yield* poll(unstreamed["id"], "?stream=true")).status, 400)
    })
  )

  it.live("that fails tells so in its stream", () =>
    Effect.gen(function* () {
      const { create } = yield* serving({ failure: { type: "overloaded" } })
      const { text } = yield* create({ stream: true })
      assert.deepStrictEqual(
        dataIn(text).map(({ sequence_number, type }) => [sequence_number, type]),
        [
          [0, "response.created"],
          [1, "response.queued"],
          [2, "response.in_progress"],
          [3, "error"],
          [4, "response.failed"]
        ]
      )
    })
  )

  it.live("is found by its id and a key alone", () =>
    Effect.gen(function* () {
      const { create, poll } = yield* serving()
      assert.strictEqual((yield* poll("resp_of_another")).status, 404)
      const { body: foreground } = yield* create({ background: false, store: false })
      assert.include(foreground, { status: "completed", background: false })
      assert.strictEqual((yield* poll(foreground["id"])).status, 404)
      const { body: stored } = yield* create({ background: false })
      assert.strictEqual((yield* poll(stored["id"])).body["status"], "completed")
      const streamed = yield* poll(stored["id"], "?stream=true")
      const message = `Response '${String(stored["id"])}' was not created with 'stream' set to true, and cannot be streamed.`
      assert.deepStrictEqual(
        [streamed.status, streamed.body],
        [400, { error: { message, type: "invalid_request_error", param: null, code: null } }]
      )
      assert.strictEqual((yield* create({ store: false })).status, 400)
      const { url } = yield* LoopbackServer.make(AnyWire.handler(brain, { apiKey: "another" }))
      assert.strictEqual((yield* asked(`${url}/v1/responses/resp_1`)).status, 401)
    })
  )

  it.live("may meet faults at each poll", () =>
    Effect.gen(function* () {
      const script = [undefined, AnyWire.failing({ type: "overloaded" })]
      const { url } = yield* LoopbackServer.make(Fault.inFront(script, AnyWire.handler(brain)))
      const { body: job } = yield* asked(`${url}/v1/responses`, wanted)
      const poll = asked(`${url}/v1/responses/${String(job["id"])}`)
      assert.strictEqual((yield* poll).status, 503)
      assert.include((yield* poll).body, { status: "in_progress" })
    })
  )
})

describe("a script of polls", () => {
  it("is refused by name when a job has no such word", () => {
    // as a program in JavaScript may write it
    const polls = ["queued", "running"] as unknown as ReadonlyArray<"queued">
    assert.throws(() => AnyWire.handler(brain, { jobs: { polls } }), /RangeError|jobs\.polls\[1\] must be .*'running'/)
  })

  it.live("is refused by name when its function says such a word", () =>
    Effect.gen(function* () {
      const { create, poll } = yield* serving({ polls: (poll) => (poll === 1 ? "queued" : ("running" as "queued")) })
      const { body: job } = yield* create()
      assert.strictEqual((yield* poll(job["id"])).status, 200)
      const { status, text } = yield* poll(job["id"])
      assert.strictEqual(status, 500)
      assert.include(text, "jobs.polls(2) must be 'queued' or 'in_progress', got 'running'")
    })
  )
})
