/** Writes values as TypeScript. No text of a recording becomes code, also none that looks like something else to a reader or a terminal. */
import { visible } from "../text/Escape.ts"

/** Characters that JSON leaves as they are, and that a terminal obeys or a reader does not see. */
const unseen = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g

const escaped = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`

/** A text as a literal, in the quotes that need fewer escapes. */
export const quoted = (text: string): string => {
  const inner = JSON.stringify(text).slice(1, -1).replaceAll(unseen, escaped)
  const doubles = text.split('"').length
  if (doubles <= text.split("'").length) return `"${inner}"`
  return `'${inner.replaceAll(/\\.|'/g, (found) => (found === String.raw`\"` ? '"' : found === "'" ? String.raw`\'` : found))}'`
}

/** A text within a comment of one line, which it cannot end. */
export const inComment = (text: string): string => visible(text).replaceAll("\n", " ").replaceAll("*/", "*\\/")

/** A key of an object: a name, or a literal. */
export const key = (name: string): string =>
  // without the brackets, it would be no key but the prototype
  name === "__proto__" ? `["__proto__"]` : /^[A-Za-z_$][\w$]*$/.test(name) ? name : quoted(name)

/** A value of JSON on one line. */
export const literal = (value: unknown): string => {
  if (typeof value === "string") return quoted(value)
  if (Array.isArray(value)) return `[${value.map(literal).join(", ")}]`
  if (typeof value !== "object" || value === null) return String(value)
  const fields = Object.entries(value).map(([name, field]) => `${key(name)}: ${literal(field)}`)
  return fields.length === 0 ? "{}" : `{ ${fields.join(", ")} }`
}

/** The longest line. */
const width = 120

/** A call or a literal: on one line if it fits behind `before`, else with one item on each line. */
export const list = (
  before: string,
  head: string,
  items: ReadonlyArray<string>,
  close: string,
  indent = ""
): string => {
  const space = head.endsWith("{") && items.length > 0 ? " " : ""
  const line = `${before}${head}${space}${items.join(", ")}${space}${close}`
  const isShort = line.length <= width && !items.some((item) => item.includes("\n"))
  if (isShort) return line
  const lines = items.map((item) => `${indent}  ${item.replaceAll("\n", "\n  ")}`)
  return `${before}${head}\n${lines.join(",\n")}\n${indent}${close}`
}

const reserved: ReadonlySet<string> = new Set(
  (
    "break case catch class const continue debugger default delete do else enum export extends false finally for function if implements import in " +
    "instanceof interface let new null package private protected public return static super switch this throw true try typeof var void while " +
    "with yield await async eval arguments undefined NaN Infinity"
  ).split(" ")
)

/** Gives each name of the recording an identifier of its own. */
export class Names {
  readonly #taken: Set<string>
  /** The last number behind each name. */
  readonly #numbers = new Map<string, number>()

  constructor(taken: Iterable<string>) {
    this.#taken = new Set([...reserved, ...taken])
  }

  /** A new identifier that reads like `text`. */
  of(text: string, isType = false): string {
    const words = text.split(/[^A-Za-z0-9]+/).filter((word) => word !== "")
    const joined = words.map((word, index) => (index === 0 ? word : word[0]?.toUpperCase() + word.slice(1))).join("")
    const cased = isType ? joined[0]?.toUpperCase() + joined.slice(1) : joined[0]?.toLowerCase() + joined.slice(1)
    const whole = joined === "" ? (isType ? "Unnamed" : "unnamed") : /^\d/.test(joined) ? `_${joined}` : cased
    const isTaken = (name: string) => this.#taken.has(name) || (isType && name in globalThis)
    let name = whole
    let number = this.#numbers.get(whole) ?? 1
    while (isTaken(name)) name = `${whole}${++number}`
    this.#numbers.set(whole, number)
    this.#taken.add(name)
    return name
  }
}
