/** Words that this project does not use: what is found of them in a text, and in the names that a source declares. */
import type { File } from "../files.ts"
import { lineAt, parse, walk } from "../syntax.ts"
import { loggedIn } from "./logs.ts"
import { declaredAt, kindsAt, type Named } from "./names.ts"

/** A word in a place. */
export interface Finding {
  readonly path: string
  readonly line: number
  readonly word: string
  /** The name that has it; absent for a pronoun, which is found in any text. */
  readonly name?: string
}

/** What parts the words of a text: blanks, the margin of a comment in several lines, and where a text in code is put together. */
const gap = String.raw`(?:\s|["'\x60]\s*\+\s*["'\x60]|(?<=\n[ \t]*)(?:\*|//|[#>]))+`

/** A word by itself, and as a part of a name. */
const alone = (word: string): string => {
  const capital = `[${word[0]?.toUpperCase()}]${word.slice(1)}`
  return String.raw`(?<![A-Za-z])${word}(?![a-z])|${capital}(?![a-z])|(?<![A-Z])${word.toUpperCase()}(?![A-Z])`
}

/** Pronouns without a referent: no text has them. */
const pronoun = new RegExp(
  [
    ...["whoever", "whomever", "whosoever", "whatever", "somebody", "nobody", "thatOne"].map(alone),
    String.raw`(?<![A-Za-z])[tT]hat${gap}one(?![a-z])`
  ].join("|"),
  "g"
)

export const pronounsIn = ({ path, text }: File): ReadonlyArray<Finding> =>
  [...text.matchAll(pronoun)].map(({ 0: word, index }) => ({
    path,
    line: lineAt(text, index),
    word: /^that/i.test(word) ? "that one" : word.toLowerCase()
  }))

/** Words that stand for a concept that has another word, by that word. */
const insteadOf: Readonly<Record<string, ReadonlyArray<string>>> = {
  turn: ["round", "rounds", "storey", "storeys"],
  "model call": ["asking", "question", "questions"],
  settlement: ["settled", "settling"],
  "tell, report, count or emit": ["told"],
  listener: ["hears"],
  checkpoint: ["standing", "stood", "place", "places", "pending", "open", "captures", "known"],
  "kept as a verb": ["kept"],
  "parent or child": ["above", "below"],
  "retry or resend": ["again"],
  redact: ["mask", "masks", "masked", "masking"]
}

/** Other forms of these words: a name of code may have them, a kind in a format may not. */
const insteadOfInKinds: typeof insteadOf = {
  "model call": ["asks", "asked"],
  listener: ["hear", "heard", "hearing", "hook", "hooks"],
  checkpoint: ["opens", "opened", "opening", "capture", "captured", "capturing"]
}

const wordsIn = (lists: typeof insteadOf) =>
  Object.entries(lists).flatMap(([word, others]) => others.map((other) => [other, word] as const))

const better = new Map(wordsIn(insteadOf))
const betterInKinds = new Map([...better, ...wordsIn(insteadOfInKinds)])

/** What to say in the place of a word. */
export const betterThan = (word: string): string | undefined => betterInKinds.get(word)

/** Names that others have given: products, fields of protocols, and a circuit breaker, which opens. */
const foreign = /half[- ]?open|open-?ai|open-?router|openWorldHint|open(?:For|Duration)/gi

/** The words of a name in camelCase, PascalCase, kebab-case or CONSTANT_CASE. */
export const wordsOf = (name: string): ReadonlyArray<string> =>
  name
    .replaceAll(foreign, "-")
    .split(/[^A-Za-z]+|(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/)
    .map((word) => word.toLowerCase())

/** Words of the list in what a source declares, its own name among it, and in what it logs. */
export const namesIn = ({ path, text }: File): ReadonlyArray<Finding> => {
  const found: Array<Finding> = []
  const see = ({ name, offset }: Named) => {
    const words = name.startsWith('"') ? betterInKinds : better
    const word = wordsOf(name).find((one) => words.has(one))
    if (word !== undefined) found.push({ path, line: lineAt(text, offset), word, name })
  }
  see({ name: path.replace(/^.*\//, "").replace(/\..*$/, ""), offset: 0 })
  const tree = parse(text, path)
  for (const node of walk(tree)) for (const named of [...declaredAt(node), ...kindsAt(node)]) see(named)
  for (const named of loggedIn(tree)) see(named)
  return found
}
