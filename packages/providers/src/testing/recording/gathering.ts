/** Finds secrets that are split over several texts: over the events of a stream, or over the items of a list. */
import * as Predicate from "effect/Predicate"
import type * as Schema from "effect/Schema"

/** A text within JSON, with the object or list that contains it, so that it can be replaced. */
interface Piece {
  readonly holder: Record<string, Schema.Json>
  readonly name: string
  readonly text: string
}

/**
 * Redacts secrets that are split over several texts. The texts of each field are joined over all documents, and the joined text is
 * redacted. If that finds more than in each text alone, the first of the texts becomes the whole redacted text, and the others become
 * empty. The documents are changed in place. A secret within one text stays: redact each text afterwards, because a text that was redacted
 * before has lost the parts by which its neighbours are known.
 */
export const gather = (documents: ReadonlyArray<Schema.Json>, redact: (text: string) => string): void => {
  // texts are grouped by field first, then by field and item, because the pieces of two items may alternate
  for (const isByItem of [false, true]) {
    const pieces = new Map<string, Array<Piece>>()
    for (const document of documents) collect(document, "", isByItem, pieces)
    for (const group of pieces.values()) redactIn(group, redact)
  }
  // then all texts of the model together, because a text may continue in another field
  // Mutant `["Stryker was here"]` survives: a piece without a name is no word
  const all: Array<Piece> = []
  const into = { get: () => all, set: () => all }
  for (const document of documents) collect(document, "", false, into)
  const words = all.filter(({ name }) => ofWords.test(name))
  if (documents.length > 1) redactIn(words, redact)
}

const ofWords = /^(?:content|reasoning|reasoning_content|text|thinking)$/

const redactIn = (group: ReadonlyArray<Piece>, redact: (text: string) => string): void => {
  const text = group.map((piece) => piece.text).join("")
  const clean = group.length < 2 ? text : redact(text)
  if (clean === text || clean === group.map((piece) => redact(piece.text)).join("")) return
  for (const [index, { holder, name }] of group.entries()) holder[name] = index === 0 ? clean : ""
}

/** The texts of each field, by the path of the field. */
interface Groups {
  readonly get: (at: string) => Array<Piece> | undefined
  readonly set: (at: string, group: Array<Piece>) => unknown
}

const collect = (value: Schema.Json, path: string, isByItem: boolean, into: Groups): void => {
  if (!Predicate.isObjectOrArray(value)) return
  // an object and a list are both indexed by name; the names in a list are its indices
  const holder = value as Record<string, Schema.Json>
  const isList = Array.isArray(value)
  const here = isByItem && !isList ? path + itemOf(holder) : path
  for (const [name, field] of Object.entries(holder)) {
    const at = `${here}.${isList && !isByItem ? "" : name}`
    if (!Predicate.isString(field)) collect(field, at, isByItem, into)
    else {
      const group = into.get(at)
      if (group === undefined) into.set(at, [{ holder, name, text: field }])
      else group.push({ holder, name, text: field })
    }
  }
}

const isOfItem = /^(?:(?:event_)?type|item_id|(?:\w{1,20}_)?index)$/

/** Identifies the item that an event belongs to, by the kind and the number of the item. */
const itemOf = (fields: Readonly<Record<string, Schema.Json>>): string =>
  Object.entries(fields)
    .filter(([name, field]) => isOfItem.test(name) && !Predicate.isObject(field))
    .map(([name, field]) => `{${name}=${String(field)}}`)
    .join("")
