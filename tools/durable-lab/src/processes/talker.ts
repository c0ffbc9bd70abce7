/**
 * A runner that serves conversations: `talker.ts database port ledger how`. With `hang` its tool never ends, so that the process can be killed
 * in the middle of it; with `time`, 16 runs are at work at a time, and entities sleep after 10 seconds. It says as JSON on its standard output
 * that it is ready, when its tool is at work, and at SIGUSR2 how much memory it has. It ends at SIGTERM.
 */
import { Conversations } from "@kintsugi/durable"
import { Deferred, Effect, Layer } from "effect"
import { talksIn } from "../talk.ts"
import { engineOn } from "./cluster.ts"

const [database = "", port = "", ledger = "", how = ""] = process.argv.slice(2)

const say = (what: object): void => void process.stdout.write(`${JSON.stringify(what)}\n`)

const atWork = Effect.andThen(
  Effect.sync(() => say({ atWork: true })),
  how === "hang" ? Effect.never : Effect.void
)

process.on("SIGUSR2", () => {
  globalThis.gc?.()
  say({ heap: process.memoryUsage().heapUsed })
})

const options = how === "time" ? { concurrency: 16, maxIdleTime: "10 seconds" as const } : {}

const main = Effect.gen(function* () {
  const ending = yield* Deferred.make<void>()
  process.once("SIGTERM", () => Deferred.doneUnsafe(ending, Effect.void))
  const engine = engineOn(Number(database), Number(port))
  yield* Layer.build(
    talksIn(ledger, atWork, options).layer.pipe(Layer.provide(Conversations.layerSql()), Layer.provideMerge(engine))
  )
  say({ ready: true })
  yield* Deferred.await(ending)
})

await Effect.runPromise(Effect.scoped(main))
process.exit(0)
