/** How much is read of one file or pipe: it may be endless. */
import * as Flag from "effect/cli/Flag"

/** Bounds in bytes. */
export interface Bounds {
  readonly maxLine: number
  readonly maxSize: number
}

const mebibyte = 1024 * 1024

/** An option in MiB. A text of more than 512 MiB is none in JavaScript, so lines have an end in any case. */
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

/** The options of each command that reads events. */
export const boundFlags = {
  maxLine: mebibytes("max-line", 16, 256, "The longest line"),
  maxSize: mebibytes("max-size", 64, 1024 * 1024, "The largest file")
}

/** What is said of a file or a line that is beyond its bound. */
export const tooMuch = (what: string, bound: number, option: string): string =>
  `${what} is larger than ${bound / mebibyte} MiB; --${option} raises the bound`
