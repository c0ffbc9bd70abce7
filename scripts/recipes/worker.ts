/** The recipe of a Cloudflare worker: Miniflare runs it, with a model on the loopback interface. */
import { Effect, Queue } from "effect"
import { request } from "node:http"
import { join } from "node:path"
import { text } from "node:stream/consumers"
import { pathToFileURL } from "node:url"
import { root } from "../files.ts"
import { judge, type Seen, threeTimes } from "../hostRecipes.ts"
import type { Report } from "../report.ts"
import { recipe } from "../sdk.ts"
import { modelServer } from "./modelServer.ts"

interface Recipe {
  readonly start: (
    env: { readonly OPENAI_API_KEY: string; readonly OPENAI_BASE_URL: string },
    port: number,
    log: (text: string) => void
  ) => Promise<{ readonly url: string; readonly stop: () => Promise<void> }>
}

/** A request whose connection breaks when it is interrupted. That a connection is closed, workerd finds only when it writes. */
const post = (url: string) =>
  Effect.callback<Seen>((resume) => {
    const die = (error: unknown) => resume(Effect.die(error))
    const sending = request(url, { method: "POST", agent: false }, (response) => {
      const { headers, statusCode: status = 0 } = response
      const read = (text: string) => resume(Effect.succeed({ status, type: headers["content-type"] ?? null, text }))
      text(response).then(read, die)
    })
    sending.on("error", die).end("What?")
    return Effect.sync(() => sending.socket?.resetAndDestroy())
  })

/** Its requests, and its log. */
export const tryWorker = (report: Report): Promise<void> =>
  Effect.gen(function* () {
    const { start }: Recipe = yield* Effect.promise(
      () => import(pathToFileURL(join(root, recipe("worker"), "serve.ts")).href)
    )
    const model = yield* modelServer
    const ends = yield* Queue.unbounded<string>()
    const log = (text: string) => {
      for (const [end] of text.matchAll(/run-\w+/g)) Queue.offerUnsafe(ends, end)
    }
    const { url } = yield* Effect.acquireRelease(
      Effect.promise(() => start({ OPENAI_API_KEY: "key", OPENAI_BASE_URL: model.url }, 0, log)),
      ({ stop }) => Effect.promise(stop)
    )
    yield* judge(report, "worker", (path) => Effect.timeout(threeTimes(post(`${url}${path}`), model), "30 seconds"))
    const logged = yield* Queue.takeN(ends, 6).pipe(Effect.timeoutOption("30 seconds"))
    const wanted = ["run-completed", "run-failed", "run-interrupted"]
    const isWhole = logged._tag === "Some" && `${logged.value}` === `${[...wanted, ...wanted]}`
    report.check("worker: its log has the end of each run", isWhole, JSON.stringify(logged))
  }).pipe(Effect.scoped, Effect.runPromise)
