/** Reads the failures that models of the SDK throw: first as plain data, then as an error of this library. */
import * as LlmError from "@kintsugi/core/LlmError"
import * as ForeignFailure from "@kintsugi/core/ForeignFailure"
import * as Provider from "@kintsugi/providers/Provider"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import type { Json, JsonObject } from "effect/Schema"
import * as Metadata from "./metadata.ts"

/** A failure that a model throws, as plain data: an HTTP response with an error status, a broken connection, or any other failure. */
export type Thrown =
  | {
      readonly type: "answer"
      readonly status: number
      readonly headers: Readonly<Record<string, string>>
      readonly body: string
    }
  | { readonly type: "connection"; readonly cause: unknown }
  | { readonly type: "other"; readonly name: string; readonly message: string; readonly data: Json }

type Answer = Parameters<Provider.Codec["classify"]>[0]

const apiCall = "AI_APICallError"

/** Reads a failure by its fields, and not by its class: each package of the SDK may have its own copy of the classes. */
export const thrown = (failure: unknown): Thrown => {
  const status = numberIn(failure, "statusCode")
  if (status !== undefined && status >= 400 && status < 600) {
    return { type: "answer", status, headers: headersOf(failure), body: bodyOf(failure) }
  }
  const { message, name } = namesOf(failure)
  // an API error without a status: the SDK throws it if `fetch` fails
  const isUnanswered = name === apiCall && status === undefined
  if (isUnanswered || (!name.startsWith("AI_") && isOfConnection(failure, message))) {
    return { type: "connection", cause: failure }
  }
  return { type: "other", name, message, data: isPlain(failure) ? asJson(failure) : null }
}

/** Whether a failure is a broken connection. Failures of `fetch` have no code, so they are known by the words of Node and of browsers. */
const isOfConnection = (failure: unknown, message: string): boolean =>
  ForeignFailure.connectionOf(failure) !== "broken" ||
  (failure instanceof TypeError && ["fetch failed", "Failed to fetch"].includes(message))

const numberIn = (value: unknown, key: string): number | undefined => {
  const found = propertyOf(value, key)
  return Predicate.isNumber(found) ? found : undefined
}

const textIn = (value: unknown, key: string): string => {
  const found = propertyOf(value, key)
  return Predicate.isString(found) ? found : ""
}

/** Reads a property safely: a getter of a foreign failure may throw. */
const propertyOf = (value: unknown, key: string): unknown =>
  Result.getOrElse(
    Result.try(() => (Predicate.hasProperty(value, key) ? value[key] : undefined)),
    () => undefined
  )

const namesOf = (failure: unknown): { readonly name: string; readonly message: string } =>
  Predicate.isString(failure)
    ? { name: "Error", message: failure }
    : { name: textIn(failure, "name") || "Error", message: textIn(failure, "message") }

/** Whether the failure is plain data from a provider's event, and not an `Error`. */
const isPlain = (failure: unknown): boolean => Predicate.isObject(failure) && !Predicate.isError(failure)

const headersOf = (failure: unknown): Readonly<Record<string, string>> => {
  const headers = propertyOf(failure, "responseHeaders")
  if (!Predicate.isObject(headers)) return {}
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) => (Predicate.isString(value) ? [[name.toLowerCase(), value]] : []))
  )
}

/** The body of the server's response. If the failure has no body, it is composed of the fields that the SDK has read from it. */
const bodyOf = (failure: unknown): string => {
  const body = textIn(failure, "responseBody")
  if (body !== "") return body
  const data = asJson(propertyOf(failure, "data"))
  if (Metadata.objectOf(data) !== undefined) return JSON.stringify(data)
  const [type, code] = [textIn(failure, "type"), textIn(failure, "code")]
  return JSON.stringify({
    error: {
      message: namesOf(failure).message,
      ...(type === "" ? {} : { type }),
      ...(code === "" ? {} : { code })
    }
  })
}

/** Converts any value to JSON; `null` if it cannot be written as JSON. */
export const asJson = (value: unknown): Json => {
  const text = Result.try((): unknown => JSON.stringify(value))
  if (Result.isFailure(text) || !Predicate.isString(text.success)) return null
  const json: Json = JSON.parse(text.success)
  return json
}

/** The errors of this library for error classes of the SDK, whose names are in lower case. */
const named = {
  ai_loadapikeyerror: "AuthenticationError",
  ai_nosuchmodelerror: "ModelNotFoundError",
  ai_invalidprompterror: "InvalidRequestError",
  ai_invalidargumenterror: "InvalidRequestError",
  ai_loadsettingerror: "InvalidRequestError",
  ai_nosuchproviderreferenceerror: "InvalidRequestError"
} as const

/** The name of the SDK's error for a missing capability of a model. */
export const unsupported = "AI_UnsupportedFunctionalityError"

/** The errors for finish reasons that mean a failure, by the words of the SDK and of providers. */
const endings = {
  "content-filter": "ContentFilteredError",
  refusal: "ContentFilteredError",
  error: "ServerError",
  malformed_function_call: "MalformedToolCallError"
} as const

/** The error for a reply with such a finish reason; `undefined` if the reply did not fail. */
export const ended = (
  source: Provider.Source,
  answer: Answer,
  {
    raw,
    unified,
    usage
  }: { readonly unified: string; readonly raw: string | undefined; readonly usage: LlmError.ServerError["usage"] }
): LlmError.LlmError | undefined => {
  const words = [raw?.toLowerCase(), unified].find((word) => word !== undefined && Object.hasOwn(endings, word))
  if (words === undefined) return undefined
  const text = `the reply ended with '${raw ?? unified}'`
  return Provider.failure(source, answer, { codes: [words], text, ...(usage === undefined ? {} : { usage }) }, endings)
}

/**
 * Makes the error for a failure that came without an HTTP status, or within a stream. `classify` reads error bodies in the forms of the
 * providers.
 */
export const failureOf = (
  source: Provider.Source,
  answer: Answer,
  failure: JsonObject,
  classify: (answer: Answer) => LlmError.LlmError
): LlmError.LlmError => {
  const status = Metadata.countOf(failure["status"])
  const body = Metadata.textOf(failure["body"])
  if (status !== undefined && body !== undefined) {
    const headers = Metadata.objectOf(failure["headers"]) ?? {}
    const texts = Object.entries(headers).flatMap(([name, value]) => (Predicate.isString(value) ? [[name, value]] : []))
    return classify({ ...answer, status, headers: Object.fromEntries(texts), body })
  }
  const data = failure["data"]
  if (Metadata.objectOf(data) !== undefined) return classify({ ...answer, body: JSON.stringify(data) })
  const [name = "Error", message = ""] = [Metadata.textOf(failure["name"]), Metadata.textOf(failure["message"])]
  if (name === unsupported) {
    const { model, provider } = source
    return LlmError.CapabilityMismatchError.make({ model, provider, capability: "other", detail: message })
  }
  if (name.startsWith("AI_") && !Object.hasOwn(named, name.toLowerCase())) {
    return Provider.undecodable(source, { ...answer, body: "" }, Object.assign(new Error(message), { name }))
  }
  return Provider.failure(source, answer, { codes: [name], text: message }, named)
}
