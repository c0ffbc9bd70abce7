/** How images and files are given, and the format of audio: what all wire formats ask of an attachment. */
import type * as Message from "@kintsugi/core/Message"

/** An image or a file. */
export type Attachment = Exclude<Message.UserContent[number], Message.Text>

/** The bytes of an attachment in base64, its address, or the id of a file that its provider stores. */
export type Given =
  | { readonly way: "data"; readonly data: string }
  | { readonly way: "url"; readonly url: string }
  | { readonly way: "id"; readonly id: string }

/**
 * What is sent of an attachment. An address with bytes, `data:` in base64, stands for these bytes; one that is no address at all, such as
 * `file-abc` of OpenAI or `file_abc` of Anthropic, is the id of a file.
 */
export const givenBy = (part: Attachment): Given => {
  const given = "data" in part ? part.data : part.url
  const start = /^data:[^,]*;base64,/i.exec(given)?.[0].length
  if ("data" in part || start !== undefined) return { way: "data", data: given.slice(start) }
  return /^[\w-]+$/.test(given) ? { way: "id", id: given } : { way: "url", url: given }
}

/** The bytes or the address as one address: bytes become a `data:` URL. */
export const addressOf = (part: Attachment): string => {
  const given = givenBy(part)
  if (given.way === "data") return `data:${part.mediaType};base64,${given.data}`
  return given.way === "url" ? given.url : given.id
}

/** The format of audio as wires name it, `wav` or `mp3` for example, by its media type; `undefined` if a file has no audio. */
export const audioFormat = ({ mediaType, type }: Attachment): string | undefined => {
  const [, name] = /^audio\/(?:x-)?([^;\s]+)/i.exec(mediaType) ?? []
  if (type !== "file" || name === undefined) return undefined
  const format = name.toLowerCase()
  return formats.get(format) ?? format
}

/** The names that differ from those of the media types. */
const formats: ReadonlyMap<string, string> = new Map([
  ["mpeg", "mp3"],
  ["mpeg3", "mp3"],
  ["wave", "wav"],
  ["vnd.wave", "wav"],
  ["mp4", "m4a"]
])
