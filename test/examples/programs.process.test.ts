/** What is started by `npm run`, as processes of their own. */
import { assert, it } from "@effect/vitest"
import * as Client from "@kintsugi/examples/backend/client"
import { Effect, Stream } from "effect"
import { FetchHttpClient } from "effect/http"
import * as Program from "./_support/program.ts"

/** A process begins slowly where many are at work. */
const patience = 60_000

it.live(
  "backend: at SIGTERM, the process finishes what it has begun, and ends well",
  () =>
    Effect.gen(function* () {
      const backend = yield* Program.start("backend/main.ts", { PORT: "0" })
      const [, url = ""] = yield* backend.said(/Listening on (http:\/\/127\.0\.0\.1:\d+)/)
      const client = yield* Client.make(url)
      assert.deepStrictEqual(yield* client.health(), { status: "ok", model: "stand-in" })
      const seen: Array<string> = []
      yield* Stream.runForEach(yield* client.runs.stream({ payload: { input: "What is order A-17?" } }), ({ data }) => {
        seen.push(data.type)
        return seen.length === 1 ? backend.signal("SIGTERM") : Effect.void
      })
      assert.strictEqual(seen[0], "run-start")
      assert.strictEqual(seen.at(-1), "run-completed")
      const { code, output } = yield* backend.ended
      assert.strictEqual(code, 0, output)
      assert.strictEqual((yield* Effect.flip(client.health()))._tag, "HttpClientError")
    }).pipe(Effect.provide(FetchHttpClient.layer)),
  patience
)

it.live(
  "backend: a key without the name of a model is an error, and nothing listens",
  () =>
    Effect.gen(function* () {
      const backend = yield* Program.start("backend/main.ts", { PORT: "0", OPENAI_API_KEY: "sk-secret-17" })
      const { code, output } = yield* backend.ended
      assert.strictEqual(code, 1)
      assert.match(output, /set MODEL: OPENAI_API_KEY is set/)
      assert.notMatch(output, /Listening|sk-secret-17/)
    }),
  patience
)

it.live(
  "chat: lines that are piped in are answered one after the other, and their end is the end",
  () =>
    Effect.gen(function* () {
      const chat = yield* Program.start("chat/main.ts", {}, "What is order A-17?\nrefund 1200 of order A-17\nBye!")
      const { code, output } = yield* chat.ended
      assert.strictEqual(code, 0, output)
      assert.match(output, /> \n\[findOrder .*a lamp.*\n> \n\[refund .*1200 cents for A-17\n> Try: .*\n> $/s)
    }),
  patience
)
