/** Arguments for a tool: every parameter from its schema, and from what the user said. */
import type * as Schema from "effect/Schema"
import type { Tool } from "./Conversation.ts"
import { afterLeadIn, find, isObject, mend, write, type JsonObject } from "./Json.ts"
import * as Shape from "./Shape.ts"
import * as Words from "./Words.ts"

/** What there is to draw from. */
export interface Source {
  /** All that the user wrote. */
  readonly request: string
  /** The document in it, verbatim; where there is none, what follows the instruction. */
  readonly payload: string | undefined
  /** The document, if it can be read, mended or not. */
  readonly data: Schema.Json | undefined
  /** The request without the document. */
  readonly prose: string
}

export const sourceOf = (request: string): Source => {
  const document = find(request)
  return document === undefined
    ? { request, payload: afterLeadIn(request), data: undefined, prose: request }
    : { request, payload: document, data: mend(document)?.value, prose: request.replace(document, " ") }
}

/** The same request, with another document in the place of its own. */
export const withDocument = (source: Source, text: string): Source => ({
  ...source,
  payload: text,
  data: mend(text)?.value
})

/** Every required parameter, and each optional one about which the user said something. */
export const fill = (tool: Tool, source: Source): JsonObject => {
  const taken: Taken = { numbers: 0, texts: 0 }
  const whole = wholeOf(tool, source)
  // A document that is passed on as it stands fills no other parameter
  const rest = whole === undefined ? source : { ...source, data: undefined }
  return Object.fromEntries(
    tool.fields.flatMap((field): ReadonlyArray<[string, Schema.Json]> => {
      const said = field === whole ? source.payload : saidAbout(field, rest)
      if (said === undefined && !field.required) return []
      if (said === undefined && field.nullable) return [[field.name, null]]
      if (isSlip(field, said, rest)) return [[field.name, said]]
      return [[field.name, fit(field, said, source, tool.root, taken, 0)]]
    })
  )
}

/** What models often get wrong: a number that the user named in words becomes a text. */
const isSlip = (field: Shape.Field, said: Schema.Json | undefined, { data }: Source): said is string =>
  typeof said === "string" &&
  /^\d+$/.test(said) &&
  data === undefined &&
  (Shape.kindOf(field.schema) === "integer" || Shape.kindOf(field.schema) === "number")

/** How far the numbers and texts of the prose were used up: two parameters do not share one. */
interface Taken {
  numbers: number
  texts: number
}

const documentNames = new Set("json payload document text content input data raw body source".split(" "))

const wantsDocument = (field: Shape.Field): boolean =>
  Shape.kindOf(field.schema) === "string" &&
  Shape.choicesOf(field.schema) === undefined &&
  (Words.shared(documentNames, Words.of(field.name)) > 0 || /\bjson\b/i.test(field.description))

/** The parameter that takes the document as it stands: one that asks for it, or the only text that there is. */
export const wholeOf = (tool: Tool, source: Source): Shape.Field | undefined => {
  const wanting = tool.fields.find(wantsDocument)
  if (wanting !== undefined || source.data === undefined) return wanting
  const [only, ...others] = tool.fields.filter(({ required }) => required)
  return only !== undefined &&
    others.length === 0 &&
    Shape.kindOf(only.schema) === "string" &&
    Shape.choicesOf(only.schema) === undefined &&
    saidAbout(only, source) === undefined
    ? only
    : undefined
}

/** The value that the document, or else the prose, has under the name of a parameter. */
const saidAbout = (field: Shape.Field, source: Source): Schema.Json | undefined => {
  const named = isObject(source.data)
    ? Object.entries(source.data).find(([name]) => Words.sameName(name, field.name))
    : undefined
  if (named !== undefined) return named[1]
  const choices = Shape.choicesOf(field.schema)
  if (choices !== undefined) return mentioned(choices, source.prose)
  return saidBehind(field.name, source.prose)
}

