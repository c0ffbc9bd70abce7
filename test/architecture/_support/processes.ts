/** Which tests start processes or engines. */
import { posix } from "node:path"
import { type File } from "../../../scripts/files.ts"
import { importsOf } from "./imports.ts"

/** Modules that start a process, a thread, or an engine: a compiler, a browser, a database. */
const starting =
  /^(?:node:)?(?:child_process|worker_threads|cluster)$|^@effect\/platform-node-shared\/NodeChildProcessSpawner$|^(?:esbuild|rolldown|playwright-core|@electric-sql\/pglite)$/

/** An engine that works in a thread; it loads its modules by itself. */
const engine = /\bDurable\.layerPglite\(/

const isProcessTest = (path: string): boolean => path.endsWith(".process.test.ts")

/** Which of the files start processes, by themselves or by one of the files that they import. */
const startersOf = (files: ReadonlyArray<File>): ReadonlySet<string> => {
  const importers = new Map<string, Array<string>>()
  const starters: Array<string> = []
  for (const file of files) {
    if (engine.test(file.text)) starters.push(file.path)
    for (const { from } of importsOf(file)) {
      if (starting.test(from)) starters.push(file.path)
      if (!from.startsWith(".")) continue
      const to = posix.join(posix.dirname(file.path), from)
      importers.set(to, [...(importers.get(to) ?? []), file.path])
    }
  }
  const found = new Set<string>()
  for (let path = starters.pop(); path !== undefined; path = starters.pop()) {
    if (found.has(path)) continue
    found.add(path)
    starters.push(...(importers.get(path) ?? []))
  }
  return found
}

/**
 * Tests that start processes and are not named so, by helpers of tests and tools; and tests that are named so and start none. What
 * `scripts` export may be used without a process, so those tests may be named so, and need not. `isForeign` tells tests that need
 * an installation of their own.
 */
export const processViolations = (
  files: ReadonlyArray<File>,
  isForeign: (path: string) => boolean
): ReadonlyArray<string> => {
  const starters = startersOf(files.filter(({ path }) => !path.startsWith("scripts/")))
  const perhaps = startersOf(files)
  return files
    .filter(({ path }) => path.endsWith(".test.ts"))
    .flatMap(({ path }) => {
      if (!isProcessTest(path)) {
        if (isForeign(path)) return [`${path} needs an installation of its own: name it .process.test.ts`]
        return starters.has(path) ? [`${path} starts processes: name it .process.test.ts`] : []
      }
      return perhaps.has(path) || isForeign(path) ? [] : [`${path} starts no process: name it .test.ts`]
    })
}
