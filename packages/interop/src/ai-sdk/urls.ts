/**
 * Checks the URLs of files in a request. A model of the SDK takes only some URLs. `generateText` of the SDK downloads the other files; this
 * library refuses them.
 */
import type * as Message from "@kintsugi/core/Message"
import * as Predicate from "effect/Predicate"
import { unsupported } from "./failure.ts"
import { type Attachment, givenBy } from "./versions.ts"

/** Rejects if a message has a file at a URL that the model does not take. A model without `supportedUrls` takes all URLs. */
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
  // Mutant `""` survives: a text has no URL
  if (part.type === "text") return []
  const given = givenBy(part satisfies Attachment)
  return given.way === "url" ? [{ mediaType: part.mediaType, url: given.url }] : []
}

/**
 * Whether the model takes this URL. The keys of `supported` are media types, such as `image/*`, and the values are lists of regular
 * expressions from the provider.
 */
const isTaken = (supported: object, mediaType: string, url: string): boolean =>
  Object.entries(supported).some(([type, patterns]: [string, unknown]) => {
    const start = type === "*/*" ? "" : type.toLowerCase().replace("*", "")
    return (
      mediaType.startsWith(start) &&
      Array.isArray(patterns) &&
      patterns.some((pattern: unknown) => pattern instanceof RegExp && pattern.test(url.toLowerCase()))
    )
  })

/** The error for a URL that the model does not take. Its name is the one with which the packages of the SDK report a missing capability. */
class UnsupportedUrl extends Error {
  override readonly name = unsupported
  constructor(mediaType: string) {
    super(`it takes no ${mediaType} at this address: give its bytes`)
  }
}
