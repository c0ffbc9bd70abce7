/** The page of the results, and what is wrong with them. */
import type { File } from "../../../scripts/files.ts"
import { areaOf, areaOfTests, areas, LEAST, ofProcesses } from "./areas.ts"
import { SAMPLE } from "./choice.ts"
import { hashOf } from "./hash.ts"
import type { TestsResult } from "./idle.ts"
import { type FileResult, sourceOf } from "./results.ts"

interface Score {
  readonly mutants: number
  readonly killed: number
  readonly timeouts: number
  readonly survived: number
  readonly uncompilable: number
  readonly percent: number
}

export const scoreOf = (results: ReadonlyArray<FileResult>): Score => {
  const sum = (key: "mutants" | "killed" | "timeouts" | "survived" | "uncompilable") =>
    results.reduce((total, one) => total + one[key], 0)
  const [mutants, killed, timeouts] = [sum("mutants"), sum("killed"), sum("timeouts")] as const
  const percent = mutants === 0 ? 100 : (100 * (killed + timeouts)) / mutants
  return { mutants, killed, timeouts, survived: sum("survived"), uncompilable: sum("uncompilable"), percent }
}

const tooLow = (what: string, percent: number, least: number): ReadonlyArray<string> =>
  percent < least ? [`${what}: the score is ${percent.toFixed(1)} %, below ${least} %`] : []

/** Everything for which a run fails, one line each: the whole is judged only where all of it is known. */
export const complaints = (results: ReadonlyArray<FileResult>, isWhole: boolean): ReadonlyArray<string> => [
  ...(isWhole ? tooLow("everything", scoreOf(results).percent, LEAST.overall) : []),
  ...(isWhole ? areas : []).flatMap(({ least, name }) => tooLow(name, scoreOf(ofArea(results, name)).percent, least)),
  // a small file may have nothing but mutants that no test can find out
  ...results.flatMap((one) =>
    one.unexplained.length === 0 ? [] : tooLow(one.file, scoreOf([one]).percent, LEAST.file)
  ),
  ...results.flatMap(({ file, unexplained }) =>
    unexplained.map((survivor) => `${file}:${survivor} survives, without a reason`)
  )
]

const ofArea = (results: ReadonlyArray<FileResult>, area: string) =>
  results.filter(({ file }) => areaOf(file)?.name === area)

const row = (name: string, results: ReadonlyArray<FileResult>, ...more: ReadonlyArray<string>): string => {
  const { killed, mutants, percent, survived, timeouts, uncompilable } = scoreOf(results)
  const explained = survived - results.reduce((sum, { unexplained }) => sum + unexplained.length, 0)
  const score = mutants === 0 ? "–" : percent.toFixed(1)
  const cells = [mutants, killed, timeouts, survived, explained, uncompilable, score]
  return `| ${[name, ...cells, ...more].join(" | ")} |`
}

const columns = ["mutants", "found out", "by a timeout", "survived", "explained", "do not compile", "score, %"]

const table = (name: string, more: ReadonlyArray<string>, rows: ReadonlyArray<string>): ReadonlyArray<string> => {
  const names = [name, ...columns, ...more]
  return [`| ${names.join(" | ")} |`, `| ${names.map((_, at) => (at === 0 ? "---" : "---:")).join(" | ")} |`, ...rows]
}

/** Tests whose search has ended. Those of a file that has changed since have a dagger. */
const namesOf = (results: ReadonlyArray<TestsResult>, files: ReadonlyArray<File>): ReadonlyArray<string> => {
  const today = new Map(files.map(({ path, text }) => [path, hashOf(text)]))
  return results.flatMap(({ file, hash, idle, share }) =>
    (share < 1 ? [] : idle).map((title) => `- \`${file}\`${today.get(file) === hash ? "" : " †"}: ${title}`)
  )
}

