/** Images and files in results of tools, for the formats that carry them. */
import * as Message from "@kintsugi/core/Message"
import { type Attachment, givenBy } from "./Attached.ts"

/** Whether a format carries such a part in a result. */
export type Takes = (part: Attachment) => boolean

/** The parts of a result, if the format carries all of its images and files; else the result is sent as its text. */
export const shownParts = (
  settlement: Message.Settlement,
  takes: Takes
): ReadonlyArray<Message.UserContent[number]> | undefined => {
  // a failed result is words in every format
  if (settlement.parts === undefined || Message.isError(settlement)) return undefined
  const shown: Array<Message.UserContent[number]> = []
  for (const part of settlement.parts) {
    if ("bytes" in part || (part.type !== "text" && !takes(part))) return undefined
    shown.push(part)
  }
  return shown.every(({ type }) => type === "text") ? undefined : shown
}

/** Whether an image has one of the types that every model with eyes reads, and can be sent. */
export const isPlainImage: Takes = (part) => part.type === "image" && images.has(part.mediaType) && isSendable(part)

/** Whether a file is a PDF, and can be sent. */
export const isPdf: Takes = (part) => part.type === "file" && part.mediaType === "application/pdf" && isSendable(part)

/** Whether a file is a text in bytes. */
export const isTextFile: Takes = (part) =>
  part.type === "file" && part.mediaType.startsWith("text/") && givenBy(part).way === "data" && isSendable(part)

const images: ReadonlySet<string> = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"])

/** Providers refuse a request with an empty image, and fetch nothing but what is on the web, or stored with them. */
const isSendable = (part: Attachment): boolean => {
  const given = givenBy(part)
  if (given.way === "data") return given.data !== ""
  return given.way === "id" || given.url.startsWith("https://") || given.url.startsWith("http://")
}
