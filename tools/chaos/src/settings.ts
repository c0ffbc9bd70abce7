/** The command line of the chaos. */
import { amount, count, Help, Usage, text } from "../../../scripts/commandLine.ts"
import { parseArgs } from "node:util"

export interface Settings {
  /** For how long runs arrive and faults come. */
  readonly minutes: number
  readonly seed: number
  /** How many runs arrive in a second, on average. */
  readonly rate: number
}

const usual = { minutes: "10", seed: "1", rate: "1" }

const help = `npm run chaos -- [minutes] [options]

The example backend on three processes with one PostgreSQL, under faults that are drawn from a seed.

  minutes      for how long runs arrive and faults come (${usual.minutes}); then all runs have four minutes to end
  --seed=N     the seed of all faults (${usual.seed})
  --rate=N     runs that arrive in a second, on average (${usual.rate})
`

export const parse = (parameters: ReadonlyArray<string>): Settings => {
  if (parameters.includes("--help")) throw new Help(help)
  const { positionals, values } = read(parameters)
  const given = { ...usual, ...values }
  const [minutes = usual.minutes, ...rest] = positionals
  if (rest.length > 0) throw new Usage(`only the minutes come without a name, got '${rest.join(" ")}' besides`)
  const settings = {
    minutes: amount("minutes", minutes),
    seed: count("seed", given.seed),
    rate: amount("rate", given.rate)
  }
  if (settings.minutes === 0 || settings.rate === 0) throw new Usage("the minutes and --rate must be above 0")
  return settings
}

const read = (parameters: ReadonlyArray<string>) => {
  try {
    return parseArgs({ args: [...parameters], options: { seed: text, rate: text }, allowPositionals: true })
  } catch (error) {
    throw new Usage(error instanceof Error ? error.message : String(error), { cause: error })
  }
}
