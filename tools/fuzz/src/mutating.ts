/** Applies drawn changes to inputs: to characters, to lines, to nodes of JSON. */
import type { Schema } from "effect"
import type { JsonChange, Plan, TextChange } from "./drawing.ts"

type Json = Schema.Json

/** What all changes of one round may take from. */
export interface Material {
  /** Inputs from which pieces are taken. */
  readonly inputs: ReadonlyArray<string>
  /** Names and values that are known to mean something. */
  readonly words: ReadonlyArray<string>
}

/** No input is longer. */
const longest = 50_000

export const applied = ({ changes, input, other }: Plan, { inputs, words }: Material): string => {
  const original = inputs[input % inputs.length] ?? ""
  const around = { from: inputs[other % inputs.length] ?? "", words }
  let text = original
  for (const change of changes) {
    text = change.on === "json" ? inJson(text, change, around) : inText(text, change, around)
    if (text.length > longest) return original
  }
  return text
}

/** A piece of a text: some characters from a place, or some lines. */
const pieceOf = (text: string, at: number, { length, on }: TextChange): readonly [number, number] => {
  const start = Math.floor(at * text.length)
  if (on === "text") return [start, Math.min(text.length, start + length)]
  const first = text.lastIndexOf("\n", start - 1) + 1
  let end = first
  for (let lines = 0; lines <= length % 4 && end < text.length; lines++) {
    const next = text.indexOf("\n", end)
    end = next === -1 ? text.length : next + 1
  }
  return [first, end]
}

const inText = (text: string, change: TextChange, { from, words }: Around): string => {
  const [start, end] = pieceOf(text, change.at, change)
  const before = text.slice(0, start)
  const after = text.slice(end)
  const word = words[change.word % words.length] ?? ""
  switch (change.does) {
    case "cut":
      return before + after
    case "end":
      return before
    case "replace":
      return before + word + after
    case "insert":
      return before + word + text.slice(start)
    case "repeat": {
      const [to] = pieceOf(text, change.to, change)
      return text.slice(0, to) + text.slice(start, end) + text.slice(to)
    }
    case "borrow":
      return before + from.slice(...pieceOf(from, change.to, change)) + text.slice(start)
  }
}

/** What changes of one input may take from. */
interface Around {
  readonly from: string
  readonly words: ReadonlyArray<string>
}

/** JSON in a text: all of it, else what stands in one of its lines, with or without the name of a field of an event. */
const jsonIn = (text: string, at: number): readonly [number, number] => {
  if (isJson(text)) return [0, text.length]
  const [start, end] = pieceOf(text, at, { on: "lines", does: "cut", at, to: 0, length: 0, word: 0 })
  const line = text.slice(start, end).trimEnd()
  const offset = /^(?:data:\s*)?/.exec(line)?.[0].length ?? 0
  return isJson(line.slice(offset)) ? [start + offset, start + line.length] : [0, 0]
}

/** What nests deeply is changed as text: to visit its nodes would take the stack that is looked for. */
const parsed = (text: string): Json | undefined => {
  try {
    // JSON.parse gives nothing but JSON
    const value = JSON.parse(text) as Json
    return isDeep(value, 500) ? undefined : value
  } catch {
    return undefined
  }
}

const isDeep = (value: Json, levels: number): boolean =>
  typeof value === "object" &&
  value !== null &&
  (levels === 0 || Object.values(value).some((item: Json) => isDeep(item, levels - 1)))

const isJson = (text: string): boolean => parsed(text) !== undefined

const inJson = (text: string, change: JsonChange, around: Around): string => {
  const [start, end] = jsonIn(text, change.text.at)
  const value = parsed(text.slice(start, end))
  if (value === undefined) return inText(text, change.text, around)
  const [from, to] = jsonIn(around.from, change.text.to)
  const others = nodesOf(parsed(around.from.slice(from, to)) ?? null)
  const nodes = nodesOf(value)
  const at = Math.floor(change.at * nodes.length)
  const other = others[Math.floor(change.to * others.length)] ?? null
  const swapped = nodes[Math.floor(change.to * nodes.length)] ?? null
  const changed = rebuilt(value, { ...change, at }, { other, swapped, around })
  return text.slice(0, start) + JSON.stringify(changed) + text.slice(end)
}

