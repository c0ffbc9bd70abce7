/** The bounds of what a command reads of one file or pipe, which may be endless. */
import * as Flag from "effect/cli/Flag"

/** The bounds in bytes: of a line, and of a whole file. */
export interface Bounds {
  readonly maxLine: number
  readonly maxSize: number
}

const mebibyte = 1024 * 1024

/** Makes an option in MiB. JavaScript has no strings of more than 512 MiB, so lines are always bounded. */
const mebibytes = (name: string, otherwise: number, most: number, what: string) =>
  Flag.Int(name).pipe(
    Flag.withMetavar("<MiB>"),
    Flag.withDescription(`${what} that is read, in MiB; by default ${otherwise}`),
    Flag.filter(
      (many) => many >= 1 && many <= most,
      (many) => `${many} is not between 1 and ${most}`
    ),
    Flag.map((many) => many * mebibyte),
    Flag.withDefault(otherwise * mebibyte)
  )

/** The options about bounds, for each command that reads events. */
export const boundFlags = {
  maxLine: mebibytes("max-line", 16, 256, "The longest line"),
  maxSize: mebibytes("max-size", 64, 1024 * 1024, "The largest file")
}

/** The message about a file or a line that exceeds its bound. */
export const tooMuch = (what: string, bound: number, option: string): string =>
  `${what} is larger than ${bound / mebibyte} MiB; --${option} raises the bound`
