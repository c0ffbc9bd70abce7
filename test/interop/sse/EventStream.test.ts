/** Readers of a run over HTTP: they come, leave and come back. */
import { assert, it } from "@effect/vitest"
import { Agent, AgentEvent, Snapshot, Tool } from "@kintsugi/core"
import * as Cursor from "@kintsugi/core/Cursor"
import { ScriptedModel } from "@kintsugi/core/testing"
import * as EventStream from "@kintsugi/interop/EventStream"
import { Cause, Deferred, Effect, Exit, Fiber, Schema, Stream } from "effect"
import { TestClock } from "effect/testing"
import { agentWith, batch, done, scripted } from "../../_support/dialogue.ts"

const decode = Schema.decodeSync(Schema.fromJsonString(AgentEvent.AgentEvent))

/** What `EventSource` makes of a body: each event with the id that it stores, and the comments. */
const parsed = (body: string) =>
  body
    .split("\n\n")
    .filter((block) => block !== "")
    .map((block) => {
      const fields = new Map(
        block.split("\n").map((line) => [line.split(": ", 1)[0] ?? "", line.replace(/^\w*: /, "")])
      )
      const data = fields.get("data")
      return { id: fields.get("id"), event: data === undefined ? undefined : decode(data) }
    })

const dataOf = (event: AgentEvent.AgentEvent) =>
  `data: ${JSON.stringify(Schema.encodeSync(AgentEvent.AgentEvent)(event))}\n\n`

const textOf = ({ body }: { readonly body: Stream.Stream<string> }) => Stream.mkString(body)

/** A run with a tool that waits at a gate; the run is at the gate now. */
const gated = Effect.gen(function* () {
  const gate = yield* Deferred.make<string>()
  const { tool } = scripted("wait", Deferred.await(gate))
  const model = yield* ScriptedModel.make(batch("wait"), done)
  const run = yield* Effect.provide(agentWith(tool).start("go"), model.layer)
  const had = yield* Stream.runCollect(Stream.takeUntil(run.events({}), ({ type }) => type === "tool-start"))
  const runId = had[0]?.runId ?? ""
  return { run, runId, had, release: Deferred.succeed(gate, "seen") }
})

const over = Effect.gen(function* () {
  const model = yield* ScriptedModel.make(ScriptedModel.text("all is well"))
  const run = yield* Effect.provide(Agent.make("poet", {}).start("Write."), model.layer)
  yield* run.outcome
  const events = yield* Stream.runCollect(run.events({}))
  return { run, events, runId: events[0]?.runId ?? "" }
})

it.effect("an unknown run is 404, a cursor of another run and any other text 400, as problems [P1545]", () =>
  Effect.gen(function* () {
    const { run, runId } = yield* over
    const other = Cursor.of({ runId: "run-0", epoch: "e", number: 1 })
    const answers = [
      yield* EventStream.answer(undefined, { runId }),
      yield* EventStream.answer(run, { runId, after: other }),
      yield* EventStream.answer(run, { runId, lastEventId: "7" })
    ]
    assert.deepStrictEqual(
      answers.map(({ status }) => status),
      [404, 400, 400]
    )
    const titles: Array<string> = []
    for (const answer of answers) {
      assert.strictEqual(answer.headers["content-type"], "application/problem+json")
      const { status, title } = JSON.parse(yield* textOf(answer))
      assert.strictEqual(status, answer.status)
      titles.push(title)
    }
    assert.deepStrictEqual(titles, ["No such run", "This is a cursor of another run", "This is no cursor"])
    // an older epoch of this run is answered with the state
    const older = Cursor.of({ runId, epoch: "e", number: 1 })
    const [first] = parsed(yield* textOf(yield* EventStream.answer(run, { runId, lastEventId: older })))
    assert.strictEqual(first?.event?.type, "events-lost")
  })
)

it.effect("a comment comes every 15 seconds, also while nothing happens, and none after the end [P1545]", () =>
  Effect.gen(function* () {
    const { had, release, run, runId } = yield* gated
    const answer = yield* EventStream.answer(run, { runId, lastEventId: had.at(-1)?.cursor })
    assert.strictEqual(answer.status, 200)
    const seen: Array<string> = []
    const reading = yield* Effect.forkChild(
      Stream.runForEach(answer.body, (text) => Effect.sync(() => void seen.push(text))),
      { startImmediately: true }
    )
    yield* TestClock.adjust("14999 millis")
    assert.deepStrictEqual(seen, [])
    yield* TestClock.adjust("1 millis")
    assert.deepStrictEqual(seen, [": at work\n\n"])
    yield* TestClock.adjust("30 seconds")
    assert.strictEqual(seen.length, 3)
    yield* release
    yield* Fiber.join(reading)
    const events = parsed(seen.join("")).flatMap(({ event }) => event?.type ?? [])
    assert.deepStrictEqual([events[0], events.at(-1)], ["tool-end", "run-completed"])
  })
)

