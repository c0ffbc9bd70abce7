/** The recipes whose hosts are large, or need a server. `npm test` does not install them: their types are checked here. */
import { spawnSync } from "node:child_process"
import { join } from "node:path"
import { root } from "../files.ts"
import type { Report } from "../report.ts"
import { installIn, recipe } from "../sdk.ts"
import { binary } from "../tools.ts"
import { tryNext } from "./next.ts"
import { tryPostgres } from "./postgres.ts"
import { tryTelemetry } from "./telemetry.ts"
import { tryWorker } from "./worker.ts"

const recipes: Readonly<Record<string, (report: Report) => Promise<void>>> = {
  opentelemetry: tryTelemetry,
  postgres: tryPostgres,
  worker: tryWorker,
  next: tryNext
}

/** Without its keys a program says in one line what to set, and ends. */
const tryWithoutKeys = (report: Report): void => {
  const { DATABASE_URL: _url, OPENAI_API_KEY: _key, ...inherited } = process.env
  const env = { ...inherited, NEXT_TELEMETRY_DISABLED: "1" }
  const missing = [
    {
      name: "postgres",
      args: ["clerk.ts", "ticket-4", "Refund order 17"],
      says: "set DATABASE_URL and OPENAI_API_KEY"
    },
    { name: "worker", args: ["serve.ts"], says: "set OPENAI_API_KEY" },
    { name: "next", args: ["node_modules/next/dist/bin/next", "start", "--port", "0"], says: "set OPENAI_API_KEY" }
  ]
  for (const { args, name, says } of missing) {
    for (const OPENAI_API_KEY of [undefined, ""]) {
      const { status, stderr } = spawnSync(process.execPath, args, {
        cwd: join(root, recipe(name)),
        encoding: "utf8",
        env: { ...env, ...(OPENAI_API_KEY !== undefined && { OPENAI_API_KEY }) },
        timeout: 60_000
      })
      const how = OPENAI_API_KEY === undefined ? "no key" : "an empty key"
      report.check(`${name}: with ${how} it says so in one line`, status === 1 && stderr === `${says}\n`, stderr)
    }
  }
}

export const tryLarge = async (report: Report): Promise<void> => {
  for (const [name, attempt] of Object.entries(recipes)) {
    const start = performance.now()
    if (installIn(recipe(name)))
      await attempt(report).catch((error: unknown) => report.check(name, false, String(error)))
    else report.check(`${name}: it is installed`, false)
    console.log(`== ${name}: ${((performance.now() - start) / 1000).toFixed(1)} s`)
  }
  tryWithoutKeys(report)
  const args = [binary("typescript", "tsc"), "-p", "tsconfig.recipes.json"]
  const { status, stdout } = spawnSync(process.execPath, args, { cwd: root, encoding: "utf8" })
  report.check("the types of large recipes", status === 0, stdout)
}
