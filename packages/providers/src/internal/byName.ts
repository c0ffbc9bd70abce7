/** What the modules of providers have in common: options of every one, and a model by its name. */
import type * as Model from "@kintsugi/core/Model"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Transport from "../Transport.ts"

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

/** The base, without the slashes at its end, and the path. */
export const join = (baseUrl: string, path: string): string => `${baseUrl.replace(/\/+$/, "")}${path}`

/** The headers that must not be seen: errors are searched for their values. */
export const secretsOf = (headers: Reach["headers"] = {}): ReadonlyArray<Redacted.Redacted> =>
  Object.values(headers).filter((header): header is Redacted.Redacted => Redacted.isRedacted(header))
