/** The recipe of PostgreSQL: its process is killed in the middle of a tool, and the next process goes on. */
import { Message } from "@kintsugi/core"
import { AnyWire, LoopbackServer } from "@kintsugi/providers/testing"
import { Deferred, Effect } from "effect"
import { spawn } from "node:child_process"
import { join } from "node:path"
import { text } from "node:stream/consumers"
import { postgres, startPostgres } from "../../tools/durable-lab/src/postgres.ts"
import { root } from "../files.ts"
import { provide } from "../provide.ts"
import type { Report } from "../report.ts"
import { recipe } from "../sdk.ts"

const program = join(root, recipe("postgres"), "clerk.ts")

/** What a process says, and how it ends; it is killed if it is interrupted. */
const played = (env: Readonly<Record<string, string>>) =>
  Effect.callback<{ readonly code: number | null; readonly said: string }>((resume) => {
    const child = spawn(process.execPath, [program, "ticket-4", "Refund order 17"], {
      env: { ...process.env, ...env },
      stdio: ["ignore", "pipe", "inherit"]
    })
    const said = text(child.stdout)
    const closed = new Promise<number | null>((resolve) => child.once("close", resolve))
    void Promise.all([closed, said]).then(([code, said]) => resume(Effect.succeed({ code, said })))
    return Effect.promise(() => {
      child.kill("SIGKILL")
      return closed
    })
  })

/** A model that has the order paid back, and then says so. */
const modelServer = LoopbackServer.make(
  AnyWire.handler(({ messages }) =>
    Effect.succeed({
      content:
        messages.at(-1)?.role === "tool"
          ? [Message.text("It is done.")]
          : [{ type: "tool-call", id: "call_1", name: "refund", arguments: '{"order":17}' }]
    })
  )
)

const tried = (report: Report, server: string) =>
  Effect.gen(function* () {
    const { port } = yield* Effect.acquireRelease(
      Effect.promise(() => startPostgres(server)),
      ({ stop }) => Effect.promise(stop)
    )
    const model = yield* modelServer
    const paid = yield* Deferred.make<void>()
    // the refund is made, and its answer never comes
    const bank = yield* LoopbackServer.make(({ method }) =>
      method === "PUT"
        ? Effect.andThen(Deferred.succeed(paid, undefined), Effect.never)
        : Effect.succeed({ body: "refunded" })
    )
    const env = {
      DATABASE_URL: `postgres://postgres@127.0.0.1:${port}/postgres`,
      BANK_URL: bank.url,
      OPENAI_API_KEY: "key",
      OPENAI_BASE_URL: `${model.url}/v1`
    }
    yield* Effect.raceFirst(played(env), Deferred.await(paid))
    report.check("postgres: the process is killed in the middle of a tool", yield* Deferred.isDone(paid))
    const { code, said } = yield* played(env)
    report.check("postgres: the next process answers", code === 0 && said === "It is done.\n", `${code} ${said}`)
    const asked = (yield* bank.requests).map(({ method, path }) => `${method} ${path}`)
    const key = asked[0]?.slice("PUT ".length)
    const isOnce = asked.length === 2 && asked[1] === `GET ${key}`
    report.check("postgres: the refund is made once, and looked up by its key", isOnce, asked.join("\n"))
    report.check("postgres: no model call is repeated", (yield* model.requests).length === 2)
  }).pipe(Effect.scoped, Effect.timeout("60 seconds"))

/** A skip where no server can be installed. */
export const tryPostgres = async (report: Report): Promise<void> => {
  const server = provide(postgres, true)
  if ("why" in server) report.skip("postgres", `${postgres.name} is missing: ${server.why}`)
  else await Effect.runPromise(tried(report, server.path))
}
