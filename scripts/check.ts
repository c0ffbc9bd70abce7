/**
 * Every check of the repository, in order; the first that fails ends it with exit code 1.
 *
 *   npm test
 *   npm run test:processes    the tests that start processes or need installations of their own; with `CI`, `npm test` runs them too
 *
 * The last line is `N passed, N failed, N skipped`: the tests that Vitest counted. The lines before it have the number of cases of the
 * laws, and the time of each suite. A law that drew fewer cases than it had to fails (100, with `CI` 1,000), and where `CI` is set
 * so does a test that was skipped.
 */
import { isCi } from "./report.ts"
import {
  build,
  format,
  installations,
  lint,
  portable,
  regexps,
  runAll,
  runTests,
  tests,
  types,
  words
} from "./steps.ts"

/** Seconds on 2 idle cores, once everything is installed. */
const BUDGET = 150

const processes = ["processes", "timed", "types"]

const checks = (): boolean => {
  if (process.argv[2] === "processes") return runAll([...installations, build]) && runTests(tests(processes))
  const before = [format, lint, words, portable, regexps, ...installations, types, build]
  return runAll(before) && (isCi() ? runTests(tests(["pure", ...processes])) : runTests(tests(["pure"]), BUDGET))
}

process.exitCode = checks() ? 0 : 1
