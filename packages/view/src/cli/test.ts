/** The command `kintsugi test`: it writes a test of a recorded run. */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Script from "../replay/Script.ts"
import * as TestFile from "../replay/TestFile.ts"
import { boundFlags } from "./bounds.ts"
import { Failed } from "./failure.ts"
import { pathsOf } from "./reading.ts"
import { recorded, sourceOf } from "./report.ts"
import { outputFlag, shown, targetOf, write } from "./writing.ts"

const events = Argument.Path("events").pipe(
  Argument.withMetavar("<file>"),
  Argument.withDescription("Events of a run as JSON lines; - is standard input, and so is no file at all"),
  Argument.optional
)

const run = Flag.String("run").pipe(
  Flag.withMetavar("<id>"),
  Flag.withDescription("The id of the run; by default the last run that failed, or the last run"),
  Flag.optional
)

export const command = Command.make("test", { events, output: outputFlag, run, ...boundFlags }, (given) =>
  Effect.gen(function* () {
    const source = yield* sourceOf(given.events)
    const wanted = { output: given.output, format: Option.none() }
    const target = yield* targetOf(wanted, ["ts"], "ts", pathsOf([source]))
    const fs = yield* FileSystem.FileSystem
    // the reader writes a row into the test
    if (target.file !== undefined && (yield* Effect.isSuccess(fs.access(target.file))))
      return yield* new Failed({ message: `${yield* shown(target.file)} exists: remove it, or name another file` })
    const recording = yield* recorded(source, given)
    const script = Script.of(recording, Option.match(given.run, { onNone: () => ({}), onSome: (runId) => ({ runId }) }))
    if (!Script.isScript(script))
      return yield* new Failed({ message: `the run cannot be played again: ${script.message}` })
    yield* write(target, TestFile.write(script))
  })
).pipe(
  Command.withDescription(
    "Writes a test that plays a recorded run without a model: with its replies, the results and failures of its tools, and a virtual clock. The test fails as the run did, until a row handles the failure"
  ),
  Command.withShortDescription("a recorded run as a test, which fails until a row handles the failure"),
  Command.withExamples([
    { command: "kintsugi test events.jsonl -o refund.test.ts", description: "the test of a run that failed" }
  ])
)
