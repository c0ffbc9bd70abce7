/** A Vitest reporter that writes how many tests passed and failed to the file that the environment names. */
import { writeFileSync } from "node:fs"
import type { Reporter, TestModule } from "vitest/node"

/** What Vitest counted. */
export interface Tally {
  readonly passed: number
  readonly failed: number
}

/** Where the tally goes; nothing is written without it. */
export const TALLY = "KINTSUGI_TALLY"

/** What failed outside of every test (a file that does not load, an error that nobody caught) counts as one failure each. */
export const tally = (modules: ReadonlyArray<TestModule>, uncaught: number): Tally => {
  const states = modules.flatMap((module) => [...module.children.allTests()].map((test) => test.result().state))
  const failed = states.filter((state) => state === "failed").length
  const unrun = modules.filter((module) => module.errors().length > 0).length
  return { passed: states.filter((state) => state === "passed").length, failed: failed + unrun + uncaught }
}

/** For `vitest.config.ts`. */
export const tallyReporter: Reporter = {
  onTestRunEnd: (modules, uncaught) => {
    const path = process.env[TALLY]
    if (path !== undefined) writeFileSync(path, JSON.stringify(tally(modules, uncaught.length)))
  }
}
