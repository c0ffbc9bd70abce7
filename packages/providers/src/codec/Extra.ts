/**
 * Adds further fields to a body: the `extra` of a layer and the `options` of a request, which override `extra`. Both override the other
 * options of the layer; objects are merged. No field is dropped silently. A field that the library writes itself is refused: in `extra` by
 * a `RangeError` of the layer, in `options` by an `InvalidRequestError` of the request.
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

/**
 * Which fields of a body belong to the codec: it writes them alone, or merges them with the user's. A dot in a name leads into an object.
 */
export interface Own {
  /** The fields that only the codec writes, each with what to use instead. */
  readonly written: Readonly<Record<string, string>>
  /** The fields that the codec merges with the user's, each with the type that it must have. */
  readonly merged: Readonly<Record<string, "list" | "object">>
  /** The fields that ask for several replies. Each of them must be 1, because only one reply is read. */
  readonly single?: ReadonlyArray<string>
}

/**
 * Makes a codec whose requests may have further fields in their `options`. For other options than before, another codec is made, which
 * begins with an empty cache of the transcript.
 */
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
      const why = request.options === undefined ? undefined : refusalOf(own, request.options)
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

/** Says why these further fields cannot be sent; `undefined` if they can. */
// Mutant `["Stryker was here"]` survives: no field has this name
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

/** Whether a value is JSON. A program without types may pass a value that JSON cannot express, such as a function or `Infinity`. */
const isJson = Schema.is(Schema.Json)

const at = (fields: Fields, path: string): Schema.Json | undefined =>
  path.split(".").reduce<Schema.Json | undefined>(Json.field, fields)

type Fields = Readonly<Record<string, Schema.Json>>

/** The value of an option, or `undefined` if the further fields set the same field under one of these names. */
export const unless = <A>(extra: object | undefined, names: ReadonlyArray<string>, value: A): A | undefined =>
  extra !== undefined && names.some((name) => Object.hasOwn(extra, name)) ? undefined : value

/** Merges the fields of the options with further fields, which win. Two objects are merged too, unless their fields `type` differ. */
export const merged = (
  own: Readonly<Record<string, Schema.Json | undefined>>,
  extra: Readonly<Record<string, Schema.Json>> = {}
): Schema.JsonObject => {
  // a map, because a field may be named `__proto__`
  const all = new Map<string, Schema.Json>()
  for (const [name, value] of Object.entries(own)) if (value !== undefined) all.set(name, value)
  for (const [name, value] of Object.entries(extra)) {
    // a program without types may pass `undefined` for a field
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
