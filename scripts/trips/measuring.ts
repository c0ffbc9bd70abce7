/** Which functions of core a run enters: as V8 counts them, and in their order. Import it before core. */
import { type Profiler, Session } from "node:inspector"
import { registerHooks } from "node:module"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { getCallSites } from "node:util"
import { root } from "../files.ts"
import { RECORD, recording } from "./recording.ts"
import type { Entered, Moment, Trace } from "./way.ts"

const sources = `${pathToFileURL(join(root, "packages/core/src")).href}/`

/** The path of a source of core below its folder, without its ending. `undefined` for all other files, and for `testing`. */
const pathOf = (url: string): string | undefined => {
  if (!url.startsWith(sources) || !url.endsWith(".ts")) return undefined
  const path = url.slice(sources.length, -".ts".length)
  return path.startsWith("testing/") ? undefined : path
}

/** A file, and those of its named functions that ran. */
export interface FileOfTrip {
  readonly file: string
  readonly functions: ReadonlyArray<string>
}

let trace: Array<Entered | Moment> | undefined

/** Takes a moment of the run into its trace. */
export const note = (moment: Moment["moment"]): void => void trace?.push({ moment })

const entered = (file: string, name: string): void => {
  // the first two call sites are this function and the function that it records
  const caller = trace === undefined ? undefined : getCallSites(3)[2]
  trace?.push({ file, name, from: caller === undefined ? undefined : pathOf(caller.scriptName) })
}

Object.assign(globalThis, { [RECORD]: entered })

/** The names of the functions of each file. */
const namesOf = new Map<string, ReadonlySet<string>>()

registerHooks({
  load: (url, context, next) => {
    const loaded = next(url, context)
    const file = pathOf(url)
    if (file === undefined) return loaded
    const { names, text } = recording(file, String(loaded.source))
    namesOf.set(file, names)
    return { ...loaded, source: text }
  }
})

const session = new Session()
session.connect()
session.post("Profiler.enable")
session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false })

/** What ran since the last look. */
const look = (): ReadonlyArray<Profiler.ScriptCoverage> => {
  let report: ReadonlyArray<Profiler.ScriptCoverage> = []
  // the callback is called before `post` returns: it asks the same thread
  session.post("Profiler.takePreciseCoverage", (_, { result }) => {
    report = result
  })
  return report
}

/** The named functions that ran. V8 writes `get` before the name of a getter, and guesses names for functions that have none. */
const countedIn = (report: ReadonlyArray<Profiler.ScriptCoverage>): ReadonlyArray<FileOfTrip> =>
  report
    .flatMap(({ functions, url }) => {
      const file = pathOf(url)
      if (file === undefined) return []
      const names = functions
        .filter(({ ranges }) => (ranges[0]?.count ?? 0) > 0)
        .map(({ functionName }) => functionName.replace(/^[gs]et /, ""))
        .filter((name) => namesOf.get(file)?.has(name) === true)
      return names.length === 0 ? [] : [{ file, functions: names }]
    })
    .toSorted((one, other) => (one.file < other.file ? -1 : 1))

/** Files that V8 or the trace has alone, and functions that the trace has alone. */
const differences = (files: ReadonlyArray<FileOfTrip>, trace: Trace): ReadonlyArray<string> => {
  const entries = trace.filter((one) => "file" in one)
  const counted = new Map(files.map(({ file, functions }) => [file, functions]))
  const traced = new Set(entries.map(({ file }) => file))
  return [
    ...files.flatMap(({ file }) => (traced.has(file) ? [] : file)),
    ...entries.flatMap(({ file, name }) => (counted.get(file)?.includes(name) === true ? [] : `${file}: ${name}`))
  ]
}

/** Plays a run twice; what the second run has entered. Throws an `Error` if V8 and the trace disagree. */
export const measured = async (play: () => Promise<unknown>) => {
  await play()
  look()
  const seen: Array<Entered | Moment> = []
  trace = seen
  await play()
  trace = undefined
  const files = countedIn(look())
  const different = differences(files, seen)
  if (different.length > 0) throw new Error(`V8 and the trace disagree: ${different.join(", ")}`)
  return { files, trace: seen }
}
