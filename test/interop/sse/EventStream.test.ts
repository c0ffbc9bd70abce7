/** Readers of a run over HTTP: they come, leave and come back. */
import { assert, it } from "@effect/vitest"
import { Agent, AgentEvent, Message, Snapshot, Tool } from "@kintsugi/core"
import * as Cursor from "@kintsugi/core/Cursor"
import { ScriptedModel } from "@kintsugi/core/testing"
import * as EventStream from "@kintsugi/interop/EventStream"
import { Cause, Deferred, Effect, Exit, Fiber, Schema, Stream } from "effect"
import { TestClock } from "effect/testing"
import { agentWith, batch, calm, done, scripted } from "../../_support/dialogue.ts"

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

it.effect("each event has its cursor as id, and comes as it was [P1545]", () =>
  Effect.gen(function* () {
    const { events, run, runId } = yield* over
    const { headers, status, ...rest } = yield* EventStream.answer(run, { runId })
    assert.deepStrictEqual([status, headers["content-type"]], [200, "text/event-stream"])
    const all = parsed(yield* textOf(rest))
    assert.deepStrictEqual(
      all.map(({ id }) => id),
      events.map(({ cursor }) => cursor)
    )
    assert.deepStrictEqual(
      all.map(({ event }) => event),
      events.map(({ cursor, ...event }) => (cursor === undefined ? undefined : event))
    )
  })
)

it.effect("`Last-Event-ID` is read, and wins over `?after=`; after the last event there is nothing [P1545]", () =>
  Effect.gen(function* () {
    const { events, run, runId } = yield* over
    for (const [index, { cursor }] of events.entries()) {
      const rest = events.slice(index + 1).map(({ cursor }) => cursor)
      for (const asked of [{ after: cursor }, { lastEventId: cursor, after: events[0]?.cursor }]) {
        const answer = yield* EventStream.answer(run, { runId, ...asked })
        assert.deepStrictEqual(
          parsed(yield* textOf(answer)).map(({ id }) => id),
          rest
        )
        assert.strictEqual(answer.status, rest.length === 0 ? 204 : 200)
      }
    }
    // a reader that has nothing yet reads all of a run that is over
    for (const asked of [
      { lastEventId: null, after: null },
      { lastEventId: "", after: "" }
    ]) {
      const answer = yield* EventStream.answer(run, { runId, ...asked })
      assert.strictEqual(parsed(yield* textOf(answer)).length, events.length)
    }
  })
)

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

it.effect("two reconnections at once get each event once, and one that leaves stops nothing [P1544 P1545 P1546]", () =>
  Effect.gen(function* () {
    const { had, release, run, runId } = yield* gated
    const asked = { runId, lastEventId: had.at(-1)?.cursor }
    const [leaving, ...staying] = yield* Effect.forEach([1, 2, 3], () =>
      Effect.forkChild(Effect.flatMap(EventStream.answer(run, asked), textOf), { startImmediately: true })
    )
    yield* calm
    yield* Fiber.interrupt(leaving!)
    yield* release
    assert.strictEqual((yield* run.outcome)._tag, "Completed")
    const all = yield* Stream.runCollect(run.events({}))
    for (const reader of staying) {
      assert.deepStrictEqual(
        parsed(yield* Fiber.join(reader)).map(({ id }) => id),
        all.slice(had.length).map(({ cursor }) => cursor)
      )
    }
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

it.effect("no frame has the bytes of a picture, those of a failed run and of an input included [P1538]", () =>
  Effect.gen(function* () {
    const png = "MARKERmarkerMARKERmarker"
    const image = Message.image("image/png", { data: png })
    const { tool } = scripted("shot", Effect.succeed("seen"))
    const shot = tool.pipe(Tool.parts(() => [image]))
    const agent = Agent.make("seer", { input: Message.UserContent, tools: [shot], budget: { maxTurns: 1 } })
    const model = yield* ScriptedModel.make(batch("shot"))
    const run = yield* Effect.provide(agent.start([image]), model.layer)
    const error = yield* Effect.flip(run.outcome)
    assert.include(JSON.stringify(error), png)
    const text = yield* textOf(yield* EventStream.answer(run, { runId: "any" }))
    assert.include(text, "run-failed")
    assert.include(text, "[image, image/png, 18 bytes, not shown]")
    assert.notInclude(text, png)
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

it.effect("an answer says how it is read, and that of nothing that nothing more comes [P1545]", () =>
  Effect.gen(function* () {
    const { events, run, runId } = yield* over
    const { body, ...all } = yield* EventStream.answer(run, { runId })
    assert.deepStrictEqual(all, {
      status: 200,
      headers: { "content-type": "text/event-stream", "cache-control": "no-cache", "x-accel-buffering": "no" }
    })
    const [first] = yield* Stream.runCollect(Stream.take(body, 1))
    const { cursor, ...event } = events[0]!
    assert.strictEqual(
      first,
      `id: ${cursor}\ndata: ${JSON.stringify(Schema.encodeSync(AgentEvent.AgentEvent)(event))}\n\n`
    )
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

it.effect("of a run that is read elsewhere, the events come from there, after the cursor of any run [P1545]", () =>
  Effect.gen(function* () {
    const event: AgentEvent.AgentEvent = { type: "text-delta", text: "hi", runId: "r", agent: "a", at: 1, turn: 1 }
    const cursor = Cursor.of({ runId: "other", epoch: "e", number: 1 })
    for (const [request, options] of [
      [{}, { onGap: "state" }],
      [{ after: cursor }, { after: cursor, onGap: "state" }],
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
      if (options !== undefined)
        assert.strictEqual(
          yield* Stream.mkString(body),
          `data: ${JSON.stringify(Schema.encodeSync(AgentEvent.AgentEvent)(event))}\n\n`
        )
    }
    // only a run that has ended has nothing more
    assert.strictEqual((yield* EventStream.answer(elsewhere(true).run, {})).status, 204)
    assert.strictEqual((yield* EventStream.answer(elsewhere(false).run, {})).status, 200)
  })
)
