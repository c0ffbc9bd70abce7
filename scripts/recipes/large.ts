/** The recipes whose hosts are large, or need a server. `npm test` does not install them: their types are checked here. */
import { spawnSync } from "node:child_process"
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

export const tryLarge = async (report: Report): Promise<void> => {
  for (const [name, attempt] of Object.entries(recipes)) {
    const start = performance.now()
    if (installIn(recipe(name)))
      await attempt(report).catch((error: unknown) => report.check(name, false, String(error)))
    else report.check(`${name}: it is installed`, false)
    console.log(`== ${name}: ${((performance.now() - start) / 1000).toFixed(1)} s`)
  }
  const args = [binary("typescript", "tsc"), "-p", "tsconfig.recipes.json"]
  const { status, stdout } = spawnSync(process.execPath, args, { cwd: root, encoding: "utf8" })
  report.check("the types of large recipes", status === 0, stdout)
}
