/** What a provider of the SDK says beside a part, by the names of providers: it goes back with the part, unchanged. */
import type * as Message from "@kintsugi/core/Message"
import * as Predicate from "effect/Predicate"
import type { Json, JsonObject } from "effect/Schema"
import type { ByProvider } from "./specification.ts"

/** The field with the signature of a thought, as Google's providers name it: models of other families do not get it. */
const signature = "thoughtSignature"

/** The metadata of a part, as data of this provider. */
export const opaqueOf = (provider: string, metadata: ByProvider): { readonly opaque?: Message.Opaque } =>
  Object.keys(metadata).length === 0 ? {} : { opaque: { provider, data: dataOf(metadata) } }

/** The signatures stand apart: where the thoughts of a message are left out, these are, too. */
export const dataOf = (metadata: ByProvider): JsonObject => {
  const signatures: Record<string, Json> = {}
  const rest: Record<string, Json> = {}
  for (const [name, { [signature]: signed, ...other }] of Object.entries(metadata)) {
    if (signed !== undefined) signatures[name] = signed
    rest[name] = other
  }
  return { metadata: rest, ...(Object.keys(signatures).length === 0 ? {} : { [signature]: signatures }) }
}

/** The options that a part goes back with. */
export const optionsOf = (data: Json | undefined): { readonly providerOptions?: ByProvider } => {
  const options: ByProvider = { ...byProvider(fieldOf(data, "metadata")) }
  for (const [name, signed] of Object.entries(objectOf(fieldOf(data, signature)) ?? {})) {
    options[name] = { ...options[name], [signature]: signed }
  }
  return Object.keys(options).length === 0 ? {} : { providerOptions: options }
}

/** Metadata as the specification has it: an object for each provider. Anything else is left out. */
export const byProvider = (json: Json | undefined): ByProvider =>
  Object.fromEntries(
    Object.entries(objectOf(json) ?? {}).flatMap(([name, data]): ReadonlyArray<[string, JsonObject]> => {
      const object = objectOf(data)
      return object === undefined ? [] : [[name, object]]
    })
  )

/** The metadata of the pieces of one part: what comes later is added, and replaces fields of the same name. */
export const merged = (before: ByProvider, after: ByProvider): ByProvider => {
  const all = { ...before }
  for (const [name, data] of Object.entries(after)) all[name] = { ...all[name], ...data }
  return all
}

export const objectOf = (json: Json | undefined): JsonObject | undefined => (isObject(json) ? json : undefined)

/** An object within JSON holds JSON. */
const isObject = (json: Json | undefined): json is JsonObject => Predicate.isObject(json)

export const fieldOf = (json: Json | undefined, key: string): Json | undefined => {
  const object = objectOf(json)
  return object !== undefined && Object.hasOwn(object, key) ? object[key] : undefined
}

export const textOf = (json: Json | undefined): string | undefined =>
  Predicate.isString(json) && json !== "" ? json : undefined

export const countOf = (json: Json | undefined): number | undefined => (Predicate.isNumber(json) ? json : undefined)
