/** What a tool of an MCP server gives: our parts of a message, and the text that a model reads of them. */
import * as Bounds from "@kintsugi/core/Bounds"
import * as Message from "@kintsugi/core/Message"
import * as McpSchema from "effect/ai/McpSchema"
import * as Predicate from "effect/Predicate"
import * as Option from "effect/Option"
import * as Equal from "effect/Equal"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SchemaTransformation from "effect/SchemaTransformation"
import type { Redactor } from "@kintsugi/core/Redaction"

export interface McpResult extends Schema.Schema.Type<typeof Fields> {}

const Fields = Schema.Struct({
  /** Texts, and what is attached: images, audio and embedded resources with their bytes, linked resources by their address. */
  content: Schema.Array(Schema.Union([Message.Text, Message.Image, Message.File])),
  /** What the tool gives as data, where it does. */
  structured: Schema.optionalKey(Schema.Json)
})

/**
 * The result of a tool of an MCP server. A model reads its texts; its data too, unless a text says the same; of what is attached
 * that it is there.
 */
export const McpResult: Schema.Codec<McpResult, string> = Schema.String.pipe(
  Schema.decodeTo(
    Fields,
    SchemaTransformation.transform({
      decode: (text): typeof Fields.Encoded => ({ content: [Message.text(text)] }),
      encode: ({ content, structured }) => {
        const texts = content.map(shown)
        const isSaid = structured === undefined || content.some((part) => says(part, structured))
        return [...texts, ...(isSaid ? [] : [JSON.stringify(structured)])].join("\n")
      }
    })
  )
)

type Part = (typeof Fields.Encoded)["content"][number]

const shown = (part: Part): string => {
  if (part.type === "text") return part.text
  const name = "name" in part && part.name !== undefined ? ` '${part.name}'` : ""
  const what = `${part.type}${name}, ${part.mediaType}`
  return "url" in part ? `[${what}, at ${part.url}]` : `[${what}, ${bytesIn(part.data)} bytes, not shown]`
}

const bytesIn = (base64: string): number => Math.floor((base64.replace(/={1,2}$/, "").length * 3) / 4)

const says = (part: Part, structured: Schema.Json): boolean => {
  if (part.type !== "text") return false
  const json = Result.try((): unknown => JSON.parse(part.text))
  // comparing recurses, and a text is not bounded as data is
  return (
    Result.isSuccess(json) && !Bounds.isDeeper(json.success, Bounds.deepest) && Equal.equals(json.success, structured)
  )
}

const encode = Schema.encodeUnknownOption(Schema.Array(McpSchema.ContentBlock))
const isJson = Schema.is(Schema.Json)

/** A server knows the secrets that it was given, and may repeat them: `mask` takes them out again. */
export const fromWire = (result: McpSchema.CallToolResult, mask: Redactor): McpResult => {
  const blocks = Option.getOrElse(encode(result.content), () => [])
  const structured = dataOf(result)
  return {
    content: blocks.map((block) => maskedPart(partOf(block), mask)),
    ...(structured === undefined ? {} : { structured: masked(structured, mask) })
  }
}

/** The data of a result as it came, where there is any. */
export const dataOf = ({ structuredContent }: McpSchema.CallToolResult): Schema.Json | undefined =>
  Predicate.isNotNullish(structuredContent) && isJson(structuredContent) ? structuredContent : undefined

/** Bytes are left as they are: no model reads them as text. */
const maskedPart = (part: McpResult["content"][number], mask: Redactor): McpResult["content"][number] => {
  if (part.type === "text") return Message.text(mask(part.text))
  const where = "url" in part ? { url: mask(part.url) } : { data: part.data }
  const mediaType = mask(part.mediaType)
  if (part.type === "image") return Message.image(mediaType, where)
  return Message.file(mediaType, where, part.name === undefined ? undefined : mask(part.name))
}

/** JSON without the secrets that stand in it, as a key or as a number too. */
export const masked = (json: Schema.Json, mask: Redactor): Schema.Json => {
  if (Predicate.isString(json)) return mask(json)
  if (Predicate.isNumber(json)) return mask(String(json)) === String(json) ? json : mask(String(json))
  if (Array.isArray(json)) return json.map((item) => masked(item, mask))
  if (!Predicate.isObject(json)) return json
  // no array, no text: an object
  return Object.fromEntries(
    Object.entries(json as Schema.JsonObject).map(([key, value]) => [mask(key), masked(value, mask)])
  )
}

type Block = (typeof McpSchema.ContentBlock)["Encoded"]

/** The type of bytes of which nobody says what they are. */
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

/** The texts of a result, for somebody who reads why it failed. */
export const textOf = (result: McpResult): string => {
  const text = Message.textOf(result)
  return text === "" && result.structured !== undefined ? JSON.stringify(result.structured) : text
}
