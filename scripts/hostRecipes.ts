/**
 * The recipes of hosts that need an installation of their own. Each is started on the loopback interface, with a model that plays a
 * script, and is asked three times in two ways: for an answer, for a failure, and by a client that goes away.
 */
import { Effect, Exit, Fiber } from "effect"
import { once } from "node:events"
import type { Server } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { type Guide, make } from "../packages/examples/recipes/promise/guide.ts"
import { failure, model } from "../test/examples/_support/recipe.ts"
import { root } from "./files.ts"
import type { Report } from "./report.ts"
import { hosts, installIn, recipe } from "./sdk.ts"

interface Recipe {
  readonly start: (guide: Guide, port: number) => Server | Promise<Server>
}

/** One request, whose connection closes when it is interrupted. */
export const post = (url: string): Effect.Effect<Seen> =>
  Effect.promise(async (signal) => {
    const response = await fetch(url, { method: "POST", body: "What?", signal })
    return { status: response.status, type: response.headers.get("content-type"), text: await response.text() }
  })

const started = ({ start }: Recipe, guide: Guide) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const server = await start(guide, 0)
      if (!server.listening) await once(server, "listening")
      return server
    }),
    (server) =>
      Effect.sync(() => {
        server.close()
        server.closeAllConnections()
      })
  )

/** A response. */
export interface Seen {
  readonly status: number
  readonly type: string | null
  readonly text: string
}

/** What two clients of a path get. */
export interface Asked {
  readonly answer: Seen
  readonly refusal: Seen
}

/** Sends a request three times: two are answered, the third client goes away, and its run stops. */
export const threeTimes = (
  sending: Effect.Effect<Seen>,
  { asked, stopped }: { readonly asked: Effect.Effect<void>; readonly stopped: Effect.Effect<void> }
): Effect.Effect<Asked> =>
  Effect.gen(function* () {
    const [answer, refusal] = [yield* sending, yield* sending]
    const client = yield* Effect.forkChild(sending)
    yield* asked
    yield* Fiber.interrupt(client)
    yield* stopped
    return { answer, refusal }
  })

/** The same at a path of a server in this process. */
const asked = (program: Recipe, path: string) =>
  Effect.gen(function* () {
    const played = yield* model
    const guide = yield* Effect.acquireRelease(
      Effect.promise(() => make(played.layer)),
      ({ close }) => Effect.promise(close)
    )
    const server = yield* started(program, guide)
    const { port } = server.address() as AddressInfo
    return yield* threeTimes(post(`http://127.0.0.1:${port}${path}`), played)
  }).pipe(Effect.scoped, Effect.timeout("10 seconds"))

/** Checks the answers of a host at `/ask` and at `/stream`. */
export const judge = <E>(
  report: Report,
  name: string,
  asked: (path: string) => Effect.Effect<Asked, E>
): Effect.Effect<void> =>
  Effect.gen(function* () {
    const whole = yield* Effect.exit(asked("/ask"))
    const answers = Exit.isSuccess(whole) ? whole.value : undefined
    report.check(`${name}: a client that goes away stops its run`, answers !== undefined, String(whole))
    report.check(`${name}: it answers`, answers?.answer.text === '{"answer":"Forty-two."}', answers?.answer.text)
    const problem = { status: answers?.refusal.status, type: answers?.refusal.type?.split(";")[0] }
    const isRight = problem.status === failure.status && problem.type === "application/problem+json"
    report.check(`${name}: a failure has the status of its problem`, isRight, JSON.stringify(answers?.refusal))
    const streamed = yield* Effect.exit(asked("/stream"))
    const chunks = Exit.isSuccess(streamed) ? streamed.value : undefined
    report.check(`${name}: a reader that goes away stops its run`, chunks !== undefined, String(streamed))
    const { text = "", type } = chunks?.answer ?? {}
    const isEvents = type?.startsWith("text/event-stream") === true
    const isWhole = isEvents && text.includes('"text-delta"') && text.endsWith("data: [DONE]\n\n")
    report.check(`${name}: it streams`, isWhole, text)
    const isNamed = chunks?.refusal.text.includes(failure.code) === true
    report.check(`${name}: a stream ends with the code of its failure`, isNamed, chunks?.refusal.text)
  })

const host = (report: Report, name: string) =>
  Effect.gen(function* () {
    if (!installIn(recipe(name))) return report.check(`${name}: it is installed`, false)
    const file = pathToFileURL(join(root, recipe(name), "server.ts"))
    const program: Recipe = yield* Effect.promise(() => import(file.href))
    yield* judge(report, name, (path) => asked(program, path))
  })

export const tryHosts = (report: Report): Promise<void> =>
  Effect.runPromise(Effect.forEach(hosts, (name) => host(report, name), { discard: true }))
