/** The command line of the load. */
import { amount, chosen, count, read, text, Usage } from "../../../scripts/commandLine.ts"
import { type Subject, subjects } from "./subjects.ts"

export interface Settings {
  readonly subjects: ReadonlyArray<Subject>
  /** For how long runs arrive. */
  readonly minutes: number
  /** How many streams are open at a time, on average. */
  readonly clients: number
  /** How many runs arrive in a second, on average. */
  readonly rate: number
  readonly seed: number
  /** MiB that V8 may take for old objects in the server; 0 leaves it to V8, which takes what the machine has. */
  readonly memory: number
}

/** With it the machine of docs/reports/performance.md is 60 % busy at most, while the bare server answers. */
const usual = { minutes: "10", clients: "1000", rate: "40", seed: "1", memory: "0" }

/** The longest time that the model calls of a run may take on average, in seconds: the agent of the backend gives up after a minute. */
const longest = 30

const help = `npm run load -- [options]

Load on the example backend, as in production: clients that read server-sent events, and a model that takes its time and has faults.

  --minutes=N        for how long runs arrive (${usual.minutes})
  --clients=N        streams that are open at a time, on average (${usual.clients})
  --rate=N           runs that arrive in a second, on average (${usual.rate}); the model takes clients / rate seconds for each
  --seed=N           the seed of arrivals, faults and times (${usual.seed})
  --memory=N         MiB that V8 may take for old objects in the server (no bound): production sets one
  --subject=A,B      ${subjects.map(({ name }) => name).join(", ")}, one after the other (all)
`

export const parse = (parameters: ReadonlyArray<string>): Settings => {
  const options = { minutes: text, clients: text, rate: text, seed: text, memory: text, subject: text }
  const given = { ...usual, ...read(parameters, help, options) }
  const settings: Settings = {
    subjects: chosen(
      "subject",
      given.subject,
      subjects.map((subject) => [subject.name, subject])
    ),
    minutes: amount("minutes", given.minutes),
    clients: count("clients", given.clients),
    rate: amount("rate", given.rate),
    seed: count("seed", given.seed),
    memory: amount("memory", given.memory)
  }
  if (settings.minutes === 0 || settings.rate === 0) throw new Usage("--minutes and --rate must be above 0")
  if (settings.clients / settings.rate > longest) {
    throw new Usage(`--clients must be at most ${longest} times --rate: no run may take longer than a minute`)
  }
  return settings
}
