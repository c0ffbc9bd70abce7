/** The command `kintsugi report`: it draws a run as a page or an SVG, from its events. */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Path from "effect/Path"
import * as Stdio from "effect/Stdio"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Comparison from "../comparison/Comparison.ts"
import * as ComparisonPage from "../comparison/page/ComparisonPage.ts"
import * as ComparisonText from "../comparison/ComparisonText.ts"
import * as Page from "../page/Page.ts"
import { countOf } from "../recording/Problem.ts"
import { editorOf, isWeb, type Links } from "../recording/Links.ts"
import { outcomeOf, sentenceOf } from "../recording/Outcome.ts"
import * as Recording from "../recording/Recording.ts"
import * as TestFile from "../replay/TestFile.ts"
import * as Scene from "../scene/Scene.ts"
import * as Svg from "../drawing/Svg.ts"
import { visible } from "../text/Escape.ts"
import { count } from "../text/Words.ts"
import { type Bounds, boundFlags } from "./bounds.ts"
import { Failed, Misused } from "./failure.ts"
import { binary, eachLineOrFail, nameOf, pathsOf, type Source } from "./reading.ts"
import { emphasis, print, remark } from "./terminal.ts"
import { formatFlag, isDash, outputFlag, shown, targetOf, type Wanted, write } from "./writing.ts"

const formats = ["html", "svg"] as const

/** A comparison is a text or a page. */
const comparisonFormats = ["text", "html"] as const

/** The most problems that are printed one by one. Further ones are only counted. */
const shownProblems = 10

const files = Argument.Path("events").pipe(
  Argument.withMetavar("<file>"),
  Argument.withDescription(
    "Events of a run as JSON lines; - is standard input, and so is no file at all. Two files are compared"
  ),
  Argument.variadic({ min: 0, max: 2 })
)

const title = Flag.String("title").pipe(
  Flag.withDescription("What the report is called; by default the agents in it"),
  Flag.optional
)

const traceUrl = Flag.String("trace-url").pipe(
  Flag.withMetavar("<template>"),
  Flag.withDescription(
    "The address of a run's trace, linked in the report; {runId}, {from} and {to} (milliseconds since the epoch) are replaced"
  ),
  Flag.optional
)

const docsUrl = Flag.String("docs-url").pipe(
  Flag.withMetavar("<template>"),
  Flag.withDescription(
    "The address of Kintsugi's documentation, to which errors and rows are linked; {page} is replaced"
  ),
  Flag.optional
)

const editor = Flag.String("editor").pipe(
  Flag.withMetavar("<name>"),
  Flag.withDescription(
    "Links tools to their code: vscode, cursor, idea, or an address in which {file}, {line} and {column} are replaced. The events have the code's location if the run had KINTSUGI_DEFINED_AT=1"
  ),
  Flag.optional
)

interface Linked {
  readonly traceUrl: Option.Option<string>
  readonly docsUrl: Option.Option<string>
  readonly editor: Option.Option<string>
}

/** The links of a report. Their templates must be addresses of the web, or of an editor. */
const linksOf = (given: Linked) =>
  Effect.gen(function* () {
    const [trace, docs] = [Option.getOrUndefined(given.traceUrl), Option.getOrUndefined(given.docsUrl)]
    for (const [name, template] of [
      ["--trace-url", trace],
      ["--docs-url", docs]
    ] as const)
      if (template !== undefined && !isWeb(template))
        return yield* new Misused({ message: `${name} must begin with https:// or http://` })
    const named = Option.getOrUndefined(given.editor)
    const editor = named === undefined ? undefined : editorOf(named)
    if (named !== undefined && editor === undefined)
      return yield* new Misused({ message: "--editor must be vscode, cursor, idea, or an address with {file}" })
    const folder = yield* Path.Path.useSync((path) => path.resolve(""))
    return {
      ...(editor === undefined ? {} : { editor, folder }),
      // Mutant `false` survives: JSON leaves out what is undefined
      ...(trace === undefined ? {} : { trace }),
      // Mutant `false` survives: JSON leaves out what is undefined
      ...(docs === undefined ? {} : { docs })
    } satisfies Links
  })

/** Prints the outcome of a run, and the address of its failure in the report that was written. */
const answer = (recording: Recording.Recording, file: string | undefined, format: string) =>
  Effect.gen(function* () {
    const outcome = outcomeOf(recording)
    // the report itself is on standard output
    if (file === undefined || outcome === undefined) return
    const { fatal } = outcome
    const selected = fatal === undefined || format !== "html" ? "" : `#e=${fatal.index}`
    const row = fatal?.row === undefined ? [] : [`A row that would have gone on: ${fatal.row.code}`]
    const lines = [sentenceOf(outcome), ...row, `${yield* shown(file)}${selected}`]
    yield* print(`${lines.map((line) => visible(line).replaceAll(/\s+/g, " ")).join("\n")}\n`)
  })

export const sourceOf = (given: Option.Option<string>) =>
  Effect.gen(function* () {
    const path = Option.getOrUndefined(given)
    if (path !== undefined && !(yield* isDash(path))) return { type: "file", path } as const
    const isTerminal = yield* Stdio.Stdio.use(({ stdinIsTerminal }) => stdinIsTerminal)
    if (path === undefined && isTerminal)
      return yield* new Misused({ message: "name a file of events, or pipe one in" })
    return { type: "stdin" } as const
  })

/** The complaint about a path that leads to something other than a file, with the way to read it. */
const insteadOf = (source: Source) =>
  source.type === "stdin"
    ? Effect.succeed(undefined)
    : FileSystem.FileSystem.use((fs) =>
        Effect.orElseSucceed(
          Effect.map(fs.stat(source.path), ({ type }) => instead.get(type)),
          () => undefined
        )
      )

