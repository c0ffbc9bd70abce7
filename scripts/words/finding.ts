/** Words that this project does not use: what is found of them in a text, and in the names that a source declares. */
import type { File } from "../files.ts"
import { lineAt, type Node, nodeIn, nodesIn, parse, textIn, walk } from "../syntax.ts"

/** A word in a place. */
export interface Finding {
  readonly path: string
  readonly line: number
  readonly word: string
  /** The name that has it; absent for a pronoun, which is found in any text. */
  readonly name?: string
}

/** Pronouns without a referent: no text has them. */
const pronoun = /\b(?:who(?:m|so)?ever|whatever|somebody|nobody|that one)\b/gi

export const pronounsIn = ({ path, text }: File): ReadonlyArray<Finding> =>
  [...text.matchAll(pronoun)].map(({ 0: word, index }) => ({
    path,
    line: lineAt(text, index),
    word: word.toLowerCase()
  }))

/** Words that stand for a concept that has another word, by that word. */
const insteadOf: Readonly<Record<string, ReadonlyArray<string>>> = {
  turn: ["round", "rounds", "storey"],
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

const better = new Map(Object.entries(insteadOf).flatMap(([word, others]) => others.map((other) => [other, word])))

/** What to say in the place of a word. */
export const betterThan = (word: string): string | undefined => better.get(word)

/** Names that others have given: products, fields of protocols, and a circuit breaker, which opens. */
const foreign = /open-?ai|open-?router|openWorldHint|open(?:For|Duration)/gi

/** The words of a name in camelCase, PascalCase, kebab-case or CONSTANT_CASE. */
export const wordsOf = (name: string): ReadonlyArray<string> =>
  name
    .replaceAll(foreign, "-")
    .split(/[^A-Za-z]+|(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/)
    .map((word) => word.toLowerCase())

const keyed = new Set([
  "Property",
  "PropertyDefinition",
  "MethodDefinition",
  "TSPropertySignature",
  "TSMethodSignature"
])

/** The names that a node declares: of a variable, a function, a type, a parameter or a field. */
const declaredAt = (node: Node): ReadonlyArray<Node> => {
  // a shorthand has the name of a variable, which is declared elsewhere
  const key =
    keyed.has(node.type) && node["shorthand"] !== true && node["computed"] !== true ? nodesIn(node, "key") : []
  return [...nodesIn(node, "id"), ...nodesIn(node, "params"), ...key, ...aliasesIn(node)]
}

/** The other names that a pattern gives to fields: `b` of `{ a: b }`. */
const aliasesIn = (node: Node): ReadonlyArray<Node> =>
  node.type !== "ObjectPattern"
    ? []
    : nodesIn(node, "properties").flatMap((property) =>
        property["shorthand"] === true ? [] : nodesIn(property, "value")
      )

const textOf = (node: Node): string | undefined => {
  const inner = nodeIn(node, "left") ?? nodeIn(node, "name") ?? node
  return textIn(inner, "name") ?? textIn(inner, "value")
}

/** A text that names a kind of event or of data: `type: "run-start"`. */
const tagAt = (node: Node): Node | undefined => {
  const key = keyed.has(node.type) ? nodeIn(node, "key") : undefined
  if (textIn(key, "name") !== "type") return undefined
  const value = nodeIn(node, "value") ?? nodeIn(nodeIn(node, "typeAnnotation") ?? node, "typeAnnotation")
  return value?.type === "TSLiteralType" ? nodeIn(value, "literal") : value
}

const isName = (text: string | undefined): text is string => text !== undefined && /^[\w$-]+$/.test(text)

const stem = (path: string): string => path.replace(/^.*\//, "").replace(/\..*$/, "")

/** Words of the list in what a source declares, its own name among it. */
export const namesIn = ({ path, text }: File): ReadonlyArray<Finding> => {
  const found: Array<Finding> = []
  const see = (name: string, offset: number) => {
    const word = wordsOf(name).find((one) => better.has(one))
    if (word !== undefined) found.push({ path, line: lineAt(text, offset), word, name })
  }
  see(stem(path), 0)
  for (const node of walk(parse(text)))
    for (const declared of [...declaredAt(node), tagAt(node)]) {
      const name = declared === undefined ? undefined : textOf(declared)
      if (declared !== undefined && isName(name)) see(name, declared.start)
    }
  return found
}
