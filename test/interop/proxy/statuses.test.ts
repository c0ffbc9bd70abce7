/** The table of failures and statuses, as a client without the contract reads them. */
import { assert, it } from "@effect/vitest"
import { type AgentEvent, Approval, KintsugiError, LlmError } from "@kintsugi/core"
import * as RecoveryAdvice from "@kintsugi/core/RecoveryAdvice"
import { ScriptedModel } from "@kintsugi/core/testing"
import * as AgentProxy from "@kintsugi/interop/AgentProxy"
import * as AgentRuns from "@kintsugi/interop/AgentRuns"
import { Duration, Effect, Layer, Schema, Stream } from "effect"
import { agent, type Client, clientsOf, contract, kinds, listening, type Serving } from "./_support/served.ts"

const { call, calls, fails, make, text } = ScriptedModel

const paying = calls(call("pay", { cents: 500 }))

interface Sent {
  readonly as?: string
  readonly method?: string
  readonly body?: unknown
  readonly headers?: Record<string, string>
}

/** A server, and what it answers to a client of plain HTTP. */
const serving = (steps: ReadonlyArray<ScriptedModel.ScriptedStep>, more: Omit<Serving, "desk" | "model"> = {}) =>
  Effect.gen(function* () {
    const { desk, ...rest } = yield* agent
    const model = yield* make(...steps)
    const url = yield* listening(kinds.memory.runsOf({ desk, model: model.layer, ...more }), more)
    const send = (
      path: string,
      { as = "ann", body, headers, method = body === undefined ? "GET" : "POST" }: Sent = {}
    ) =>
      Effect.promise(async () => {
        const response = await fetch(`${url}${path}`, {
          method,
          headers: { authorization: `Bearer ${as}`, "content-type": "application/json", ...headers },
          ...(body === undefined ? {} : { body: JSON.stringify(body) })
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
    return { ...rest, model, send, ann: yield* clientsOf(url).http("ann") }
  })

/** Starts a run, and waits until its tool waits at the gate. */
const begun = (client: Client, run: string) =>
  Stream.runDrain(Stream.takeUntil(client.stream({ input: "Wait.", run }), ({ type }) => type === "tool-start"))

const startOf = (run: string, input = "What?") => ({ body: { input, run } })

it.effect(
  "200 is an answer, 202 a run that waits or is at work, 204 a stop, and 204 for `EventSource` after the end",
  () =>
    Effect.gen(function* () {
      const { ann, send } = yield* serving([text("Done."), paying, calls(call("wait", {}))])
      assert.strictEqual((yield* send("/desk", startOf("one"))).status, 200)
      assert.strictEqual((yield* send("/desk", startOf("two"))).status, 202)
      const stream = yield* send("/desk/one/events")
      const last = /.*id: (\S+)\n/s.exec(stream.answer)?.[1] ?? ""
      assert.strictEqual((yield* send("/desk/one/events", { headers: { "last-event-id": last } })).status, 204)
      const after = yield* send(`/desk/one/events?after=${last}`)
      assert.deepStrictEqual([after.status, after.answer], [200, ""])
      yield* begun(ann, "three")
      assert.strictEqual((yield* send("/desk/three")).status, 202)
      for (const run of ["two", "three", "two"]) {
        assert.strictEqual((yield* send(`/desk/${run}`, { method: "DELETE" })).status, 204)
        const { json, status } = yield* send(`/desk/${run}`)
        assert.deepStrictEqual([status, json()["reason"]], [409, "stopped"])
      }
    })
)

it.effect("409: the run has another input, is at work, or was decided [P1852]", () =>
  Effect.gen(function* () {
    const { ann, send } = yield* serving([calls(call("wait", {}))])
    yield* begun(ann, "one")
    const other = yield* send("/desk", startOf("one", "Other."))
    assert.deepStrictEqual([other.status, other.json()["reason"]], [409, "other-input"])
    const decisions = [{ digest: "any", decision: Approval.approve }]
    const early = yield* send("/desk/one/decisions", { body: { decisions } })
    assert.deepStrictEqual([early.status, early.json()["reason"]], [409, "at-work"])
    yield* ann.stop("one")
  })
)

it.effect("413: the body is larger than the server reads [P1852]", () =>
  Effect.gen(function* () {
    const { ann, send } = yield* serving([])
    const { json, status, type } = yield* send("/desk", startOf("one", "x".repeat(300_000)))
    assert.instanceOf(yield* Effect.flip(ann.ask({ input: "x".repeat(300_000) })), AgentProxy.RequestTooLargeError)
    assert.deepStrictEqual([status, type], [413, "application/problem+json"])
    assert.deepInclude(json(), { type: "urn:kintsugi:error:request-too-large" })
  })
)

it.effect("422: the input or a decision does not fit, and the answer says where [P1852]", () =>
  Effect.gen(function* () {
    const { send } = yield* serving([paying])
    const unfit = yield* send("/desk", { body: { input: { secret: "hunter2" } } })
    assert.deepStrictEqual([unfit.status, unfit.type], [422, "application/problem+json"])
    assert.deepInclude(unfit.json(), {
      type: "urn:kintsugi:error:unfit-request",
      title: "The request does not fit"
    })
    assert.include(JSON.stringify(unfit.json()["issues"]), '"path":"input"')
    assert.notInclude(unfit.answer, "hunter2")
    yield* send("/desk", startOf("one"))
    const decided = { digest: "any", decision: { type: "approve" } }
    const bodies = [
      { decisions: [] },
      { decisions: [{ digest: "any", decision: { type: "perhaps" } }] },
      { decisions: Array.from({ length: 101 }, () => decided) }
    ]
    for (const body of bodies) assert.strictEqual((yield* send("/desk/one/decisions", { body })).status, 422)
    assert.strictEqual((yield* send("/desk/one/messages", { body: { message: " " } })).status, 422)
    assert.strictEqual((yield* send("/desk/one/events?after=7")).status, 422)
    assert.strictEqual((yield* send("/desk/a%20b")).status, 422)
  })
)

it.effect("429: too many runs are at work, and the header says when to come again [P1852]", () =>
  Effect.gen(function* () {
    const { ann, send } = yield* serving([calls(call("wait", {}))], { limits: { maxAtWork: 1 } })
    yield* begun(ann, "one")
    const busy = yield* send("/desk", startOf("two"))
    assert.deepStrictEqual([busy.status, busy.type, busy.retryAfter], [429, "application/problem+json", "5"])
    assert.deepInclude(busy.json(), { type: "urn:kintsugi:error:too-busy", title: "The server is too busy" })
    const typed = yield* Effect.flip(ann.ask({ input: "What?", run: "two" }))
    assert.isTrue(typed instanceof AgentProxy.TooBusyError)
    assert.deepInclude({ ...Object(typed) }, { retryAfter: 5, status: 429 })
    yield* ann.stop("one")
  })
)

it.effect("429, 502, 503 and 504: failures of a model, typed and with when to come again [P1852]", () =>
  Effect.gen(function* () {
    const failures = [
      LlmError.RateLimitError.make({ service: "scripted" }),
      LlmError.ServerError.make({ model: "scripted", status: 500 }),
      LlmError.ModelOverloadedError.make({ model: "scripted" }),
      LlmError.RequestTimeoutError.make({ operation: "scripted", timeout: Duration.seconds(10) })
    ]
    const { ann, send } = yield* serving(failures.map((failure) => fails(failure)))
    for (const [index, error] of failures.entries()) {
      const problem = KintsugiError.toProblem(error)
      const { answer, retryAfter, status } = yield* send("/desk", startOf(`run-${index}`))
      assert.deepStrictEqual([status, retryAfter], [problem.status, String(problem.retryAfter)])
      assert.deepStrictEqual(JSON.parse(answer), { ...problem })
      const typed = yield* Effect.flip(ann.show(`run-${index}`))
      assert.isTrue(typed instanceof AgentProxy.RunFailedError)
      assert.deepInclude({ ...Object(typed) }, problem)
    }
  })
)

it.effect("500: a run that is gone at once is a failure of the server [P1852]", () =>
  Effect.gen(function* () {
    const { desk } = yield* agent
    const model = yield* make(text("Done."))
    const forgetful = Layer.effect(
      contract.runs,
      Effect.map(contract.runs, (runs) => ({
        ...runs,
        end: ({ run }: { readonly run: string }) => Effect.fail(new AgentProxy.RunNotFoundError({ run }))
      }))
    )
    const runs = Layer.provide(forgetful, kinds.memory.runsOf({ desk, model: model.layer }))
    const ann = yield* clientsOf(yield* listening(runs)).http("ann")
    const lost = yield* Effect.flip(ann.ask({ input: "What?" }))
    assert.deepInclude({ ...Object(lost) }, { status: 500, code: "KINTSUGI-RUN-LOST" })
  })
)

it.effect("a message over HTTP may withdraw what the run waits for", () =>
  Effect.gen(function* () {
    const { paid, send } = yield* serving([paying, text("Withdrawn.")])
    yield* send("/desk", startOf("one"))
    const said = yield* send("/desk/one/messages", { body: { message: "Rather not.", supersede: true } })
    assert.strictEqual(said.status, 202)
    const { json } = yield* send("/desk", startOf("one"))
    assert.deepInclude(json(), { _tag: "Answered", output: "Withdrawn." })
    assert.deepStrictEqual(paid, [])
  })
)

it.effect(
  "a client reads the events that it may see, and their cursors go on, with 204 for `EventSource` after the last",
  () =>
    Effect.gen(function* () {
      const shows = ({ type }: AgentEvent.AgentEvent) => type === "text-delta"
      const { ann, send } = yield* serving([text("Forty-two.")], { shows })
      const seen = yield* Stream.runCollect(ann.stream({ input: "What?", run: "one" }))
      assert.deepStrictEqual(
        seen.map(({ type }) => type),
        ["text-delta", "text-delta"]
      )
      for (const [index, { cursor = "" }] of seen.entries()) {
        assert.deepStrictEqual(yield* Stream.runCollect(ann.events("one", cursor)), seen.slice(index + 1))
        const { status } = yield* send("/desk/one/events", { headers: { "last-event-id": cursor } })
        assert.strictEqual(status, index === 0 ? 200 : 204)
      }
    })
)

it("every error of this library keeps the status of core's table [P1852]", () => {
  const rows = RecoveryAdvice.tags.map((tag) => RecoveryAdvice.describe(tag).httpStatus)
  const fields = Schema.Struct(AgentProxy.RunFailedError.fields)
  const fits = Schema.is(fields.fields.status)
  assert.deepStrictEqual(
    rows.filter((status) => !fits(status)),
    []
  )
})

it.effect("a run that waits outlives its process: another one decides about it", () =>
  Effect.gen(function* () {
    const { desk, paid } = yield* agent
    const store = Layer.succeedContext(yield* Layer.build(AgentRuns.layerSuspendedMemory()))
    const model = yield* make(paying, text("Paid."))
    const serve = Effect.flatMap(
      listening(kinds.memory.runsOf({ desk, model: model.layer, suspended: store })),
      (url) => clientsOf(url).http("ann")
    )
    const ending = yield* Effect.scoped(Effect.flatMap(serve, (ann) => ann.ask({ input: "Pay.", run: "one" })))
    const ann = yield* serve
    assert.deepStrictEqual(yield* ann.show("one"), ending)
    const asked = { input: "Pay.", run: "one" }
    const [lost, last] = yield* Stream.runCollect(ann.stream(asked))
    assert.deepStrictEqual([lost?.type, last?.type], ["events-lost", "run-suspended"])
    assert.notProperty(last, "snapshot")
    assert.deepStrictEqual(yield* Stream.runCollect(ann.events("one", lost?.cursor)), [last])
    const digest =
      ending._tag === "Waiting" && ending.waiting[0]?.type === "approval" ? ending.waiting[0].request.digest : ""
    const answered = yield* ann.decide("one", [{ digest, decision: Approval.approve }])
    assert.deepInclude({ ...answered }, { _tag: "Answered", output: "Paid." })
    assert.deepStrictEqual(paid, [500])
    const rest = yield* Stream.runCollect(ann.events("one", last?.cursor))
    assert.deepStrictEqual([rest[0]?.type, rest.at(-1)?.type], ["run-start", "run-completed"])
  })
)
