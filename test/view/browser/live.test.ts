/** What a page that shows a run at work makes of what its server sends. */
import { assert, describe, it } from "@effect/vitest"
import { AgentEvent } from "@kintsugi/core"
import { Recording } from "@kintsugi/view"
import { Effect, Layer, Schema, Stream } from "effect"
import { HttpApi, HttpApiBuilder, HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { HttpRouter, HttpServer } from "effect/http"
import { hear, Listening } from "../../../packages/view/src/browser/live.ts"
import { written } from "../_support/references.ts"

const event = { runId: "r", agent: "a", turn: 0, at: 5, type: "run-start", input: "", transcript: [] }

const listening = () => new Listening(Recording.start())

describe("a page of a run at work [P1219]", () => {
  it("misses no end while more may come, and shows when nothing more comes [P1219]", () => {
    const heard = listening()
    heard.take("run-start", JSON.stringify(event))
    heard.take("later", JSON.stringify({ ...event, type: "later" }))
    assert.deepStrictEqual(
      heard.recording().problems.map(({ kind }) => kind),
      ["unknown"]
    )
    heard.isConnected = false
    assert.deepStrictEqual(
      heard.recording().problems.map(({ kind }) => kind),
      ["unknown", "end"]
    )
    assert.strictEqual(heard.recording().events.length, 2)
  })

  it.each([
    [
      "effect/http-api/stream/failure",
      '[{"_tag":"Fail","error":{"code":"KINTSUGI-E1","detail":"It is busy."}}]',
      "The run has failed: KINTSUGI-E1: It is busy."
    ],
    [
      "effect/http-api/stream/failure",
      '[{"_tag":"Fail","error":{"_tag":"NoRoom","message":"full"}},{"_tag":"Interrupt"}]',
      "The run has failed: NoRoom: full; it was interrupted"
    ],
    ["effect/http-api/stream/failure", '[{"_tag":"Die","defect":"what"}]', "The run has failed: what"],
    ["effect/http-api/stream/failure", "no JSON", "The run has failed: no JSON"],
    ["effect/http-api/stream/failure", "[]", "The run has failed: []"],
    ["oops", "the disk\nis full", "The server says: oops: the disk is full"],
    ["message", "<b>", "The server says: <b>"]
  ])("shows other texts of the server, and takes them for no events: %s %s [P1219]", (name, data, says) => {
    const heard = listening()
    heard.take(name, data)
    assert.strictEqual(heard.said, says)
    heard.take("run-start", JSON.stringify(event))
    assert.strictEqual(heard.said, says)
    assert.deepStrictEqual(heard.recording(), { events: [event], problems: [] })
  })

  const Api = HttpApi.make("api").add(
    HttpApiGroup.make("runs").add(
      HttpApiEndpoint.get("watch", "/events", {
        success: HttpApiSchema.StreamSse({
          data: AgentEvent.AgentEvent,
          error: Schema.Struct({ code: Schema.String, message: Schema.String })
        })
      })
    )
  )

  it.effect("takes the events of a stream of Effect, and why it failed [P1219]", () =>
    Effect.gen(function* () {
      const { events } = written("mended")
      const some = yield* Effect.forEach(events.slice(0, 9), (event) =>
        Schema.decodeUnknownEffect(AgentEvent.AgentEvent)(event)
      )
      const runs = HttpApiBuilder.group(Api, "runs", (handlers) =>
        handlers.handle("watch", () =>
          Effect.succeed(
            Stream.concat(Stream.fromIterable(some), Stream.fail({ code: "KINTSUGI-M3", message: "It is too busy." }))
          )
        )
      )
      const { handler } = yield* Effect.acquireRelease(
        Effect.sync(() =>
          HttpRouter.toWebHandler(HttpApiBuilder.layer(Api).pipe(Layer.provide([runs, HttpServer.layerServices])), {
            disableLogger: true
          })
        ),
        ({ dispose }) => Effect.promise(dispose)
      )
      const heard = listening()
      yield* Effect.promise(async () =>
        hear(await handler(new Request("http://localhost/events")), (name, data) => heard.take(name, data))
      )
      assert.deepStrictEqual(heard.recording(), { events: events.slice(0, 9), problems: [] })
      assert.strictEqual(heard.said, "The run has failed: KINTSUGI-M3: It is too busy.")
    })
  )

  const pieces = (...texts: ReadonlyArray<string>) =>
    new Response(
      new ReadableStream<Uint8Array>({
        start: (controller) => {
          for (const text of texts) controller.enqueue(new TextEncoder().encode(text))
          controller.close()
        }
      })
    )

  it("reads each block of the stream, wherever it is cut, also the last one [P1219]", async () => {
    const text =
      "event: a\ndata: x\ndata:y\n\n: none\n\ndata: z data: \r\n\r\nid: 3\revent: b\rdata:  w\r\rdata: the end"
    const expected: ReadonlyArray<readonly [string, string]> = [
      ["a", "x\ny"],
      ["message", "z data: "],
      ["b", " w"],
      ["message", "the end"]
    ]
    for (const response of [pieces(text), pieces(...text), pieces(text.slice(0, 40), text.slice(40))]) {
      const heard: Array<readonly [string, string]> = []
      await hear(response, (name, data) => heard.push([name, data]))
      assert.deepStrictEqual(heard, [...expected])
    }
  })

  it("takes an answer without a body for a refusal [P1219]", async () => {
    const said = await hear(new Response(null), () => {}).then(() => "heard", String)
    assert.strictEqual(said, "Error: The server answers 200")
  })

  it("shows the text of a refusal [P1219]", async () => {
    const response = new Response('{"code":"KINTSUGI-M3","detail":"It is too busy."}', { status: 503 })
    const said = await hear(response, () => {}).then(() => "heard", String)
    assert.strictEqual(said, "Error: The server answers 503, KINTSUGI-M3: It is too busy.")
    const bare = await hear(new Response("", { status: 502 }), () => {}).then(() => "heard", String)
    assert.strictEqual(bare, "Error: The server answers 502")
  })
})
