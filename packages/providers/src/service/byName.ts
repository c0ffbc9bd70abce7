/** Code that the provider modules share: common options, environment variables, URLs, and the models that are made from a name alone. */
import type * as Budget from "@kintsugi/core/Budget"
import type * as Model from "@kintsugi/core/Model"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as SchemaIssue from "effect/SchemaIssue"
import type { CapabilityOptions } from "../codec/Capabilities.ts"
import * as Credential from "../transport/Credential.ts"
import type { Header, Secret } from "../transport/Header.ts"
import * as Transport from "../transport/Transport.ts"

/** Options of every provider. */
export interface Reach {
  /**
   * Facts about this model that override the table of capabilities. They also decide what happens to a request that the model does not
   * support: refused or adapted.
   */
  readonly capabilities?: CapabilityOptions
  /** The base URL, to which the format appends its path. By default it is the provider's own URL. */
  readonly baseUrl?: string
  /**
   * Headers of every request, for proxies and gateways. A secret is a `Redacted`, or an effect that gives a `Redacted` before each send.
   */
  readonly headers?: Readonly<Record<string, Header>>
  /** The name that errors, spans and the ledger show instead of the provider's: `azure` or `vertex`, for example. */
  readonly host?: string
  readonly transport?: Transport.Options
  /**
   * The price of the model in US dollars, or `reported` if the server states the cost of each reply. By default it is the provider's price
   * that this version of the library has, provided that the base URL is the provider's own. A price in the budget for the name of the model
   * replaces it.
   */
  readonly price?: Budget.Price | "reported"
}

/** Makes a header value of an API key. */
export const keyHeader = (apiKey: Secret, of: (key: string) => string): Secret => {
  const header = (key: Redacted.Redacted) => Redacted.make(of(Redacted.value(key).trim()))
  return Redacted.isRedacted(apiKey) ? header(apiKey) : Effect.map(apiKey, header)
}

/** The header that sends an API key as a bearer token; no header for an empty key. */
export const bearer = (apiKey: Secret): Readonly<Record<string, Secret>> =>
  Redacted.isRedacted(apiKey) && Redacted.value(apiKey).trim() === ""
    ? {}
    : { authorization: keyHeader(apiKey, (key) => `Bearer ${key}`) }

/** The names of a provider's environment variables. If there are several names, the first variable that is set counts. */
export interface Variables {
  /** The variable of the API key; absent if the provider needs no key. */
  readonly apiKey?: string | ReadonlyArray<string>
  readonly baseUrl: string | ReadonlyArray<string>
  /** Whether the base URL must be given, because the provider has no default. */
  readonly needsBaseUrl?: boolean
}

/** The name of the model, and its API key if the environment does not have it. */
export interface Named {
  readonly model: string
  readonly apiKey?: Secret
}

/**
 * Options that may each be a value or a `Config`, except `api` and `chained`, which decide the types of others. A `Config` that reads
 * `undefined` counts as an absent option.
 */
export type FromConfig<Options> = Options extends unknown
  ? {
      readonly [Name in keyof Options]:
        | Options[Name]
        | (Name extends "api" | "chained" ? never : Config.Config<Options[Name]>)
    }
  : never

/**
 * A model over your own `HttpClient`, with options that are read when the layer is built. The API key and the base URL come from the
 * environment unless they are given. A missing key and an option out of its range are `ConfigError`s.
 */
export const layerConfig = <Options extends Named & Pick<Reach, "baseUrl">>(
  variables: Variables,
  options: FromConfig<Options>,
  make: (options: Options & Pick<Required<Named>, "apiKey">) => Layer.Layer<Model.Model, never, Transport.HttpClient>
): Layer.Layer<Model.Model, Config.ConfigError, Transport.HttpClient> =>
  Layer.unwrap(
    Effect.gen(function* () {
      const given = yield* resolved<Options>(options)
      const apiKey = given.apiKey ?? (yield* keyOf(variables))
      const baseUrl = given.baseUrl ?? (yield* baseUrlOf(variables))
      return yield* made(() => make({ ...given, apiKey, ...(baseUrl === "" ? {} : { baseUrl }) }))
    })
  )

/** Runs a constructor that throws for invalid options. A `RangeError` or `TypeError` becomes a `ConfigError`. */
export const made = <A>(make: () => A): Effect.Effect<A, Config.ConfigError> =>
  Effect.catchDefect(Effect.sync(make), (defect) =>
    defect instanceof RangeError || defect instanceof TypeError
      ? Effect.fail(new Misconfigured(defect.message))
      : Effect.die(defect)
  )

/** Reads each option that is a `Config`, and returns all options as values. */
export const resolved = <Options>(options: FromConfig<Options>): Effect.Effect<Options, Config.ConfigError> =>
  Effect.gen(function* () {
    const read: Record<string, unknown> = {}
    for (const [name, option] of Object.entries(options as object)) {
      const value: unknown = Config.isConfig(option) ? yield* option : option
      if (value !== undefined) read[name] = value
    }
    // every `Config` was replaced by its value, so the types are those of the options
    return read as Options
  })

const keyOf = ({ apiKey }: Variables): Effect.Effect<Redacted.Redacted, Config.ConfigError> =>
  Effect.map(apiKey === undefined ? Effect.succeed("") : text(apiKey), (key) => Redacted.make(key))

