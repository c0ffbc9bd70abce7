/** The command line of a program with options: reads them, and runs the program. */
import { Effect } from "effect"
import { parseArgs, type ParseArgsOptionsConfig } from "node:util"

/** A command line that asks for nothing that can be done. */
export class Usage extends Error {}

/** A command line that asks for help, which is the message. */
export class Help extends Usage {}

export const text = { type: "string" } as const
export const flag = { type: "boolean", default: false } as const

/** The values of the options, of which `--help` is one; throws `Usage`. */
export const read = <const O extends ParseArgsOptionsConfig>(
  parameters: ReadonlyArray<string>,
  help: string,
  options: O
) => {
  if (parameters.includes("--help")) throw new Help(help)
  try {
    return parseArgs({ args: [...parameters], options }).values
  } catch (error) {
    throw new Usage(error instanceof Error ? error.message : String(error), { cause: error })
  }
}

/** Those that a list names; all of them if there is none. */
export const chosen = <A>(
  option: string,
  list: string | undefined,
  all: ReadonlyArray<readonly [name: string, value: A]>
): ReadonlyArray<A> => {
  if (list === undefined) return all.map(([, value]) => value)
  return list.split(",").map((name) => {
    const found = all.find(([one]) => one === name)
    if (found !== undefined) return found[1]
    throw new Usage(`--${option}: there is no '${name}', only ${all.map(([one]) => one).join(", ")}`)
  })
}

/** A number of at least 0. */
export const amount = (option: string, given: string): number => {
  const value = given.trim() === "" ? Number.NaN : Number(given)
  if (Number.isFinite(value) && value >= 0) return value
  throw new Usage(`--${option} must be a number of at least 0, got '${given}'`)
}

/** A whole number of at least 1. */
export const count = (option: string, given: string): number => {
  const value = Number(given)
  if (Number.isSafeInteger(value) && value >= 1) return value
  throw new Usage(`--${option} must be a whole number of at least 1, got '${given}'`)
}

/** An address on the web. */
export const url = (option: string, given: string): string => {
  if (/^https?:$/.test(URL.parse(given)?.protocol ?? "")) return given
  throw new Usage(`--${option} must be an http(s) URL`)
}

/** Runs a program with what its command line says. The exit code is the program's, or 2 for a command line that says nothing useful. */
export const main = async <A>(
  parse: (parameters: ReadonlyArray<string>) => A,
  run: (settings: A) => Effect.Effect<number, unknown>
): Promise<void> => {
  let settings: A
  try {
    settings = parse(process.argv.slice(2))
  } catch (error) {
    if (!(error instanceof Usage)) throw error
    const isHelp = error instanceof Help
    process[isHelp ? "stdout" : "stderr"].write(
      isHelp ? error.message : `error: ${error.message}\n(--help lists the options)\n`
    )
    process.exitCode = isHelp ? 0 : 2
    return
  }
  process.exitCode = await Effect.runPromise(run(settings))
}
