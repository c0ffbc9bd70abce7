/** The addresses of files that a model takes. `generateText` of the SDK loads all others; this library refuses them. */
import type * as Message from "@kintsugi/core/Message"
import * as Predicate from "effect/Predicate"
import { unsupported } from "./failure.ts"
import { type Attachment, givenBy } from "./versions.ts"

/** Rejects if a message has a file at an address that the model does not take. A model that does not say what it takes takes all. */
export const check = async (messages: Message.Transcript, supportedUrls: unknown): Promise<void> => {
  const found = messages.flatMap((message) => (message.role === "user" ? message.content.flatMap(addressIn) : []))
  if (found.length === 0) return
  const supported: unknown = await supportedUrls
  if (!Predicate.isObject(supported)) return
  for (const { mediaType, url } of found) {
    if (!isTaken(supported, mediaType.toLowerCase(), url)) throw new UnsupportedUrl(mediaType)
  }
}

const addressIn = (
  part: Message.UserContent[number]
): ReadonlyArray<{ readonly mediaType: string; readonly url: string }> => {
  const given = part.type === "text" ? undefined : givenBy(part satisfies Attachment)
  return part.type !== "text" && given?.way === "url" ? [{ mediaType: part.mediaType, url: given.url }] : []
}

/** The keys are media types, `image/*` among them, the values are lists of regular expressions of the provider. */
const isTaken = (supported: object, mediaType: string, url: string): boolean =>
  Object.entries(supported).some(([type, patterns]: [string, unknown]) => {
    const start = type === "*" || type === "*/*" ? "" : type.toLowerCase().replace("*", "")
    return (
      mediaType.startsWith(start) &&
      Array.isArray(patterns) &&
      patterns.some((pattern: unknown) => pattern instanceof RegExp && pattern.test(url.toLowerCase()))
    )
  })

/** As the packages of the SDK name what a model cannot do. */
class UnsupportedUrl extends Error {
  override readonly name = unsupported
  constructor(mediaType: string) {
    super(`it takes no ${mediaType} at this address: give its bytes`)
  }
}
