/** How long it takes until the next process goes on with a run, on PGlite and on PostgreSQL. */
import { spawn } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { root } from "../../../scripts/files.ts"
import { folder } from "./folder.ts"
import { startPostgres } from "./postgres.ts"

/** Seconds from the start of a process to the tool of its run. */
const begins = (...args: ReadonlyArray<string>): Promise<number> =>
  new Promise((resolve, reject) => {
    const started = performance.now()
    let seconds: number | undefined
    const child = spawn(process.execPath, [join(root, folder, "src/processes/recovery.ts"), ...args], {
      stdio: ["ignore", "pipe", "inherit"]
    })
    child.stdout.on("data", (said) => {
      if (String(said).includes("begins")) seconds ??= (performance.now() - started) / 1000
    })
    child.once("error", reject)
    child.once("close", (code, signal) => {
      if (seconds === undefined) reject(new Error(`the process ended with ${signal ?? code}`))
      else resolve(seconds)
    })
  })

const times = 7

const measure = async (where: string, database: string): Promise<void> => {
  const all: Array<number> = []
  for (let nth = 0; nth < times; nth++) {
    await begins(database, `run-${nth}`, "dies")
    all.push(await begins(database, `run-${nth}`))
  }
  const sorted = all.toSorted((one, other) => one - other).map((seconds) => seconds.toFixed(1))
  const median = sorted[Math.floor(times / 2)]
  console.log(
    `${where}: ${median} s from the start of the next process to the step that was cut off (${sorted.join(" ")})`
  )
}

/** On PostgreSQL only where it is there. */
export const recovery = async (postgres: string | undefined): Promise<void> => {
  const temporary = mkdtempSync(join(tmpdir(), "kintsugi-durable-"))
  try {
    await measure("PGlite", join(temporary, "database"))
  } finally {
    rmSync(temporary, { recursive: true, force: true })
  }
  if (postgres === undefined) return console.log("PostgreSQL is missing: npm run setup-system installs it where it can")
  const server = await startPostgres(postgres)
  try {
    await measure("PostgreSQL", `postgres://postgres@127.0.0.1:${server.port}/postgres`)
  } finally {
    await server.stop()
  }
}
