/** Mutation testing: says how many small mistakes in the sources the tests find out. `--help` lists the options. */
import { spawnSync } from "node:child_process"
import { rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { Effect } from "effect"
import { main } from "../../../scripts/commandLine.ts"
import { type File, filesIn, root } from "../../../scripts/files.ts"
import { installIn } from "../../../scripts/sdk.ts"
import { type Area, areaOf, areaOfTests, areas, isTried, partOf } from "./areas.ts"
import { survey, surveyOf } from "./baseline.ts"
import { sampleOf } from "./choice.ts"
import { hunt } from "./hunt.ts"
import { huntsOf, testsResults, type Written, writtenOf } from "./idle.ts"
import { instrument } from "./instrument.ts"
import { tryAll } from "./mutants.ts"
import { cache, type Survey } from "./protocol.ts"
import { reasonsIn } from "./reasons.ts"
import { complaints, page, scoreOf } from "./report.ts"
import {
  type FileResult,
  idleReasons,
  keepResults,
  keepTests,
  readResults,
  readTests,
  resultOf,
  retriedOf,
  sourceOf,
  survivorsIn
} from "./results.ts"
import { parse, type Settings } from "./settings.ts"
import { uncompilable } from "./types.ts"

const say = (line: string) => process.stdout.write(`${line}\n`)

const commit = (): string =>
  spawnSync("git", ["rev-parse", "--short", "HEAD"], { encoding: "utf8", cwd: root }).stdout.trim()

interface Tried {
  readonly results: ReadonlyArray<FileResult>
  /** Reasons that explain nothing. */
  readonly idle: ReadonlyArray<string>
}

/** Tries the mutants of a part of an area, and keeps what came of it. */
const tryFiles = async (
  files: ReadonlyArray<File>,
  surveyed: Survey,
  { all, share, workers }: Settings
): Promise<Tried> => {
  const there = await instrument(files)
  const placed = all ? there : sampleOf(there)
  const tried = await tryAll(placed, files, surveyOf(surveyed, placed), { say, share, workers })
  const survivors = new Set(tried.filter(({ status }) => status === "survived").map(({ mutant }) => mutant.id))
  const senseless = uncompilable(
    placed.filter(({ mutant }) => survivors.has(mutant.id)),
    files
  )
  const idle: Array<string> = []
  const results = files.map((source) => {
    const own = tried.filter(({ mutant }) => mutant.file === source.path)
    const outcomes = own.filter(({ mutant }) => !senseless.has(mutant.id))
    const { reasons } = reasonsIn(source)
    // a reason may be that of a mutant that was not drawn
    if (all) idle.push(...idleReasons(outcomes, reasons))
    const of = all ? {} : { of: there.filter(({ mutant }) => mutant.file === source.path).length }
    return resultOf(source, outcomes, own.length - outcomes.length, reasons, { commit: commit(), ...of })
  })
  keepResults(results, sources())
  return { results, idle }
}

/** Tries the survivors of a part of an area, and keeps what came of it. */
const retry = async (files: ReadonlyArray<File>, surveyed: Survey, { share, workers }: Settings): Promise<Tried> => {
  const there = await instrument(files)
  const drawn = sampleOf(there)
  const before = new Map(readResults().map((result) => [result.file, result]))
  const parts = files.flatMap((source) => {
    const result = before.get(source.path)
    if (result === undefined) return []
    const placed = result.of === undefined ? there : drawn
    const all = placed.map(({ mutant }) => mutant).filter(({ file }) => file === source.path)
    const { reasons } = reasonsIn(source)
    return [{ result, all, reasons, left: survivorsIn(result, all, reasons) }]
  })
  const left = new Set(parts.flatMap((part) => part.left))
  const placed = there.filter(({ mutant }) => left.has(mutant))
  const tried = await tryAll(placed, files, surveyOf(surveyed, placed), { say, share, workers })
  const results = parts.map(({ all, reasons, result }) =>
    retriedOf(
      result,
      all,
      tried.filter(({ mutant }) => mutant.file === result.file),
      reasons,
      commit()
    )
  )
  keepResults(results, sources())
  return { results, idle: [] }
}

const sources = (): ReadonlyArray<File> => filesIn("packages", (path) => areaOf(path) !== undefined)

const sourcesOf = (area: Area): ReadonlyArray<File> => sources().filter(({ path }) => areaOf(path) === area)

interface Chosen {
  readonly area: Area
  readonly files: ReadonlyArray<File>
}

/** The files that the command line asks for. */
const chosenBy = ({ paths, resume, shard: [k, n], survivors }: Settings): ReadonlyArray<Chosen> => {
  const before = new Map(readResults().map((result) => [result.file, result]))
  const isSame = (source: File) => before.get(source.path)?.source === sourceOf(source)
  const isWeak = ({ path }: File) => (before.get(path)?.survivors.length ?? 0) > 0
  const chosen = sources().filter(
    ({ path }) => paths.length === 0 || paths.some((one) => path === one || path.startsWith(`${one}/`))
  )
  const shard = partOf(chosen, k, n).filter((source) =>
    survivors ? isSame(source) && isWeak(source) : !(resume && isSame(source))
  )
  return areas
    .map((area) => ({ area, files: shard.filter(({ path }) => areaOf(path) === area) }))
    .filter(({ files }) => files.length > 0)
}

/** Parts that are tried one after the other. */
const partsOf = (files: ReadonlyArray<File>): ReadonlyArray<ReadonlyArray<File>> => {
  const size = files.reduce((sum, { text }) => sum + text.length, 0)
  const count = Math.max(1, Math.round(size / PART))
  return Array.from({ length: count }, (_, at) => partOf(files, at + 1, count)).filter((part) => part.length > 0)
}

/** Characters of the sources that are instrumented together: with more, the tests become slow, and what they come by much. */
const PART = 60_000

/** Seeks tests that find out nothing. */
const seek = async (path: string, { all, survivors }: Settings): Promise<number> => {
  const area = areaOfTests(path)
  if (area === undefined) return 0
  const mutated = sourcesOf(area)
  const surveyed = await survey(area, mutated, say)
  const before = new Map(readTests().map((result) => [result.file, result]))
  const isSame = (file: string) => before.get(file)?.hash === surveyed.hashes.get(file)
  const idleThen = (file: string) => before.get(file)?.idle ?? []
  const files = filesIn(path, isTried).filter(
    (file) => !survivors || !isSame(file.path) || idleThen(file.path).length > 0
  )
  const paths = new Set(files.map((file) => file.path))
  const written = writtenOf(surveyed.tests)
  const isSought = ({ file, title }: Written) =>
    paths.has(file) && (!survivors || !isSame(file) || idleThen(file).includes(title))
  const useful = new Set(written.flatMap((one) => (isSought(one) ? [] : one.site)))
  const there = await instrument(mutated)
  const drawn = new Set((all ? there : sampleOf(there)).map(({ mutant }) => Number(mutant.id)))
  const drawnShare = drawn.size / there.length
  const hunts = huntsOf(surveyed.tests, (id) => drawn.has(id), useful)
  const resultsOf = (found: ReadonlySet<string>, share: number) =>
    testsResults(surveyed.hashes, written, files, found, { commit: commit(), share })
  const found = await hunt(surveyed.tests, hunts, useful, (soFar, done) => {
    const results = resultsOf(soFar, (drawnShare * done) / hunts.length)
    keepTests(results)
    const { length } = results.flatMap(({ idle }) => idle)
    say(`${done} of ${hunts.length} mutants tried: ${length} tests find out nothing`)
  })
  const results = resultsOf(found, drawnShare)
  keepTests(results)
  const idle = results.flatMap(({ file, idle }) => idle.map((title) => `${file} > ${title}`))
  for (const line of idle) say(`finds out nothing: ${line}`)
  say(`${results.reduce((sum, { tests }) => sum + tests, 0)} tests, ${idle.length} find out nothing`)
  return idle.length === 0 ? 0 : 1
}

const mutate = async (settings: Settings): Promise<number> => {
  const problems = sources().flatMap((source) => reasonsIn(source).problems)
  if (problems.length > 0) throw new Error(`reasons that cannot be read:\n${problems.join("\n")}`)
  if (!installIn("tools/mutation")) throw new Error("could not install the instrumenter: see the messages above")
  if (settings.fresh) rmSync(cache, { recursive: true, force: true })
  if (settings.idle !== undefined) return seek(settings.idle, settings)
  const results: Array<FileResult> = []
  const idle: Array<string> = []
  for (const { area, files } of settings.write ? [] : chosenBy(settings)) {
    const surveyed = await survey(area, sourcesOf(area), say)
    for (const { key, passed } of surveyed.tests) if (!passed) say(`fails without a mutant, and is left out: ${key}`)
    const parts = partsOf(files)
    for (const [at, part] of parts.entries()) {
      say(`${area.name}, part ${at + 1} of ${parts.length}: ${part[0]?.path} to ${part.at(-1)?.path}`)
      const tried = await (settings.survivors ? retry : tryFiles)(part, surveyed, settings)
      results.push(...tried.results)
      idle.push(...tried.idle)
    }
  }
  if (settings.write) {
    writeFileSync(
      join(root, "docs/reports/mutation.md"),
      page(readResults(), sources(), readTests(), filesIn("test", isTried))
    )
    results.push(...readResults())
  }
  for (const one of results) {
    const { mutants, percent, survived } = scoreOf([one])
    say(
      `${percent.toFixed(1).padStart(5)} %  ${String(survived).padStart(4)} of ${String(mutants).padStart(4)}  ${one.file}`
    )
  }
  const wrong = [...complaints(results, settings.write), ...idle]
  for (const line of wrong) say(line)
  const { mutants, percent, survived } = scoreOf(results)
  say(`${mutants} mutants, ${survived} survived: ${percent.toFixed(1)} %`)
  return wrong.length === 0 ? 0 : 1
}

await main(parse, (settings) => Effect.promise(() => mutate(settings)))
