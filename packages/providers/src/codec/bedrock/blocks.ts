/** Encodes the parts of messages as the content blocks of Converse. */
import * as Message from "@kintsugi/core/Message"
import type * as Schema from "effect/Schema"
import * as ArgumentsObject from "../ArgumentsObject.ts"
import { type Attachment, givenBy } from "../Attached.ts"
import { shownParts, type Takes } from "../resultParts.ts"
import { settlementText } from "../text.ts"
import * as Json from "../../transport/Json.ts"
import { cited } from "./reply.ts"
import type { Vendor } from "./vendor.ts"

/** The names of document formats on the wire by their media types (`DocumentBlock`, looked up on 2026-11-26). */
const documents: Readonly<Record<string, string>> = {
  "application/pdf": "pdf",
  "text/csv": "csv",
  "application/msword": "doc",
  "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "docx",
  "application/vnd.ms-excel": "xls",
  "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "xlsx",
  "text/html": "html",
  "text/plain": "txt",
  "text/markdown": "md"
}

const images: Readonly<Record<string, string>> = {
  "image/png": "png",
  "image/jpeg": "jpeg",
  "image/gif": "gif",
  "image/webp": "webp"
}

const formatOf = ({ mediaType, type }: Attachment): string | undefined => {
  const formats = type === "image" ? images : documents
  return Object.hasOwn(formats, mediaType) ? formats[mediaType] : undefined
}

/** Says why an image or a file cannot be sent; `undefined` if it can. */
export const unsendable = (part: Attachment): string | undefined => {
  if (formatOf(part) === undefined) return `the format ${part.mediaType} is not taken`
  const given = givenBy(part)
  return given.way === "url" && !given.url.startsWith("s3://")
    ? "only an address of S3 can be sent, as s3://bucket/key"
    : undefined
}

/** Whether Converse takes images and a status in the tool results for a model: it does for Claude and Nova only. */
const isFull = (vendor: Vendor): boolean => vendor === "claude" || vendor === "nova"

/**
 * Makes the check whether a tool result may carry an attachment: documents of each format, and for Claude and Nova also images, as bytes
 * (`ToolResultContentBlock` and `ToolResultBlock`, looked up on 2026-11-26).
 */
export const takesOf =
  (vendor: Vendor): Takes =>
  (part) => {
    const given = givenBy(part)
    return (
      given.way === "data" &&
      given.data !== "" &&
      unsendable(part) === undefined &&
      (part.type === "file" || isFull(vendor))
    )
  }

/** Makes the names of a request's documents: each is unique, and consists of letters, digits and blanks. */
export class Names {
  readonly #used = new Set<string>()
  /** How often each name was asked for. */
  readonly #times = new Map<string, number>()

  next(name = ""): string {
    const base =
      name
        .replaceAll(/[^A-Za-z0-9]+/g, " ")
        .trim()
        .slice(0, longestName) || "document"
    let given = base
    while (this.#used.has(given)) {
      const times = (this.#times.get(base) ?? 1) + 1
      this.#times.set(base, times)
      given = `${base} ${times}`
    }
    this.#used.add(given)
    return given
  }
}

/** How many characters of a name are kept. The wire takes 200; the rest is for a number at the end. */
const longestName = 180

/** Whether a text is blank. The provider refuses blank texts, so they are left out. */
export const isBlank = (text: string): boolean => text.trim() === ""

const partOf = (part: Message.UserContent[number], names: Names): ReadonlyArray<Schema.Json> => {
  if (part.type === "text") return isBlank(part.text) ? [] : [{ text: part.text }]
  const given = givenBy(part)
  const source =
    given.way === "data" ? { bytes: given.data } : { s3Location: { uri: given.way === "url" ? given.url : given.id } }
  const format = formatOf(part) ?? ""
  return part.type === "image"
    ? [{ image: { format, source } }]
    : [{ document: { format, name: names.next(part.name), source } }]
}

/** Encodes a message of the user. Converse takes a document only beside a text, so a message without a text repeats the document's name. */
export const ofUser = ({ content }: Message.User, names: Names): ReadonlyArray<Schema.Json> => {
  const blocks = content.flatMap((part) => partOf(part, names))
  const document = blocks.find((block) => Json.field(block, "document") !== undefined)
  const hasText = blocks.some((block) => Json.field(block, "text") !== undefined)
  const name = Json.field(Json.field(document, "document"), "name")
  return name === undefined || hasText ? blocks : [...blocks, { text: name }]
}

/** Encodes a message of the model, and the results of its calls. `idOf` makes the id that a call has in this request. */
export const ofAssistant = (
  message: Message.Assistant,
  provider: string,
  vendor: Vendor,
  idOf: (id: string) => string,
  names: Names
): { readonly said: ReadonlyArray<Schema.Json>; readonly results: ReadonlyArray<Schema.Json> } => {
  const said: Array<Schema.Json> = []
  const results: Array<Schema.Json> = []
  const own = (opaque: Message.Opaque | undefined) => (opaque?.provider === provider ? opaque.data : undefined)
  for (const part of message.content) {
    switch (part.type) {
      case "text":
        if (!isBlank(part.text)) said.push({ text: part.text })
        break
      case "reasoning": {
        const signature = Json.text(own(part.opaque))
        if (signature !== undefined) said.push({ reasoningContent: { reasoningText: { text: part.text, signature } } })
        break
      }
      case "provider-item": {
        const data = own(part.opaque)
        if (data !== undefined && part.kind !== cited) said.push(data)
        break
      }
      case "settled-call": {
        const toolUseId = idOf(part.call.id)
        said.push({ toolUse: { toolUseId, name: part.call.name, input: ArgumentsObject.of(part.call.arguments) } })
        results.push({ toolResult: { toolUseId, ...resultOf(part.settlement, vendor, names) } })
      }
    }
  }
  // thoughts at the end are left out, because no message may end with them
  const last = said.findLastIndex((block) => Json.field(block, "reasoningContent") === undefined)
  return { said: said.slice(0, last + 1), results }
}

const resultOf = (settlement: Message.Settlement, vendor: Vendor, names: Names): Schema.JsonObject => {
  const isError = Message.isError(settlement)
  const hasStatus = isFull(vendor)
  const text = hasStatus ? settlement.text : settlementText(settlement)
  const parts = shownParts(settlement, takesOf(vendor))?.flatMap((part) => partOf(part, names))
  const empty = isError ? "The call failed." : "(empty)"
  return {
    content: parts ?? [{ text: isBlank(text) ? empty : text }],
    ...(isError && hasStatus ? { status: "error" } : {})
  }
}
