/** What durable runs cost, on PGlite and on PostgreSQL. */
import { spawnSync } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { root } from "../../../scripts/files.ts"
import { startPostgres } from "./postgres.ts"
import { folder } from "./folder.ts"

/** Milliseconds of a step. */
interface Steps {
  readonly bare: number
  readonly own: number
  readonly ratio: number
}

/** The figures of `processes/bench.ts`, one in each line. */
interface Measured {
  readonly alone?: Steps
  /** With a million alarms in the tables. */
  readonly crowded?: Steps
  readonly perSecond?: number
  readonly bytes?: Readonly<Record<string, number>>
  readonly suspended?: number
  readonly before?: number
  readonly after?: number
  readonly perRun?: number
  readonly disk?: number
}

const measuredOn = (...where: ReadonlyArray<string>): Measured => {
  const args = ["--expose-gc", join(root, folder, "src/processes/bench.ts"), ...where]
  const { status, stdout } = spawnSync(process.execPath, args, {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"]
  })
  if (status !== 0) throw new Error(`the bench ended with ${status}`)
  return Object.assign(
    {},
    ...stdout
      .trimEnd()
      .split("\n")
      .map((line): Measured => JSON.parse(line))
  )
}

const mebi = (bytes = 0): string => `${(bytes / 2 ** 20).toFixed(1)} MiB`

const tellSteps = (steps: Steps | undefined, when: string): void => {
  if (steps === undefined) return
  const [bare, own, ratio] = [steps.bare, steps.own, steps.ratio].map((value) => value.toFixed(2))
  console.log(`  a bare activity ${bare} ms, a step of an agent ${own} ms, ${ratio} times${when}`)
}

const tell = (where: string, measured: Measured): void => {
  const { after, alone, before, bytes = {}, crowded, disk = 0, perRun = 0, perSecond, suspended } = measured
  console.log(`${where}:`)
  tellSteps(alone, "")
  if (perSecond === undefined) return
  console.log(`  ${perSecond.toFixed(1)} runs of one call per second, 50 at once`)
  const sizes = Object.entries(bytes).map(([turn, size]) => `${size} in turn ${turn}`)
  console.log(`  bytes of a turn: ${sizes.join(", ")}`)
  const each = `${perRun.toFixed(0)} bytes each in the process, ${disk.toFixed(0)} in the database`
  console.log(`  heap ${mebi(before)}, with ${suspended} suspended runs ${mebi(after)}: ${each}`)
  tellSteps(crowded, ", with a million alarms in the tables")
}

/** On PostgreSQL only where it is there. */
export const bench = async (postgres: string | undefined): Promise<void> => {
  tell("in memory, time of the processor", measuredOn())
  const temporary = mkdtempSync(join(tmpdir(), "kintsugi-durable-"))
  try {
    tell("PGlite", measuredOn(join(temporary, "database")))
  } finally {
    rmSync(temporary, { recursive: true, force: true })
  }
  if (postgres === undefined) return console.log("PostgreSQL is missing: npm run setup-system installs it where it can")
  const server = await startPostgres(postgres)
  try {
    tell("PostgreSQL, eight connections", measuredOn(`postgres://postgres@127.0.0.1:${server.port}/postgres`))
  } finally {
    await server.stop()
  }
}
