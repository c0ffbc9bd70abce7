import { assert, it } from "@effect/vitest"
import { Approval, LlmError } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import type { Ending } from "@kintsugi/examples/backend/api"
import * as StandIn from "@kintsugi/examples/backend/standIn"
import { Deferred, Effect, Fiber, Stream } from "effect"
import { TestClock } from "effect/testing"
import { heard, modelOf, raw, says, serving, till } from "./_support/backendServer.ts"

const { answers, call, calls, fails, make, reply, text } = ScriptedModel

const refunding = calls(call("refund", { orderId: "B-4", cents: 78_000 }))

const reasonOf = (answer: Approval.DecisionReceipt) => (answer._tag === "Counted" ? answer._tag : answer.reason)

/** The run that waits, and what for. */
const waitingOf = (ending: Ending) => {
  assert(ending.type === "waiting", `the run has ended: ${JSON.stringify(ending)}`)
  const { requests, runId } = ending
  const deciding = (decision: Approval.Decision) => {
    const [first, ...others] = requests.map(({ digest }) => ({ digest, decision }))
    assert.isDefined(first)
    return { params: { runId }, payload: { decisions: [first!, ...others] as const } }
  }
  return { requests, runId, params: { runId }, approving: deciding(Approval.approve), deciding }
}

it.effect("backend: a large refund waits for a person, over HTTP, and is paid once [P1533]", () =>
  Effect.gen(function* () {
    const { layer, paid } = till()
    const model = yield* make(refunding, text("You get it back."))
    const { ask, client } = yield* serving(model.layer, layer)
    const { approving, params, requests } = waitingOf(yield* ask("Refund order B-4."))
    assert.deepStrictEqual(
      requests.map(({ arguments: args, reason, tool }) => ({ args, reason, tool })),
      [{ args: { orderId: "B-4", cents: 78_000 }, reason: "more than 50 euros", tool: "refund" }]
    )
    assert.deepStrictEqual((yield* client.approvals.show({ params })).requests, requests)
    assert.deepStrictEqual(paid, [])

    yield* TestClock.adjust("23 hours")
    const ending = yield* client.approvals.decide(approving)
    assert.strictEqual(ending.type === "answered" ? ending.answer : ending.type, "You get it back.")
    assert.deepStrictEqual(paid, ["refund 1: 78000 cents for B-4"])

    const repeated = yield* Effect.flip(client.approvals.decide(approving))
    assert(repeated._tag === "StaleDecision")
    assert.deepStrictEqual([repeated.status, repeated.requests], [409, []])
    assert.deepStrictEqual(repeated.answers.map(reasonOf), ["already-decided"])
    assert.strictEqual((yield* Effect.flip(client.approvals.show({ params })))._tag, "UnknownRun")
    assert.strictEqual(paid.length, 1)
  })
)

it.effect("backend: the model reads a refusal, and nothing is paid", () =>
  Effect.gen(function* () {
    const { layer, paid } = till()
    const model = yield* make(refunding, text("I am sorry."))
    const { ask, client } = yield* serving(model.layer, layer)
    const { deciding } = waitingOf(yield* ask("Refund order B-4."))
    const ending = yield* client.approvals.decide(deciding(Approval.refuse("not without the table")))
    assert.strictEqual(ending.type === "answered" ? ending.answer : ending.type, "I am sorry.")
    assert.include(JSON.stringify(model.requests[1]?.messages), "not without the table")
    assert.deepStrictEqual(paid, [])
  })
)

it.effect("backend: a decision for an unknown run is 404, one about something else is 409 [P1533]", () =>
  Effect.gen(function* () {
    const { layer, paid } = till()
    const model = yield* make(refunding, text("Done."))
    const { ask, client } = yield* serving(model.layer, layer)
    const { approving, params, requests } = waitingOf(yield* ask("Refund order B-4."))
    const unknown = yield* Effect.flip(client.approvals.decide({ ...approving, params: { runId: "no-run" } }))
    assert(unknown._tag === "UnknownRun")
    assert.deepStrictEqual([unknown.status, unknown.runId], [404, "no-run"])
    const other = { decisions: [{ digest: "another", decision: Approval.approve }] as const }
    const stale = yield* Effect.flip(client.approvals.decide({ params, payload: other }))
    assert.strictEqual(stale._tag, "StaleDecision")
    // what has to be decided is in the error, and still can be
    assert.deepStrictEqual(stale._tag === "StaleDecision" ? stale.requests : [], requests)
    assert.deepStrictEqual(stale._tag === "StaleDecision" ? stale.answers.map(reasonOf) : [], ["unknown-request"])
    assert.strictEqual((yield* client.approvals.decide(approving)).type, "answered")
    assert.strictEqual(paid.length, 1)
  })
)

