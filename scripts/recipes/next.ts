/** The recipe of Next: it is built, and started as in production, with a model on the loopback interface. */
import { Effect } from "effect"
import { spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { root } from "../files.ts"
import { judge, post, threeTimes } from "../hostRecipes.ts"
import type { Report } from "../report.ts"
import { recipe } from "../sdk.ts"
import { modelServer } from "./modelServer.ts"

const cwd = join(root, recipe("next"))
const program = join(cwd, "node_modules/next/dist/bin/next")
const telemetry = { NEXT_TELEMETRY_DISABLED: "1" }

const start = async (modelUrl: string) => {
  const child = spawn(process.execPath, [program, "start", "--hostname", "127.0.0.1", "--port", "0"], {
    cwd,
    env: { ...process.env, ...telemetry, OPENAI_API_KEY: "key", OPENAI_BASE_URL: modelUrl },
    stdio: ["ignore", "pipe", "inherit"]
  })
  const last = () => void child.kill("SIGKILL")
  process.once("exit", last)
  const ended = once(child, "close").finally(() => process.off("exit", last))
  const url = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout }).on("line", (line) => {
      const [url] = /http:\/\/127\.0\.0\.1:\d+/.exec(line) ?? []
      if (url !== undefined) resolve(url)
    })
    ended.then(([code]) => reject(new Error(`next start ended with ${code}`)), reject)
  })
  const stop = async () => {
    child.kill()
    await ended
  }
  return { url, stop }
}

const tried = (report: Report) =>
  Effect.gen(function* () {
    const model = yield* modelServer
    const { url } = yield* Effect.acquireRelease(
      Effect.promise(() => start(model.url)),
      ({ stop }) => Effect.promise(stop)
    )
    yield* judge(report, "next", (path) => Effect.timeout(threeTimes(post(`${url}${path}`), model), "30 seconds"))
  })

/** It is built without a key. */
export const tryNext = async (report: Report): Promise<void> => {
  const { OPENAI_API_KEY: _key, ...inherited } = process.env
  const env = { ...inherited, ...telemetry }
  const { status, stderr, stdout } = spawnSync(process.execPath, [program, "build"], { cwd, encoding: "utf8", env })
  report.check("next: it is built", status === 0, `${stdout}${stderr}`)
  if (status === 0) await Effect.runPromise(Effect.scoped(tried(report)))
}
