/** The exchanges of a recording that is being made, and their conversion to the form in the file. */
import * as ErrorCause from "@kintsugi/core/ErrorCause"
import * as ForeignFailure from "@kintsugi/core/ForeignFailure"
import * as Predicate from "effect/Predicate"
import * as Body from "./body.ts"
import type { Exchange, Link, Request } from "./format.ts"
import * as Credential from "../../transport/Credential.ts"
import { Secrets } from "./secrets.ts"

/** A request as the client sent it, with its secrets. */
export interface Asked {
  readonly method: string
  readonly url: URL
  readonly body: string
}

/** One exchange of a recording, which may still be running. */
export interface Slot {
  readonly asked: Asked
  readonly pieces: Array<Uint8Array>
  response?: { readonly status: number; readonly headers: Readonly<Record<string, string | undefined>> }
  end?: Exchange["end"]
  failure?: unknown
}

export class Tape {
  readonly secrets = new Secrets()
  readonly #slots: Array<Slot> = []
  /** The converted exchanges. They are converted again when a new secret becomes known. */
  readonly #made = new Map<Slot, { readonly version: number; readonly exchange: Exchange }>()

  begin(asked: Asked): Slot {
    const slot: Slot = { asked, pieces: [] }
    this.#slots.push(slot)
    return slot
  }

  /** Marks the running exchanges as ended, because their callers have stopped reading. Returns whether there were any. */
  close(): boolean {
    const unfinished = this.#slots.filter(({ end }) => end === undefined)
    for (const slot of unfinished) slot.end = slot.response === undefined ? "interrupted" : "left"
    return unfinished.length > 0
  }

  /** The ended exchanges, in the order in which they began. */
  exchanges(): ReadonlyArray<Exchange> {
    return this.#slots.flatMap((slot) => (slot.end === undefined ? [] : [this.#exchangeOf(slot, slot.end)]))
  }

  #exchangeOf(slot: Slot, end: Exchange["end"]): Exchange {
    const { version } = this.secrets
    const made = this.#made.get(slot)
    if (made?.version === version) return made.exchange
    const { asked, failure, pieces, response } = slot
    // Mutant `"Stryker was here!"` survives: it is no type of a stream either
    const isStream = /event-stream|ndjson/.test(response?.headers["content-type"] ?? "")
    const mayBeJson = !isStream && end === "complete"
    const exchange: Exchange = {
      request: requestOf(this.secrets, asked),
      ...(response === undefined
        ? {}
        : {
            response: {
              status: response.status,
              headers: headersOf(this.secrets, response.headers),
              ...Body.store(pieces, mayBeJson, this.secrets)
            }
          }),
      end,
      ...(end === "failed" ? { failure: linksOf(this.secrets, failure) } : {})
    }
    this.#made.set(slot, { version, exchange })
    return exchange
  }
}

/** Converts a request to its form in the file. */
export const requestOf = (secrets: Secrets, { body, method, url }: Asked): Request => {
  const json = Body.parsed(body)
  const path = pathOf(secrets, url)
  if (json !== undefined) return { method, path, json: secrets.json(json) }
  return body === "" ? { method, path } : { method, path, text: secrets.form(body) }
}

const pathOf = (secrets: Secrets, url: URL): string => {
  const parameters = new URLSearchParams([...url.searchParams].filter(([name]) => !Credential.isNameOf(name)))
  parameters.sort()
  const query = parameters.toString()
  return secrets.text(query === "" ? url.pathname : `${url.pathname}?${query}`)
}

/** Matches the names of the answer headers that clients of models read. No other header is stored; none of these identifies an account. */
const storedHeader = /^(?:content-type|date|retry-after(?:-ms)?|x-should-retry|(?:x-)?request-id|location)$|rate-?limit/

const headersOf = (
  secrets: Secrets,
  headers: Readonly<Record<string, string | undefined>>
): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) => {
      if (value === undefined || !storedHeader.test(name)) return []
      // clients do not follow the address in `location`, so its query, which may have secrets, is omitted
      // Mutant `/\?.*/s` survives: the pattern takes all to the end
      const bare = name === "location" ? value.replace(/\?.*$/s, "") : value
      return [[name, secrets.text(bare)]]
    })
  )

const linksOf = (secrets: Secrets, failure: unknown): ReadonlyArray<Link> =>
  ForeignFailure.chainOf(failure).map((link) => {
    const { code, message, name } = ErrorCause.summarise(link)
    const said = { name, message: secrets.text(message) }
    return code === undefined ? said : { ...said, code: secrets.text(code) }
  })

/** Makes a chain of errors with the recorded names, messages and codes. */
export const failureOf = (links: ReadonlyArray<Link>): Error => {
  let cause: Error | undefined
  for (const { code, message, name } of links.toReversed()) {
    const error = new Error(message, cause === undefined ? {} : { cause })
    cause = Object.assign(error, { name }, code === undefined ? {} : { code })
  }
  return cause ?? new Error("the connection failed")
}

/** The headers whose values are texts. */
export const textsOf = (headers: object): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(headers).filter((entry): entry is [string, string] => Predicate.isString(entry[1])))
