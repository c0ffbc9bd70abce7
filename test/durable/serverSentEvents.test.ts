/** Readers of a durable run over HTTP, from another process than that of the run. */
import { assert, it } from "@effect/vitest"
import type { AgentEvent } from "@kintsugi/core"
import * as Cursor from "@kintsugi/core/Cursor"
import { Durable } from "@kintsugi/durable"
import * as EventStream from "@kintsugi/interop/EventStream"
import { Effect, Fiber, Option, Stream } from "effect"
import { held, options, passing, writer } from "./_support/logs.ts"
import { cluster } from "./_support/cluster.ts"

/** The events of a body, with their ids. */
const parsed = (body: string) =>
  body.split("\n\n").flatMap((block) => {
    const [, id, data] = /^id: (.*)\ndata: (.*)$/.exec(block) ?? []
    if (data === undefined) return []
    const event: AgentEvent.AgentEvent = JSON.parse(data)
    return [{ ...event, cursor: id ?? "" }]
  })

it.effect("a reader of a durable run comes back with `Last-Event-ID`, and after the end there is nothing [P1545]", () =>
  Effect.gen(function* () {
    const model = held(["fir"], "st")
    const durable = Durable.workflow(writer(model.layer), { name: "writer", ...options })
    const join = yield* cluster
    yield* join(durable.layer)
    const { context } = yield* join(durable.layer)
    yield* passing(4)
    const within = Effect.provideContext(context)
    const id = yield* within(Durable.start(durable, { id: "one", input: "go" }))
    yield* passing(8)
    const run = {
      events: (asked: { readonly after?: string; readonly onGap: "state" }) => Durable.events(durable, id, asked),
      isOver: Effect.map(
        Durable.poll(durable, id),
        Option.exists(({ _tag }) => _tag === "Complete")
      )
    }
    const answer = (asked: Parameters<typeof EventStream.answer>[1]) =>
      Effect.gen(function* () {
        const answering = yield* Effect.forkChild(within(EventStream.answer(run, asked)))
        yield* passing(4)
        const { body, status } = yield* Fiber.join(answering)
        const texts: Array<string> = []
        const reading = yield* Effect.forkChild(
          within(Stream.runForEach(body, (text) => Effect.sync(() => void texts.push(text))))
        )
        yield* passing(4)
        return { status, reading, events: () => parsed(texts.join("")) }
      })
    const first = yield* answer({})
    assert.strictEqual(first.status, 200)
    assert.strictEqual(first.events().at(-1)?.type, "text-delta")
    // one leaves while the model writes, and two come back
    yield* Fiber.interrupt(first.reading)
    const last = first.events().at(-1)?.cursor
    const back = yield* Effect.all([answer({ lastEventId: last }), answer({ lastEventId: last, after: "" })])
    yield* model.end
    yield* passing(60)
    const all = yield* answer({})
    const cursors = all.events().map(({ cursor }) => cursor)
    for (const one of back) {
      assert.deepStrictEqual([...first.events(), ...one.events()], all.events())
      yield* Fiber.join(one.reading)
    }
    for (const [index, cursor] of cursors.entries()) {
      const one = yield* answer({ lastEventId: cursor })
      assert.strictEqual(one.status, index === cursors.length - 1 ? 204 : 200)
      assert.deepStrictEqual(
        one.events().map((event) => event.cursor),
        cursors.slice(index + 1)
      )
    }
    // a cursor that the log does not have: all comes once more, behind the conversation of the beginning
    const runId = all.events()[0]?.runId ?? ""
    for (const position of [
      { runId, epoch: "7", number: 3 },
      { runId, epoch: "1", number: 99 },
      { runId: "other", epoch: "1", number: 1 }
    ]) {
      const [lost, ...rest] = (yield* answer({ lastEventId: Cursor.of(position) })).events()
      assert.deepStrictEqual(lost?.type === "events-lost" && lost.transcript.map(({ role }) => role), ["user"])
      assert.deepStrictEqual(rest, all.events())
      assert.deepStrictEqual((yield* answer({ lastEventId: lost?.cursor })).events(), all.events())
    }
    assert.strictEqual((yield* answer({ lastEventId: "7" })).status, 400)
    assert.strictEqual((yield* answer({ runId: "other", lastEventId: last })).status, 400)
  })
)
