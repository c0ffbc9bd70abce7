/** A Vitest reporter that writes how many tests passed and failed to the file that the environment names. */
import { writeFileSync } from "node:fs"
import type { Reporter, TestCase, TestModule } from "vitest/node"
import type { Cases, Drawn } from "./cases.ts"

/** What Vitest counted. */
export interface Tally {
  readonly passed: number
  readonly failed: number
  /** Of each law the cases that it drew. */
  readonly laws: ReadonlyArray<Drawn>
}

/** Where the tally goes; nothing is written without it. */
export const TALLY = "KINTSUGI_TALLY"

/** What failed outside of every test (a file that does not load, an error that nobody caught) counts as one failure each. */
export const tally = (modules: ReadonlyArray<TestModule>, uncaught: number): Tally => {
  const tests = modules.flatMap((module) => [...module.children.allTests()])
  const states = tests.map((test) => test.result().state)
  const failed = states.filter((state) => state === "failed").length
  const unrun = modules.filter((module) => module.errors().length > 0).length
  const laws = tests.flatMap((test) => {
    const cases = casesOf(test)
    return cases === undefined ? [] : [{ title: test.name, ...cases }]
  })
  return { passed: states.filter((state) => state === "passed").length, failed: failed + unrun + uncaught, laws }
}

/** What `test/laws/cases.ts` has noted, whose types are not those of this program. */
const casesOf = (test: TestCase): Cases | undefined => (test.meta() as { readonly law?: Cases }).law

/** For `vitest.config.ts`. */
export const tallyReporter: Reporter = {
  onTestRunEnd: (modules, uncaught) => {
    const path = process.env[TALLY]
    if (path !== undefined) writeFileSync(path, JSON.stringify(tally(modules, uncaught.length)))
  }
}
