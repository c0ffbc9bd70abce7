/** The way of a failure: from the tool that fails to the settlement of its call. */

/** A named function of core was entered. */
export interface Entered {
  readonly file: string
  readonly name: string
  /** The file of the code that called it. `undefined` if that code is not of core: Effect, or a test. */
  readonly from: string | undefined
}

/** A moment of a run: the tool fails, or the model gets a request. */
export interface Moment {
  readonly moment: "fails" | "asked"
}

/** What happened in a run, in its order. */
export type Trace = ReadonlyArray<Entered | Moment>

/** From the failure of a tool to the settlement of its call. */
export interface Way {
  /** The functions that were called from another file. */
  readonly steps: ReadonlyArray<Entered>
  /** The files in the order of their first steps. */
  readonly files: ReadonlyArray<string>
  /** Those that the way has left and entered again, in the same order. */
  readonly reentered: ReadonlyArray<string>
}

const isRun = (file: string | undefined): boolean => file?.startsWith("run/") === true

/** The entries between the failure and the settlement. Throws an `Error` if the trace has not both of them. */
const entriesIn = (trace: Trace): ReadonlyArray<Entered> => {
  const failed = trace.findIndex((one) => "moment" in one && one.moment === "fails")
  const asked = trace.findIndex((one, at) => at > failed && "moment" in one && one.moment === "asked")
  const entries = trace.slice(failed, asked).filter((one) => "file" in one)
  const last = entries.findLastIndex(({ file }) => file.startsWith("tool/"))
  const end = entries.findIndex(({ file, from }, at) => at > last && (isRun(file) || isRun(from)))
  if (failed < 0 || asked < 0 || end < 0) throw new Error("the trace has no failure that is settled")
  return entries.slice(0, end)
}

/** The way of the failure in a trace, as the head of `trips.ts` defines it. */
export const wayIn = (trace: Trace): Way => {
  const steps = entriesIn(trace).filter(({ file, from }) => file !== from)
  const files = new Set<string>()
  const reentered = new Set<string>()
  for (const [at, { file }] of steps.entries()) {
    if (files.has(file) && steps[at - 1]?.file !== file) reentered.add(file)
    files.add(file)
  }
  return { steps, files: [...files], reentered: [...files].filter((file) => reentered.has(file)) }
}
