/** The result of an MCP tool: its parts, and the text that a model reads. */
import * as Bounds from "@kintsugi/core/Bounds"
import * as Message from "@kintsugi/core/Message"
import * as McpSchema from "effect/ai/McpSchema"
import * as Predicate from "effect/Predicate"
import * as Option from "effect/Option"
import * as Equal from "effect/Equal"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SchemaTransformation from "effect/SchemaTransformation"
import type * as Redaction from "@kintsugi/core/Redaction"

export interface McpResult extends Schema.Schema.Type<typeof Fields> {}

const Fields = Schema.Struct({
  /** The texts and attachments. Images, audio and embedded resources have their bytes; linked resources have their URL. */
  content: Message.UserContent,
  /** The structured data of the result, if there is any. */
  structured: Schema.optionalKey(Schema.Json)
})

/** The stored form of a result: a text, or the whole result if it has attachments, so that a durable run keeps them. */
const Stored = Schema.Union([Schema.String, Fields])

/**
 * The result of an MCP tool. A model reads its texts, and its data unless a text says the same. It reads images and files if its wire
 * carries them in results; otherwise a note about each.
 */
export const McpResult: Schema.Codec<McpResult, typeof Stored.Encoded> = Stored.pipe(
  Schema.decodeTo(
    Fields,
    SchemaTransformation.transform({
      decode: (stored): typeof Fields.Encoded =>
        Predicate.isString(stored) ? { content: [Message.text(stored)] } : stored,
      encode: (result) =>
        result.content.some(({ type }) => type !== "text") ? result : partsOf(result).map(shown).join("\n")
    })
  )
)

/** The parts that a model reads of a result, in order. */
export const partsOf = ({ content, structured }: McpResult): McpResult["content"] => {
  const isSaid = structured === undefined || content.some((part) => says(part, structured))
  return isSaid ? content : [...content, Message.text(JSON.stringify(structured, without(content)))]
}

/** A JSON replacer that leaves out bytes of attachments: data may repeat them, but models cannot read them as text. */
const without = (content: McpResult["content"]) => {
  const bytes = new Set(content.flatMap((part) => ("data" in part ? part.data : [])))
  return (_key: string, value: unknown): unknown =>
    Predicate.isString(value) && bytes.has(bareOf(value)) ? "[not shown]" : value
}

/** The base64 of a text, without the beginning of a `data:` URL. */
const bareOf = (text: string): string => text.slice(/^data:[^,]*;base64,/i.exec(text)?.[0].length ?? 0)

type Part = (typeof Fields.Encoded)["content"][number]

// Mutant `"Stryker was here!"` survives: what is stored as a text has no other parts
const shown = (part: Part): string => (part.type === "text" ? part.text : "")

const says = (part: Part, structured: Schema.Json): boolean => {
  if (part.type !== "text") return false
  const json = Result.try((): unknown => JSON.parse(part.text))
  // The depth is checked first: the comparison recurses, and the bounds of data do not apply to texts.
  return Result.isSuccess(json) && !Bounds.isDeeper(json.success) && Equal.equals(json.success, structured)
}

const encode = Schema.encodeUnknownOption(Schema.Array(McpSchema.ContentBlock))
const isJson = Schema.is(Schema.Json)

/** Converts a result of the protocol. The server may repeat secrets that it was given, so `redact` removes them. */
export const fromWire = (result: McpSchema.CallToolResult, redact: typeof Redaction.own): McpResult => {
  const blocks = Option.getOrElse(encode(result.content), () => [])
  const structured = dataOf(result)
  return {
    content: blocks.map((block) => redactedPart(partOf(block), redact)),
    ...(structured === undefined ? {} : { structured: redacted(structured, redact) })
  }
}

/** The structured data of a result as received; `undefined` if it has none. */
export const dataOf = ({ structuredContent }: McpSchema.CallToolResult): Schema.Json | undefined =>
  Predicate.isNotNullish(structuredContent) && isJson(structuredContent) ? structuredContent : undefined

/** Redacts the texts of a part, but not its bytes, which no model reads as text. */
const redactedPart = (
  part: McpResult["content"][number],
  redact: typeof Redaction.own
): McpResult["content"][number] => {
  if (part.type === "text") return Message.text(redact(part.text))
  const where = "url" in part ? { url: redact(part.url) } : { data: part.data }
  const mediaType = redact(part.mediaType)
  if (part.type === "image") return Message.image(mediaType, where)
  return Message.file(mediaType, where, part.name === undefined ? undefined : redact(part.name))
}

/** Redacts all texts, keys and numbers of a JSON value. */
export const redacted = (json: Schema.Json, redact: typeof Redaction.own): Schema.Json => {
  if (Predicate.isString(json)) return redact(json)
  if (Predicate.isNumber(json)) return redact(String(json)) === String(json) ? json : redact(String(json))
  if (Array.isArray(json)) return json.map((item) => redacted(item, redact))
  if (!Predicate.isObject(json)) return json
  // cast: the value is neither an array nor a text, so it is an object
  return Object.fromEntries(
    Object.entries(json as Schema.JsonObject).map(([key, value]) => [redact(key), redacted(value, redact)])
  )
}

type Block = (typeof McpSchema.ContentBlock)["Encoded"]

/** The media type for bytes whose type the server does not declare. */
const unknownType = "application/octet-stream"

const partOf = (block: Block): McpResult["content"][number] => {
  switch (block.type) {
    case "image":
      return Message.image(block.mimeType, { data: block.data })
    case "audio":
      return Message.file(block.mimeType, { data: block.data })
    case "resource_link":
      return Message.file(block.mimeType ?? unknownType, { url: block.uri }, block.title ?? block.name)
    case "resource": {
      const { resource } = block
      if ("text" in resource) return Message.text(`resource ${resource.uri}:\n${resource.text}`)
      return Message.file(resource.mimeType ?? unknownType, { data: resource.blob }, resource.uri)
    }
    default:
      return Message.text(block.text)
  }
}

/** The text of a result, for the message of an error. */
export const textOf = (result: McpResult): string => {
  const text = Message.textOf(result)
  return text === "" && result.structured !== undefined ? JSON.stringify(result.structured) : text
}