const testsTable = (results: ReadonlyArray<TestsResult>, files: ReadonlyArray<File>): ReadonlyArray<string> => [
  "## Tests that find out nothing",
  "",
  "A test finds something out when it finds out a mutant that fewer than two other tests find out. `--idle` seeks the others:",
  "once all mutants were tried, they are named below the table, if no comment explains them. What is said of a file that has changed",
  "since (†) is older than the file. Tests that come by no mutant are about types, pages, or what is loaded once. While a search",
  "goes on, what few tests come by is tried first: some that found out nothing so far may still do, and their names are in",
  "`tools/mutation/results/tests.jsonl`.",
  "",
  "| tests of | tried | mutants tried, % | found out nothing | explained | come by no mutant | files |",
  "| --- | ---: | ---: | ---: | ---: | ---: | ---: |",
  ...areas.flatMap((area) => {
    const own = results.filter(({ file }) => areaOfTests(file) === area)
    if (own.length === 0) return []
    const sum = (count: (one: TestsResult) => number) => own.reduce((total, one) => total + count(one), 0)
    const cells = [
      sum((one) => one.tests),
      Math.floor(100 * Math.min(...own.map(({ share }) => share))),
      sum(({ explained, idle }) => idle.length + explained.length),
      sum(({ explained }) => explained.length),
      sum(({ apart }) => apart.length),
      own.length
    ]
    return [`| ${[area.name, ...cells].join(" | ")} |`]
  }),
  "",
  ...namesOf(results, files),
  ""
]

/** The page. A commit with a dagger is older than the file of today. */
export const page = (
  results: ReadonlyArray<FileResult>,
  sources: ReadonlyArray<File>,
  tests: ReadonlyArray<TestsResult>,
  testFiles: ReadonlyArray<File>
): string => {
  const today = new Map(sources.map((source) => [source.path, sourceOf(source)]))
  const isOlder = ({ file, source }: FileResult) => today.get(file) !== source
  const older = results.filter(isOlder).length
  return [
    "# Mutation testing",
    "",
    "Written by `npm run mutation -- --write`; do not edit.",
    "",
    "A mutant is the source with one small mistake in it: a `<` for a `<=`, a text or a block left out, a condition that is always",
    "true. The tests of its package find the mutant out when one of them fails, or does not end, because of it. The mutants are",
    `Stryker's. Of each file one in ${SAMPLE.oneIn} is drawn, at least ${SAMPLE.least}, always the same ones; the column`,
    "'drawn from' has all. Those that survive and do not compile count apart. A comment above its line may explain a survivor. Wanted are",
    `${LEAST.overall} % of all, ${LEAST.file} % of each file with a survivor without a reason, and ${areas.map(({ least, name }) => `${least} % of ${name}`).join(", ")}.`,
    "",
    `Tried: ${results.length} of ${sources.length} files.` +
      (older === 0 ? "" : ` ${older} files (†) have changed since: their figures are those of the commit beside them.`),
    "",
    `Left out, because all of their tests start another process: ${ofProcesses.map((path) => `\`${path}\``).join(", ")}.`,
    "",
    "## Packages",
    "",
    ...table(
      "package",
      ["files"],
      [
        ...areas.map(({ name }) => {
          const all = sources.filter(({ path }) => areaOf(path)?.name === name).length
          return row(name, ofArea(results, name), `${ofArea(results, name).length} of ${all}`)
        }),
        row("**all**", results, `${results.length} of ${sources.length}`)
      ]
    ),
    "",
    ...(tests.length === 0 ? [] : testsTable(tests, testFiles)),
    "## Files",
    ...areas.flatMap(({ name }) => {
      const own = ofArea(results, name)
      return own.length === 0
        ? []
        : [
            "",
            `### ${name}`,
            "",
            ...table(
              "file",
              ["drawn from", "commit"],
              own.map((one) =>
                row(
                  `\`${one.file.slice(`packages/${name}/src/`.length)}\``,
                  [one],
                  String(one.of ?? one.mutants + one.uncompilable),
                  `${one.commit}${isOlder(one) ? " †" : ""}`
                )
              )
            )
          ]
    }),
    ""
  ].join("\n")
}
