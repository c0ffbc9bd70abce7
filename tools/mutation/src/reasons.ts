/**
 * Why mutants survive: comments in the sources, each above the line of its mutants. A mutant is named by the code that it puts in,
 * and, where several of the line put in the same, by the code that it replaces, or as the second of those that are alike.
 *
 *   // Mutants `true`, `size >= 0` survive: speed only. An empty level has a row for no error
 *   // Mutant `""` for `text.slice(1)` #2 survives: …
 *
 * Stryker's own comments (`Stryker disable next-line`) name mutators, so they also hide other mutants of the line, and keep all of
 * these from being tried.
 */
import type { File } from "../../../scripts/files.ts"
import type { Mutant } from "./protocol.ts"

/** Why one mutant survives. */
export interface Reason {
  readonly file: string
  /** The line of the mutant, counted from 1. */
  readonly line: number
  readonly to: string
  readonly from: string | undefined
  readonly nth: number | undefined
  readonly reason: string
}

export interface Reasons {
  readonly reasons: ReadonlyArray<Reason>
  /** Comments that cannot be read, one line each. */
  readonly problems: ReadonlyArray<string>
}

// an empty template is two backticks, within two more
const code = "`` `` ``|`[^`]+`|``.+?``(?!`)"
const name = `(${code})(?: for (${code}))?(?: #(\\d+))?`
const names = new RegExp(name, "g")
const form = new RegExp(`^Mutants? (${name}(?:, ${name})*) survives?: (.+)$`)

const isReason = (line: string) => /^\s*\/\/\s*mutants?\b/i.test(line)
const isComment = (line: string) => /^\s*\/\//.test(line)
const isForeign = (line: string) => /\/[/*]\s*Stryker (?:disable|restore)\b/.test(line)
const isBeside = (line: string) => !isComment(line) && /\/\/\s*mutants? `/i.test(line)

const contentOf = (line: string) => line.replace(/^\s*\/\/\s*/, "").trimEnd()
const unquoted = (quoted: string) => quoted.replaceAll(/^`+|`+$/g, "").trim()

/** Whether each line belongs to a reason: it begins one, or goes on with the comment of one. */
const marks = (lines: ReadonlyArray<string>): ReadonlyArray<boolean> => {
  let isWithin = false
  return lines.map((line) => (isWithin = isReason(line) || (isWithin && isComment(line))))
}

/** What the source is without its reasons: its mutants are the same. */
export const withoutReasons = (text: string): string => {
  const lines = text.split("\n")
  const isMarked = marks(lines)
  return lines.filter((_, at) => isMarked[at] !== true).join("\n")
}

/** All reasons in a source. */
export const reasonsIn = ({ path, text }: File): Reasons => {
  const lines = text.split("\n")
  const isMarked = marks(lines)
  const reasons: Array<Reason> = []
  const problems: Array<string> = []
  lines.forEach((line, at) => {
    const location = `${path}:${at + 1}`
    if (isForeign(line))
      problems.push(`${location}: Stryker's comment hides mutants: write // Mutant \`…\` survives: reason`)
    if (isBeside(line)) problems.push(`${location}: a reason stands above its line, not beside it`)
    if (!isReason(line)) return
    const next = lines.findIndex((_, index) => index > at && (isMarked[index] !== true || isReason(lines[index] ?? "")))
    const comment = lines.slice(at, next).map(contentOf).join(" ")
    const found = form.exec(comment)
    const reason = found?.at(-1)
    if (found === null || reason === undefined) {
      problems.push(`${location}: no mutant and reason can be read of: ${comment}`)
      return
    }
    const subject = lines.findIndex((_, index) => index > at && isMarked[index] !== true)
    for (const [, to = "", from, nth] of (found[1] ?? "").matchAll(names)) {
      reasons.push({
        file: path,
        line: subject + 1,
        to: unquoted(to),
        from: from === undefined ? undefined : unquoted(from),
        nth: nth === undefined ? undefined : Number(nth),
        reason
      })
    }
  })
  return { reasons, problems }
}

/** Which mutants each reason names. */
export const named = <A extends Omit<Mutant, "nth">>(
  reasons: ReadonlyArray<Reason>,
  mutants: ReadonlyArray<A>
): ReadonlyArray<{ readonly reason: Reason; readonly mutants: ReadonlyArray<A> }> =>
  reasons.map((reason) => {
    const { file, from, line, nth, to } = reason
    const alike = mutants.filter(
      (one) => one.file === file && one.line === line && one.to === to && (from === undefined || one.from === from)
    )
    return { reason, mutants: nth === undefined ? alike : alike.slice(nth - 1, nth) }
  })

/** How the comment names a mutant among all of its line. */
export const nameOf = <A extends Omit<Mutant, "nth">>(mutant: A, mutants: ReadonlyArray<A>): string => {
  const quoted = (text: string) => (/`|^$/.test(text) ? `\`\` ${text} \`\`` : `\`${text}\``)
  const same = mutants.filter(({ file, line, to }) => file === mutant.file && line === mutant.line && to === mutant.to)
  const alike = same.filter(({ from }) => from === mutant.from)
  const short = quoted(mutant.to)
  if (same.length === 1) return short
  const long = `${short} for ${quoted(mutant.from)}`
  return alike.length === 1 ? long : `${alike.length === same.length ? short : long} #${alike.indexOf(mutant) + 1}`
}
