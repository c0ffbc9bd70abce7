/** The result of an MCP tool: message parts, and the text for a model. */
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
  /** Texts and attachments: images, audio and embedded resources with their bytes, linked resources with their URL. */
  content: Message.UserContent,
  /** The structured data, if any. */
  structured: Schema.optionalKey(Schema.Json)
})

/** A text, or the whole result where it has attachments: a durable run keeps them. */
const Stored = Schema.Union([Schema.String, Fields])

/**
 * The result of an MCP tool. A model reads its texts, its data unless a text has the same, and its images and files if its wire carries them
 * in results; else a note about each.
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

/** What a model reads of a result, in its order. */
export const partsOf = ({ content, structured }: McpResult): McpResult["content"] => {
  const isSaid = structured === undefined || content.some((part) => says(part, structured))
  return isSaid ? content : [...content, Message.text(JSON.stringify(structured, without(content)))]
}

/** Data may have the bytes of an attachment once more, which no model reads as text. */
const without = (content: McpResult["content"]) => {
  const bytes = new Set(content.flatMap((part) => ("data" in part ? part.data : [])))
  return (_key: string, value: unknown): unknown =>
    Predicate.isString(value) && bytes.has(bareOf(value)) ? "[not shown]" : value
}

/** The base64 alone, where it stands in a `data:` URL. */
const bareOf = (text: string): string => text.slice(/^data:[^,]*;base64,/i.exec(text)?.[0].length ?? 0)

type Part = (typeof Fields.Encoded)["content"][number]

const shown = (part: Part): string => (part.type === "text" ? part.text : "")

const says = (part: Part, structured: Schema.Json): boolean => {
  if (part.type !== "text") return false
  const json = Result.try((): unknown => JSON.parse(part.text))
  // Comparing recurses, and the bounds of data do not apply to texts.
  return Result.isSuccess(json) && !Bounds.isDeeper(json.success) && Equal.equals(json.success, structured)
}

const encode = Schema.encodeUnknownOption(Schema.Array(McpSchema.ContentBlock))
const isJson = Schema.is(Schema.Json)

/** Converts a result. The server may repeat the secrets that it was given: `redact` removes them. */
export const fromWire = (result: McpSchema.CallToolResult, redact: typeof Redaction.own): McpResult => {
  const blocks = Option.getOrElse(encode(result.content), () => [])
  const structured = dataOf(result)
  return {
    content: blocks.map((block) => redactedPart(partOf(block), redact)),
    ...(structured === undefined ? {} : { structured: redacted(structured, redact) })
  }
}

/** The data of a result as received, if any. */
export const dataOf = ({ structuredContent }: McpSchema.CallToolResult): Schema.Json | undefined =>
  Predicate.isNotNullish(structuredContent) && isJson(structuredContent) ? structuredContent : undefined

/** Redacts a part, but not its bytes: no model reads them as text. */
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

/** Redacts JSON, including keys and numbers. */
export const redacted = (json: Schema.Json, redact: typeof Redaction.own): Schema.Json => {
  if (Predicate.isString(json)) return redact(json)
  if (Predicate.isNumber(json)) return redact(String(json)) === String(json) ? json : redact(String(json))
  if (Array.isArray(json)) return json.map((item) => redacted(item, redact))
  if (!Predicate.isObject(json)) return json
  // an object, because it is neither an array nor a text
  return Object.fromEntries(
    Object.entries(json as Schema.JsonObject).map(([key, value]) => [redact(key), redacted(value, redact)])
  )
}

type Block = (typeof McpSchema.ContentBlock)["Encoded"]

/** The media type of bytes without a declared type. */
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

/** The texts of a result, for a message about its failure. */
export const textOf = (result: McpResult): string => {
  const text = Message.textOf(result)
  return text === "" && result.structured !== undefined ? JSON.stringify(result.structured) : text
}
