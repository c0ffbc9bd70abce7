/** Follows references within an OpenAPI document, and none that lead out of it. */
import * as Predicate from "effect/Predicate"
import { type ApiDocumentError, refusal } from "./documentError.ts"

export type Json = { readonly [key: string]: unknown }

/** A part of a document with its JSON pointer. */
export interface Part {
  readonly value: unknown
  readonly pointer: string
}

/** A part that is an object. */
export interface ObjectPart {
  readonly value: Json
  readonly pointer: string
}

export const isJsonObject = (value: unknown): value is Json => Predicate.isObject(value) && !Array.isArray(value)

/** An own field of a part; `undefined` if it has none. */
export const field = ({ pointer, value }: Part, name: string): Part | undefined => {
  if (!Predicate.isObjectOrArray(value) || !Object.hasOwn(value, name)) return undefined
  // cast: the field exists
  return { value: (value as Json)[name], pointer: `${pointer}/${name.replaceAll("~", "~0").replaceAll("/", "~1")}` }
}

/** The longest reference that is followed, in characters. */
const longest = 2000

/** How many references in a row are followed. */
const mostHops = 32

/** The references of one document. */
export class References {
  readonly root: Json
  readonly #api: string
  /** The targets that were found, `undefined` for a reference to nothing: many parts may have one long reference. */
  readonly #targets = new Map<string, Part | undefined>()

  constructor(api: string, root: Json) {
    this.#api = api
    this.root = root
  }

  /** The part to which a reference leads. Throws an `ApiDocumentError` for a reference that leads out of the document or to nothing. */
  target(reference: string, pointer: string): Part {
    if (reference.length > longest || !/^#(?:\/|$)/.test(reference))
      throw this.#refused(pointer, `the reference '${reference}' leads out of the document, and is not followed`)
    if (!this.#targets.has(reference)) this.#targets.set(reference, this.#found(reference))
    const part = this.#targets.get(reference)
    if (part === undefined) throw this.#refused(pointer, `the reference '${reference}' leads to nothing`)
    return part
  }

  #found(reference: string): Part | undefined {
    let part: Part | undefined = { value: this.root, pointer: "#" }
    if (reference === "#") return part
    for (const token of reference.slice(2).split("/")) part = part && field(part, unescaped(token))
    return part
  }

  /** The object itself, or the object to which its `$ref` leads. `undefined` for a part that is no object. */
  object(part: Part | undefined): ObjectPart | undefined {
    let current = part
    for (let hops = 0; hops <= mostHops; hops++) {
      if (current === undefined || !isJsonObject(current.value)) return undefined
      const { pointer, value } = current
      const reference = value["$ref"]
      if (!Predicate.isString(reference)) return { value, pointer }
      current = this.target(reference, pointer)
    }
    throw this.#refused(part?.pointer ?? "#", "the reference leads to itself")
  }

  #refused(pointer: string, what: string): ApiDocumentError {
    return refusal(this.#api, pointer, "reference", what)
  }
}

const unescaped = (token: string): string => {
  let text = token
  try {
    text = decodeURIComponent(token)
  } catch {
    // a percent sign that stands for itself
  }
  return text.replaceAll("~1", "/").replaceAll("~0", "~")
}
