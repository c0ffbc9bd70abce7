/** What a request to a conversation does with each state of a message and each failure, over a conversation that a test plays. */
import { assert, it } from "@effect/vitest"
import { Conversations } from "@kintsugi/durable"
import * as ConversationEntity from "@kintsugi/durable/ConversationEntity"
import * as AgentProxy from "@kintsugi/interop/AgentProxy"
import { Effect, Fiber, Stream } from "effect"
import { Sharding } from "effect/cluster"
import { TestClock } from "effect/testing"
import { WorkflowEngine } from "effect/workflow/WorkflowEngine"
import { conversing } from "../../../../packages/interop/src/proxy/conversation/conversing.ts"
import { RunNotFoundError } from "../../../../packages/interop/src/proxy/errors.ts"
import { calm } from "../../../_support/dialogue.ts"

const quiet = Effect.repeat(calm, { times: 20 })

type State = ConversationEntity.MessageState

const run = { executionId: "run-1", workflow: "clerk" }
const working: State = { _tag: "Working", ...run }
const waits: State = { _tag: "Waiting", before: 2 }

/** A conversation whose messages have these states, the last for ever, or one that fails. */
const talking = (states: Readonly<Record<string, ReadonlyArray<State>>>, failure?: unknown) => {
  const left = new Map(Object.entries(states).map(([id, all]) => [id, [...all]]))
  const asked: Array<string> = []
  const answer = ({ id }: { readonly id: string }) =>
    Effect.suspend(() => {
      asked.push(id)
      const all = left.get(id) ?? []
      if (failure !== undefined) return Effect.fail(failure)
      return Effect.succeed(all.length > 1 ? all.shift() : all[0])
    })
  const decided: Array<unknown> = []
  const runs = {
    show: (of: unknown) => Effect.succeed({ _tag: "Waiting", run: of, waiting: [] }),
    end: () => Effect.never,
    events: () => Effect.succeed(Stream.empty),
    decide: (of: unknown) => Effect.sync(() => (decided.push(of), "decided"))
  }
  const entity = {
    name: "desk",
    "~parts": {
      entity: { client: Effect.succeed(() => ({ state: answer, send: answer })) },
      versions: new Map(),
      retryAfter: 7
    }
  }
  // an entity and runs with only what requests ask
  const requests = conversing(entity as never, runs as never, { shows: () => true, showsMessage: () => true })
  const within = <A, E>(self: Effect.Effect<A, E, unknown>) =>
    (self as Effect.Effect<A, E, AgentProxy.Subject | Sharding.Sharding | WorkflowEngine>).pipe(
      Effect.provideService(AgentProxy.Subject, "ann"),
      Effect.provideService(Sharding.Sharding, {} as never),
      Effect.provideService(WorkflowEngine, {} as never)
    )
  return { asked, decided, requests, within }
}

const of = { conversation: "c-1", id: "m-1" }

it.effect.each<{ readonly state: State; readonly shown: object }>([
  { state: waits, shown: { _tag: "Waiting", before: 2 } },
  { state: working, shown: { _tag: "Working" } },
  { state: { _tag: "Unserved", ...run }, shown: { _tag: "Working" } },
  { state: { _tag: "Ended", ...run }, shown: { _tag: "Ended" } },
  { state: { _tag: "Withdrawn" }, shown: { _tag: "Withdrawn" } },
  { state: { _tag: "Steered", by: "m-2" }, shown: { _tag: "Steered" } },
  { state: { _tag: "Refused" }, shown: { _tag: "Refused" } }
])("a client sees of the state $state._tag what is his [P1853]", ({ shown, state }) =>
  Effect.gen(function* () {
    const { requests, within } = talking({ "m-1": [state] })
    assert.deepStrictEqual<unknown>(yield* within(requests.state(of)), { ...shown, id: "m-1" })
    assert.deepStrictEqual<unknown>(yield* within(requests.send({ ...of, message: "hi" })), { ...shown, id: "m-1" })
  })
)

it.effect.each<{ readonly state: State; readonly reason: string }>([
  { state: { _tag: "Withdrawn" }, reason: "withdrawn" },
  { state: { _tag: "Steered", by: "m-2" }, reason: "steered" },
  { state: { _tag: "Refused" }, reason: "refused" },
  { state: { _tag: "Unserved", ...run }, reason: "unserved" }
])("a message in the state $state._tag has no run for decisions and events [P1853]", ({ reason, state }) =>
  Effect.gen(function* () {
    const { decided, requests, within } = talking({ "m-1": [state] })
    const decisions = [] as never
    const events: Effect.Effect<unknown, unknown, unknown> = requests.events(of)
    const deciding: Effect.Effect<unknown, unknown, unknown> = requests.decide({ ...of, decisions })
    for (const request of [deciding, events]) {
      const error = yield* Effect.flip(within(request))
      assert.deepInclude<object>(error as object, { _tag: "ConversationConflictError", ...of, reason })
    }
    assert.deepStrictEqual(decided, [])
  })
)

