/** What the errors of the cluster mean for a question to a conversation, and how an answer is waited for. */
import { assert, it } from "@effect/vitest"
import * as ConversationEntity from "@kintsugi/durable/ConversationEntity"
import { Cause, Clock, Effect, Exit, Fiber, Option } from "effect"
import { Sharding } from "effect/cluster"
import { TestClock } from "effect/testing"
import * as Workflow from "effect/workflow/Workflow"
import { WorkflowEngine } from "effect/workflow/WorkflowEngine"
import { quiet } from "../_support/replays.ts"

type Entity = ConversationEntity.ConversationEntity<string, string, never, never>
type Polled = Option.Option<{ readonly _tag: string; readonly exit?: Exit.Exit<unknown> }>

const one = { conversation: "c-1", subject: "ann", id: "m-1" }

/** Conversations that answer each question by this effect. */
const entityOf = (answer: (id: string) => Effect.Effect<unknown, unknown>) => {
  const ask = ({ id }: { readonly id: string }) => answer(id)
  const messages = {
    executionId: ({ executionId }: { readonly executionId: string }) => Effect.succeed(`of ${executionId}`)
  }
  // conversations with only what a client asks
  return {
    name: "desk",
    "~parts": {
      entity: { client: Effect.succeed(() => ({ send: ask, state: ask })) },
      versions: new Map([["clerk", { messages }]]),
      retryAfter: 7
    }
  } as unknown as Entity
}

const sent = (answer: Effect.Effect<unknown, unknown>) =>
  ConversationEntity.send(
    entityOf(() => answer),
    { ...one, message: "hi" }
  ).pipe(
    // the client of the test needs no cluster
    Effect.provideService(Sharding.Sharding, {} as never)
  )

it.effect.each([
  ...["MailboxFull", "AlreadyProcessingMessage", "EntityNotAssignedToRunner"].map((_tag) => ({
    answer: Effect.fail({ _tag }),
    expected: { _tag: "ConversationBusyError", conversation: "c-1", reason: "runner", retryAfter: 7 }
  })),
  {
    answer: Effect.interrupt,
    expected: { _tag: "ConversationBusyError", conversation: "c-1", reason: "runner", retryAfter: 7 }
  },
  {
    answer: Effect.fail({ _tag: "PersistenceError" }),
    expected: {
      _tag: "ConversationStoreError",
      conversation: "c-1",
      operation: "ask",
      cause: { _tag: "PersistenceError" }
    }
  },
  { answer: Effect.fail({ _tag: "UnknownMessageError" }), expected: { _tag: "UnknownMessageError" } }
])("a question that is not answered fails with $expected._tag [P1384]", ({ answer, expected }) =>
  Effect.gen(function* () {
    assert.deepInclude<object>(yield* Effect.flip(sent(answer)), expected)
  })
)

it.effect("a caller that is interrupted is so once its question has ended [P1384]", () =>
  Effect.gen(function* () {
    const ended: Array<string> = []
    const ending = (what: string) => Effect.ensuring(Effect.sync(() => void ended.push(what)))
    const fiber = yield* Effect.forkChild(ending("caller")(sent(ending("question")(Effect.never))))
    yield* quiet
    assert.deepStrictEqual(ended, [])
    yield* Fiber.interrupt(fiber)
    assert.deepStrictEqual(ended, ["question", "caller"])
    const exit = yield* Fiber.await(fiber)
    assert.isTrue(Exit.isFailure(exit) && Cause.hasInterruptsOnly(exit.cause))
  })
)

const working = { _tag: "Working", executionId: "run-1", workflow: "clerk" }
const over = { ...working, _tag: "Ended" }

/** Awaits an answer: what the states of each message are, the last for ever, and what polls of the workflow of a message find. */
const awaiting = (states: Readonly<Record<string, ReadonlyArray<object>>>, polls: ReadonlyArray<Polled> = []) => {
  const [left, found] = [new Map(Object.entries(states).map(([id, all]) => [id, [...all]])), [...polls]]
  const next = <A>(all: Array<A>): A | undefined => (all.length > 1 ? all.shift() : all[0])
  const polled: Array<string> = []
  /** When a state was asked for, and when the workflow of a message was polled. */
  const asked: Array<number> = []
  const looked: Array<number> = []
  const poll = (_: unknown, executionId: string) =>
    Effect.map(Clock.currentTimeMillis, (now) => {
      polled.push(executionId)
      looked.push(now)
      return next(found) ?? Option.none()
    })
  const answer = ConversationEntity.answer(
    entityOf((id) =>
      Effect.map(Clock.currentTimeMillis, (now) => {
        asked.push(now)
        return next(left.get(id) ?? [])
      })
    ),
    one
  ).pipe(
    Effect.provideService(Sharding.Sharding, {} as never),
    // an engine with only what a client asks
    Effect.provideService(WorkflowEngine, { poll } as never)
  )
  return { answer: Effect.exit(answer), asked, looked, polled }
}

