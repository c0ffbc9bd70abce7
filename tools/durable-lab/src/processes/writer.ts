/**
 * A process that appends to a conversation: `writer.ts url name count`. Each append has two messages. It waits for a line, so that several
 * begin together, and says as JSON how often it was too late.
 */
import { once } from "node:events"
import { Message } from "@kintsugi/core"
import { Conversations, Durable } from "@kintsugi/durable"
import { Effect, Layer, Redacted } from "effect"

const [url = "", name = "", count = ""] = process.argv.slice(2)

const of = { conversation: "shared", subject: "ann" }

const write = Effect.gen(function* () {
  const store = yield* Conversations.Conversations
  process.stdout.write(`${JSON.stringify({ ready: true })}\n`)
  yield* Effect.promise(() => once(process.stdin, "data"))
  let expected = 0
  let late = 0
  for (let nth = 0; nth < Number(count);) {
    const messages = [Message.user(`${name}:${nth}`), Message.user(`${name}:${nth}b`)]
    yield* store.append({ ...of, expected, messages }).pipe(
      Effect.match({
        onSuccess: (version) => {
          expected = version
          nth++
        },
        onFailure: (error) => {
          if (error._tag !== "ConflictError") throw error
          expected = error.actual
          late++
        }
      })
    )
  }
  process.stdout.write(`${JSON.stringify({ late })}\n`)
  process.stdin.destroy()
})

const database = Durable.layerPostgres({ url: Redacted.make(url), runner: "client" })
await Effect.runPromise(Effect.provide(write, Layer.provide(Conversations.layerSql(), database)))