/** `city: Paris`, `city is Paris`: the word behind a name, whose own words may be parted otherwise. */
const saidBehind = (name: string, prose: string): string | undefined => {
  const wanted = compact(name)
  const words = Array.from(prose.matchAll(/[\p{L}\d]+/gu), ({ 0: word, index }) => ({ word, start: index }))
  for (const [first, { start }] of words.entries()) {
    let end = start
    for (let at = first; at < words.length && end - start < wanted.length * 2; at++) {
      const next = words[at]
      if (next === undefined || /[^\s_-]/.test(prose.slice(end, next.start))) break
      end = next.start + next.word.length
      if (compact(prose.slice(start, end)) !== wanted || prose[start - 1] === "_" || prose[end] === "_") continue
      const said = /^(?:\s*[:=]\s*|\s+(?:is\s+|of\s+)?)["'`]?([^\s"'`,;?!]+)/iu.exec(prose.slice(end))?.[1]
      if (said !== undefined) return said
    }
  }
  return undefined
}

const compact = (name: string): string => name.replaceAll(/[^\p{L}\d]+/gu, "").toLowerCase()

const mentioned = (choices: ReadonlyArray<Schema.Json>, prose: string): Schema.Json | undefined =>
  choices.find(
    (choice) => typeof choice === "string" && choice !== "" && prose.toLowerCase().includes(choice.toLowerCase())
  )

const maxDepth = 12

/** A value of the schema's kind: what was said, bent to fit, or else what the rest of the request gives. */
const fit = (
  field: Shape.Field,
  said: Schema.Json | undefined,
  source: Source,
  root: JsonObject,
  taken: Taken,
  depth: number
): Schema.Json => {
  const { schema } = field
  const choices = Shape.choicesOf(schema)
  if (choices !== undefined) return chosen(choices, said, source)
  switch (Shape.kindOf(schema)) {
    case "string":
      return asString(schema, said ?? nextText(field, source, taken))
    case "integer":
      return within(schema, Math.trunc(asNumber(said) ?? nextNumber(source, taken)))
    case "number":
      return within(schema, asNumber(said) ?? nextNumber(source, taken))
    case "boolean":
      return asBoolean(said ?? Words.shared(Words.of(field.name), Words.of(source.prose)) > 0)
    case "null":
      return null
    case "array":
      return asArray(field, said, source, root, taken, depth)
    case "object":
      return asObject(field, said, source, root, taken, depth)
    case "any":
      return said ?? source.data ?? source.payload ?? source.request
  }
}

const chosen = (choices: ReadonlyArray<Schema.Json>, said: Schema.Json | undefined, source: Source): Schema.Json => {
  const same = choices.find((choice) => choice === said)
  const close = typeof said === "string" ? mentioned(choices, said) : undefined
  return same ?? close ?? mentioned(choices, source.prose) ?? choices[0] ?? null
}

const asString = (schema: JsonObject, value: Schema.Json): string => {
  const text = typeof value === "string" ? value : write(value)
  const shortest = typeof schema.minLength === "number" ? Math.min(schema.minLength, 64) : 0
  return text.length < shortest ? text.padEnd(shortest, "-") : text
}

const asNumber = (value: Schema.Json | undefined): number | undefined => {
  const number = typeof value === "string" ? Number.parseFloat(value) : value
  return typeof number === "number" && Number.isFinite(number) ? number : undefined
}

const within = (schema: JsonObject, value: number): number => {
  const least = typeof schema.minimum === "number" ? schema.minimum : -Infinity
  const most = typeof schema.maximum === "number" ? schema.maximum : Infinity
  return Math.min(Math.max(value, least), most)
}

const asBoolean = (value: Schema.Json): boolean =>
  typeof value === "boolean" ? value : !/^(?:false|no|off|0|null|)$/i.test(String(value))

const asArray = (
  field: Shape.Field,
  said: Schema.Json | undefined,
  source: Source,
  root: JsonObject,
  taken: Taken,
  depth: number
): Schema.Json => {
  const items = Shape.resolve(field.schema.items, root)
  const element: Shape.Field = { name: field.name, description: "", required: true, nullable: false, schema: items }
  const values = depth >= maxDepth ? [] : (listIn(said) ?? listIn(source.data) ?? listFrom(items, said, source))
  return values.map((value) => fit(element, value, source, root, taken, depth + 1))
}

const listIn = (value: Schema.Json | undefined): ReadonlyArray<Schema.Json> | undefined => {
  if (Array.isArray(value)) return value
  if (isObject(value)) return Object.values(value).find((inner) => Array.isArray(inner))
  return typeof value === "string" ? listIn(mend(value)?.value) : undefined
}

const listFrom = (items: JsonObject, said: Schema.Json | undefined, source: Source): ReadonlyArray<Schema.Json> => {
  const kind = Shape.kindOf(items)
  if (kind === "number" || kind === "integer") return numbersIn(source.prose)
  if (said !== undefined) return [said]
  return kind === "string" ? quotedIn(source.prose) : []
}

const asObject = (
  field: Shape.Field,
  said: Schema.Json | undefined,
  source: Source,
  root: JsonObject,
  taken: Taken,
  depth: number
): Schema.Json => {
  const inner = typeof said === "string" ? mend(said)?.value : said
  const data = isObject(inner) ? inner : isObject(source.data) ? source.data : undefined
  const fields = Shape.fieldsOf(field.schema, root)
  if (depth >= maxDepth) return {}
  if (fields.length === 0) return data ?? {}
  const own: Source = { ...source, data }
  const declared = fields.flatMap((part): ReadonlyArray<[string, Schema.Json]> => {
    const value = saidAbout(part, own)
    return value === undefined && !part.required ? [] : [[part.name, fit(part, value, own, root, taken, depth + 1)]]
  })
  return Object.fromEntries(declared)
}

const nextNumber = (source: Source, taken: Taken): number =>
  asNumber(source.data) ?? numbersIn(source.prose)[taken.numbers++] ?? 0

const numbersIn = (prose: string): ReadonlyArray<number> =>
  Array.from(prose.matchAll(/(?<![\w.])-?\d+(?:\.\d+)?/g), ([digits]) => Number(digits))

/** Free text for a parameter about which nothing was said by name: what is quoted, a proper name, else all of it. */
const nextText = (field: Shape.Field, source: Source, taken: Taken): string => {
  if (wantsDocument(field)) return source.payload ?? source.request
  const texts = [...quotedIn(source.prose), ...namesIn(source.prose)]
  return texts[taken.texts++] ?? source.payload ?? source.request
}

const quotedIn = (prose: string): ReadonlyArray<string> =>
  Array.from(prose.matchAll(/"([^"\n]+)"|'([^'\n]+)'|`([^`\n]+)`/g), ([, a, b, c]) => a ?? b ?? c ?? "")

/** Capitalised words after a preposition, or anywhere but at the start of a sentence. */
const namesIn = (prose: string): ReadonlyArray<string> =>
  Array.from(
    prose.replaceAll(/\s+/g, " ").matchAll(/(?<=[\p{Ll}\d,:] )\p{Lu}[\p{L}\d'-]*(?: \p{Lu}[\p{L}\d'-]*)*/gu),
    ([name]) => name
  )
