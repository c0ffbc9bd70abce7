/**
 * Who may use the server: the page that the person has opened, and no page of another site. The address of the page has a random token.
 * A page of another site knows no token; it would also come with its own `Origin`, or with its own name in `Host`.
 */
import { createHash, randomBytes, timingSafeEqual } from "node:crypto"

/** A request, as far as it is checked. */
export interface Asked {
  readonly method: string
  /** The path, without the query, as it was sent. */
  readonly path: string
  readonly query: URLSearchParams
  readonly headers: Readonly<Record<string, string | undefined>>
}

/** An answer that refuses a request. */
export interface Refusal {
  readonly status: 401 | 403 | 421
  readonly message: string
}

/** A token that cannot be guessed. */
export const newToken = (): string => randomBytes(24).toString("base64url")

const names: ReadonlySet<string> = new Set(["127.0.0.1", "localhost", "[::1]"])

/** Why a request is refused; `undefined` if it may be carried out. */
export const refusalOf = ({ headers, query }: Asked, token: string): Refusal | undefined => {
  const { authorization = "", host = "", origin, "sec-fetch-site": site = "same-origin" } = headers
  const name = /^(\[[\da-f:.]+\]|[\w.-]+)(?::\d+)?$/i.exec(host)?.[1]?.toLowerCase() ?? ""
  if (!names.has(name)) return { status: 421, message: "This server answers to the names of its own machine alone." }
  const isOwn = origin === undefined || origin === `http://${host}`
  // a person who opens the address by hand comes from no site
  if (!isOwn || (site !== "same-origin" && site !== "none")) {
    return { status: 403, message: "This server answers to its own pages alone." }
  }
  const given = /^Bearer (.+)$/i.exec(authorization)?.[1] ?? query.get("token") ?? ""
  if (!isSame(given, token))
    return { status: 401, message: "Open the address that the terminal shows: it has a token." }
  return undefined
}

const digest = (text: string): Buffer => createHash("sha256").update(text).digest()

/** Compares in a time that does not depend on where two texts differ. */
const isSame = (one: string, other: string): boolean => timingSafeEqual(digest(one), digest(other))
