/**
 * Chaos: the example backend on three processes with one PostgreSQL, under faults that are drawn from a seed.
 *
 *   npm run chaos -- 60
 *   npm run chaos -- 2 --seed=7
 *
 * `--help` lists the options. Exits with code 1 when an invariant is broken, with the seed and what broke.
 */
import { availableParallelism } from "node:os"
import { Effect } from "effect"
import { main } from "../../../scripts/commandLine.ts"
import { postgres } from "../../durable-lab/src/postgres.ts"
import { folder, play } from "./play.ts"
import { faultsOf, rowsOf } from "./report.ts"
import { parse, type Settings } from "./settings.ts"

const say = (line: string) => process.stdout.write(`${line}\n`)

const chaos = (settings: Settings) =>
  Effect.gen(function* () {
    const server = postgres.find()
    if (server === undefined) {
      say("PostgreSQL is not installed: npm run setup-system")
      return 1
    }
    const { minutes, rate, seed } = settings
    say(
      `${minutes} minutes, ${rate} runs per second, seed ${seed}; Node ${process.version}, ${availableParallelism()} cores`
    )
    const played = yield* play(server, settings, say)
    for (const [name, value] of rowsOf(played)) say(`${name.padEnd(56)} ${value}`)
    const faults = faultsOf(played)
    for (const fault of faults) say(`BROKEN  ${fault}`)
    say(
      faults.length === 0 ? "every invariant holds" : `seed ${seed}: ${faults.length} faults; the logs are in ${folder}`
    )
    return faults.length === 0 ? 0 : 1
  })

/** Ends with a signal: the processes are stopped before this one ends. */
const signalled = Effect.callback<number>((resume) => {
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => resume(Effect.succeed(130)))
})

await main(parse, (settings) => Effect.raceFirst(chaos(settings), signalled))