it.effect("a suspended run ends without its snapshot, which has the tokens of its deferred calls [P1545 P1521]", () =>
  Effect.gen(function* () {
    const ship = Tool.deferred("ship", {
      description: "Ships.",
      parameters: Schema.Struct({}),
      success: Schema.String,
      start: () => Effect.succeed({ job: 1 }),
      wait: "suspend",
      deadline: "1 hour"
    })
    const model = yield* ScriptedModel.make(batch("ship"))
    const run = yield* Effect.provide(agentWith(ship).start("go"), model.layer)
    const outcome = yield* run.outcome
    assert(outcome._tag === "Suspended")
    const [waiting] = Snapshot.waitingOf(outcome.snapshot)
    assert(waiting?.type === "deferred" && waiting.token !== undefined)
    const runId = outcome.snapshot.runId
    const body = yield* textOf(yield* EventStream.answer(run, { runId }))
    assert.include(body, '"type":"run-suspended"')
    assert.notInclude(body, waiting.token)
    assert.notInclude(body, '"snapshot"')
    // its reader does not come again, until the run is resumed
    const last = body
      .match(/^id: (.*)$/gm)
      ?.at(-1)
      ?.slice(4)
    assert.strictEqual((yield* EventStream.answer(run, { runId, lastEventId: last })).status, 204)
  })
)

it.effect("an answer without what the request says is a defect that names it [P1545]", () =>
  Effect.gen(function* () {
    const { run } = yield* over
    const answer = EventStream.answer as (run: unknown, asked?: unknown) => Effect.Effect<unknown>
    for (const asked of [undefined, null, "run-1"]) {
      const exit = yield* Effect.exit(answer(run, asked))
      assert(Exit.isFailure(exit))
      const says = `TypeError: EventStream.answer must be given what the request says, got ${asked}`
      assert.strictEqual(String(Cause.squash(exit.cause)), says)
    }
  })
)

it.effect(
  "an answer says how it is read, and has each event behind its cursor; after the last one there is nothing [P1545]",
  () =>
    Effect.gen(function* () {
      const { events, run, runId } = yield* over
      const { body, ...all } = yield* EventStream.answer(run, { runId })
      assert.deepStrictEqual(all, {
        status: 200,
        headers: { "content-type": "text/event-stream", "cache-control": "no-cache", "x-accel-buffering": "no" }
      })
      const frames = events.map(({ cursor, ...event }) => `id: ${cursor}\n${dataOf(event)}`)
      assert.strictEqual(yield* Stream.mkString(body), frames.join(""))
      const { body: none, ...nothing } = yield* EventStream.answer(run, { runId, after: events.at(-1)?.cursor })
      assert.deepStrictEqual(nothing, { status: 204, headers: { "cache-control": "no-store" } })
      assert.strictEqual(yield* Stream.mkString(none), "")
      const { body: problem, ...unknown } = yield* EventStream.answer(undefined, {})
      assert.deepStrictEqual(unknown, {
        status: 404,
        headers: { "content-type": "application/problem+json", "cache-control": "no-store" }
      })
      assert.strictEqual(yield* Stream.mkString(problem), '{"type":"about:blank","status":404,"title":"No such run"}')
    })
)

/** A run that is read elsewhere, with what its reader asks for. */
const elsewhere = (isOver: boolean, ...events: ReadonlyArray<AgentEvent.AgentEvent>) => {
  const asked: Array<unknown> = []
  const run = {
    events: (options: object) => {
      asked.push(options)
      return Stream.fromIterable(events)
    },
    isOver: Effect.succeed(isOver)
  }
  return { asked, run }
}

it.effect("the events of a run elsewhere come from there, after `Last-Event-ID` or else `?after=` [P1545]", () =>
  Effect.gen(function* () {
    const event: AgentEvent.AgentEvent = { type: "text-delta", text: "hi", runId: "r", agent: "a", at: 1, turn: 1 }
    const cursor = Cursor.of({ runId: "other", epoch: "e", number: 1 })
    for (const [request, options] of [
      [{}, { onGap: "state" }],
      [{ lastEventId: null, after: "" }, { onGap: "state" }],
      [
        { lastEventId: null, after: cursor },
        { after: cursor, onGap: "state" }
      ],
      [{ lastEventId: "", after: cursor, runId: "" }, undefined],
      [
        { lastEventId: cursor, after: "oops", runId: "other" },
        { after: cursor, onGap: "state" }
      ]
    ] as const) {
      const { asked, run } = elsewhere(true, event)
      const { body, status } = yield* EventStream.answer(run, request)
      assert.deepStrictEqual(asked, options === undefined ? [] : [options])
      assert.strictEqual(status, options === undefined ? 400 : 200)
      // an event without a cursor has no id
      if (options !== undefined) assert.strictEqual(yield* Stream.mkString(body), dataOf(event))
    }
    // only a run that has ended has nothing more
    assert.strictEqual((yield* EventStream.answer(elsewhere(true).run, {})).status, 204)
    assert.strictEqual((yield* EventStream.answer(elsewhere(false).run, {})).status, 200)
  })
)
