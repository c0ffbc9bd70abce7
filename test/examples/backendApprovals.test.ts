import { assert, it } from "@effect/vitest"
import { Approval, LlmError, type Snapshot } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import type * as AgentProxy from "@kintsugi/interop/AgentProxy"
import * as Client from "@kintsugi/examples/backend/client"
import * as StandIn from "@kintsugi/examples/backend/standIn"
import { Deferred, Effect, Fiber, Redacted, Stream } from "effect"
import { FetchHttpClient } from "effect/http"
import { TestClock } from "effect/testing"
import { heard, modelOf, raw, says, serving, till, token } from "./_support/backendServer.ts"

const { answers, call, calls, fails, make, reply, text } = ScriptedModel

const refunding = calls(call("refund", { orderId: "B-4", cents: 78_000 }))

const reasonOf = (answer: Approval.DecisionReceipt) => (answer._tag === "Counted" ? answer._tag : answer.reason)

const requestsOf = (waiting: ReadonlyArray<Snapshot.Waiting> = []) =>
  waiting.flatMap((one) => (one.type === "approval" ? [one.request] : []))

/** The run that waits, and what for. */
const waitingOf = (ending: AgentProxy.Ending<string> | { readonly _tag: "AtWork" }) => {
  assert(ending._tag === "Waiting", `the run waits for nothing: ${JSON.stringify(ending)}`)
  const { run, waiting } = ending
  const requests = requestsOf(waiting)
  const deciding = (decision: Approval.Decision) => {
    const [first, ...others] = requests.map(({ digest }) => ({ digest, decision }))
    assert.isDefined(first)
    return { params: { run }, payload: { decisions: [first!, ...others] as const } }
  }
  return { requests, run, params: { run }, approving: deciding(Approval.approve), deciding }
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
    assert.deepStrictEqual(waitingOf(yield* client.approvals.show({ params })).requests, requests)
    assert.deepStrictEqual(paid, [])

    yield* TestClock.adjust("23 hours")
    const ending = yield* client.approvals.decide(approving)
    assert.strictEqual(ending._tag === "Answered" ? ending.output : ending._tag, "You get it back.")
    assert.deepStrictEqual(paid, ["refund 1: 78000 cents for B-4"])

    const repeated = yield* Effect.flip(client.approvals.decide(approving))
    assert(repeated._tag === "RunConflictError")
    assert.deepStrictEqual([repeated.status, repeated.reason], [409, "over"])
    assert.deepStrictEqual(yield* client.approvals.show({ params }), ending)
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
    assert.strictEqual(ending._tag === "Answered" ? ending.output : ending._tag, "I am sorry.")
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
    const unknown = yield* Effect.flip(client.approvals.decide({ ...approving, params: { run: "no-run" } }))
    assert(unknown._tag === "RunNotFoundError")
    assert.deepStrictEqual([unknown.status, unknown.run], [404, "no-run"])
    const other = { decisions: [{ digest: "another", decision: Approval.approve }] as const }
    const stale = yield* Effect.flip(client.approvals.decide({ params, payload: other }))
    assert(stale._tag === "RunConflictError")
    // what has to be decided is in the error, and still can be
    assert.deepStrictEqual(requestsOf(stale.waiting), requests)
    assert.deepStrictEqual(stale.receipts?.map(reasonOf), ["unknown-request"])
    assert.strictEqual((yield* client.approvals.decide(approving))._tag, "Answered")
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
    assert(stale._tag === "RunConflictError")
    assert.deepStrictEqual(stale.receipts?.map(reasonOf), ["late"])
    assert.deepStrictEqual(paid, [])
    assert.notStrictEqual(requestsOf(stale.waiting)[0]?.digest, first.requests[0]?.digest)
    const second = waitingOf(yield* client.approvals.show(first))
    assert.deepStrictEqual(second.requests, requestsOf(stale.waiting))
    assert.strictEqual((yield* client.approvals.decide(second.approving))._tag, "Answered")
    assert.strictEqual(paid.length, 1)
  })
)

it.effect("backend: a run that fails after its refund is over, and the same decision pays nothing twice", () =>
  Effect.gen(function* () {
    const { layer, paid } = till()
    const overloaded = LlmError.ModelOverloadedError.make({ model: "scripted" })
    const model = yield* make(refunding, fails(overloaded))
    const { ask, client } = yield* serving(model.layer, layer)
    const { approving } = waitingOf(yield* ask("Refund order B-4."))
    const failure = yield* Effect.flip(client.approvals.decide(approving))
    assert.deepInclude({ ...failure }, { _tag: "RunFailedError", status: 503, retryable: true })
    const late = yield* Effect.flip(client.approvals.decide(approving))
    assert.deepInclude({ ...late }, { status: 409, reason: "over" })
    assert.deepStrictEqual(paid, ["refund 1: 78000 cents for B-4"])
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
    assert.strictEqual((yield* Effect.flip(client.approvals.decide(approving)))._tag, "RunConflictError")
    yield* Deferred.succeed(gate, undefined)
    assert.strictEqual((yield* Fiber.join(first))._tag, "Answered")
    assert.strictEqual(paid.length, 1)
  })
)

