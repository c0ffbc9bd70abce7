/** Detects the secrets of an exchange, and redacts them. */
import * as Predicate from "effect/Predicate"
import type * as Schema from "effect/Schema"
import * as Redaction from "@kintsugi/core/Redaction"
import * as Credential from "../../transport/Credential.ts"
import { gather } from "./gathering.ts"

/** The text that replaces a secret. */
export const mark = Redaction.mark

/**
 * Matches the names of body fields that contain secrets. It matches fewer names than the rule for headers: a `token` may be a word of the
 * model, and a `signature` must be sent back to the provider.
 */
const secretField =
  /^(?:authorization|(?:x[-_])?(?:api|access|secret|private)[-_]?key|(?:access|refresh|id|auth|bearer|session|security)[-_]token|(?:client[-_])?secret|passw(?:or)?d|passphrase)$/i

const isSecretField = (name: string): boolean => secretField.test(Credential.inWords(name))

/** Matches the names of headers that identify the account. They are no secrets, but private. */
const accountName = /(?:^|[-_])(?:organi[sz]ation|org|account|project|tenant|workspace)(?:[-_]|$)/i

/** The shortest account id that is redacted everywhere. A shorter id may be an ordinary word. */
const shortestAccount = 6

/** The shortest cookie value that counts as a secret. A shorter value is a setting. */
const shortestCookie = 8

/** The shortest credential that is redacted even within words, if it has letters and digits. A shorter one may be an ordinary word. */
const shortestCredential = 6

/** Collects the secrets of a recording, and redacts them everywhere. */
export class Secrets {
  readonly #values = new Set<string>()
  /** Secrets that are redacted even if they are short or look like an ordinary word. */
  readonly #short = new Set<string>()
  #redact: typeof Redaction.own | undefined

  /** A number that changes with each new secret, so that earlier results can be redacted again. */
  get version(): number {
    return this.#values.size + this.#short.size
  }

  /** Notes the secrets in headers. `isHidden` says which headers the sender declares as secret. */
  note(headers: Readonly<Record<string, string | undefined>>, isHidden: (name: string) => boolean): void {
    for (const [name, value] of Object.entries(headers)) {
      const text = value?.trim() ?? ""
      if (name === "set-cookie") this.#noteCookie(text)
      else if (isHidden(name) || Credential.isNameOf(name)) this.#noteCredential(text)
      else if (accountName.test(name) && text.length >= shortestAccount) this.#add(text)
    }
  }

  /** Notes values that are known to be secrets: they are redacted, however short they are. */
  noteValues(values: ReadonlyArray<string>): void {
    for (const value of values) {
      const secret = value.trim()
      this.#short.add(secret)
      this.#add(secret)
    }
    this.#redact = undefined
  }

  noteParameters(url: URL): void {
    for (const [name, value] of url.searchParams) if (Credential.isNameOf(name)) this.#add(value)
  }

  /** Notes the value of a secret header, also without its scheme (`Bearer`), and the password that a `Basic` value encodes. */
  #noteCredential(value: string): void {
    this.#add(value)
    // Mutant `/^([A-Za-z]+)\s+(\S.*)/` survives: a header is one line
    const [, scheme = "", bare = ""] = /^([A-Za-z]+)\s+(\S.*)$/.exec(value) ?? []
    this.#add(bare)
    if (scheme.toLowerCase() === "basic") {
      try {
        const pair = atob(bare)
        this.#add(pair)
        this.#add(pair.slice(pair.indexOf(":") + 1))
      } catch {
        // the value is not valid base64, so there is no password to note
      }
    }
    for (const cookie of value.split(/;\s*/)) if (cookie.includes("=")) this.#add(cookie.slice(cookie.indexOf("=") + 1))
  }

  /** Notes the value of a cookie, without its attributes (`Path`, `Expires`, `SameSite`), which are ordinary words. */
  #noteCookie(header: string): void {
    // Mutant `["Stryker was here"]` survives: the first element is not read
    const [, value = ""] = /^[^=;]*=\s*"?([^;"]*)/.exec(header) ?? []
    if (value.trim().length >= shortestCookie) this.#add(value.trim())
  }

  #add(value: string): void {
    if (value === "" || this.#values.has(value)) return
    this.#values.add(value)
    if (value.length >= shortestCredential && /^(?=\S*\d)(?=\S*[a-z])\S+$/i.test(value)) this.#short.add(value)
    this.#redact = undefined
  }

  /** Redacts all noted secrets in a text, and anything with the form of a credential or of an organisation id. */
  readonly text = (text: string): string => {
    const clean = this.#text(text)
    const plain = clean.replaceAll(escaped, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
    const cleaner = plain === clean ? plain : this.#text(plain)
    return cleaner === plain ? clean : cleaner
  }

  #text(text: string): string {
    this.#redact ??= redactorOf(this.#values, this.#short)
    return Redaction.own(this.#redact(text)).replaceAll(account, mark)
  }

  /** Redacts a form-encoded body. Fields with names of keys are redacted whole. */
  readonly form = (text: string): string =>
    isForm.test(text)
      ? this.text(
          text
            .split("&")
            .map((field) => {
              const name = field.slice(0, field.indexOf("="))
              return Credential.isNameOf(decoded(name)) ? `${name}=${mark}` : field
            })
            .join("&")
        )
      : this.text(text)

  /**
   * Redacts all texts within JSON, including the names of fields, and secrets that are split over the items of a list. A text in a field
   * with the name of a key is redacted whole.
   */
  readonly json = (value: Schema.Json): Schema.Json => {
    const copy = structuredClone(value)
    gather([copy], this.text)
    return this.#json(copy)
  }

  #json(value: Schema.Json): Schema.Json {
    if (Predicate.isString(value)) return this.text(value)
    if (Array.isArray(value)) return value.map((item) => this.#json(item))
    if (!Predicate.isObject(value)) return value
    const fields = Object.entries(value as Readonly<Record<string, Schema.Json>>)
    return Object.fromEntries(
      fields.map(([name, field]) => {
        const isHidden = Predicate.isString(field) && field !== "" && isSecretField(name)
        return [this.text(name), isHidden ? mark : this.#json(field)]
      })
    )
  }
}

const redactorOf = (values: ReadonlySet<string>, short: ReadonlySet<string>): typeof Redaction.own => {
  const [usual, thorough] = [Redaction.of([...values]), Redaction.of([...short], { short: true })]
  return (text) => thorough(usual(text))
}

const isForm = /^[^=&\s{]+=[^&\s]*(?:&[^=&\s]+=[^&\s]*)*$/

const decoded = (name: string): string => new URLSearchParams(`${name}=`).keys().next().value ?? name

/** Matches a character that JSON writes as an escape, such as `\u0041`. Secrets written with escapes are redacted too. */
const escaped = /\\u([0-9a-f]{4})/gi

const account = /\b(?:org|proj|acct)[-_](?=[A-Za-z]*\d)[A-Za-z0-9]{10,}\b/g