it.effect("a decision is for the run of its message, and one about a message that waits is refused [P1853]", () =>
  Effect.gen(function* () {
    const decisions = ["yes"] as never
    const first = talking({ "m-1": [working] })
    assert.strictEqual<unknown>(yield* first.within(first.requests.decide({ ...of, decisions })), "decided")
    assert.deepStrictEqual(first.decided, [{ run: "m-1", executionId: "run-1", decisions }])
    const second = talking({ "m-1": [waits] })
    const error = yield* Effect.flip(second.within(second.requests.decide({ ...of, decisions })))
    assert.deepInclude<object>(error as object, { _tag: "RunConflictError", run: "m-1", reason: "at-work" })
  })
)

it.effect("the response with the events of a message that waits begins at once [P1853]", () =>
  Effect.gen(function* () {
    const { requests, within } = talking({ "m-1": [waits] })
    const { isRead } = yield* within(requests.events(of))
    assert.isFalse(isRead)
    const other = talking({ "m-1": [working] })
    assert.isTrue((yield* other.within(other.requests.events(of))).isRead)
  })
)

it.effect("an answer waits for the turn of its message and for a server of its version [P1853]", () =>
  Effect.gen(function* () {
    const unserved: State = { _tag: "Unserved", ...run }
    const { asked, requests, within } = talking({ "m-1": [waits, unserved, working] })
    const waiting = yield* Effect.forkChild(within(requests.answer(of)))
    yield* quiet
    assert.isUndefined(waiting.pollUnsafe())
    yield* TestClock.adjust("1 second")
    yield* quiet
    assert.isDefined(waiting.pollUnsafe())
    const found = yield* Fiber.join(waiting)
    assert.deepStrictEqual<unknown>(found, { _tag: "Waiting", run: { run: "m-1", executionId: "run-1" }, waiting: [] })
    assert.deepStrictEqual(asked, ["m-1", "m-1", "m-1"])
  })
)

it.effect("said words wait for a decision about the run that reads them [P1853]", () =>
  Effect.gen(function* () {
    const { asked, requests, within } = talking({ "m-1": [{ _tag: "Steered", by: "m-2" }], "m-2": [working] })
    const found = yield* within(requests.answer(of))
    assert.deepStrictEqual<unknown>(found, { _tag: "Waiting", run: { run: "m-2", executionId: "run-1" }, waiting: [] })
    assert.deepStrictEqual(asked, ["m-1", "m-2"])
  })
)

const conversation = "c-1"
const limit = (option: "maxMessages" | "maxBytes" | "depth" | "id") =>
  Conversations.ConversationLimitError.make({ conversation, option, limit: 9 })
const busy = (retryAfter: number) =>
  ConversationEntity.ConversationBusyError.make({ conversation, reason: "queue", retryAfter })

it.effect.each<{ readonly error: unknown; readonly expected: object }>([
  { error: Conversations.UnknownConversationError.make({ conversation }), expected: { status: 404, ...of } },
  { error: ConversationEntity.UnknownMessageError.make(of), expected: { status: 404, ...of } },
  { error: new RunNotFoundError({ run: "m-1" }), expected: { _tag: "ConversationNotFoundError", ...of } },
  { error: busy(1001), expected: { _tag: "TooBusyError", status: 429, retryAfter: 2 } },
  { error: busy(0), expected: { _tag: "TooBusyError", status: 429, retryAfter: 1 } },
  {
    error: ConversationEntity.UnansweredError.make({ ...of, reason: "deleted" }),
    expected: { _tag: "ConversationConflictError", status: 409, reason: "deleted", ...of }
  },
  { error: limit("maxMessages"), expected: { _tag: "ConversationConflictError", reason: "full", ...of } },
  { error: limit("maxBytes"), expected: { _tag: "RequestTooLargeError", status: 413 } },
  {
    error: limit("depth"),
    expected: { _tag: "UnfitRequestError", issues: [{ path: "depth", expected: "Expected at most 9" }] }
  },
  {
    error: Conversations.ConversationStoreError.make({ conversation, operation: "load", cause: new Error("hunter2") }),
    expected: {
      _tag: "RunFailedError",
      type: "urn:kintsugi:error:conversation-store",
      status: 503,
      retryable: true,
      retryAfter: 5,
      code: "KINTSUGI-CONVERSATION-STORE"
    }
  }
])("a client learns of the failure $error._tag only what is his [P1853]", ({ error, expected }) =>
  Effect.gen(function* () {
    const { requests, within } = talking({}, error)
    assert.deepInclude<object>((yield* Effect.flip(within(requests.state(of)))) as object, expected)
  })
)
