/**
 * Load on the example backend, as in production, beside a bare server and the AI SDK: a server, a model with faults, clients that read
 * server-sent events, and a generator of runs are four processes on the loopback interface.
 *
 *   npm run load
 *   npm run load -- --minutes=0.3 --clients=50 --subject=kintsugi
 *
 * `--help` lists the options. Exits with code 1 when a run is lost or memory grows, unless the server is that of another library.
 */
import { availableParallelism, cpus } from "node:os"
import { Effect } from "effect"
import { main } from "../../../scripts/commandLine.ts"
import { installIn } from "../../../scripts/sdk.ts"
import { play } from "./play.ts"
import { faultsOf, type Played, table } from "./report.ts"
import { parse, type Settings } from "./settings.ts"

const say = (line: string) => process.stdout.write(`${line}\n`)

const load = (settings: Settings) =>
  Effect.gen(function* () {
    const { clients, minutes, rate, seed, subjects } = settings
    say(`Node ${process.version}, ${availableParallelism()} cores (${cpus()[0]?.model})`)
    say(`${minutes} minutes, ${clients} clients, ${rate} runs per second, seed ${seed}`)
    const all: Array<Played> = []
    for (const subject of subjects) {
      if (subject.needs !== undefined && !installIn(subject.needs)) {
        say(`${subject.name}: could not be installed; see the messages above`)
        return 1
      }
      all.push(yield* play(subject, settings, say))
    }
    const faults = all.flatMap((played) => faultsOf(played, settings))
    say(table(all))
    for (const { text } of faults) say(text)
    return faults.some(({ isPeer }) => !isPeer) ? 1 : 0
  }).pipe(Effect.catchTag("ProcessFailed", ({ message }) => Effect.sync(() => (say(message), 1))))

/** Ends with a signal: the processes are stopped before this one ends. */
const signalled = Effect.callback<number>((resume) => {
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => resume(Effect.succeed(130)))
})

await main(parse, (settings) => Effect.raceFirst(load(settings), signalled))
