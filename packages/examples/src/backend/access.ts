/** The names of the backend, and the tokens of those who use it. */
import { Context, Effect, Redacted } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerRespondable, HttpServerResponse } from "effect/http"
import { HttpApiError } from "effect/http-api"

export interface Access {
  /** Names in the header `Host`, without a port. */
  readonly hosts: ReadonlySet<string>
  /** Of the people who decide. Without one, no decision is taken. */
  readonly token: Redacted.Redacted | undefined
  /** Without any, all requests are those of the visitor. */
  readonly customers: ReadonlyArray<{ readonly name: string; readonly token: Redacted.Redacted }>
}

/** The name of a customer without a name. */
export const visitor = "visitor"

export const localHosts: ReadonlySet<string> = new Set(["localhost", "127.0.0.1", "[::1]"])

/** By default it is reached on the machine itself, and no decision is taken. */
export const Access = Context.Reference<Access>("examples/backend/Access", {
  defaultValue: () => ({ hosts: localHosts, token: undefined, customers: [] })
})

class Misdirected extends HttpApiError.Problem<Misdirected>()("Misdirected", {
  type: "about:blank",
  status: 421,
  title: "Misdirected Request"
}) {}

/** The name in a `Host`, which has to be nothing but a name and a port. */
const nameIn = (host: string): string => /^(\[[\da-f:.]+\]|[\w.-]+)(?::\d+)?$/i.exec(host)?.[1]?.toLowerCase() ?? ""

/**
 * For all routes: a page of another site may have its own name lead to this server (DNS rebinding). Then the browser takes the server for
 * that site, and lets the page read all of it; the name in `Host` is the other one still.
 */
export const layer = HttpRouter.middleware(
  Effect.map(
    Access,
    ({ hosts }) =>
      (handling) =>
        Effect.flatMap(HttpServerRequest.HttpServerRequest, ({ headers }) =>
          hosts.has(nameIn(headers["host"] ?? ""))
            ? Effect.map(handling, withChallenge)
            : HttpServerRespondable.toResponse(new Misdirected())
        )
  ),
  { global: true }
)

/** A refused client without a token learns which kind it needs. */
const withChallenge = (response: HttpServerResponse.HttpServerResponse) =>
  response.status === 401 ? HttpServerResponse.setHeader(response, "www-authenticate", "Bearer") : response

/** The customer with this token. Without tokens of customers, each request is one of the visitor. */
export const customerOf = ({ customers }: Access, given: Redacted.Redacted): string | undefined => {
  if (customers.length === 0) return visitor
  return customers.find(({ token }) => isSame(token, given))?.name
}

const bytes = (text: Redacted.Redacted): Uint8Array => new TextEncoder().encode(Redacted.value(text))

/** Whether two tokens are the same. The time of the comparison does not depend on where they differ. */
export const isSame = (first: Redacted.Redacted, second: Redacted.Redacted): boolean => {
  const [right, tried] = [bytes(first), bytes(second)]
  let difference = right.length ^ tried.length
  for (let at = 0; at < right.length; at++) difference |= (right[at] ?? 0) ^ (tried[at] ?? 0)
  return difference === 0
}
