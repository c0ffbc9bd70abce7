/** A Vitest reporter that writes how many tests passed and failed, and how long they took, to the file that the environment names. */
import { writeFileSync } from "node:fs"
import type { Reporter, TestCase, TestModule } from "vitest/node"
import type { Cases, Drawn } from "./cases.ts"

/** What Vitest counted. */
export interface Tally {
  readonly passed: number
  readonly failed: number
  readonly skipped: number
  /** Of each law the cases that it drew. */
  readonly laws: ReadonlyArray<Drawn>
}

/** What is in the file. */
export interface Result extends Tally {
  readonly seconds: Seconds
}

/** How long the suites took, the imports of their files included: the folders of `test` and of `tools`, and `test` itself. */
export type Seconds = Readonly<Record<string, number>>

/** Where the tally goes; nothing is written without it. */
export const TALLY = "KINTSUGI_TALLY"

/** What failed outside of every test (a file that does not load, an error that no code caught) counts as one failure each. */
export const tally = (modules: ReadonlyArray<TestModule>, uncaught: number): Tally => {
  const tests = modules.flatMap((module) => [...module.children.allTests()])
  const states = tests.map((test) => test.result().state)
  const failed = states.filter((state) => state === "failed").length
  const unrun = modules.filter((module) => module.errors().length > 0).length
  const laws = tests.flatMap((test) => {
    const cases = casesOf(test)
    return cases === undefined ? [] : [{ title: test.name, ...cases }]
  })
  const [passed = 0, skipped = 0] = ["passed", "skipped"].map((state) => states.filter((one) => one === state).length)
  return { passed, failed: failed + unrun + uncaught, skipped, laws }
}

/** What `test/_support/cases.ts` has noted, whose types are not those of this program. */
const casesOf = (test: TestCase): Cases | undefined => (test.meta() as { readonly law?: Cases }).law

/** The part of a test file that its time is read from. */
export interface Timed {
  readonly relativeModuleId: string
  readonly diagnostic: () => Pick<
    ReturnType<TestModule["diagnostic"]>,
    "collectDuration" | "duration" | "environmentSetupDuration" | "prepareDuration" | "setupDuration"
  >
}

/** Adds the time of workers, several of which are at work at once: the sum is more than the elapsed time. */
export const secondsOf = (modules: ReadonlyArray<Timed>): Seconds => {
  const seconds = new Map<string, number>()
  for (const module of modules) {
    const suite = /^((?:test|tools)\/[^/]+)\//.exec(module.relativeModuleId.replaceAll("\\", "/"))?.[1] ?? "test"
    const took = module.diagnostic()
    const millis =
      took.collectDuration + took.duration + took.environmentSetupDuration + took.prepareDuration + took.setupDuration
    seconds.set(suite, (seconds.get(suite) ?? 0) + millis / 1000)
  }
  return Object.fromEntries([...seconds].toSorted(([, one], [, other]) => other - one))
}

/** One line for each suite, the slowest first. */
export const formatSeconds = (seconds: Seconds): ReadonlyArray<string> =>
  Object.entries(seconds).map(([suite, took]) => `${took.toFixed(1).padStart(7)} s  ${suite}`)

/** For `vitest.config.ts`. */
export const tallyReporter: Reporter = {
  onTestRunEnd: (modules, uncaught) => {
    const path = process.env[TALLY]
    if (path === undefined) return
    const result: Result = { ...tally(modules, uncaught.length), seconds: secondsOf(modules) }
    writeFileSync(path, JSON.stringify(result))
  }
}
