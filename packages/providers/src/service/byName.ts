/** What the modules of providers have in common: options of every one, and a model by its name. */
import type * as Model from "@kintsugi/core/Model"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Transport from "../transport/Transport.ts"

/** What can be said about reaching any provider. */
export interface Reach {
  /** Where its interface begins, without the path that the format adds; the provider's own by default. */
  readonly baseUrl?: string
  /** Sent with every request, for proxies and gateways; what must not be seen is `Redacted`. */
  readonly headers?: Readonly<Record<string, string | Redacted.Redacted>>
  readonly transport?: Transport.Options
}

/** The names of the environment variables of a provider; of several, the first that is set counts. */
export interface Variables {
  /** Of its key; absent where none is needed. */
  readonly apiKey?: string | ReadonlyArray<string>
  readonly baseUrl: string | ReadonlyArray<string>
}

/** What the environment says, where the options do not. */
export interface Found {
  readonly apiKey: Redacted.Redacted
  readonly baseUrl: string | undefined
}

/**
 * A model over the runtime's own `fetch`, with key and base URL from the environment; a key that is missing is a
 * `ConfigError`.
 */
export const layer = (
  variables: Variables,
  options: Reach | undefined,
  make: (found: Found) => Layer.Layer<Model.Model, never, Transport.HttpClient>
): Layer.Layer<Model.Model, Config.ConfigError> =>
  Layer.unwrap(
    Effect.gen(function* () {
      const apiKey =
        variables.apiKey === undefined
          ? Redacted.make("")
          : yield* Config.schema(Schema.Redacted(Schema.NonEmptyString), yield* firstSet(variables.apiKey))
      const fromEnvironment = yield* read(yield* firstSet(variables.baseUrl))
      return make({ apiKey, baseUrl: options?.baseUrl ?? (fromEnvironment === "" ? undefined : fromEnvironment) })
    })
  ).pipe(Layer.provide(Transport.layerFetch))

/** What a variable says; one that is not set says nothing. */
export const read = (name: string): Effect.Effect<string, Config.ConfigError> =>
  Effect.map(
    Effect.suspend(() => Config.option(Config.String(name))),
    Option.getOrElse(() => "")
  )

/** The first of these names that stands for something; where none does, the first. */
const firstSet = (names: string | ReadonlyArray<string>): Effect.Effect<string, Config.ConfigError> =>
  Effect.gen(function* () {
    const all = typeof names === "string" ? [names] : names
    for (const name of all) if ((yield* read(name)) !== "") return name
    return all[0] ?? ""
  })

/**
 * The path at the end of the base's own, whose query stays behind it; a path may bring a query along, which stands over that
 * of the base. A base that is no URL stays none: that is for the transport to say.
 */
export const join = (baseUrl: string, path: string): string => {
  const [base, query] = parted(baseUrl)
  const [place, own] = parted(path)
  const names = new Set(new URLSearchParams(own).keys())
  const kept = query
    .split("&")
    .filter((pair) => pair !== "" && ![...new URLSearchParams(pair).keys()].some((name) => names.has(name)))
  const all = [...kept, ...(own === "" ? [] : [own])].join("&")
  let end = base.length
  while (base[end - 1] === "/") end--
  return `${base.slice(0, end)}${place}${all === "" ? "" : `?${all}`}`
}

/** What stands before and in the query; a fragment is never sent. */
const parted = (url: string): readonly [before: string, query: string] => {
  const [whole = ""] = url.trim().split("#")
  const at = whole.indexOf("?")
  return at === -1 ? [whole, ""] : [whole.slice(0, at), whole.slice(at + 1)]
}

/**
 * What must not be seen of a request besides its key: errors are searched for it. The headers that are `Redacted`, of the base URL the
 * segments of the path that are no words, and of its query the values that are named like credentials, or are long and no version.
 */
export const secretsOf = (
  headers: Reach["headers"] = {},
  baseUrl: string | undefined = ""
): ReadonlyArray<Redacted.Redacted> => {
  const query = [...new URLSearchParams(parted(baseUrl)[1])].filter(
    ([name, value]) => credential.test(name) || (value.length >= 8 && !version.test(value))
  )
  const segments = parted(baseUrl)[0]
    .replace(/^[^:/]{1,20}:\/\/[^/]*/, "")
    .split("/")
  return [
    ...Object.values(headers).filter((header): header is Redacted.Redacted => Redacted.isRedacted(header)),
    ...segments
      .filter((segment) => segment.length >= 12 && /\d/.test(segment) && /[a-z]/i.test(segment))
      .map((segment) => Redacted.make(segment)),
    ...query.map(([, value]) => Redacted.make(value))
  ]
}

const credential = /key|token|secret|sig|auth|pass|pwd|credential|code/i

/** `2024-10-01-preview`, `v1.2` */
const version = /^v?\d[\d.-]*(?:-?(?:preview|beta|alpha|rc)[\d.-]*)?$/
