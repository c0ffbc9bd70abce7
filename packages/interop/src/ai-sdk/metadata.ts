/** The provider metadata of parts, by the names of providers. It is kept with each part, and sent back with it unchanged. */
import type * as Message from "@kintsugi/core/Message"
import * as Predicate from "effect/Predicate"
import type { Json, JsonObject } from "effect/Schema"
import type { ByProvider } from "./specification.ts"

/**
 * The field in which Google's providers give the signature of a thought. It is kept apart, because models of other families must not get
 * it.
 */
const signature = "thoughtSignature"

/** The metadata of a part, as opaque data of the provider; nothing if there is no metadata. */
export const opaqueOf = (provider: string, metadata: ByProvider): { readonly opaque?: Message.Opaque } =>
  Object.keys(metadata).length === 0 ? {} : { opaque: { provider, data: dataOf(metadata) } }

/** Separates the signatures of thoughts from the other metadata: if the thoughts of a message are left out, their signatures are too. */
export const dataOf = (metadata: ByProvider): JsonObject => {
  const signatures: Record<string, Json> = {}
  const rest: Record<string, Json> = {}
  for (const [name, { [signature]: signed, ...other }] of Object.entries(metadata)) {
    if (signed !== undefined) signatures[name] = signed
    rest[name] = other
  }
  return { metadata: rest, ...(Object.keys(signatures).length === 0 ? {} : { [signature]: signatures }) }
}

/** The `providerOptions` with which a part is sent back: its metadata and its signatures. */
export const optionsOf = (data: Json | undefined): { readonly providerOptions?: ByProvider } => {
  const options: ByProvider = { ...byProvider(fieldOf(data, "metadata")) }
  for (const [name, signed] of Object.entries(objectOf(fieldOf(data, signature)) ?? {})) {
    options[name] = { ...options[name], [signature]: signed }
  }
  return Object.keys(options).length === 0 ? {} : { providerOptions: options }
}

/** Reads metadata as the specification defines it: one object for each provider. Other values are left out. */
export const byProvider = (json: Json | undefined): ByProvider =>
  Object.fromEntries(
    Object.entries(objectOf(json) ?? {}).flatMap(([name, data]): ReadonlyArray<[string, JsonObject]> => {
      const object = objectOf(data)
      return object === undefined ? [] : [[name, object]]
    })
  )

/** Merges the metadata of the pieces of one part. The fields of a later piece replace those of the same name. */
export const merged = (before: ByProvider, after: ByProvider): ByProvider => {
  const all = { ...before }
  for (const [name, data] of Object.entries(after)) all[name] = { ...all[name], ...data }
  return all
}

export const objectOf = (json: Json | undefined): JsonObject | undefined => (isObject(json) ? json : undefined)

/** A type guard for JSON: an object within JSON has JSON in its fields. */
const isObject = (json: Json | undefined): json is JsonObject => Predicate.isObject(json)

export const fieldOf = (json: Json | undefined, key: string): Json | undefined => {
  const object = objectOf(json)
  return object !== undefined && Object.hasOwn(object, key) ? object[key] : undefined
}

export const textOf = (json: Json | undefined): string | undefined =>
  Predicate.isString(json) && json !== "" ? json : undefined

export const countOf = (json: Json | undefined): number | undefined => (Predicate.isNumber(json) ? json : undefined)
