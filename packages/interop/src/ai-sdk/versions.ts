/**
 * The differences between the versions of the SDK's specification in a request: how a file is given, and which parts a message may have.
 */
import * as Message from "@kintsugi/core/Message"
import type { Json } from "effect/Schema"
import * as Predicate from "effect/Predicate"
import type { DataOfV4, Parts, Version } from "./specification.ts"

/** An image or a file of a message. */
export type Attachment = Exclude<Message.UserContent[number], Message.Text>

/** The content of an attachment: its bytes in base64, its URL, or the id of a file that the provider stores. */
type Given =
  | { readonly way: "data"; readonly data: string }
  | { readonly way: "url"; readonly url: string }
  | { readonly way: "id"; readonly id: string }

/** Reads the content of an attachment. A `url` that is no URL is the id of a stored file. */
export const givenBy = (part: Attachment): Given => {
  const bare = Message.file(part.mediaType, part)
  if ("data" in bare) return { way: "data", data: bare.data }
  return URL.canParse(bare.url) ? { way: "url", url: bare.url } : { way: "id", id: bare.url }
}

interface Speaking<V extends Version> {
  /** The content of an image or a file in a message. `provider` is the name under which the provider stores its files. */
  readonly data: (part: Attachment, provider: string) => Parts[V]["data"]
  /** An image or a file in the result of a tool; `undefined` if this version has no form for it. */
  readonly shown: (part: Attachment, provider: string) => Parts[V]["shown"] | undefined
  /** A part of an assistant message that only this version has; `undefined` for any other part. */
  readonly further: (part: Readonly<Record<string, Json>>) => Parts[V]["further"] | undefined
  /** The type of a tool that the provider runs. */
  readonly providerTool: V extends "v2" ? "provider-defined" : "provider"
}

const plain = (part: Attachment): string | URL => {
  const given = givenBy(part)
  if (given.way === "data") return given.data
  return given.way === "url" ? new URL(given.url) : given.id
}

const tagged = (part: Attachment, provider: string): DataOfV4 => {
  const given = givenBy(part)
  if (given.way === "data") return { type: "data", data: given.data }
  if (given.way === "url") return { type: "url", url: new URL(given.url) }
  return { type: "reference", reference: { [provider]: given.id } }
}

const nameOf = (part: Attachment): { readonly filename?: string } =>
  part.type === "file" && part.name !== undefined ? { filename: part.name } : {}

export const speaking: { readonly [V in Version]: Speaking<V> } = {
  v2: {
    data: plain,
    shown: (part) => {
      const given = givenBy(part)
      return given.way === "data" ? { type: "media", data: given.data, mediaType: part.mediaType } : undefined
    },
    further: () => undefined,
    providerTool: "provider-defined"
  },
  v3: {
    data: plain,
    shown: (part) => {
      const given = givenBy(part)
      if (given.way === "data")
        return { type: `${part.type}-data`, data: given.data, mediaType: part.mediaType, ...nameOf(part) }
      if (given.way === "url") return { type: `${part.type}-url`, url: given.url }
      return { type: part.type === "image" ? "image-file-id" : "file-id", fileId: given.id }
    },
    further: () => undefined,
    providerTool: "provider"
  },
  v4: {
    data: tagged,
    shown: (part, provider) => ({
      type: "file",
      data: tagged(part, provider),
      mediaType: part.mediaType,
      ...nameOf(part)
    }),
    further: (part) => {
      const { kind, type } = part
      if (type === "custom" && isKind(kind)) return { type, kind }
      const file = type === "reasoning-file" ? fileOf(part) : undefined
      if (file === undefined) return undefined
      // Mutant `"Stryker was here!"` survives: only a reference names a provider, and it is left out
      const data = tagged(file, "")
      return data.type === "reference" ? undefined : { type: "reasoning-file", mediaType: file.mediaType, data }
    },
    providerTool: "provider"
  }
}

const isKind = (kind: Json | undefined): kind is `${string}.${string}` => Predicate.isString(kind) && kind.includes(".")

/** Reads a file that a model has made, with its bytes or its URL; `undefined` if it has neither. */
export const fileOf = ({ data, mediaType }: Readonly<Record<string, Json>>): Attachment | undefined => {
  if (!Predicate.isString(mediaType)) return undefined
  if (Predicate.isString(data)) return Message.file(mediaType, { data })
  const [bytes, url] = ["data", "url"].map((key) => (Predicate.hasProperty(data, key) ? data[key] : undefined))
  if (Predicate.isString(bytes)) return Message.file(mediaType, { data: bytes })
  return Predicate.isString(url) ? Message.file(mediaType, { url }) : undefined
}
