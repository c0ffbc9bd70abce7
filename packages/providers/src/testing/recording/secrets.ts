/** Which parts of an exchange are secrets, and how they are taken out of it. */
import * as Predicate from "effect/Predicate"
import type * as Schema from "effect/Schema"
import * as Redaction from "@kintsugi/core/Redaction"

/** What stands where a secret was. */
export const mark = Redaction.mark

const secretName =
  /authorization|cookie|(?:^|[-_])(?:(?:api|access)[-_]?)?key$|(?:^|[-_])(?:token|secret|pass(?:word|wd|phrase)?|pwd|signature|credentials?|session|sig|auth)(?:[-_]|$)/i

/** Narrower, for fields of bodies: there a `token` may be a word of the model, and a `signature` is to be sent back. */
const secretField =
  /^(?:authorization|(?:x[-_])?(?:api|access|secret|private)[-_]?key|(?:access|refresh|id|auth|bearer|session|security)[-_]token|(?:client[-_])?secret|passw(?:or)?d|passphrase)$/i

/** `accessToken` as `access-Token`. */
const inWords = (name: string): string => name.replaceAll(/([a-z\d])([A-Z])/g, "$1-$2")

const isSecretName = (name: string): boolean => secretName.test(inWords(name))

const isSecretField = (name: string): boolean => secretField.test(inWords(name))

/** Whom a request is for: not a secret, and nobody's business. */
const accountName = /(?:^|[-_])(?:organi[sz]ation|org|account|project|tenant|workspace)(?:[-_]|$)/i

/** Of query parameters, by their names. */
export const isSecretParameter = isSecretName

/** Of an id of an account that is shorter, ordinary words would go as well. */
const shortestAccount = 6

/** A cookie that is shorter is a setting. */
const shortestCookie = 8

/** The secrets that were seen so far: whatever is noted is looked for everywhere. */
export class Secrets {
  readonly #values = new Set<string>()
  #redact: Redaction.Redactor | undefined

  /** Changes with each secret that is new. */
  get version(): number {
    return this.#values.size
  }

  /** Notes what the headers hold; `isHidden` tells of those that their sender hides. */
  note(headers: Readonly<Record<string, string | undefined>>, isHidden: (name: string) => boolean): void {
    for (const [name, value] of Object.entries(headers)) {
      const text = value?.trim() ?? ""
      if (name === "set-cookie") this.#noteCookie(text)
      else if (isHidden(name) || isSecretName(name)) this.#noteCredential(text)
      else if (accountName.test(name) && text.length >= shortestAccount) this.#add(text)
    }
  }

  noteParameters(url: URL): void {
    for (const [name, value] of url.searchParams) if (isSecretParameter(name)) this.#add(value)
  }

  /** Also without the scheme before it, and what `Basic` encodes. */
  #noteCredential(value: string): void {
    this.#add(value)
    const [, scheme = "", bare] = /^([A-Za-z]+)\s+(\S.*)$/.exec(value) ?? []
    if (bare !== undefined) this.#add(bare)
    if (bare !== undefined && scheme.toLowerCase() === "basic") {
      try {
        const pair = atob(bare)
        this.#add(pair)
        this.#add(pair.slice(pair.indexOf(":") + 1))
      } catch {
        // it encodes nothing
      }
    }
    for (const cookie of value.split(/;\s*/)) if (cookie.includes("=")) this.#add(cookie.slice(cookie.indexOf("=") + 1))
  }

  /** The value alone: `Path`, `Expires` and `SameSite` behind it are words that stand elsewhere as well. */
  #noteCookie(header: string): void {
    const [, value = ""] = /^[^=;]*=\s*"?([^;"]*)/.exec(header) ?? []
    if (value.trim().length >= shortestCookie) this.#add(value.trim())
  }

  #add(value: string): void {
    if (value === "" || this.#values.has(value)) return
    this.#values.add(value)
    this.#redact = undefined
  }

  /** Without any of them, and without what shows by its shape to be a credential or the id of an organisation. */
  readonly text = (text: string): string => {
    this.#redact ??= Redaction.of([...this.#values])
    return Redaction.own(this.#redact(text)).replaceAll(account, mark)
  }

  /** The same of what a form sends, in which fields that are called like a key are secrets. */
  readonly form = (text: string): string =>
    isForm.test(text)
      ? this.text(
          text
            .split("&")
            .map((field) => {
              const name = field.slice(0, field.indexOf("="))
              return isSecretParameter(decoded(name)) ? `${name}=${mark}` : field
            })
            .join("&")
        )
      : this.text(text)

  /** The same of each text in it, names of fields among them; a text in a field that is called like a key is a secret. */
  readonly json = (value: Schema.Json): Schema.Json => {
    if (Predicate.isString(value)) return this.text(value)
    if (Array.isArray(value)) return value.map(this.json)
    if (!Predicate.isObject(value)) return value
    const fields = Object.entries(value as Readonly<Record<string, Schema.Json>>)
    return Object.fromEntries(
      fields.map(([name, field]) => {
        const isHidden = Predicate.isString(field) && field !== "" && isSecretField(name)
        return [this.text(name), isHidden ? mark : this.json(field)]
      })
    )
  }
}

const isForm = /^[^=&\s{]+=[^&\s]*(?:&[^=&\s]+=[^&\s]*)*$/

const decoded = (name: string): string => new URLSearchParams(`${name}=`).keys().next().value ?? name

const account = /\b(?:org|proj|acct)[-_](?=[A-Za-z]*\d)[A-Za-z0-9]{10,}\b/g
