/** Names of tools that every provider accepts. */

const longest = 64

/** The names that OpenAI, Anthropic and Bedrock all accept. They refuse a request with any other name of a tool. */
const admitted = /^[A-Za-z0-9_-]{1,64}$/

const odd = /[^A-Za-z0-9_-]/g

/** How many characters are reserved for `_` and a number at the end of a name. */
const room = 7

/** Models know the built-in tools by these names. */
const builtIn: ReadonlySet<string> = new Set(["escalate", "throwException", "complete"])

/** Throws for a name that no tool may have. */
export const check = (name: string): void => {
  if (builtIn.has(name)) throw new TypeError(`Tool: '${name}' is the name of a built-in tool`)
  if (typeof name === "string" && admitted.test(name)) return
  const shown = JSON.stringify(name)?.slice(0, 100)
  throw new TypeError(`Tool: ${shown} is no name of a tool. Providers admit 1 to 64 of A-Z, a-z, 0-9, '_' and '-'`)
}

/**
 * The names of foreign tools that every provider accepts, in order. A name that every provider accepts stays. In any other, a character
 * that is no letter, digit, `_` or `-` becomes `_`, and the name is cut to 64 characters. The name of a built-in tool gets a `_`. Later
 * duplicates are numbered.
 *
 * @example
 * import { Tool } from "@kintsugi/core"
 *
 * Tool.namesFor(["pull.request", "pull/request", "search"]) // ["pull_request", "pull_request_2", "search"]
 */
export const namesFor = (foreign: ReadonlyArray<string>): ReadonlyArray<string> => {
  const used = new Set<string>()
  const numbers = new Map<string, number>()
  /** Adds the next free number to a name. `numbers` keeps the next number of each name, so no number is tried twice. */
  const numbered = (wanted: string): string => {
    const stem = wanted.slice(0, longest - room)
    let number = numbers.get(stem) ?? 2
    while (used.has(`${stem}_${number}`)) number++
    numbers.set(stem, number + 1)
    return `${stem}_${number}`
  }
  const unchanged = foreign.map((name) => {
    if (sanitized(name) !== name || used.has(name)) return undefined
    used.add(name)
    return name
  })
  return foreign.map((name, index) => {
    const before = unchanged[index]
    if (before !== undefined) return before
    const wanted = sanitized(name)
    const free = used.has(wanted) ? numbered(wanted) : wanted
    used.add(free)
    return free
  })
}

const sanitized = (name: string): string => {
  const cut = name.slice(0, longest).replaceAll(odd, "_")
  return cut === "" || builtIn.has(cut) ? `${cut}_` : cut
}

type Admitted = "_" | "-" | Digit | Letter | Uppercase<Letter>

type Digit = "0" | "1" | "2" | "3" | "4" | "5" | "6" | "7" | "8" | "9"

// oxfmt-ignore
type Letter =
  | "a" | "b" | "c" | "d" | "e" | "f" | "g" | "h" | "i" | "j" | "k" | "l" | "m"
  | "n" | "o" | "p" | "q" | "r" | "s" | "t" | "u" | "v" | "w" | "x" | "y" | "z"

type IsAdmitted<Rest, Count extends ReadonlyArray<unknown> = []> = Rest extends ""
  ? true
  : Count["length"] extends 64
    ? false
    : Rest extends `${Admitted}${infer More}`
      ? IsAdmitted<More, [...Count, unknown]>
      : false

/**
 * The name under which models know a foreign tool: its own if every provider accepts it, else `string`.
 *
 * @hidden
 */
export type NameFor<Name extends string> = Name extends "" | "escalate" | "throwException" | "complete"
  ? string
  : IsAdmitted<Name> extends true
    ? Name
    : string
