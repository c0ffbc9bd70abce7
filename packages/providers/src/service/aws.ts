/**
 * Signs requests to AWS and decodes its event streams. The AWS packages that do this are optional, and are imported when they are needed.
 */
import * as LlmError from "@kintsugi/core/LlmError"
import * as Redaction from "@kintsugi/core/Redaction"
import * as Clock from "effect/Clock"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import { scrubCause, type Source } from "../transport/Source.ts"
import type { HeadersOf } from "../transport/Header.ts"

/** A key of AWS. */
export interface Credentials {
  readonly accessKeyId: string
  readonly secretAccessKey: Redacted.Redacted
  /** The session token of temporary credentials, as STS issues them. */
  readonly sessionToken?: Redacted.Redacted
}

/** A request in the form that `SignatureV4` signs. */
interface Signable {
  readonly method: string
  readonly protocol: string
  readonly hostname: string
  readonly path: string
  readonly query: Record<string, string | Array<string>>
  readonly headers: Record<string, string>
  readonly body: string
}

type Value = { readonly value: unknown }

/** The exports of the AWS packages that this module uses. */
export interface Packages {
  readonly SignatureV4: new (options: {
    readonly service: string
    readonly region: string
    readonly credentials: {
      readonly accessKeyId: string
      readonly secretAccessKey: string
      readonly sessionToken?: string
    }
    readonly sha256: never
  }) => {
    readonly sign: (
      request: Signable,
      options: { readonly signingDate: string }
    ) => Promise<{ readonly headers: Record<string, string> }>
  }
  readonly Sha256: unknown
  readonly EventStreamCodec: new (
    toUtf8: (input: Uint8Array | string) => string,
    fromUtf8: (input: string) => Uint8Array
  ) => {
    readonly decode: (message: Uint8Array) => {
      readonly headers: Readonly<Record<string, Value>>
      readonly body: Uint8Array
    }
  }
}

/** The package that decodes event streams. Its name is data, not an import, so that bundlers do not require the optional package. */
const reading: ReadonlyArray<string> = ["@smithy/eventstream-codec"]

/** All packages that signed requests need: for signatures, event streams and hashes. */
const names: ReadonlyArray<string> = ["@smithy/signature-v4", ...reading, "@aws-crypto/sha256-js"]

const importAll = async (needed: ReadonlyArray<string>): Promise<Packages> =>
  // the packages together export the members of `Packages`
  Object.assign({}, ...(await Promise.all(needed.map((name) => import(name))))) as Packages

/** Imports the packages for signed requests. A missing package is a defect whose message has the command that installs it. */
export const load = (from: typeof importAll = importAll): Effect.Effect<Packages> => loaded(from, names)

/** Imports only the package that decodes event streams, for requests that are not signed. */
export const loadReading = (from: typeof importAll = importAll): Effect.Effect<Pick<Packages, "EventStreamCodec">> =>
  loaded(from, reading)

const loaded = (from: typeof importAll, needed: ReadonlyArray<string>): Effect.Effect<Packages> =>
  Effect.orDie(Effect.tryPromise({ try: () => from(needed), catch: missing(needed) }))

const missing =
  (names: ReadonlyArray<string>) =>
  (cause: unknown): Error => {
    const message = Predicate.isError(cause) ? cause.message : ""
    const name = names.find((name) => message.includes(`'${name}'`))
    return name !== undefined && /^Cannot find (?:package|module) /.test(message)
      ? new Error(`Bedrock needs the package ${name}, which is not installed: npm install ${names.join(" ")}`, {
          cause
        })
      : new Error(`Bedrock could not load the packages ${names.join(", ")}`, { cause })
  }

/** The region and the service for which a request is signed. */
export interface Scope {
  readonly region: string
  readonly service: string
}

/** Makes the function that signs a request: it returns the headers with the signature for the current time. */
export const signing =
  (
    { SignatureV4, Sha256 }: Packages,
    source: Source,
    scope: Scope,
    credentials: Credentials | Effect.Effect<Credentials, unknown>
  ): HeadersOf =>
  ({ body, url }) =>
    Effect.gen(function* () {
      const { accessKeyId, secretAccessKey, sessionToken } = Effect.isEffect(credentials)
        ? yield* Effect.mapError(credentials, (cause) => unauthorised(source, cause))
        : credentials
      for (const secret of [secretAccessKey, sessionToken]) if (secret !== undefined) Redaction.know(secret)
      const now = DateTime.makeUnsafe(yield* Clock.currentTimeMillis)
      const signer = new SignatureV4({
        ...scope,
        credentials: {
          accessKeyId: accessKeyId.trim(),
          secretAccessKey: Redacted.value(secretAccessKey).trim(),
          ...(sessionToken === undefined ? {} : { sessionToken: Redacted.value(sessionToken).trim() })
        },
        // the package that defines the type of this option is optional, so the type cannot be imported
        sha256: Sha256 as never
      })
      const signed = yield* Effect.tryPromise({
        try: () => signer.sign(signable(url, body), { signingDate: DateTime.formatIso(now) }),
        catch: (cause) => unauthorised(source, cause)
      })
      // the HTTP client writes the header `host` itself
      const { host: _h, ...headers } = signed.headers
      return Object.fromEntries(
        Object.entries(headers).map(([name, value]) => [name, isSecret(name) ? Redacted.make(value) : value] as const)
      )
    })

const isSecret = (name: string): boolean => /^(?:authorization|x-amz-security-token)$/i.test(name)

const signable = (url: URL, body: string): Signable => {
  const query: Record<string, Array<string>> = {}
  for (const [name, value] of url.searchParams) query[name] = [...(query[name] ?? []), value]
  return {
    method: "POST",
    protocol: url.protocol,
    hostname: url.hostname,
    path: url.pathname,
    query,
    headers: { host: url.host, "content-type": "application/json" },
    body
  }
}

const unauthorised = ({ model, provider }: Source, cause: unknown): LlmError.LlmError => {
  const message = `The request to model '${model}' was not sent: there are no credentials to sign it`
  return new LlmError.AuthenticationError({ model, provider, message, cause: scrubCause(cause) })
}

/**
 * Makes a function that decodes a message of an event stream to JSON: the type of the event, and its body. It throws for a wrong checksum.
 */
export const frames = ({ EventStreamCodec }: Pick<Packages, "EventStreamCodec">): ((message: Uint8Array) => string) => {
  const utf8 = new TextDecoder()
  const encoder = new TextEncoder()
  const codec = new EventStreamCodec(
    (input) => (Predicate.isString(input) ? input : utf8.decode(input)),
    (input) => encoder.encode(input)
  )
  return (message) => {
    const { body, headers } = codec.decode(message)
    const said = (name: string) => String(headers[name]?.value ?? "")
    if (said(":message-type") === "error") {
      return JSON.stringify({ error: { code: said(":error-code"), message: said(":error-message") } })
    }
    const name = said(":exception-type") || said(":event-type")
    return `{${JSON.stringify(name)}:${utf8.decode(body) || "null"}}`
  }
}