it.effect("backend: a decision that comes too late is 409 with what to decide now [P1533]", () =>
  Effect.gen(function* () {
    const { layer, paid } = till()
    const model = yield* make(refunding, text("Done."))
    const { ask, client } = yield* serving(model.layer, layer)
    const first = waitingOf(yield* ask("Refund order B-4."))
    yield* TestClock.adjust("2 days")
    const stale = yield* Effect.flip(client.approvals.decide(first.approving))
    assert(stale._tag === "StaleDecision")
    assert.deepStrictEqual(stale.answers.map(reasonOf), ["late"])
    assert.deepStrictEqual(paid, [])
    assert.notStrictEqual(stale.requests[0]?.digest, first.requests[0]?.digest)
    const second = waitingOf(yield* client.approvals.show(first))
    assert.deepStrictEqual(second.requests, stale.requests)
    assert.strictEqual((yield* client.approvals.decide(second.approving)).type, "answered")
    assert.strictEqual(paid.length, 1)
  })
)

it.effect(
  "backend: a run that fails after its decision waits as before, and the same decision pays nothing twice",
  () =>
    Effect.gen(function* () {
      const { layer, paid } = till()
      const overloaded = LlmError.ModelOverloadedError.make({ model: "scripted" })
      const model = yield* make(refunding, fails(overloaded), text("Done."))
      const { ask, client } = yield* serving(model.layer, layer)
      const { approving } = waitingOf(yield* ask("Refund order B-4."))
      const failure = yield* Effect.flip(client.approvals.decide(approving))
      assert.deepInclude({ ...failure }, { _tag: "RunFailed", status: 503, retryable: true })
      assert.strictEqual((yield* client.approvals.decide(approving)).type, "answered")
      // the till was asked twice, with one key: it has given the same receipt
      assert.deepStrictEqual(paid, ["refund 1: 78000 cents for B-4", "refund 1: 78000 cents for B-4"])
    })
)

it.effect("backend: of two decisions at the same time, one counts", () =>
  Effect.gen(function* () {
    const { layer, paid } = till()
    const reached = yield* Deferred.make<void>()
    const gate = yield* Deferred.make<void>()
    const waits = answers(() =>
      Effect.as(Effect.andThen(Deferred.succeed(reached, undefined), Deferred.await(gate)), reply(says("Done.")))
    )
    const model = yield* make(refunding, waits)
    const { ask, client } = yield* serving(model.layer, layer)
    const { approving } = waitingOf(yield* ask("Refund order B-4."))
    const first = yield* Effect.forkChild(client.approvals.decide(approving))
    yield* Deferred.await(reached)
    assert.strictEqual((yield* Effect.flip(client.approvals.decide(approving)))._tag, "StaleDecision")
    yield* Deferred.succeed(gate, undefined)
    assert.strictEqual((yield* Fiber.join(first)).type, "answered")
    assert.strictEqual(paid.length, 1)
  })
)

it.effect("backend: who decides and goes away has decided nothing for good", () =>
  Effect.gen(function* () {
    const { layer } = till()
    const reached = yield* Deferred.make<void>()
    const stopped = yield* Deferred.make<void>()
    let visits = 0
    const { ask, client } = yield* serving(
      modelOf((request) => {
        if (heard(request) === undefined)
          return Effect.succeed(reply({ content: [call("refund", { orderId: "B-4", cents: 78_000 })] }))
        if (++visits > 1) return Effect.succeed(says("Done."))
        return Effect.andThen(Deferred.succeed(reached, undefined), Effect.never).pipe(
          Effect.onInterrupt(() => Deferred.succeed(stopped, undefined))
        )
      }),
      layer
    )
    const { approving, params } = waitingOf(yield* ask("Refund order B-4."))
    const deciding = yield* Effect.forkChild(client.approvals.decide(approving))
    yield* Deferred.await(reached)
    yield* Fiber.interrupt(deciding)
    yield* Deferred.await(stopped)
    // the row comes back when the run has ended, soon after its model was stopped
    yield* Effect.retry(client.approvals.show({ params }), { times: 500 })
    assert.strictEqual((yield* client.approvals.decide(approving)).type, "answered")
  })
)

