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

/** The names of the environment variables of a provider. */
export interface Variables {
  /** Of its key; absent where none is needed. */
  readonly apiKey?: string
  readonly baseUrl: string
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
          : yield* Config.schema(Schema.Redacted(Schema.NonEmptyString), variables.apiKey)
      const fromEnvironment = Option.getOrElse(yield* Config.option(Config.String(variables.baseUrl)), () => "")
      return make({ apiKey, baseUrl: options?.baseUrl ?? (fromEnvironment === "" ? undefined : fromEnvironment) })
    })
  ).pipe(Layer.provide(Transport.layerFetch))

/** The base, without the slashes at its end, and the path. */
export const join = (baseUrl: string, path: string): string => `${baseUrl.replace(/\/+$/, "")}${path}`

/** The headers that must not be seen: errors are searched for their values. */
export const secretsOf = (headers: Reach["headers"] = {}): ReadonlyArray<Redacted.Redacted> =>
  Object.values(headers).filter((header): header is Redacted.Redacted => Redacted.isRedacted(header))
