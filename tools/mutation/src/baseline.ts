/** The tests without a mutant: which pass, how long they take, which mutants they come by. Kept as long as nothing changed. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { type File, filesIn } from "../../../scripts/files.ts"
import { type Area, isTried, sharedTests } from "./areas.ts"
import { hashOf } from "./hash.ts"
import { run } from "./processes.ts"
import { type Baseline, cache } from "./protocol.ts"
import { withoutReasons } from "./reasons.ts"

interface Stored {
  readonly hash: string
  readonly tests: ReadonlyArray<Baseline>
  readonly statics: Readonly<Record<string, number>>
}

/** What all test files came by. */
export interface Surveyed {
  readonly tests: ReadonlyArray<Baseline>
  /** Mutants that were come by while modules were loaded. */
  readonly statics: ReadonlySet<string>
  /** The hash of each test file by itself. */
  readonly hashes: ReadonlyMap<string, string>
}

const readStored = (path: string): Readonly<Record<string, Stored>> =>
  existsSync(path) ? JSON.parse(readFileSync(path, "utf8")) : {}

/** The survey of the test files of an area, of which these sources are mutated; only what changed is run. */
export const survey = async (
  { name, tests: folders }: Area,
  mutated: ReadonlyArray<File>,
  say: (line: string) => void
): Promise<Surveyed> => {
  // the numbers of mutants depend on which sources are instrumented together
  const path = join(cache, "baselines", `${name}-${hashOf(...mutated.map((file) => file.path))}.json`)
  const sources = filesIn("packages", (file) => file.endsWith(".ts")).map(
    ({ path, text }) => path + withoutReasons(text)
  )
  const all = [sharedTests, ...folders].flatMap((folder) => filesIn(folder, (file) => file.endsWith(".ts")))
  const shared = all.filter((file) => !file.path.endsWith(".test.ts")).map((file) => file.path + file.text)
  const base = hashOf(...sources, ...shared)
  const files = all.filter((file) => isTried(file.path))
  const hashes = new Map(files.map((file) => [file.path, hashOf(file.text)]))
  /** What a test comes by depends on all that it may import. */
  const wholes = new Map(files.map((file) => [file.path, hashOf(base, file.text)]))
  const before = readStored(path)
  const isUnchanged = (file: string) => before[file]?.hash === wholes.get(file)
  const changed = files.map((file) => file.path).filter((file) => !isUnchanged(file))
  const now: Record<string, Stored> = {}
  for (const { path: file } of files) {
    const stored = before[file]
    if (stored !== undefined && isUnchanged(file)) now[file] = stored
  }
  if (changed.length > 0) {
    say(`running the tests of ${changed.length} files without mutants`)
    const said = await run({ mode: "baseline", files: changed })
    if (said.lines.at(-1)?.type !== "done") {
      throw new Error(`the tests did not end; at ${JSON.stringify(said.stuckAt)}\n${said.printed}`)
    }
    const statics = said.lines.flatMap((line) => (line.type === "static" ? [line.hits] : []))[0] ?? {}
    const tests = said.lines.flatMap((line) => (line.type === "test" ? [line.test] : []))
    for (const file of changed) {
      now[file] = { hash: wholes.get(file) ?? "", tests: tests.filter((test) => test.file === file), statics }
    }
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, JSON.stringify(now))
  }
  const surveys = Object.values(now)
  const statics = new Set(surveys.flatMap((one) => Object.keys(one.statics)))
  return { tests: surveys.flatMap((one) => one.tests), statics, hashes }
}
