/** A failure report, as a fixer gets it: somewhere in it stand the arguments of the call that failed. */
import { blocks, find, isBinary, isObject, mend, parse, write, type Document } from "./Json.ts"
import * as Shape from "./Shape.ts"

/** The part of the arguments that is broken, and what it becomes. */
export interface Repair {
  readonly broken: string
  readonly mended: Document
  /** The whole arguments, with the mended part in its place. */
  readonly arguments: string
}

/** What can be repaired in a report; `undefined` when nothing can. */
export const repair = (report: string): Repair | undefined => {
  const raw = argumentsIn(report)
  if (raw === undefined) return undefined
  const document = mend(raw)
  if (document === undefined) return undefined
  if (!isObject(document.value)) return parse(raw) === undefined ? whole(raw, document) : undefined
  for (const [name, value] of Object.entries(document.value)) {
    if (typeof value !== "string" || !/[{[]/.test(value) || parse(value) !== undefined) continue
    const mended = mend(value)
    if (mended === undefined) continue
    return {
      broken: value,
      mended,
      arguments: write({ ...document.value, [name]: mended.text })
    }
  }
  return parse(raw) === undefined ? whole(raw, document) : undefined
}

/** Why there is nothing to repair, for the reader of the failure. */
export const hopelessness = (report: string): string => {
  const raw = argumentsIn(report) ?? ""
  const value = parse(raw)
  const [inner] = isObject(value) ? Object.values(value).filter((part) => typeof part === "string") : []
  const input = inner ?? raw
  if (input.trim() === "") return "There is nothing to repair: the input is empty"
  if (isBinary(input)) return "There is nothing to repair: the input is binary data, not JSON"
  if (parse(input) !== undefined) return "There is nothing to repair: the input is valid JSON, but not what is wanted"
  return "The input cannot be repaired: it does not come near any JSON"
}

const whole = (broken: string, mended: Document): Repair => ({ broken, mended, arguments: mended.text })

const label =
  /^[ \t>*_#-]*(?:[a-z]+[ \t]+){0,2}(?:arguments?|args|input|params|parameters)\b[^:\r\n\u2028\u2029{[]*:/gim
const nextLabel = /\n[ \t>*_#-]*[A-Z][\w ()'-]{0,40}:(?=\s)|\n[ \t]*\n/

/** The arguments as they were sent: what stands under such a label, or else the first document that is no schema. */
const argumentsIn = (report: string): string | undefined => {
  for (const match of report.matchAll(label)) {
    const section = unfenced(report.slice(match.index + match[0].length).trimStart())
    const [first] = blocks(section)
    if (first !== undefined && section.startsWith(first)) {
      if (!Shape.isSchema(parse(first))) return first
    } else if (/^[{["]/.test(section)) return section.slice(0, endOf(section)).trim()
  }
  const documents = blocks(report).filter((block) => !Shape.isSchema(parse(block)))
  return documents.find((block) => mend(block) !== undefined) ?? find(report)
}

const endOf = (section: string): number => {
  const end = section.search(nextLabel)
  return end < 0 ? section.length : end
}

const unfenced = (section: string): string => section.replace(/^`{1,3}(?:[a-z]*\n)?/, "")
