/** The tests without a mutant: which pass, how long they take, which mutants they come by. Kept as long as nothing changed. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { type File, filesIn } from "../../../scripts/files.ts"
import { type Area, isTried, sharedTests } from "./areas.ts"
import { hashOf } from "./hash.ts"
import { instrument, keyOf, type Placed } from "./instrument.ts"
import { run } from "./processes.ts"
import { type Baseline, cache, type Head, type Measured, type Survey } from "./protocol.ts"
import { withoutReasons } from "./reasons.ts"

/** What the tests of a file came by, as long as the file has this hash, and the sources that they came by have theirs. */
interface Stored {
  readonly file: string
  readonly hash: string
  readonly sources: Readonly<Record<string, string>>
  readonly tests: ReadonlyArray<Measured>
}

/** The same for the mutants of a part, by their ids in it. */
export interface Surveyed {
  readonly tests: ReadonlyArray<Baseline>
  readonly statics: ReadonlySet<string>
  readonly hashes: ReadonlyMap<string, string>
}

const read = (path: string, base: string): { readonly head: Head; readonly stored: ReadonlyArray<Stored> } => {
  const none = { head: { base, keys: [], statics: [] }, stored: [] }
  if (!existsSync(path)) return none
  const [first, ...others] = readFileSync(path, "utf8").split("\n").slice(0, -1)
  if (first === undefined) return none
  const head: Head = JSON.parse(first)
  return head.base === base ? { head, stored: others.map((line) => JSON.parse(line)) } : none
}

/** A test with the numbers that its mutants have now; those that are no more are left out. */
const renumbered = ({ counts, ids, ...test }: Measured, numbers: ReadonlyArray<number | undefined>): Measured => {
  const found = ids.flatMap((id, at) => {
    const number = numbers[id]
    return number === undefined ? [] : [[number, counts[at] ?? 0] as const]
  })
  return { ...test, ids: found.map(([id]) => id), counts: found.map(([, count]) => count) }
}

/** The survey of the test files of an area, while all of its sources have their mutants; only what changed is run. */
export const survey = async (
  { name, tests: folders }: Area,
  mutated: ReadonlyArray<File>,
  say: (line: string) => void
): Promise<Survey> => {
  const path = join(cache, "baselines", `${name}.jsonl`)
  const sources = new Map(mutated.map(({ path, text }) => [path, hashOf(withoutReasons(text))]))
  const others = filesIn("packages", (file) => file.endsWith(".ts") && !sources.has(file))
  const all = [sharedTests, ...folders].flatMap((folder) => filesIn(folder, (file) => file.endsWith(".ts")))
  const shared = all.filter((file) => !file.path.endsWith(".test.ts"))
  const runner = filesIn("tools/mutation/src", (file) => file.endsWith("/runner.ts"))
  const base = hashOf(...[...others, ...shared, ...runner].map(({ path, text }) => path + withoutReasons(text)))
  const hashes = new Map(all.filter((file) => isTried(file.path)).map(({ path, text }) => [path, hashOf(text)]))
  const before = read(path, base)
  const isSame = (one: Stored) =>
    hashes.get(one.file) === one.hash &&
    Object.entries(one.sources).every(([source, hash]) => sources.get(source) === hash)
  const kept = before.stored.filter(isSame)
  const there = new Set(kept.map(({ file }) => file))
  const changed = [...hashes.keys()].filter((file) => !there.has(file))
  const keys: Array<string> = []
  const files: Array<string> = []
  for (const { mutant } of await instrument(mutated)) {
    keys[Number(mutant.id)] = keyOf(mutant)
    files[Number(mutant.id)] = mutant.file
  }
  // the instrumenter leaves out some numbers
  const numberOf = new Map(keys.flatMap((key, number) => [[key, number] as const]))
  const numbers = before.head.keys.map((key) => numberOf.get(key))
  const stored = kept.map((one) => ({ ...one, tests: one.tests.map((test) => renumbered(test, numbers)) }))
  const statics = new Set(before.head.statics.flatMap((id) => numbers[id] ?? []))
  if (changed.length > 0) {
    say(`running the tests of ${changed.length} files without mutants`)
    const said = await run({ mode: "baseline", files: changed, mutants: keys.length })
    if (said.lines.at(-1)?.type !== "done") {
      throw new Error(`the tests did not end; at ${JSON.stringify(said.stuckAt)}\n${said.printed}`)
    }
    for (const line of said.lines) if (line.type === "static") for (const id of line.ids) statics.add(id)
    const anew = said.lines.flatMap((line) => (line.type === "test" ? [line.test] : []))
    const byFile = Map.groupBy(anew, ({ file }) => file)
    for (const file of changed) {
      const tests = byFile.get(file) ?? []
      const reached = new Set(tests.flatMap(({ ids }) => ids.map((id) => files[id])))
      const own = [...sources].filter(([source]) => reached.has(source))
      stored.push({ file, hash: hashes.get(file) ?? "", sources: Object.fromEntries(own), tests })
    }
  }
  const head: Head = { base, keys, statics: [...statics] }
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, [head, ...stored].map((line) => `${JSON.stringify(line)}\n`).join(""))
  return { ...head, tests: stored.flatMap(({ tests }) => tests), hashes }
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
