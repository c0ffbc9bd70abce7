/** What is known of each file, by the last part that it was in: one line per file, in `results`, so that parts of other machines merge. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { type File, pathsIn, root } from "../../../scripts/files.ts"
import { hashOf } from "./hash.ts"
import { areaOf, areas, isTried } from "./areas.ts"
import type { TestsResult } from "./idle.ts"
import type { Outcome } from "./protocol.ts"
import { nameOf, named, type Reason, withoutReasons } from "./reasons.ts"

/** What came of the mutants of a file. */
export interface FileResult {
  readonly file: string
  /** The commit on which they were tried. */
  readonly commit: string
  /** What the source was then, without the reasons in it. */
  readonly source: string
  /** How many mutants the file has, of which some were drawn; without it all were tried. */
  readonly of?: number
  readonly mutants: number
  readonly killed: number
  readonly timeouts: number
  readonly survived: number
  /** They are not among the mutants. */
  readonly uncompilable: number
  /** The survivors that no comment explains, by line and name. */
  readonly unexplained: ReadonlyArray<string>
}

const folder = join(root, "tools/mutation/results")
const pathOf = (area: string) => join(folder, `${area}.jsonl`)

/** What a source is to its mutants. */
export const sourceOf = ({ text }: File): string => hashOf(withoutReasons(text))

const linesOf = (path: string): ReadonlyArray<string> =>
  existsSync(path)
    ? readFileSync(path, "utf8")
        .split("\n")
        .filter((line) => line !== "")
    : []

const readArea = (area: string): ReadonlyArray<FileResult> => linesOf(pathOf(area)).map((line) => JSON.parse(line))

export const readResults = (): ReadonlyArray<FileResult> => areas.flatMap(({ name }) => readArea(name))

/** Writes results in the stead of those of the same files; those of files that are gone go. */
const merge = <A extends { readonly file: string }>(
  path: string,
  before: ReadonlyArray<A>,
  results: ReadonlyArray<A>,
  there: ReadonlySet<string>
): void => {
  const anew = new Set(results.map(({ file }) => file))
  const all = [...before.filter(({ file }) => there.has(file) && !anew.has(file)), ...results]
  const lines = all.toSorted((a, b) => (a.file < b.file ? -1 : 1)).map((one) => `${JSON.stringify(one)}\n`)
  mkdirSync(folder, { recursive: true })
  writeFileSync(path, lines.join(""))
}

export const keepResults = (results: ReadonlyArray<FileResult>, sources: ReadonlyArray<File>): void => {
  const there = new Set(sources.map(({ path }) => path))
  for (const { name } of areas) {
    const own = results.filter(({ file }) => areaOf(file)?.name === name)
    if (own.length > 0) merge(pathOf(name), readArea(name), own, there)
  }
}

const testsPath = join(folder, "tests.jsonl")

export const readTests = (): ReadonlyArray<TestsResult> => linesOf(testsPath).map((line) => JSON.parse(line))

export const keepTests = (results: ReadonlyArray<TestsResult>): void =>
  merge(testsPath, readTests(), results, new Set(pathsIn("test", isTried)))

/** The result of one file. */
export const resultOf = (
  source: File,
  outcomes: ReadonlyArray<Outcome>,
  uncompilable: number,
  reasons: ReadonlyArray<Reason>,
  { commit, of }: Pick<FileResult, "commit" | "of">
): FileResult => {
  const count = (status: Outcome["status"]) => outcomes.filter((one) => one.status === status).length
  const all = outcomes.map(({ mutant }) => mutant)
  const explained = new Set(named(reasons, all).flatMap(({ mutants }) => mutants))
  const unexplained = outcomes
    .filter(({ mutant, status }) => status === "survived" && !explained.has(mutant))
    .map(({ mutant }) => `${mutant.line}: ${nameOf(mutant, all)} for ${mutant.from}`)
  return {
    file: source.path,
    commit,
    source: sourceOf(source),
    ...(of === undefined ? {} : { of }),
    mutants: outcomes.length,
    killed: count("killed"),
    timeouts: count("timeout"),
    survived: count("survived"),
    uncompilable,
    unexplained
  }
}

/** Reasons that explain nothing: they name no mutant of their line, or one that is found out. */
export const idleReasons = (
  outcomes: ReadonlyArray<Outcome>,
  reasons: ReadonlyArray<Reason>
): ReadonlyArray<string> => {
  const survivors = new Set(outcomes.filter(({ status }) => status === "survived").map(({ mutant }) => mutant))
  const all = outcomes.map(({ mutant }) => mutant)
  return named(reasons, all).flatMap(({ mutants, reason: { file, line, to } }) =>
    mutants.length === 0
      ? [`${file}:${line}: a reason names no mutant of this line: ${to}`]
      : mutants
          .filter((mutant) => !survivors.has(mutant))
          .map(({ from }) => `${file}:${line}: is found out and needs no reason: ${from} => ${to}`)
  )
}
