/** Finds tools by words: Okapi BM25 (Robertson and Zaragoza, 2009) with its usual constants. The same words give the same order. */
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import type * as Message from "../data/Message.ts"

/** How soon a word that is repeated stops to count, and how much long texts lose. */
const k1 = 1.2
const b = 0.75

/** A word of a name counts like this many words of a description. */
const weightOfName = 3

/** Indexes tools. The result ranks them for a query: the exact name first, then by score; tools with the same score in their order. */
export const bm25 = (tools: ReadonlyArray<Message.ToolSpec>) => {
  const documents = tools.map((tool) => ({ name: tool.name, counts: countsOf(tool) }))
  const lengths = documents.map(({ counts }) => sum(counts.values()))
  const average = sum(lengths) / documents.length
  const containing = new Map<string, number>()
  for (const { counts } of documents) {
    for (const word of counts.keys()) containing.set(word, (containing.get(word) ?? 0) + 1)
  }
  const rarity = (word: string): number => {
    const count = containing.get(word) ?? 0
    return Math.log(1 + (documents.length - count + 0.5) / (count + 0.5))
  }
  return (query: string): Effect.Effect<ReadonlyArray<string>> => {
    const words = [...new Set(wordsOf(query))]
    const exact = query.trim().toLowerCase()
    const scored = documents.map(({ counts, name }, index) => {
      const norm = k1 * (1 - b + (b * (lengths[index] ?? 0)) / average)
      const parts = words.map((word) => {
        const count = counts.get(word) ?? 0
        return (rarity(word) * count * (k1 + 1)) / (count + norm)
      })
      return { name, score: name.toLowerCase() === exact ? Infinity : sum(parts) }
    })
    return Effect.succeed(
      scored
        .filter(({ score }) => score > 0)
        .toSorted((one, other) => other.score - one.score)
        .map(({ name }) => name)
    )
  }
}

const sum = (numbers: Iterable<number>): number => {
  let total = 0
  for (const one of numbers) total += one
  return total
}

/** How often each word occurs in what a model would read of a tool. */
const countsOf = ({ description, name, parameters }: Message.ToolSpec): ReadonlyMap<string, number> => {
  const counts = new Map<string, number>()
  const add = (text: string, weight: number) => {
    for (const word of wordsOf(text)) counts.set(word, (counts.get(word) ?? 0) + weight)
  }
  add(name, weightOfName)
  add(description, 1)
  const { properties } = parameters
  if (!Predicate.isObject(properties)) return counts
  for (const [field, schema] of Object.entries(properties)) {
    add(field, 1)
    if (Predicate.hasProperty(schema, "description") && Predicate.isString(schema.description))
      add(schema.description, 1)
  }
  return counts
}

/** A letter of a writing without spaces is a word of its own. */
const word = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]|[\p{L}\p{M}\p{N}]+/gu

/** `createPullRequests` has the words `create`, `pull` and `request`: case does not count, and a plural is its singular. */
const wordsOf = (text: string): ReadonlyArray<string> =>
  (text.replaceAll(/(\p{Ll}|\p{N})(?=\p{Lu})/gu, "$1 ").match(word) ?? []).map((found) => {
    const lower = found.toLowerCase()
    return lower.length > 3 && lower.endsWith("s") && !lower.endsWith("ss") ? lower.slice(0, -1) : lower
  })