it.effect("backend: the stand-in model plays the same without any key", () =>
  Effect.gen(function* () {
    const { layer, paid } = till()
    const { ask, client } = yield* serving(StandIn.layer, layer)
    const found = yield* ask("What is order A-17?")
    assert.include(found.type === "answered" ? found.answer : "", "a lamp")
    assert.strictEqual((yield* ask("Refund 1200 of order A-17, please.")).type, "answered")
    const { approving } = waitingOf(yield* ask("refund 70000 of order B-4"))
    const ending = yield* client.approvals.decide(approving)
    assert.include(ending.type === "answered" ? ending.answer : "", "refund 2: 70000 cents for B-4")
    assert.strictEqual(paid.length, 2)
    const help = yield* ask("Hello?")
    assert.include(help.type === "answered" ? help.answer : "", "Try:")
  })
)

it.effect("backend: a chat that waits shows what to decide; the chat cannot decide, and the approvals can", () =>
  Effect.gen(function* () {
    const { layer, paid } = till()
    const model = yield* make(refunding, text("You get it back."))
    const { client, url } = yield* serving(model.layer, layer)
    const message = { role: "user", parts: [{ type: "text", text: "Refund order B-4." }] } as const
    const { body } = yield* client.chat({ payload: { messages: [message] } })
    const said = yield* Stream.mkString(Stream.decodeText(body))
    const runId = /"type":"start","messageId":"([^"]+)"/.exec(said)?.[1] ?? "none"
    const digest = /"type":"tool-approval-request"[^}]*"approvalId":"([^"]+)"/.exec(said)?.[1] ?? "none"
    assert.include(said, '"isSuspended":true')

    // what the front end of the AI SDK sends after a click on its button
    const approval = { id: digest, approved: true }
    const clicked = {
      id: runId,
      role: "assistant",
      parts: [{ type: "tool-refund", state: "approval-responded", approval }]
    }
    const messages = [message, clicked]
    const seen = yield* raw(url, "/chat", { method: "POST", body: JSON.stringify({ messages }) })
    assert.strictEqual(seen.status, 400)
    assert.deepStrictEqual(paid, [])

    const decisions = [{ digest, decision: Approval.approve }] as const
    const ending = yield* client.approvals.decide({ params: { runId }, payload: { decisions } })
    assert.strictEqual(ending.type === "answered" ? ending.answer : ending.type, "You get it back.")
    assert.deepStrictEqual(paid, ["refund 1: 78000 cents for B-4"])
  })
)

it.effect("backend: what waits is listed for each user, until it is decided", () =>
  Effect.gen(function* () {
    const { layer } = till()
    const model = yield* make(refunding, refunding, refunding, text("Done."))
    const { client, url } = yield* serving(model.layer, layer)
    const start = (user?: string) =>
      client.runs.ask({ payload: { input: "Refund order B-4.", ...(user === undefined ? {} : { user }) } })
    const listed = (user: string) => client.approvals.list({ query: { user } })
    const first = waitingOf(yield* start("ada"))
    yield* TestClock.adjust("1 hour")
    const second = waitingOf(yield* start("ada"))
    yield* start()
    const expected = [first, second].map(({ requests: [request], runId }) => ({
      runId,
      waiting: [
        {
          type: "approval" as const,
          runId,
          agent: "desk",
          callId: request?.callId,
          tool: "refund",
          request,
          expiresAt: request?.expiresAt
        }
      ]
    }))
    assert.deepStrictEqual<unknown>(yield* listed("ada"), expected)
    assert.deepStrictEqual(yield* listed("bob"), [])
    // a decision that does not count leaves the run where it is listed
    const other = { decisions: [{ digest: "another", decision: Approval.approve }] as const }
    yield* Effect.flip(client.approvals.decide({ params: first.params, payload: other }))
    assert.sameMembers(
      (yield* listed("ada")).map(({ runId }) => runId),
      [first.runId, second.runId]
    )
    yield* client.approvals.decide(first.approving)
    assert.deepStrictEqual<unknown>(yield* listed("ada"), expected.slice(1))
    assert.strictEqual((yield* raw(url, "/approvals?user=ada")).status, 401)
  })
)
