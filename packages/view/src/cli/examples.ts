/** Writes the report of an example for each kind of failure that `kintsugi stats` has found. */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import * as Page from "../page/Page.ts"
import { eventsOf } from "../recording/Outcome.ts"
import * as Recording from "../recording/Recording.ts"
import * as TestFile from "../replay/TestFile.ts"
import { endings } from "../stats/Lists.ts"
import type { Stats } from "../stats/Stats.ts"
import type { Bounds } from "./bounds.ts"
import { Failed, reasonOf } from "./failure.ts"
import { eachLine, nameOf, type Source } from "./reading.ts"
import { remark } from "./terminal.ts"
import { shown } from "./writing.ts"

/** The most reports that are written: those of the most frequent failures. */
const most = 20

type Example = Stats["ended"][number]["example"]

/** A function that gives the path of an example's report, relative to the result of the command. */
export type Reports = (example: Example) => string | undefined

/** Writes the reports in a folder. `beside` is the file of the result, to which the paths of the links are relative. */
export const writeReports = (
  stats: Stats,
  sources: ReadonlyArray<Source>,
  folder: string,
  beside: string | undefined,
  bounds: Bounds
) =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const name = yield* shown(folder)
    yield* Effect.mapError(
      fs.makeDirectory(folder, { recursive: true }),
      (error) => new Failed({ message: `cannot write ${name}: ${reasonOf(error)}` })
    )
    const byName = new Map<string, Source>()
    for (const source of sources) if (source.type === "file") byName.set(yield* nameOf(source), source)
    const written = new Map<string, string>()
    for (const [index, { example, tag }] of endings(stats).slice(0, most).entries()) {
      const source = byName.get(example.file ?? "")
      // standard input is read once, and cannot be read again
      if (source === undefined) continue
      const taking = Recording.start()
      const read = yield* Effect.result(eachLine(source, bounds, taking.line))
      if (read._tag === "Failure") {
        yield* remark(`no report of ${example.runId}: ${read.failure}`)
        continue
      }
      const recording = Recording.fromEvents(eventsOf(taking.recording(), example.runId))
      const file = path.join(folder, `${index + 1}-${tag.replaceAll(/[^\w-]+/g, "-").slice(0, 60)}.html`)
      yield* Effect.mapError(
        fs.writeFileString(file, Page.make(recording, TestFile.forPage(recording))),
        (error) => new Failed({ message: `cannot write ${name}: ${reasonOf(error)}` })
      )
      const link = beside === undefined ? yield* shown(file) : path.relative(path.dirname(beside), file)
      written.set(keyOf(example), link)
    }
    return ((example) => written.get(keyOf(example))) satisfies Reports
  })

const keyOf = ({ file, runId }: Example): string => JSON.stringify([file, runId])
