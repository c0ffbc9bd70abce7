/**
 * Further fields of a body: the `extra` of a layer, and the `options` of a request, which win over them. Both win over the other options of
 * the layer, and objects are merged. No field is dropped: one that the library writes itself is refused, a `RangeError` of the layer, and an
 * `InvalidRequestError` of the request.
 */
import { InvalidRequestError } from "@kintsugi/core/LlmError"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as Json from "../transport/Json.ts"
import type { Source } from "../transport/Source.ts"
import type { Codec } from "./Codec.ts"

interface Extended {
  readonly extra?: Readonly<Record<string, Schema.Json>> | undefined
}

/** The fields of a body that its codec writes, or merges with fields of its own. A dot leads into an object. */
export interface Own {
  /** The fields that only the codec writes, and what to use instead. */
  readonly written: Readonly<Record<string, string>>
  /** The fields that it merges, and what they have to be. */
  readonly merged: Readonly<Record<string, "list" | "object">>
  /** The numbers of replies: one reply is read. */
  readonly single?: ReadonlyArray<string>
}

/** A codec whose requests may have fields of their own. What a codec caches of a transcript lasts while the options are the same. */
export const perRequest = <P extends Extended>(
  { model, provider }: Source,
  own: Own,
  make: (parameters: P) => Codec,
  parameters: P
): Codec => {
  const why = refusalOf(own, parameters.extra ?? {})
  if (why !== undefined) throw new RangeError(`Model: extra: ${why}`)
  const usual = make(parameters)
  let last: { readonly key: string; readonly codec: Codec } | undefined
  return {
    ...usual,
    refuses: (request) => {
      const why = refusalOf(own, request.options ?? {})
      if (why === undefined) return usual.refuses?.(request)
      return InvalidRequestError.make({ model, provider, detail: `the options of the request: ${why}` })
    },
    encode: (request, mode) => {
      const { options } = request
      if (options === undefined) return usual.encode(request, mode)
      const key = JSON.stringify(options)
      if (last?.key !== key) {
        last = { key, codec: make({ ...parameters, extra: merged(parameters.extra ?? {}, options) }) }
      }
      return last.codec.encode(request, mode)
    }
  }
}

/** Why these fields cannot be sent. */
const refusalOf = ({ merged, single = [], written }: Own, extra: Fields): string | undefined => {
  for (const [path, instead] of Object.entries(written)) {
    if (at(extra, path) !== undefined) return `the library writes the field '${path}': use ${instead}`
  }
  for (const [name, kind] of Object.entries(merged)) {
    const value = at(extra, name)
    if (value === undefined || (Predicate.isObjectOrArray(value) && Array.isArray(value) === (kind === "list")))
      continue
    return `the field '${name}' has to be ${kind === "list" ? "a list" : "an object"}`
  }
  for (const path of single) {
    if ((at(extra, path) ?? 1) !== 1)
      return `the field '${path}' has to be 1, because one reply is read: run the agent again`
  }
  const lost = Object.keys(extra).find((name) => extra[name] !== undefined && !isJson(extra[name]))
  return lost === undefined
    ? undefined
    : `the field '${lost}' holds what is no JSON: it would be sent as null, or not at all`
}

/** JSON has no other numbers than finite ones, and no functions; a program without types may have both. */
const isJson = Schema.is(Schema.Json)

const at = (fields: Fields, path: string): Schema.Json | undefined =>
  path.split(".").reduce<Schema.Json | undefined>(Json.field, fields)

type Fields = Readonly<Record<string, Schema.Json>>

/** What an option sets, unless its field is among further ones, under one of its names. */
export const unless = <A>(extra: object | undefined, names: ReadonlyArray<string>, value: A): A | undefined =>
  extra !== undefined && names.some((name) => Object.hasOwn(extra, name)) ? undefined : value

/** The fields of the options, and further ones, which win. Objects are merged, unless their types differ. */
export const merged = (
  own: Readonly<Record<string, Schema.Json | undefined>>,
  extra: Readonly<Record<string, Schema.Json>> = {}
): Schema.JsonObject => {
  // entries, because a field may have any name
  const all = new Map<string, Schema.Json>()
  for (const [name, value] of Object.entries(own)) if (value !== undefined) all.set(name, value)
  for (const [name, value] of Object.entries(extra)) {
    // a program without types may say that a field is not set
    if (value !== undefined) all.set(name, both(all.get(name), value))
  }
  return Object.fromEntries(all)
}

const both = (own: Schema.Json | undefined, other: Schema.Json): Schema.Json => {
  const [one, more] = [Json.object(own), Json.object(other)]
  if (one === undefined || more === undefined) return other
  const isOther = [one, more].every((object) => Object.hasOwn(object, "type")) && one["type"] !== more["type"]
  return isOther ? other : merged(one, more)
}
