/** The tests without a mutant: which pass, how long they take, which mutants they come by. Kept as long as nothing changed. */
import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { type File, filesIn } from "../../../scripts/files.ts"
import { type Area, isTried, sharedTests } from "./areas.ts"
import { hashOf } from "./hash.ts"
import { instrument, keyOf, type Placed } from "./instrument.ts"
import { run } from "./processes.ts"
import { type Baseline, cache, type Head, type Measured, type Survey } from "./protocol.ts"
import { withoutReasons } from "./reasons.ts"

/** What the tests of a file came by, as long as the file has this hash. */
interface Stored {
  readonly file: string
  readonly hash: string
  readonly tests: ReadonlyArray<Measured>
}

/** The same for the mutants of a part, by their ids in it. */
export interface Surveyed {
  readonly tests: ReadonlyArray<Baseline>
  readonly statics: ReadonlySet<string>
  readonly hashes: ReadonlyMap<string, string>
}

const read = (path: string): { readonly head?: Head; readonly stored: ReadonlyArray<Stored> } => {
  if (!existsSync(path)) return { stored: [] }
  const [first, ...others] = readFileSync(path, "utf8").split("\n").slice(0, -1)
  const stored: ReadonlyArray<Stored> = others.map((line) => JSON.parse(line))
  return first === undefined ? { stored } : { head: JSON.parse(first), stored }
}

/** The survey of the test files of an area, while all of its sources have their mutants; only what changed is run. */
export const survey = async (
  { name, tests: folders }: Area,
  mutated: ReadonlyArray<File>,
  say: (line: string) => void
): Promise<Survey> => {
  const path = join(cache, "baselines", `${name}.jsonl`)
  const sources = filesIn("packages", (file) => file.endsWith(".ts")).map(
    ({ path, text }) => path + withoutReasons(text)
  )
  const all = [sharedTests, ...folders].flatMap((folder) => filesIn(folder, (file) => file.endsWith(".ts")))
  const shared = all.filter((file) => !file.path.endsWith(".test.ts")).map((file) => file.path + file.text)
  const base = hashOf(...sources, ...shared)
  const hashes = new Map(all.filter((file) => isTried(file.path)).map(({ path, text }) => [path, hashOf(text)]))
  const before = read(path)
  const isSame = before.head?.base === base
  const kept = isSame ? before.stored.filter(({ file, hash }) => hashes.get(file) === hash) : []
  const there = new Set(kept.map(({ file }) => file))
  const changed = [...hashes.keys()].filter((file) => !there.has(file))
  const tests = kept.flatMap((one) => one.tests)
  if (isSame && before.head !== undefined && changed.length === 0) return { ...before.head, tests, hashes }
  const keys: Array<string> = []
  for (const { mutant } of await instrument(mutated)) keys[Number(mutant.id)] = keyOf(mutant)
  say(`running the tests of ${changed.length} files without mutants`)
  const said = await run({ mode: "baseline", files: changed, mutants: keys.length })
  if (said.lines.at(-1)?.type !== "done") {
    throw new Error(`the tests did not end; at ${JSON.stringify(said.stuckAt)}\n${said.printed}`)
  }
  const anew = said.lines.flatMap((line) => (line.type === "test" ? [line.test] : []))
  const loaded = said.lines.flatMap((line) => (line.type === "static" ? line.ids : []))
  const head: Head = { base, keys, statics: [...new Set([...(isSame ? (before.head?.statics ?? []) : []), ...loaded])] }
  mkdirSync(dirname(path), { recursive: true })
  rmSync(path, { force: true })
  writeFileSync(path, `${JSON.stringify(head)}\n`)
  const byFile = Map.groupBy(anew, ({ file }) => file)
  const ran = changed.map((file): Stored => ({ file, hash: hashes.get(file) ?? "", tests: byFile.get(file) ?? [] }))
  for (const one of [...kept, ...ran]) appendFileSync(path, `${JSON.stringify(one)}\n`)
  return { ...head, tests: [...tests, ...anew], hashes }
}

/** What a survey says of the mutants of a part. */
export const surveyOf = ({ hashes, keys, statics, tests }: Survey, part: ReadonlyArray<Placed>): Surveyed => {
  const byKey = new Map(part.map(({ mutant }) => [keyOf(mutant), mutant.id]))
  const ids = keys.map((key) => byKey.get(key))
  const own = tests.map(({ counts, ids: found, ...test }) => {
    const hits: Record<string, number> = {}
    for (const [at, number] of found.entries()) {
      const id = ids[number]
      if (id !== undefined) hits[id] = counts[at] ?? 0
    }
    return { ...test, hits }
  })
  return { tests: own, statics: new Set(statics.flatMap((number) => ids[number] ?? [])), hashes }
}
