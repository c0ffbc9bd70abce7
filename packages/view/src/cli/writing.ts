/** Decides where the result of a command goes and in which format, by the ending of the file or by `--format`, and writes it. */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Path from "effect/Path"
import * as Stdio from "effect/Stdio"
import * as Flag from "effect/cli/Flag"
import { Failed, Misused, notFound, reasonOf } from "./failure.ts"
import { print } from "./terminal.ts"

/** The formats of results, by the ending of the file. */
const endings = {
  ".html": "html",
  ".htm": "html",
  ".svg": "svg",
  ".txt": "text",
  ".json": "json",
  ".ts": "ts"
} as const

export type Format = (typeof endings)[keyof typeof endings]

/** Whether a format is markup. Markup is written to files and pipes, but not to a terminal unless the user asks for it. */
const isMarkup = (format: Format): boolean => format === "html" || format === "svg"

export const outputFlag = Flag.Path("output").pipe(
  Flag.withAlias("o"),
  Flag.withMetavar("<file>"),
  Flag.withDescription("The file to write; - is standard output, which is the default"),
  Flag.optional
)

export const formatFlag = <const F extends Format>(formats: ReadonlyArray<F>) =>
  Flag.Literals("format", formats).pipe(
    Flag.withDescription("The form of the result; by default that of the file's ending"),
    Flag.optional
  )

/** The options of a command about its result. */
export interface Wanted<F extends Format> {
  readonly output: Option.Option<string>
  readonly format: Option.Option<F>
}

/** Where a result goes, and in which format. */
export interface Target<F extends Format> {
  /** The path of the file; `undefined` for standard output. */
  readonly file: string | undefined
  readonly format: F
}

/**
 * A path for messages: relative if it is in the working folder, and absolute otherwise. All paths of the command line are absolute here.
 */
export const shown = (absolute: string) =>
  Path.Path.useSync((path) => {
    const relative = path.relative("", absolute)
    return relative === "" ? "." : relative.startsWith("..") ? absolute : relative
  })

/** Whether a path is the argument `-`, which stands for standard input or output. */
export const isDash = (absolute: string) => Path.Path.useSync((path) => absolute === path.resolve("-"))

/** The identity of a file, which is the same for all symbolic and hard links to the file. The identity of a missing file is its path. */
const identityOf = (path: string) =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const { dev, ino } = yield* fs.stat(path)
    // some file systems have no inode numbers
    return Option.isSome(ino) ? `${dev} ${ino.value}` : yield* fs.realPath(path)
  }).pipe(Effect.orElseSucceed(() => path))

/** Decides on the place and the format before any work is done. `fallback` is the format if neither the file nor `--format` names one. */
export const targetOf = <F extends Format>(
  { format, output }: Wanted<F>,
  formats: ReadonlyArray<F>,
  fallback: F,
  inputs: ReadonlyArray<string>
): Effect.Effect<Target<F>, Misused, FileSystem.FileSystem | Path.Path | Stdio.Stdio> =>
  Effect.gen(function* () {
    const path = yield* Path.Path
    const given = Option.getOrUndefined(output)
    const file = given === undefined || (yield* isDash(given)) ? undefined : given
    if (file === undefined) {
      const chosen = Option.getOrElse(format, () => fallback)
      const isTerminal = yield* Stdio.Stdio.use(({ stdoutIsTerminal }) => stdoutIsTerminal)
      if (isMarkup(chosen) && isTerminal && given === undefined) {
        return yield* new Misused({
          message: `${chosen.toUpperCase()} on a terminal is of no use: say where it goes, -o FILE.${chosen}, or -o - for here all the same`
        })
      }
      return { file, format: chosen }
    }
    const written = yield* identityOf(file)
    if ((yield* Effect.forEach(inputs, identityOf)).includes(written)) {
      return yield* new Misused({ message: `the output would overwrite the input ${yield* shown(file)}` })
    }
    const ending = path.extname(file).toLowerCase()
    const byEnding = formats.find((one) => one === new Map<string, Format>(Object.entries(endings)).get(ending))
    const chosen = Option.getOrElse(format, () => byEnding)
    if (chosen !== undefined) return { file, format: chosen }
    const accepted = Object.entries(endings).flatMap(([ending, one]) =>
      formats.some((f) => f === one) ? [ending] : []
    )
    return yield* new Misused({
      message: `${yield* shown(file)}: unknown file ending, use ${accepted.join(", ")} or --format`
    })
  })

/** Writes a result. If that fails, the error names the file. */
export const write = <F extends Format>({ file }: Target<F>, text: string) =>
  Effect.gen(function* () {
    const ended = text.endsWith("\n") ? text : `${text}\n`
    if (file === undefined) return yield* print(ended)
    const fs = yield* FileSystem.FileSystem
    const name = yield* shown(file)
    yield* Effect.mapError(fs.writeFileString(file, ended), (error) => {
      const reason = reasonOf(error) === notFound ? "its folder does not exist" : reasonOf(error)
      return new Failed({ message: `cannot write ${name}: ${reason}` })
    })
  })