const instead: ReadonlyMap<FileSystem.File.Type, string> = new Map([
  ["Directory", "is a folder: kintsugi stats reads all runs in one"],
  // Node reads files at positions, which pipes and sockets do not have, and waits for a writer that may never come
  ["FIFO", "is a pipe: redirect it to standard input, kintsugi report < pipe"],
  ["Socket", "is a socket, and events are in files"]
])

/** Reads the events of a file, even if the file is broken. Its problems are printed. */
export const recorded = (source: Source, bounds: Bounds) =>
  Effect.gen(function* () {
    const name = yield* nameOf(source)
    const other = yield* insteadOf(source)
    if (other !== undefined) return yield* new Failed({ message: `${name} ${other}` })
    const taking = Recording.start()
    const { isBinary } = yield* eachLineOrFail(source, bounds, taking.line)
    const recording = taking.recording()
    if (isBinary && recording.events.length === 0)
      return yield* new Failed({ message: `cannot read ${name}: ${binary}` })
    for (const { line, says } of recording.problems.slice(0, shownProblems)) {
      yield* remark(`${name}${line === undefined ? "" : `:${line}`}: ${says}`)
    }
    const others = countOf(recording.problems.slice(shownProblems))
    if (others > 0) yield* remark(`${name}: ${count(others, "more problem")}`)
    if (recording.events.length === 0) {
      return yield* new Failed({
        message: `${name} has no event in it: one is a line of JSON, as AgentEvent writes it`
      })
    }
    return recording
  })

/** Draws the report. If the user has raised the bounds, the result may be too long for a string: then it fails with a message. */
const fitting = (draw: () => string) =>
  Effect.suspend(() => {
    try {
      return Effect.succeed(draw())
    } catch (error) {
      const isTooLong = error instanceof RangeError && error.message.includes("string length")
      const message = "the events are too many for one report; kintsugi stats counts them"
      return isTooLong ? Effect.fail(new Failed({ message })) : Effect.die(error)
    }
  })

/** Compares two files of events. The text goes to standard output by default. */
const compared = (first: string, second: string, given: Wanted<"html" | "svg" | "text"> & Titled & Bounds) =>
  Effect.gen(function* () {
    const sources = [yield* sourceOf(Option.some(first)), yield* sourceOf(Option.some(second))] as const
    if (Option.contains(given.format, "svg"))
      return yield* new Misused({ message: "a comparison is a text or a page: --format text or html" })
    const wanted = { ...given, format: Option.filter(given.format, (format) => format !== "svg") }
    const target = yield* targetOf(wanted, comparisonFormats, "text", pathsOf(sources))
    const comparison = Comparison.make(yield* recorded(sources[0], given), yield* recorded(sources[1], given))
    const labels = yield* labelsOf(...sources)
    if (target.format === "html")
      return yield* write(target, ComparisonPage.make(comparison, { ...labels, ...titleOf(given) }))
    const emphasise = yield* emphasis
    yield* write(target, ComparisonText.format(comparison, { ...labels, emphasise }))
  })

/** The names of two sources: without their folders, unless the rest is the same. */
const labelsOf = (first: Source, second: Source) =>
  Effect.gen(function* () {
    const path = yield* Path.Path
    const names = [yield* nameOf(first), yield* nameOf(second)] as const
    const [a, b] = [path.basename(names[0]), path.basename(names[1])]
    return a === b ? { first: names[0], second: names[1] } : { first: a, second: b }
  })

interface Titled {
  readonly title: Option.Option<string>
}

const titleOf = ({ title }: Titled) =>
  Option.match(title, { onNone: () => ({}), onSome: (title): { readonly title?: string } => ({ title }) })

export const command = Command.make(
  "report",
  {
    files,
    output: outputFlag,
    format: formatFlag(["html", "svg", "text"]),
    title,
    traceUrl,
    docsUrl,
    editor,
    ...boundFlags
  },
  (given) =>
    Effect.gen(function* () {
      const [first, second] = given.files
      if (first !== undefined && second !== undefined) return yield* compared(first, second, given)
      const source = yield* sourceOf(Option.fromUndefinedOr(first))
      if (Option.contains(given.format, "text"))
        return yield* new Misused({ message: "a text is about two files: kintsugi report before.jsonl after.jsonl" })
      const wanted = { ...given, format: Option.filter(given.format, (format) => format !== "text") }
      const target = yield* targetOf(wanted, formats, "html", pathsOf([source]))
      const links = yield* linksOf(given)
      const recording = yield* recorded(source, given)
      const options = titleOf(given)
      const drawn = () =>
        target.format === "svg"
          ? Svg.draw(Scene.make(recording), options)
          : Page.make(recording, { ...options, links, ...TestFile.forPage(recording) })
      yield* write(target, yield* fitting(drawn))
      yield* answer(recording, target.file, target.format)
    })
).pipe(
  Command.withDescription(
    "Draws a run from its events: one HTML file without any other, or with -o FILE.svg its timeline alone. With -o, standard output says how the run ended. Two files are compared: as text, or with -o FILE.html as a page. What is broken or missing in the events is said on standard error, and the rest is drawn"
  ),
  Command.withShortDescription("a run as one HTML file, or its timeline as SVG"),
  Command.withExamples([
    { command: "kintsugi report events.jsonl -o report.html", description: "the report of a run" },
    { command: "kintsugi report events.jsonl -o report.svg", description: "its timeline alone" },
    { command: "kintsugi report before.jsonl after.jsonl", description: "two runs, compared step by step" },
    { command: "grep run-7 all.jsonl | kintsugi report > report.html", description: "from a pipe, to standard output" }
  ])
)
