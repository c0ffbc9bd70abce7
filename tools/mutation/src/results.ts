/** What is known of each file, by the last part that it was in: one line per file, in `results`, so that parts of other machines merge. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { type File, pathsIn, root } from "../../../scripts/files.ts"
import { hashOf } from "./hash.ts"
import { areaOf, areas, isTried } from "./areas.ts"
import type { TestsResult } from "./idle.ts"
import { keyOf } from "./instrument.ts"
import type { Mutant, Outcome } from "./protocol.ts"
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
  /** The digests of all survivors. */
  readonly survivors: ReadonlyArray<string>
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

const digestOf = (mutant: Mutant): string => hashOf(keyOf(mutant))

/** The survivors that no reason explains, among all mutants of the file. */
const unexplainedOf = (
  survivors: ReadonlyArray<Mutant>,
  all: ReadonlyArray<Mutant>,
  reasons: ReadonlyArray<Reason>
): ReadonlyArray<Mutant> => {
  const explained = new Set(named(reasons, all).flatMap(({ mutants }) => mutants))
  return survivors.filter((mutant) => !explained.has(mutant))
}

const survivorsOf = (survivors: ReadonlyArray<Mutant>, all: ReadonlyArray<Mutant>, reasons: ReadonlyArray<Reason>) => ({
  survived: survivors.length,
  unexplained: unexplainedOf(survivors, all, reasons).map(
    (mutant) => `${mutant.line}: ${nameOf(mutant, all)} for ${mutant.from}`
  ),
  survivors: survivors.map(digestOf)
})

/** The result of one file. */
export const resultOf = (
  source: File,
  outcomes: ReadonlyArray<Outcome>,
  uncompilable: number,
  reasons: ReadonlyArray<Reason>,
  { commit, of }: Pick<FileResult, "commit" | "of">
): FileResult => {
  const withStatus = (status: Outcome["status"]) => outcomes.filter((one) => one.status === status)
  const all = outcomes.map(({ mutant }) => mutant)
  return {
    file: source.path,
    commit,
    source: sourceOf(source),
    ...(of === undefined ? {} : { of }),
    mutants: outcomes.length,
    killed: withStatus("killed").length,
    timeouts: withStatus("timeout").length,
    uncompilable,
    ...survivorsOf(
      withStatus("survived").map(({ mutant }) => mutant),
      all,
      reasons
    )
  }
}

/** Those of the mutants of a file that survived the last time, and that no reason explains. */
export const survivorsIn = (
  { survivors }: FileResult,
  all: ReadonlyArray<Mutant>,
  reasons: ReadonlyArray<Reason>
): ReadonlyArray<Mutant> => {
  const digests = new Set(survivors)
  return unexplainedOf(
    all.filter((mutant) => digests.has(digestOf(mutant))),
    all,
    reasons
  )
}

/** The result of one file after survivors were tried again: what was found out before counts as found out. */
export const retriedOf = (
  before: FileResult,
  all: ReadonlyArray<Mutant>,
  outcomes: ReadonlyArray<Outcome>,
  reasons: ReadonlyArray<Reason>,
  commit: string
): FileResult => {
  const count = (status: Outcome["status"]) => outcomes.filter((one) => one.status === status).length
  const found = new Set(outcomes.flatMap(({ mutant, status }) => (status === "survived" ? [] : digestOf(mutant))))
  const left = new Set(before.survivors.filter((digest) => !found.has(digest)))
  return {
    ...before,
    commit,
    killed: before.killed + count("killed"),
    timeouts: before.timeouts + count("timeout"),
    ...survivorsOf(
      all.filter((mutant) => left.has(digestOf(mutant))),
      all,
      reasons
    )
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
