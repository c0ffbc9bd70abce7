/** Decides which images and files a tool result carries in a wire format. */
import * as Message from "@kintsugi/core/Message"
import { type Attachment, givenBy } from "./Attached.ts"

/** Whether a wire format carries this image or file in a tool result. */
export type Takes = (part: Attachment) => boolean

/** The parts of a tool result, if the format carries all of its images and files. If not, `undefined`: the result is sent as its text. */
export const shownParts = (
  settlement: Message.Settlement,
  takes: Takes
): ReadonlyArray<Message.UserContent[number]> | undefined => {
  // every format sends a failed result as text only
  if (settlement.parts === undefined || Message.isError(settlement)) return undefined
  const shown: Array<Message.UserContent[number]> = []
  for (const part of settlement.parts) {
    if ("bytes" in part || (part.type !== "text" && !takes(part))) return undefined
    shown.push(part)
  }
  return shown.every(({ type }) => type === "text") ? undefined : shown
}

/** Whether a part is an image that can be sent, in a format that every model with image input reads. */
export const isPlainImage: Takes = (part) => part.type === "image" && images.has(part.mediaType) && isSendable(part)

/** Whether a part is a PDF that can be sent. */
export const isPdf: Takes = (part) => part.type === "file" && part.mediaType === "application/pdf" && isSendable(part)

/** Whether a part is a text file that is given as bytes. */
export const isTextFile: Takes = (part) =>
  part.type === "file" && part.mediaType.startsWith("text/") && givenBy(part).way === "data" && isSendable(part)

const images: ReadonlySet<string> = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"])

/** Whether providers take an attachment: they refuse an empty image, and fetch files only from the web or from their own store. */
const isSendable = (part: Attachment): boolean => {
  const given = givenBy(part)
  if (given.way === "data") return given.data !== ""
  return given.way === "id" || given.url.startsWith("https://") || given.url.startsWith("http://")
}