it.effect("backend: who decides and goes away has decided", () =>
  Effect.gen(function* () {
    const { layer } = till()
    const reached = yield* Deferred.make<void>()
    const gate = yield* Deferred.make<void>()
    const { ask, client } = yield* serving(
      modelOf((request) => {
        if (heard(request) === undefined)
          return Effect.succeed(reply({ content: [call("refund", { orderId: "B-4", cents: 78_000 })] }))
        return Effect.as(Effect.andThen(Deferred.succeed(reached, undefined), Deferred.await(gate)), says("Done."))
      }),
      layer
    )
    const { approving, params } = waitingOf(yield* ask("Refund order B-4."))
    const deciding = yield* Effect.forkChild(client.approvals.decide(approving))
    yield* Deferred.await(reached)
    yield* Fiber.interrupt(deciding)
    assert.strictEqual((yield* client.approvals.show({ params }))._tag, "AtWork")
    yield* Deferred.succeed(gate, undefined)
    const events = yield* client.runs.events({ params, query: {}, headers: {} })
    yield* Stream.runDrain(events)
    assert.strictEqual((yield* client.approvals.show({ params }))._tag, "Answered")
  })
)

it.effect("backend: the stand-in model plays the same without any key", () =>
  Effect.gen(function* () {
    const { layer, paid } = till()
    const { ask, client } = yield* serving(StandIn.layer, layer)
    const found = yield* ask("What is order A-17?")
    assert.include(found._tag === "Answered" ? found.output : "", "a lamp")
    assert.strictEqual((yield* ask("Refund 1200 of order A-17, please."))._tag, "Answered")
    const { approving } = waitingOf(yield* ask("refund 70000 of order B-4"))
    const ending = yield* client.approvals.decide(approving)
    assert.include(ending._tag === "Answered" ? ending.output : "", "refund 2: 70000 cents for B-4")
    assert.strictEqual(paid.length, 2)
    const help = yield* ask("Hello?")
    assert.include(help._tag === "Answered" ? help.output : "", "Try:")
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
    const ending = yield* client.approvals.decide({ params: { run: runId }, payload: { decisions } })
    assert.strictEqual(ending._tag === "Answered" ? ending.output : ending._tag, "You get it back.")
    assert.deepStrictEqual(paid, ["refund 1: 78000 cents for B-4"])
  })
)

it.effect("backend: what waits is listed for each customer, until it is decided, and no other sees it", () =>
  Effect.gen(function* () {
    const { layer } = till()
    const model = yield* make(refunding, refunding, refunding, text("Done."))
    const customers = ["ada", "bob"].map((name) => ({ name, token: Redacted.make(`the-token-of-${name}-himself`) }))
    const { url } = yield* serving(model.layer, layer, undefined, customers)
    const clientOf = (name: string) =>
      Effect.provide(
        Client.make(url, {
          customer: Redacted.make(`the-token-of-${name}-himself`),
          deciding: token,
          onBehalfOf: name
        }),
        FetchHttpClient.layer
      )
    const [ada, bob] = [yield* clientOf("ada"), yield* clientOf("bob")]
    const asked = { payload: { input: "Refund order B-4." } }
    const first = waitingOf(yield* ada.runs.ask(asked))
    yield* TestClock.adjust("1 hour")
    const second = waitingOf(yield* ada.runs.ask(asked))
    waitingOf(yield* bob.runs.ask(asked))
    const listed = yield* ada.waiting()
    assert.deepStrictEqual(
      listed.map(({ run, waiting }) => [run, requestsOf(waiting)]),
      [first, second].map(({ requests, run }) => [run, requests])
    )
    const stranger = yield* Effect.flip(bob.runs.show({ params: first.params }))
    assert.strictEqual(stranger._tag, "RunNotFoundError")
    const other = yield* Effect.flip(bob.approvals.decide(first.approving))
    assert.strictEqual(other._tag, "RunNotFoundError")
    // a decision that does not count leaves the run where it is listed
    const wrong = { decisions: [{ digest: "another", decision: Approval.approve }] as const }
    yield* Effect.flip(ada.approvals.decide({ params: first.params, payload: wrong }))
    assert.strictEqual((yield* ada.waiting()).length, 2)
    yield* ada.approvals.decide(first.approving)
    assert.deepStrictEqual(
      (yield* ada.waiting()).map(({ run }) => run),
      [second.run]
    )
    assert.strictEqual((yield* raw(url, "/approvals")).status, 401)
    assert.strictEqual((yield* raw(url, `/runs/${first.run}`)).status, 401)
  })
)
