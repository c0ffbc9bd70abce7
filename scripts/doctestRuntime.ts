/** What the generated examples of `doctest.ts` import. */
import { appendFileSync } from "node:fs"
import { basename, join } from "node:path"
import { pathToFileURL } from "node:url"
import { inspect, isDeepStrictEqual } from "node:util"

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false

/** `true` when the types are identical; otherwise a type that shows both in the compiler's message. */
export type Same<Inferred, Shown> = Equal<Inferred, Shown> extends true ? true : { inferred: Inferred; shown: Shown }

const TIMEOUT_MS = 10_000

const failures: Array<{ readonly line: number; readonly message: string }> = []

/** Notes a failure unless the values are deeply equal. */
export const same = async (line: number, actual: unknown, expected: unknown): Promise<void> => {
  const value = await actual
  if (isDeepStrictEqual(value, expected)) return
  failures.push({ line, message: `gave ${inspect(value)}, not ${inspect(expected)}` })
}

const lineInStack = (file: string, error: unknown): number | undefined => {
  const frames = error instanceof Error ? (error.stack ?? "").split("\n") : []
  const [, line] =
    frames.map((frame) => new RegExp(`${basename(file)}:(\\d+)`).exec(frame)).find((found) => found) ?? []
  return line === undefined ? undefined : Number(line)
}

/** Runs the examples one after the other, writes a line about each to the file `results`, and ends the process. */
export const runAll = async (
  folder: string,
  examples: ReadonlyArray<{ readonly file: string; readonly line: number }>
): Promise<never> => {
  for (const { file, line } of examples) {
    failures.length = 0
    const late = Promise.withResolvers<never>()
    const timer = setTimeout(() => late.reject(new Error(`took longer than ${TIMEOUT_MS} ms`)), TIMEOUT_MS)
    try {
      await Promise.race([import(pathToFileURL(join(folder, file)).href), late.promise])
    } catch (error) {
      failures.push({ line: line + (lineInStack(file, error) ?? 1) - 1, message: `threw ${inspect(error)}` })
    }
    clearTimeout(timer)
    appendFileSync(join(folder, "results"), `${JSON.stringify({ file, failures })}\n`)
  }
  process.exit(0)
}
