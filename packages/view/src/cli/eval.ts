/** The command `kintsugi eval`: it shows a comparison of policies, from the JSON of a report of `Eval`. */
import type { EvalReport } from "@kintsugi/core/testing/Eval"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as EvalPage from "../eval/EvalPage.ts"
import * as EvalSvg from "../eval/EvalSvg.ts"
import { visible } from "../text/Escape.ts"
import { type Bounds, boundFlags } from "./bounds.ts"
import { Failed } from "./failure.ts"
import { eachLineOrFail, nameOf, pathsOf, type Source } from "./reading.ts"
import { formatFlag, isDash, outputFlag, targetOf, write } from "./writing.ts"

const formats = ["text", "svg", "html"] as const

const report = Argument.Path("report").pipe(
  Argument.withMetavar("<report.json>"),
  Argument.withDescription("What `Eval.compare` gave, as JSON; - is standard input")
)

/** Loads the testing library only when this command runs, so that the other commands start faster. */
const evalOf = Effect.promise(() => import("@kintsugi/core/testing/Eval"))

const read = (source: Source, bounds: Bounds) =>
  Effect.gen(function* () {
    const lines: Array<string> = []
    yield* eachLineOrFail(source, bounds, (line) => lines.push(line))
    const name = yield* nameOf(source)
    const { EvalReport } = yield* evalOf
    const decoded = yield* Schema.decodeEffect(Schema.fromJsonString(EvalReport))(lines.join("\n")).pipe(
      Effect.mapError(({ message }) => new Failed({ message: `${name} is no report of Eval: ${message}` }))
    )
    const odd = decoded.scenarios.find(({ passed }) => passed.length !== decoded.policies.length)
    if (odd === undefined) return decoded
    const counted = `${odd.passed.length} shares for ${decoded.policies.length} policies`
    return yield* new Failed({ message: `${name} is no report of Eval: '${visible(odd.scenario)}' has ${counted}` })
  })

const drawn = (report: EvalReport, format: (typeof formats)[number]) => {
  switch (format) {
    case "text":
      return Effect.map(evalOf, ({ format }) => format(named(report)))
    case "svg":
      return Effect.succeed(EvalSvg.draw(report))
    case "html":
      return Effect.succeed(EvalPage.make(report))
  }
}

/** Names come from a file, so each is reduced to one line without control characters. */
const named = ({ policies, scenarios, ...rest }: EvalReport): EvalReport => ({
  ...rest,
  policies: policies.map((row) => ({
    ...row,
    policy: line(row.policy),
    failures: Object.fromEntries(Object.entries(row.failures).map(([tag, count]) => [line(tag), count]))
  })),
  scenarios: scenarios.map((row) => ({ ...row, scenario: line(row.scenario) }))
})

const line = (text: string): string => visible(text).replaceAll(/\s+/g, " ")

export const command = Command.make(
  "eval",
  { report, output: outputFlag, format: formatFlag(formats), ...boundFlags },
  (given) =>
    Effect.gen(function* () {
      const isStdin = yield* isDash(given.report)
      const source: Source = isStdin ? { type: "stdin" } : { type: "file", path: given.report }
      const target = yield* targetOf(given, formats, "text", pathsOf([source]))
      yield* write(target, yield* drawn(yield* read(source, given), target.format))
    })
).pipe(
  Command.withDescription(
    "Recovery policies side by side: how often each passed, with its interval, what it failed with and what it cost, and each scenario under each policy"
  ),
  Command.withShortDescription("recovery policies that were compared with `Eval`"),
  Command.withExamples([
    { command: "kintsugi eval report.json", description: "a table of the policies and the scenarios" },
    { command: "kintsugi eval report.json -o eval.html", description: "a page with a drawing" }
  ])
)
