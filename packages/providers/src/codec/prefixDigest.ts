/**
 * Makes a short digest of all that comes before thoughts. It detects an edited conversation, but does not protect against forgery. It does
 * not depend on the order of fields, which a database may change, nor on thoughts, which may be left out.
 */
import type * as Message from "@kintsugi/core/Message"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import { kinds, unsigned } from "./thoughts.ts"

/** The digest of a list of texts and other JSON values. */
export const digestOf = (values: ReadonlyArray<Schema.Json>): string => {
  const digest = new Digest()
  for (const value of values) digest.push(value)
  return digest.text
}

/** The digest of a message without its thoughts. */
export const digestOfMessage = (message: Message.Message): string => {
  const digest = new Digest()
  digest.push(message.role)
  if (message.role === "system") digest.push(message.text)
  else for (const part of message.content) pushPart(digest, part)
  return digest.text
}

/** The digest of a tool that a model is offered. */
export const digestOfSpec = ({ description, name, parameters }: Message.ToolSpec): string =>
  digestOf([name, description, parameters])

type Part = Message.UserContent[number] | Message.Assistant["content"][number]

const pushPart = (digest: Digest, part: Part): void => {
  switch (part.type) {
    // Mutant `""` survives: a part of no case is left out too
    case "reasoning":
      return
    case "text":
      digest.push(part.text)
      return
    case "image":
    case "file":
      pushAttached(digest, part)
      return
    case "provider-item":
      // items that are thoughts may be left out of a request, as may the signatures of other items, so neither counts
      if (kinds.has(part.kind)) return
      digest.push(part.kind)
      digest.push(unsigned(part.opaque).data)
      return
    case "settled-call": {
      const { call, settlement } = part
      for (const value of [call.id, call.name, call.arguments, settlement.kind, settlement.text]) digest.push(value)
      for (const shown of settlement.parts ?? []) {
        if (shown.type === "text") digest.push(shown.text)
        else pushAttached(digest, shown)
      }
    }
  }
}

type Attached = Exclude<NonNullable<Message.Settlement["parts"]>[number], Message.Text>

const pushAttached = (digest: Digest, part: Attached): void => {
  digest.push(part.mediaType)
  if ("name" in part && part.name !== undefined) digest.push({ name: part.name })
  digest.push("data" in part ? part.data : "url" in part ? part.url : part.bytes)
}

/** A hash of 53 bits, computed from two hashes of 32 bits as in cyrb53, a public-domain function. */
class Digest {
  #one = 0xdeadbeef
  #other = 0x41c6ce57

  /** Adds a value to the digest. A text and the JSON of a text give different digests. */
  push(value: Schema.Json): void {
    if (Predicate.isString(value)) this.#add(value)
    else {
      this.#mix(1)
      // A model may nest arguments deeper than the stack allows. Such a value counts as an empty text.
      this.#add(
        Result.getOrElse(
          Result.try(() => JSON.stringify(value, sorted)),
          () => ""
        )
      )
    }
  }

  get text(): string {
    let one =
      Math.imul(this.#one ^ (this.#one >>> 16), 2246822507) ^ Math.imul(this.#other ^ (this.#other >>> 13), 3266489909)
    const other = Math.imul(this.#other ^ (this.#other >>> 16), 2246822507) ^ Math.imul(one ^ (one >>> 13), 3266489909)
    one >>>= 0
    return (4294967296 * (2097151 & other) + one).toString(36)
  }

  #add(text: string): void {
    for (let index = 0; index < text.length; index++) this.#mix(text.charCodeAt(index))
    // marks the end of a text with a number that is no UTF-16 unit
    this.#mix(65_536)
  }

  #mix(unit: number): void {
    this.#one = Math.imul(this.#one ^ unit, 2654435761)
    this.#other = Math.imul(this.#other ^ unit, 1597334677)
  }
}

const sorted = (_key: string, value: unknown): unknown =>
  Predicate.isObject(value)
    ? Object.fromEntries(Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1)))
    : value
