/** Where the user's code has called a function of this library, for tools that link to code. */

/** The part of `process` that this module uses. Browsers have no `process`. */
interface Platform {
  readonly process?: { readonly env?: Readonly<Record<string, string | undefined>>; readonly cwd?: () => string }
}

/**
 * The file, the line and the column of the caller's caller, if the environment asks for them: `KINTSUGI_DEFINED_AT=1`. A file in the
 * working folder is relative to it: `src/desk.ts:31:20`. Without the variable nothing is captured.
 */
export const definedAt = (): { readonly definedAt?: string } => {
  // a missing field is undefined
  const { process } = globalThis as Platform
  if (process?.env?.["KINTSUGI_DEFINED_AT"] !== "1") return {}
  // Mutant `"Stryker was here!"` survives: a text without a line and a column is no frame
  const frames = (new Error("defined").stack ?? "").split("\n").filter((line) => /:\d+:\d+\)?$/.test(line))
  // this function, the function that calls it, and its caller
  const [, , frame = ""] = frames
  const bracket = frame.indexOf("(")
  // Mutant `bracket <= 0` survives: a frame of an engine begins with blanks
  const file = frame.slice((bracket < 0 ? frame.indexOf("at ") + 2 : bracket) + 1).replace(/\)$/, "")
  if (file === "") return {}
  const path = file.startsWith("file://") ? decodeURI(file.slice(7)) : file
  const folder = `${process.cwd?.() ?? ""}/`
  return { definedAt: path.startsWith(folder) ? path.slice(folder.length) : path }
}
