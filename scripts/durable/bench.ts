/** What durable runs cost, on PGlite and on PostgreSQL. */
import { spawnSync } from "node:child_process"
import { join } from "node:path"
import { root } from "../files.ts"
import { startPostgres } from "../system/postgres.ts"
import { folder, startDatabase } from "./database.ts"

/** What `test/durable/bench.ts` tells, one thing a line. */
interface Told {
  readonly bare?: number
  readonly own?: number
  readonly ratio?: number
  readonly perSecond?: number
  readonly bytes?: Readonly<Record<string, number>>
  readonly suspended?: number
  readonly before?: number
  readonly after?: number
  readonly perRun?: number
}

const toldOn = (...where: ReadonlyArray<number | string>): Told => {
  const args = ["--expose-gc", join(root, folder, "bench.ts"), ...where.map(String)]
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
      .map((line): Told => JSON.parse(line))
  )
}

const mebi = (bytes = 0): string => `${(bytes / 2 ** 20).toFixed(1)} MiB`

const tell = (where: string, told: Told): void => {
  const { after, bare = 0, before, bytes = {}, own = 0, perRun = 0, perSecond = 0, ratio = 0, suspended } = told
  console.log(`${where}:`)
  console.log(
    `  a bare activity ${bare.toFixed(2)} ms, a step of an agent ${own.toFixed(2)} ms, ${ratio.toFixed(2)} times`
  )
  console.log(`  ${perSecond.toFixed(1)} runs of one call per second, 50 at once`)
  const sizes = Object.entries(bytes).map(([turn, size]) => `${size} in turn ${turn}`)
  console.log(`  bytes of a turn: ${sizes.join(", ")}`)
  console.log(
    `  heap ${mebi(before)}, with ${suspended} suspended runs ${mebi(after)}: ${perRun.toFixed(0)} bytes each`
  )
}

/** On PostgreSQL only where it is there. */
export const bench = async (postgres: string | undefined): Promise<void> => {
  tell("in memory, nothing stored", toldOn())
  const embedded = await startDatabase()
  try {
    tell("PGlite, one connection", toldOn(embedded.port, 1))
  } finally {
    embedded.stop()
  }
  if (postgres === undefined) return console.log("PostgreSQL is missing: npm run setup-system installs it where it can")
  const server = await startPostgres(postgres)
  try {
    tell("PostgreSQL, eight connections", toldOn(server.port, 8))
  } finally {
    await server.stop()
  }
}
