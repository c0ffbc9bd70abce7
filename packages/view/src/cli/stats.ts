/** The command `kintsugi stats`: it counts errors, verdicts and costs over many runs. */
import * as Effect from "effect/Effect"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Option from "effect/Option"
import * as Recording from "../recording/Recording.ts"
import * as Stats from "../stats/Stats.ts"
import * as StatsPage from "../stats/StatsPage.ts"
import * as StatsSvg from "../stats/StatsSvg.ts"
import * as StatsText from "../stats/StatsText.ts"
import { type Bounds, boundFlags } from "./bounds.ts"
import { type Reports, writeReports } from "./examples.ts"
import { Failed, Misused } from "./failure.ts"
import { find, type Found, type Unread } from "./finding.ts"
import { binary, eachLine, nameOf, pathsOf, type Source } from "./reading.ts"
import { emphasis, remark } from "./terminal.ts"
import { formatFlag, outputFlag, targetOf, write } from "./writing.ts"

const formats = ["text", "json", "html", "svg"] as const

const paths = Argument.Path("path").pipe(
  Argument.withMetavar("<folder|file>"),
  Argument.withDescription(
    "Files of events as JSON lines; of a folder, all .jsonl and .ndjson below it, but behind no linked folder; - is standard input. Each file counts once"
  ),
  Argument.variadic({ min: 1 })
)

const json = Flag.Boolean("json").pipe(Flag.withDescription("The same as --format json"), Flag.withDefault(false))

const before = Flag.Path("before").pipe(
  Flag.withMetavar("<folder|file>"),
  Flag.withDescription("Runs to compare with, such as those before a change of a policy"),
  Flag.optional
)

const reports = Flag.Path("reports").pipe(
  Flag.withMetavar("<folder>"),
  Flag.withDescription("Writes there the report of the latest run for each kind of failure, and links it"),
  Flag.optional
)

const statsOf = (source: Source, bounds: Bounds) =>
  Effect.gen(function* () {
    const taking = Recording.start()
    const { isBinary } = yield* eachLine(source, bounds, taking.line)
    const recording = taking.recording()
    const file = yield* nameOf(source)
    if (recording.events.length > 0) return Stats.of(recording, source.type === "file" ? { file } : {})
    return yield* Effect.fail(isBinary ? binary : "there is no event in it")
  })

/** Counts the files one after the other, so that only the sums are in memory. */
const count = ({ sources, unread: left }: Found, bounds: Bounds) =>
  Effect.gen(function* () {
    let stats = Stats.empty
    const unread = [...left]
    for (const source of sources) {
      const counted = yield* Effect.result(statsOf(source, bounds))
      if (counted._tag === "Success") stats = Stats.add(stats, counted.success)
      else unread.push({ file: yield* nameOf(source), reason: counted.failure })
    }
    return { stats, unread: unread.toSorted((a, b) => (a.file < b.file ? -1 : 1)) }
  })

/** The statistics of a command, with what is shown beside them. */
interface Shown {
  readonly stats: Stats.Stats
  readonly unread: ReadonlyArray<Unread>
  readonly before?: Stats.Stats
  readonly reportOf?: Reports
}

const drawn = ({ stats, unread, ...beside }: Shown, format: (typeof formats)[number]) => {
  switch (format) {
    case "text":
      return Effect.map(emphasis, (emphasise) => StatsText.format(stats, { emphasise, ...beside }))
    case "json": {
      const { before } = beside
      return Effect.succeed(JSON.stringify({ ...stats, unread, ...(before && { before }) }, undefined, 2))
    }
    case "html":
      return Effect.succeed(StatsPage.make(stats, beside))
    case "svg":
      return Effect.succeed(StatsSvg.draw(stats))
  }
}

/** Counts the files below some paths, and names on standard error those that could not be read. */
const counted = (found: Found, bounds: Bounds) =>
  Effect.gen(function* () {
    const [link, ...others] = found.links
    if (link !== undefined) {
      const those = others.length === 0 ? "" : ` and ${others.length} more`
      yield* remark(`links to folders are not followed: ${link}${those}`)
    }
    const all = found.sources.length + found.unread.length
    if (all === 0) return yield* new Failed({ message: "there is no .jsonl or .ndjson file in it" })
    const { stats, unread } = yield* count(found, bounds)
    for (const { file, reason } of unread) yield* remark(`not counted: ${file}: ${reason}`)
    if (unread.length > 0) yield* remark(`${unread.length} of ${all} files were not counted`)
    if (stats.recordings === 0) return yield* new Failed({ message: "none of the files could be counted" })
    return { stats, unread }
  })

export const command = Command.make(
  "stats",
  { paths, before, reports, output: outputFlag, format: formatFlag(formats), json, ...boundFlags },
  (given) =>
    Effect.gen(function* () {
      if (given.json && Option.isSome(given.format) && given.format.value !== "json") {
        return yield* new Misused({ message: `--json and --format ${given.format.value} contradict each other` })
      }
      const wanted = given.json ? { ...given, format: Option.some("json" as const) } : given
      const found = yield* find(given.paths)
      const earlier = Option.isSome(given.before) ? yield* find([given.before.value]) : undefined
      // Mutant `["Stryker was here"]` survives: no output has this name
      const inputs = [...pathsOf(found.sources), ...(earlier === undefined ? [] : pathsOf(earlier.sources))]
      const target = yield* targetOf(wanted, formats, "text", inputs)
      const shown = yield* counted(found, given)
      const before = earlier === undefined ? {} : { before: (yield* counted(earlier, given)).stats }
      const reports = Option.isNone(given.reports)
        ? {}
        : { reportOf: yield* writeReports(shown.stats, found.sources, given.reports.value, target.file, given) }
      yield* write(target, yield* drawn({ ...shown, ...before, ...reports }, target.format))
    })
).pipe(
  Command.withDescription(
    "Counts over many runs: what ended runs, which errors there were, what healed them and at what cost, which errors have no row, and which tools never heal. One file is read after the other; those that cannot be read are named on standard error, and do not end it"
  ),
  Command.withShortDescription("what ended runs, what healed them and what that cost, over many runs"),
  Command.withExamples([
    { command: "kintsugi stats runs/", description: "a table of all runs in a folder" },
    {
      command: "kintsugi stats runs/ -o stats.html --reports reports/",
      description: "a page, with a report of each failure"
    },
    { command: "kintsugi stats new/ --before old/", description: "two sets of runs side by side" },
    { command: "kintsugi stats --json runs/ | jq '.tools[] | select(.healed == 0)'", description: "for machines" }
  ])
)