const baseUrlOf = ({ baseUrl, needsBaseUrl }: Variables): Effect.Effect<string, Config.ConfigError> =>
  needsBaseUrl === true ? text(baseUrl) : Effect.flatMap(firstSet(baseUrl), read)

/** Provides a model with the `HttpClient` of the context if there is one, else with the runtime's own `fetch`. */
export const overAny = (
  model: Layer.Layer<Model.Model, Config.ConfigError, Transport.HttpClient>
): Layer.Layer<Model.Model, Config.ConfigError> =>
  Layer.unwrap(
    Effect.map(Effect.serviceOption(Transport.HttpClient), (found) =>
      Layer.provide(
        model,
        Option.isSome(found) ? Layer.succeed(Transport.HttpClient, found.value) : Transport.layerFetch
      )
    )
  )

/** Reads an environment variable; an unset variable is an empty text. */
export const read = (name: string): Effect.Effect<string, Config.ConfigError> =>
  Effect.map(
    Effect.suspend(() => Config.option(Config.String(name))),
    Option.getOrElse(() => "")
  )

/** Reads the first of these environment variables that is set. If none is set, the `ConfigError` names the first one. */
export const text = (names: string | ReadonlyArray<string>): Effect.Effect<string, Config.ConfigError> =>
  Effect.flatMap(firstSet(names), required)

/** Reads an environment variable that must be set. */
const required = (name: string): Effect.Effect<string, Config.ConfigError> =>
  Effect.flatMap(read(name), (value) =>
    value === "" ? Effect.fail(new Misconfigured(`set ${name}`)) : Effect.succeed(value)
  )

class Misconfigured extends Config.ConfigError {
  private readonly what: string
  constructor(what: string) {
    super(new Schema.SchemaError(new SchemaIssue.InvalidValue({ message: what })))
    this.what = what
  }
  override get message(): string {
    return this.what
  }
}

/** The name of the first environment variable that is set; if none is set, the first name. */
const firstSet = (names: string | ReadonlyArray<string>): Effect.Effect<string, Config.ConfigError> =>
  Effect.gen(function* () {
    const all = typeof names === "string" ? [names] : names
    for (const name of all) if ((yield* read(name)) !== "") return name
    // Mutant `"Stryker was here!"` survives: a list of names has at least one
    return all[0] ?? ""
  })

/**
 * Appends a path to a base URL. The query of the base URL stays at the end, and a query of the path overrides it. An invalid base URL stays
 * invalid: the transport reports it.
 */
export const join = (baseUrl: string, path: string): string => {
  const [base, query] = parted(baseUrl)
  const [pathname, own] = parted(path)
  const names = new Set(new URLSearchParams(own).keys())
  const rest = query
    .split("&")
    .filter((pair) => pair !== "" && ![...new URLSearchParams(pair).keys()].some((name) => names.has(name)))
  const all = [...rest, ...(own === "" ? [] : [own])].join("&")
  let end = base.length
  while (base[end - 1] === "/") end--
  return `${base.slice(0, end)}${pathname}${all === "" ? "" : `?${all}`}`
}

/** Removes the version (`/v1`) or `/beta` from the end of a base URL's path. */
export const withoutVersion = (baseUrl: string): string => {
  const [base, query] = parted(baseUrl)
  const segments = base.split("/")
  while (segments.length > 3 && /^(?:|v\d{1,3}|beta)$/.test(segments.at(-1) ?? "")) segments.pop()
  return query === "" ? segments.join("/") : `${segments.join("/")}?${query}`
}

/** Splits a URL into the part before the query, and the query. The fragment is dropped, because it is never sent. */
const parted = (url: string): readonly [before: string, query: string] => {
  // Mutant `"Stryker was here!"` survives: a text that is divided has a first piece
  const [whole = ""] = url.trim().split("#")
  const at = whole.indexOf("?")
  return at === -1 ? [whole, ""] : [whole.slice(0, at), whole.slice(at + 1)]
}

/**
 * The secrets of a request, which errors must not show: the API key, `Redacted` headers, path segments of the base URL that look like keys,
 * and query values with a name like a credential or with 8 or more characters that are no version.
 */
export const secretsOf = (
  apiKey: Secret | undefined,
  headers: Reach["headers"] = {},
  baseUrl: string | undefined = ""
): ReadonlyArray<Redacted.Redacted> => {
  const query = [...new URLSearchParams(parted(baseUrl)[1])].filter(
    ([name, value]) => Credential.isNameOf(name) || (value.length >= 8 && !version.test(value))
  )
  const segments = parted(baseUrl)[0]
    // Mutant `"Stryker was here!"` survives: a text without a digit is no key
    .replace(/^[^:/]{1,20}:\/\/[^/]*/, "")
    .split("/")
  return [
    ...[apiKey, ...Object.values(headers)].filter((one): one is Redacted.Redacted => Redacted.isRedacted(one)),
    ...segments
      .filter((segment) => segment.length >= 12 && /\d/.test(segment) && /[a-z]/i.test(segment))
      .map((segment) => Redacted.make(segment)),
    ...query.map(([, value]) => Redacted.make(value))
  ]
}

/** A version in a query, such as `2024-10-01-preview` or `v1.2`. */
const version = /^v?\d[\d.-]*(?:-?(?:preview|beta|alpha|rc)[\d.-]*)?$/
