/** Finds the web pages that a reply names as the sources of its text, in the provider items of all wires. */
import type { Message } from "@kintsugi/core"
import * as Predicate from "effect/Predicate"

/** A web page, with its title if the provider gives one. */
interface Source {
  readonly url: string
  readonly title?: string
}

/**
 * The kinds of provider items that name sources of the text before them. Items with search results are not among them, as the text may not
 * cite them.
 */
const kinds: ReadonlySet<string> = new Set([
  // chat completions
  "annotations",
  "sources",
  // OpenAI's responses: what a message has beside its text
  "message",
  // Anthropic
  "citations",
  // Gemini
  "groundingMetadata",
  "citationMetadata",
  // effect/ai
  "source"
])

/** The web pages that a reply cites, in order, each once. */
export const sourcesOf = (content: Message.Reply["content"]): ReadonlyArray<Source> => {
  const found = new Map<string, Source>()
  for (const part of content) {
    if (part.type === "provider-item" && kinds.has(part.kind)) look(part.opaque.data, found, deepest)
  }
  return [...found.values()]
}

/** How many levels of an item are searched. No wire nests a source deeper. */
const deepest = 6

/** The names of lists whose elements are plain URLs. */
const bare: ReadonlySet<string> = new Set(["citations"])

const look = (value: unknown, found: Map<string, Source>, levels: number): void => {
  if (levels === 0 || !Predicate.isObjectOrArray(value)) return
  note(value, found)
  for (const [name, member] of Object.entries(value)) {
    if (bare.has(name) && Array.isArray(member)) for (const url of member) note({ url }, found)
    look(member, found, levels - 1)
  }
}

const note = (value: object, found: Map<string, Source>): void => {
  const url = textIn(value, "url") ?? textIn(value, "uri")
  const title = textIn(value, "title")
  if (url === undefined || !/^https?:\/\//i.test(url) || (found.has(url) && title === undefined)) return
  found.set(url, title === undefined ? { url } : { url, title })
}

const textIn = (value: object, name: string): string | undefined => {
  const found: unknown = Predicate.hasProperty(value, name) ? value[name] : undefined
  return Predicate.isString(found) && found !== "" ? found : undefined
}
