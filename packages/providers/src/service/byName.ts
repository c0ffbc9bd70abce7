/** Code that the provider modules share: the options of every provider, and models by name. */
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
  /** Facts about this model that override the table of capabilities, and whether a request that the model does not take is refused. */
  readonly capabilities?: CapabilityOptions
  /** The base URL, without the path that the format adds; the provider's own by default. */
  readonly baseUrl?: string
  /** Sent with every request, for proxies and gateways. A secret is `Redacted`, or an effect that gives one for each send. */
  readonly headers?: Readonly<Record<string, Header>>
  /** The name of the host in errors, spans and the ledger, if it is not the provider itself: `azure`, `vertex`. */
  readonly host?: string
  readonly transport?: Transport.Options
  /**
   * What the model costs, in US dollars, or `reported` where its server says the cost of each reply. By default what its provider says, as
   * this version knows it, if the base URL is the provider's own; a price of the budget with the name of the model replaces it.
   */
  readonly price?: Budget.Price | "reported"
}

/** A header with a key. */
export const keyHeader = (apiKey: Secret, of: (key: string) => string): Secret => {
  const header = (key: Redacted.Redacted) => Redacted.make(of(Redacted.value(key).trim()))
  return Redacted.isRedacted(apiKey) ? header(apiKey) : Effect.map(apiKey, header)
}

/** The header with a key as a bearer token, as OAuth has it; none for an empty key. */
export const bearer = (apiKey: Secret): Readonly<Record<string, Secret>> =>
  Redacted.isRedacted(apiKey) && Redacted.value(apiKey).trim() === ""
    ? {}
    : { authorization: keyHeader(apiKey, (key) => `Bearer ${key}`) }

/** The names of a provider's environment variables. Of several names, the first that is set counts. */
export interface Variables {
  /** The variable of the key; absent if no key is needed. */
  readonly apiKey?: string | ReadonlyArray<string>
  readonly baseUrl: string | ReadonlyArray<string>
  /** Whether the provider has no default base URL. */
  readonly needsBaseUrl?: boolean
}

/** The model, and its key, if that is not in the environment. */
export interface Named {
  readonly model: string
  readonly apiKey?: Secret
}

/** Options, each of which may also be a `Config`; those on which others depend may not. An optional one that reads `undefined` is not given. */
export type FromConfig<Options> = Options extends unknown
  ? {
      readonly [Name in keyof Options]:
        | Options[Name]
        | (Name extends "api" | "chained" ? never : Config.Config<Options[Name]>)
    }
  : never

/**
 * A model over your own `HttpClient`, with options that are read when the layer is built. Key and base URL are those of the environment,
 * unless given. A missing key is a `ConfigError`, and so is an option out of its range.
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

/** Makes a value of resolved options. An exception becomes a `ConfigError`. */
export const made = <A>(make: () => A): Effect.Effect<A, Config.ConfigError> =>
  Effect.catchDefect(Effect.sync(make), (defect) =>
    defect instanceof RangeError || defect instanceof TypeError
      ? Effect.fail(new Misconfigured(defect.message))
      : Effect.die(defect)
  )

/** The options, of which each `Config` is read. */
export const resolved = <Options>(options: FromConfig<Options>): Effect.Effect<Options, Config.ConfigError> =>
  Effect.gen(function* () {
    const read: Record<string, unknown> = {}
    for (const [name, option] of Object.entries(options as object)) {
      const value: unknown = Config.isConfig(option) ? yield* option : option
      if (value !== undefined) read[name] = value
    }
    // the options, with the values of their own types
    return read as Options
  })

const keyOf = ({ apiKey }: Variables): Effect.Effect<Redacted.Redacted, Config.ConfigError> =>
  Effect.map(apiKey === undefined ? Effect.succeed("") : text(apiKey), (key) => Redacted.make(key))

const baseUrlOf = ({ baseUrl, needsBaseUrl }: Variables): Effect.Effect<string, Config.ConfigError> =>
  needsBaseUrl === true ? text(baseUrl) : Effect.flatMap(firstSet(baseUrl), read)

/** The model over the `HttpClient` of the context in which it is built, or over the runtime's own `fetch` if there is none. */
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

/** The value of a variable; an unset variable is empty. */
export const read = (name: string): Effect.Effect<string, Config.ConfigError> =>
  Effect.map(
    Effect.suspend(() => Config.option(Config.String(name))),
    Option.getOrElse(() => "")
  )

/** The value of the first of these variables that is set. If none is, the `ConfigError` names the first one. */
export const text = (names: string | ReadonlyArray<string>): Effect.Effect<string, Config.ConfigError> =>
  Effect.flatMap(firstSet(names), required)

/** The value of a variable that has to be set. */
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

/** The first of these variables that is set, else the first name. */
const firstSet = (names: string | ReadonlyArray<string>): Effect.Effect<string, Config.ConfigError> =>
  Effect.gen(function* () {
    const all = typeof names === "string" ? [names] : names
    for (const name of all) if ((yield* read(name)) !== "") return name
    return all[0] ?? ""
  })

/**
 * Appends a path to a base URL and keeps the query of the base behind it. The path may have a query too; its values
 * override those of the base. An invalid base URL stays invalid: the transport reports it.
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

/** The base URL without a version, or `beta`, at the end of its path. */
export const withoutVersion = (baseUrl: string): string => {
  const [base, query] = parted(baseUrl)
  const segments = base.split("/")
  while (segments.length > 3 && /^(?:|v\d{1,3}|beta)$/.test(segments.at(-1) ?? "")) segments.pop()
  return query === "" ? segments.join("/") : `${segments.join("/")}?${query}`
}

/** Splits a URL into the part before the query, and the query. A fragment is never sent. */
const parted = (url: string): readonly [before: string, query: string] => {
  const [whole = ""] = url.trim().split("#")
  const at = whole.indexOf("?")
  return at === -1 ? [whole, ""] : [whole.slice(0, at), whole.slice(at + 1)]
}

/**
 * The secrets of a request, which no error may repeat: its key, `Redacted` headers, path segments of the base
 * URL that are not words, and query values that are named like credentials, or are long and not a version.
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

/** `2024-10-01-preview`, `v1.2` */
const version = /^v?\d[\d.-]*(?:-?(?:preview|beta|alpha|rc)[\d.-]*)?$/