/** A value and all that is in it, from the top. */
const nodesOf = (value: Json): ReadonlyArray<Json> => {
  const nodes: Array<Json> = []
  const visit = (node: Json): void => {
    nodes.push(node)
    if (typeof node === "object" && node !== null) Object.values(node).forEach(visit)
  }
  visit(value)
  return nodes
}

interface Given {
  readonly other: Json
  readonly swapped: Json
  readonly around: Around
}

/** A copy in which the node at that place, counted as `nodesOf` does, is changed. */
const rebuilt = (value: Json, change: JsonChange, given: Given): Json => {
  const { does, word, at } = change
  const name = given.around.words[word % given.around.words.length] ?? ""
  let count = 0
  const changed = (node: Json): Json => {
    if (does === "wrap") return word % 2 === 0 ? [node] : { [name]: node }
    if (does === "borrow") return given.other
    if (does === "swap") return given.swapped
    if (does === "add" && Array.isArray(node)) return [...node, given.other]
    if (does === "add" && typeof node === "object")
      return fieldsOf([...Object.entries(node ?? {}), [name, given.other]])
    if (does === "edit" && typeof node === "string") return inText(node, change.text, given.around)
    return word % 3 === 0 ? name : change.value
  }
  const visit = (node: Json): Json => {
    const isHere = count++ === at
    if (isHere && does !== "drop" && does !== "rename" && does !== "repeat") return skipping(node, changed(node))
    if (typeof node !== "object" || node === null) return node
    const entries = Object.entries(node).flatMap(([key, field]): ReadonlyArray<readonly [string, Json]> => {
      const isChild = count === at
      const entry = [key, visit(field)] as const
      if (!isChild || does === "set" || does === "edit") return [entry]
      if (does === "drop") return []
      if (does === "rename") return [[name, entry[1]]]
      return does === "repeat" ? [entry, [name, entry[1]]] : [entry]
    })
    return Array.isArray(node) ? entries.map(([, field]) => field) : fieldsOf(entries)
  }
  /** Counts what a node holds, which is not visited any more. */
  const skipping = (node: Json, by: Json): Json => {
    count += nodesOf(node).length - 1
    return by
  }
  return visit(value)
}

/** Also where a name is `__proto__`. */
const fieldsOf = (entries: ReadonlyArray<readonly [string, Json]>): Json => Object.fromEntries(entries)

/** A text of JSON without one of its nodes, or with nothing in its place: each way, one after the other. */
export const simpler = function* (text: string): Generator<string> {
  const value = parsed(text)
  if (value === undefined) return
  const none = { other: null, swapped: null, around: { from: "", words: [""] } }
  const still: JsonChange = {
    on: "json",
    does: "drop",
    at: 0,
    to: 0,
    value: null,
    word: 1,
    text: { on: "text", does: "cut", at: 0, to: 0, length: 0, word: 0 }
  }
  for (let at = 0; at < nodesOf(value).length; at++) {
    yield JSON.stringify(rebuilt(value, { ...still, at }, none))
    yield JSON.stringify(rebuilt(value, { ...still, at, does: "set" }, none))
  }
}

/** Every name and every short text in some inputs: what a format is made of. */
export const wordsOf = (inputs: ReadonlyArray<string>): ReadonlyArray<string> => {
  const words = new Set<string>()
  for (const input of inputs) {
    for (const [, quoted = ""] of input.matchAll(/"((?:[^"\\]|\\.){0,40})"/g)) words.add(quoted)
    for (const [bare = ""] of input.matchAll(/[\w.-]{2,30}|[^\w\s]{1,3}/g)) words.add(bare)
  }
  return [...words]
}