const complete = (value: object): Polled => Option.some(new Workflow.Complete({ exit: Exit.succeed(value) }))
const done = complete({ exit: Exit.succeed("done") })

it.effect("an answer is looked for in pauses that grow to 2 seconds, first in the state of its message [P1384]", () =>
  Effect.gen(function* () {
    const suspended: Polled = Option.some(new Workflow.Suspended({}))
    const waits = Array.from({ length: 12 }, (_, before) => ({ _tag: "Waiting", before }))
    const polls = [suspended, ...Array.from({ length: 11 }, Option.none<never>), done]
    const { answer, asked, looked, polled } = awaiting({ "m-1": [...waits, working, over] }, polls)
    const waiting = yield* Effect.forkChild(answer)
    yield* quiet
    yield* TestClock.adjust("1 minute")
    assert.deepStrictEqual(yield* Fiber.join(waiting), Exit.succeed("done"))
    assert.deepStrictEqual(new Set(polled), new Set(["of run-1"]))
    const times = [0, 50, 125, 238, 406, 659, 1039, 1609, 2463, 3744, 5667, 7667, 9667, 11_667]
    assert.deepStrictEqual(asked.map(Math.round), times)
    const since = asked.at(-1) ?? assert.fail("the state was asked for")
    assert.deepStrictEqual(
      looked.map((at) => Math.round(at - since)),
      times.slice(0, -1)
    )
  })
)

const unsaved = { _tag: "ConversationLimitError" }

it.effect.each([
  { name: "withdrawn", states: [{ _tag: "Withdrawn" }], polls: [] },
  { name: "refused", states: [{ _tag: "Refused" }], polls: [] },
  { name: "unserved", states: [{ ...over, workflow: "clerk@0" }], polls: [done] },
  { name: "stopped", states: [over], polls: [complete({ exit: Exit.interrupt(), unsaved })] }
])("a message has no answer if it was $name [P1384]", ({ name, polls, states }) =>
  Effect.gen(function* () {
    const exit = yield* awaiting({ "m-1": states }, polls).answer
    const error = yield* Effect.flip(exit)
    assert.deepInclude<object>(error, { _tag: "UnansweredError", conversation: "c-1", id: "m-1", reason: name })
  })
)

it.effect("an answer that the store could not keep fails with that, and a failed run with its failure [P1384]", () =>
  Effect.gen(function* () {
    const failed = complete({ exit: Exit.fail("no"), unsaved })
    const lost = complete({ exit: Exit.succeed("done"), unsaved })
    assert.deepStrictEqual(yield* awaiting({ "m-1": [over] }, [failed]).answer, Exit.fail("no" as never))
    assert.deepStrictEqual(yield* awaiting({ "m-1": [over] }, [lost]).answer, Exit.fail(unsaved as never))
  })
)

it.effect("a message has no answer after a minute without the rows of its workflow [P1384]", () =>
  Effect.gen(function* () {
    const { answer } = awaiting({ "m-1": [over] })
    const waiting = yield* Effect.forkChild(answer)
    yield* quiet
    yield* TestClock.adjust("59 seconds")
    yield* quiet
    assert.isUndefined(waiting.pollUnsafe())
    yield* TestClock.adjust("3 seconds")
    const error = yield* Effect.flip(yield* Fiber.join(waiting))
    assert.deepInclude<object>(error, { _tag: "UnansweredError", reason: "deleted" })
  })
)

it.effect("the answer to steered words is that of the run that read them, unless it gave them back [P1384]", () =>
  Effect.gen(function* () {
    const steered = { _tag: "Steered", by: "m-2" }
    const read = awaiting({ "m-1": [steered], "m-2": [working, over] }, [done])
    const waiting = yield* Effect.forkChild(read.answer)
    yield* quiet
    assert.isUndefined(waiting.pollUnsafe())
    yield* TestClock.adjust("1 second")
    assert.deepStrictEqual(yield* Fiber.join(waiting), Exit.succeed("done"))
    // it comes by itself, with a run of its own
    const own = { ...over, executionId: "run-2" }
    const back = awaiting({ "m-1": [steered, { _tag: "Waiting", before: 0 }, own], "m-2": [over] }, [done])
    const second = yield* Effect.forkChild(back.answer)
    yield* quiet
    yield* TestClock.adjust("1 second")
    assert.deepStrictEqual(yield* Fiber.join(second), Exit.succeed("done"))
    assert.deepStrictEqual(back.polled, ["of run-2"])
  })
)
