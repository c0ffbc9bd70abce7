/** Reads an attachment for any wire format: how an image or file is given, and the format of audio. */
import type * as Message from "@kintsugi/core/Message"

/** An image or a file. */
export type Attachment = Exclude<Message.UserContent[number], Message.Text>

/** How an attachment is given: its bytes in base64, its URL, or the id of a file that the provider stores. */
export type Given =
  | { readonly way: "data"; readonly data: string }
  | { readonly way: "url"; readonly url: string }
  | { readonly way: "id"; readonly id: string }

/**
 * Reads how an attachment is given. A `data:` URL in base64 counts as bytes. A URL that is none, such as `file-abc` of OpenAI or `file_abc`
 * of Anthropic, is the id of a stored file.
 */
export const givenBy = (part: Attachment): Given => {
  const given = "data" in part ? part.data : part.url
  const start = /^data:[^,]*;base64,/i.exec(given)?.[0].length
  if ("data" in part || start !== undefined) return { way: "data", data: given.slice(start) }
  return /^[\w-]+$/.test(given) ? { way: "id", id: given } : { way: "url", url: given }
}

/** The URL of an attachment: bytes become a `data:` URL. For a stored file, its id. */
export const addressOf = (part: Attachment): string => {
  const given = givenBy(part)
  if (given.way === "data") return `data:${part.mediaType};base64,${given.data}`
  return given.way === "url" ? given.url : given.id
}

/**
 * The format of an audio file as the wires name it, such as `wav` or `mp3`, by its media type; `undefined` if the attachment is no audio.
 */
export const audioFormat = ({ mediaType, type }: Attachment): string | undefined => {
  // Mutant `["Stryker was here"]` survives: only the second element is read
  const [, name] = /^audio\/(?:x-)?([^;\s]+)/i.exec(mediaType) ?? []
  if (type !== "file" || name === undefined) return undefined
  const format = name.toLowerCase()
  return formats.get(format) ?? format
}

/** The names of audio formats that differ from the names in their media types. */
const formats: ReadonlyMap<string, string> = new Map([
  ["mpeg", "mp3"],
  ["mpeg3", "mp3"],
  ["wave", "wav"],
  ["vnd.wave", "wav"],
  ["mp4", "m4a"]
])
