/**
 * The number of files of core that a run enters: for a text reply, a successful tool call, and a failure that is told to the model.
 *
 *   npm run trips              the numbers, and the files between the failure and its settlement
 *   npm run trips -- --files   with the functions of each file, and each step from the failure to its settlement
 *   npm run trips -- --json    the same as JSON
 *
 * A file counts if at least one of its named functions ran. V8 counts them, in the second of two runs. `testing` does not count, and no
 * listener is there.
 *
 * The way from the failure to its settlement begins when the `run` of the tool fails. It ends when `run/` goes on: right before the first
 * entry after the last one of `tool/` that is in `run/` or comes from there.
 *
 * A step of the way is a call of a named function from another file, or from Effect. A call within one file is no step: a function that
 * calls a helper elsewhere, and then one of its own file, has not left the file. A file is left and entered again if steps into other files are
 * between two steps into this file.
 */
import { type FileOfTrip, measured } from "./trips/measuring.ts"
import { type Trace, type Way, wayIn } from "./trips/way.ts"

// imported once the sources of core are made to record
const { plays } = await import("./trips/plays.ts")

/** What `--json` writes. */
export interface Trips {
  readonly trips: ReadonlyArray<{ readonly name: string; readonly files: ReadonlyArray<FileOfTrip> }>
  readonly way: Way
}

const traces = new Map<keyof typeof plays, Trace>()

const measure = async (name: keyof typeof plays): Promise<Trips["trips"][number]> => {
  const { files, trace } = await measured(plays[name])
  traces.set(name, trace)
  return { name, files }
}

// one after the other: V8 counts for the whole process
const trips = [
  await measure("a text reply"),
  await measure("a successful call"),
  await measure("a failure that the model reads")
]
const way = wayIn(traces.get("a failure that the model reads") ?? [])

const say = (line: string) => process.stdout.write(`${line}\n`)

const print = (isFull: boolean): void => {
  for (const { files, name } of trips) {
    say(`${name}: ${files.length} files, ${files.flatMap(({ functions }) => functions).length} named functions`)
    if (isFull) for (const { file, functions } of files) say(`  ${file}: ${functions.join(", ")}`)
  }
  const { reentered, files, steps } = way
  say(`from the failure to its settlement: ${files.length} files, ${reentered.length} of them left and entered again`)
  for (const file of files) say(`  ${file}${reentered.includes(file) ? ", again" : ""}`)
  if (!isFull) return
  say("its steps")
  const lines = steps.map(({ file, from = "Effect", name }) => `  ${file}: ${name}, from ${from}`)
  // a loop takes the same step many times
  for (const [at, line] of lines.entries()) if (line !== lines[at - 1]) say(line)
}

if (process.argv.includes("--json")) say(JSON.stringify({ trips, way } satisfies Trips))
else print(process.argv.includes("--files"))
