/** What is mutated, by package, which tests are run against its mutants, and which scores are wanted. */
import { posix } from "node:path"

export interface Area {
  readonly name: string
  /** The folders and files whose tests are run. */
  readonly tests: ReadonlyArray<string>
  /** The least score in percent of the whole area. */
  readonly least: number
}

/** What the tests of each area share. */
export const sharedTests = "test/_support"

/** The tests of replies in the background play a provider, since no other model has them. */
const background = ["background", "backgroundLate", "backgroundOwned"].map(
  (name) => `test/providers/service/${name}.test.ts`
)

export const areas: ReadonlyArray<Area> = [
  { name: "core", tests: ["test/core", "test/laws", ...background], least: 93 },
  { name: "providers", tests: ["test/providers", "test/laws", "test/repository/providersPage.test.ts"], least: 93 },
  { name: "durable", tests: ["test/durable"], least: 80 },
  { name: "interop", tests: ["test/interop"], least: 80 },
  { name: "view", tests: ["test/view"], least: 80 }
]

/** The least score in percent: of everything together, and of each file. */
export const LEAST = { overall: 90, file: 80 }

/** Written by a command, from sources that are mutated. */
const generated = /\/page\/script\.ts$/

/** All tests of these start another process: a database, or the command line, whose process they prepare and end. */
export const ofProcesses: ReadonlyArray<string> = [
  ...["pglite", "postgres", "server"].map((name) => `packages/durable/src/engine/${name}.ts`),
  ...["guest", "main", "process"].map((name) => `packages/view/src/cli/${name}.ts`)
]

/** The area that a source file belongs to, if it is mutated. */
export const areaOf = (path: string): Area | undefined =>
  path.endsWith(".ts") && !generated.test(path) && !ofProcesses.includes(path)
    ? areas.find(({ name }) => path.startsWith(`packages/${name}/src/`))
    : undefined

/** The area whose tests are in a folder or file: the one of this name, or else the first that runs them. */
export const areaOfTests = (path: string): Area | undefined => {
  const isIn = (folder: string) => path === folder || path.startsWith(`${folder}/`)
  return areas.find(({ name }) => isIn(`test/${name}`)) ?? areas.find(({ tests }) => tests.some(isIn))
}

/** Test files of other folders that are about what a source makes once, when its module is loaded: tables, texts, schemas. */
export const tablesOf = (source: string): ReadonlyArray<string> => {
  if (source.startsWith("packages/core/src/")) return ["test/core/data/contextKeys.test.ts"]
  return source.startsWith("packages/providers/src/codec/")
    ? ["test/repository/providersPage.test.ts", "test/providers/classify/errorCodes.test.ts"]
    : []
}

/** Whether a file has tests that run in the process of the mutants, and see more than a picture that is kept. */
export const isTried = (path: string): boolean => path.endsWith(".test.ts") && !path.endsWith(".process.test.ts")

/** The folder of the tests that mirrors the folder of a source. */
export const mirrorOf = (source: string): string => posix.dirname(source).replace(/^packages\/([^/]+)\/src/, "test/$1")

/** The k-th of n parts of the files: about as long as the others, and neighbours stay together. */
export const partOf = <A extends { readonly text: string }>(
  files: ReadonlyArray<A>,
  k: number,
  n: number
): ReadonlyArray<A> => {
  const whole = files.reduce((sum, { text }) => sum + text.length, 0)
  let before = 0
  return files.filter(({ text }) => {
    const nth = Math.min(n, Math.floor((before * n) / Math.max(1, whole)) + 1)
    before += text.length
    return nth === k
  })
}
