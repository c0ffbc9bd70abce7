/** `kintsugi report`: a run as a page or a drawing, from its events. */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Stdio from "effect/Stdio"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Page from "../page/Page.ts"
import * as Recording from "../recording/Recording.ts"
import * as Scene from "../scene/Scene.ts"
import * as Svg from "../drawing/Svg.ts"
import { count } from "../text/Words.ts"
import { Failed, Misused } from "./failure.ts"
import { eachLineOrFail, nameOf, type Source } from "./reading.ts"
import { remark } from "./terminal.ts"
import { formatFlag, isDash, outputFlag, targetOf, write } from "./writing.ts"

const formats = ["html", "svg"] as const

/** More of what is broken or missing is counted. */
const shownProblems = 10

const events = Argument.Path("events").pipe(
  Argument.withMetavar("<file>"),
  Argument.withDescription("Events of a run as JSON lines; - is standard input, and so is no file at all"),
  Argument.optional
)

const title = Flag.String("title").pipe(
  Flag.withDescription("What the report is called; by default the agents in it"),
  Flag.optional
)

const sourceOf = (given: Option.Option<string>) =>
  Effect.gen(function* () {
    const path = Option.getOrUndefined(given)
    if (path !== undefined && !(yield* isDash(path))) return { type: "file", path } as const
    const isTerminal = yield* Stdio.Stdio.use(({ stdinIsTerminal }) => stdinIsTerminal)
    if (path === undefined && isTerminal)
      return yield* new Misused({ message: "name a file of events, or pipe one in" })
    return { type: "stdin" } as const
  })

const isFolder = (source: Source) =>
  source.type === "stdin"
    ? Effect.succeed(false)
    : FileSystem.FileSystem.use((fs) =>
        Effect.orElseSucceed(
          Effect.map(fs.stat(source.path), ({ type }) => type === "Directory"),
          () => false
        )
      )

/** The events of a file, however broken it is; what is wrong with them is said. */
const recorded = (source: Source) =>
  Effect.gen(function* () {
    const name = yield* nameOf(source)
    if (yield* isFolder(source)) {
      return yield* new Failed({ message: `${name} is a folder: kintsugi stats reads all runs in one` })
    }
    const taking = Recording.start()
    yield* eachLineOrFail(source, taking.line)
    const recording = taking.recording()
    for (const { line, says } of recording.problems.slice(0, shownProblems)) {
      yield* remark(`${name}${line === undefined ? "" : `:${line}`}: ${says}`)
    }
    const others = recording.problems.length - shownProblems
    if (others > 0) yield* remark(`${name}: ${count(others, "more problem")}`)
    if (recording.events.length === 0) {
      return yield* new Failed({
        message: `${name} has no event in it: one is a line of JSON, as AgentEvent writes it`
      })
    }
    return recording
  })

export const command = Command.make(
  "report",
  { events, output: outputFlag, format: formatFlag(formats), title },
  (given) =>
    Effect.gen(function* () {
      const source = yield* sourceOf(given.events)
      const target = yield* targetOf(given, formats, "html", source.type === "file" ? [source.path] : [])
      const recording = yield* recorded(source)
      const options = Option.match(given.title, { onNone: () => ({}), onSome: (title) => ({ title }) })
      const text = target.format === "svg" ? Svg.draw(Scene.make(recording), options) : Page.make(recording, options)
      yield* write(target, text)
    })
).pipe(
  Command.withDescription(
    "Draws a run from its events: one HTML file without any other, or with -o FILE.svg its timeline alone. What is broken or missing in the events is said on standard error, and the rest is drawn"
  ),
  Command.withShortDescription("a run as one HTML file, or its timeline as SVG"),
  Command.withExamples([
    { command: "kintsugi report events.jsonl -o report.html", description: "the report of a run" },
    { command: "kintsugi report events.jsonl -o report.svg", description: "its timeline alone" },
    { command: "grep run-7 all.jsonl | kintsugi report > report.html", description: "from a pipe, to standard output" }
  ])
)
