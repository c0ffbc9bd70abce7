/** Readers of the backend that leave and come back, over real connections: each step waits for the one before, not for time. */
import { assert, it } from "@effect/vitest"
import type { AgentEvent } from "@kintsugi/core"
import * as Cursor from "@kintsugi/core/Cursor"
import { ScriptedModel } from "@kintsugi/core/testing"
import * as AgentProxy from "@kintsugi/interop/AgentProxy"
import { Deferred, Effect, Fiber, Schema } from "effect"
import { get } from "node:http"
import { modelOf, orders, raw, serving, shopOf } from "./_support/backendServer.ts"

const { call, calls, make, text } = ScriptedModel

const decode = Schema.decodeSync(Schema.fromJsonString(AgentProxy.ProxyEvent))

const looking = calls(call("findOrder", { orderId: "A-17" }))

/** A shop that answers when the gate opens, and says when it is asked. */
const gated = Effect.gen(function* () {
  const [asked, gate] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
  const shop = shopOf(() =>
    Effect.as(Effect.andThen(Deferred.succeed(asked, undefined), Deferred.await(gate)), orders[0]!)
  )
  return { shop, asked: Deferred.await(asked), answers: Deferred.succeed(gate, undefined) }
})

/** What `EventSource` reads: it stores the id of each event, and sends the last one when it comes back. */
const read = (body: string) =>
  body.split("\n\n").flatMap((block) => {
    const found = /^id: (.*)\n(?:event: .*\n)?data: (.*)$/.exec(block)
    return found === null ? [] : [{ id: found[1] ?? "", event: decode(found[2] ?? "") }]
  })

const sent = (url: string, path: string, lastEventId?: string) =>
  raw(url, path, { headers: lastEventId === undefined ? {} : { "last-event-id": lastEventId } })

const types = (events: ReturnType<typeof read>) => events.map(({ event }) => event.type)

/** Starts a run that goes on without its reader. */
const started = (client: Effect.Success<ReturnType<typeof serving>>["client"]) =>
  client.runs.stream({ payload: { input: "What is order A-17?", run: "one" } })

/** A reader that breaks off its connection behind the first event of a type. `fetch` would open another connection then, and keep it. */
const leaving = (url: string, path: string, type: AgentEvent.AgentEvent["type"]) =>
  Effect.callback<ReturnType<typeof read>>((resume) => {
    let body = ""
    const request = get(`${url}${path}`, { agent: false }, (response) => {
      response.setEncoding("utf8")
      response.on("data", (some: string) => {
        body += some
        const all = read(body)
        const index = all.findIndex(({ event }) => event.type === type)
        if (index < 0) return
        request.destroy()
        resume(Effect.succeed(all.slice(0, index + 1)))
      })
    })
  })

it.effect(
  "backend: a reader that comes back reads on, two at once each by itself, and then gets 204 [P1544-P1546]",
  () =>
    Effect.gen(function* () {
      const { answers, asked, shop } = yield* gated
      const { client, nextEnd, url } = yield* serving((yield* make(looking, text("A lamp."))).layer, shop)
      yield* started(client)
      const path = "/runs/one/events"
      const had = yield* leaving(url, path, "tool-start")
      const last = had.at(-1)?.id ?? ""
      yield* asked
      const readers = yield* Effect.forEach([sent(url, path, last), sent(url, `${path}?after=${last}`)], (one) =>
        Effect.forkChild(one, { startImmediately: true })
      )
      yield* answers
      assert.strictEqual((yield* nextEnd).type, "run-completed")
      const all = read((yield* sent(url, path)).text)
      assert.deepStrictEqual(types(all).slice(-1), ["run-completed"])
      for (const reader of readers) {
        const { headers, text } = yield* Fiber.join(reader)
        assert.match(headers.get("content-type") ?? "", /^text\/event-stream/)
        assert.deepStrictEqual(read(text), all.slice(had.length))
      }
      const after = yield* sent(url, path, all.at(-1)?.id)
      assert.deepStrictEqual([after.status, after.text], [204, ""])
    })
)

it.effect("backend: an unknown run and a cursor of another run are 404 [P1850]", () =>
  Effect.gen(function* () {
    const { client, nextEnd, url } = yield* serving((yield* make(text("A lamp."))).layer)
    yield* started(client)
    yield* nextEnd
    const other = Cursor.of({ runId: "run-0", epoch: "e", number: 1 })
    const path = "/runs/one/events"
    const statuses = yield* Effect.forEach(
      [sent(url, "/runs/run-0/events"), sent(url, path, other), sent(url, `${path}?after=7`), sent(url, path)],
      (one) => Effect.map(one, ({ headers, status }) => [status, headers.get("content-type")])
    )
    assert.deepStrictEqual(statuses, [
      [404, "application/problem+json"],
      [404, "application/problem+json"],
      [422, "application/problem+json"],
      [200, "text/event-stream"]
    ])
    assert.strictEqual((yield* raw(url, path, { method: "PUT" })).status, 405)
  })
)

it.effect("backend: a stop is a request of its own, and reaches the run wherever its readers are [P1544]", () =>
  Effect.gen(function* () {
    const stopped = yield* Deferred.make<void>()
    const waiting = Effect.onInterrupt(Effect.never, () => Deferred.succeed(stopped, undefined))
    const { client, nextEnd, url } = yield* serving(modelOf(() => waiting))
    yield* started(client)
    yield* leaving(url, "/runs/one/events", "model-start")
    assert.isFalse(yield* Deferred.isDone(stopped))
    yield* client.runs.stop({ params: { run: "one" } })
    assert.strictEqual((yield* nextEnd).type, "run-interrupted")
    yield* Deferred.await(stopped)
    const failure = yield* Effect.flip(client.runs.stop({ params: { run: "run-0" } }))
    assert.strictEqual(failure._tag, "RunNotFoundError")
    assert.deepStrictEqual(types(read((yield* sent(url, "/runs/one/events")).text)).slice(-1), ["run-interrupted"])
  })
)

it.effect("backend: a chat goes on without its reader, who reads its message from the beginning [P1544]", () =>
  Effect.gen(function* () {
    const { answers, asked, shop } = yield* gated
    const { nextEnd, url } = yield* serving((yield* make(looking, text("A lamp."))).layer, shop)
    const messages = [{ role: "user", parts: [{ type: "text", text: "What is order A-17?" }] }]
    const chunks = (body: string) => body.split("\n\n").map((line) => /"type":"([^"]*)"/.exec(line)?.[1])
    assert.strictEqual((yield* sent(url, "/chat/one/stream")).status, 204)
    const stop = new AbortController()
    const first = yield* Effect.promise(() =>
      fetch(`${url}/chat`, {
        method: "POST",
        body: JSON.stringify({ id: "one", messages }),
        headers: { "content-type": "application/json" },
        signal: stop.signal
      })
    )
    assert.strictEqual(first.status, 200)
    yield* asked
    stop.abort()
    // its head comes with the beginning of the message, while the run is at work
    const back = yield* Effect.promise(() => fetch(`${url}/chat/one/stream`))
    yield* answers
    assert.strictEqual((yield* nextEnd).type, "run-completed")
    const types = chunks(yield* Effect.promise(() => back.text()))
    assert.deepStrictEqual([types[0], types.filter((type) => type === "text-delta").length > 0], ["start", true])
    assert.strictEqual((yield* sent(url, "/chat/one/stream")).status, 204)
  })
)
