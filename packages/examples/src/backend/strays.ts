/**
 * Requests that reach no handler: an unknown address, a method that its address does not have, a body of a kind or a size that no
 * handler reads. The answer to each is a problem document, as to all other failures.
 */
import { Cause, Effect, Layer } from "effect"
import { HttpMethod, HttpRouter, HttpServerError, HttpServerRespondable, HttpServerResponse } from "effect/http"
import { HttpApiError } from "effect/http-api"
import { Api } from "./api.ts"

class NotFound extends HttpApiError.Problem<NotFound>()("NotFound", {
  type: "about:blank",
  status: 404,
  title: "Not Found"
}) {}

class MethodNotAllowed extends HttpApiError.Problem<MethodNotAllowed>()("MethodNotAllowed", {
  type: "about:blank",
  status: 405,
  title: "Method Not Allowed"
}) {}

/** Addresses, and the methods of each. */
type Routes = ReadonlyMap<HttpRouter.PathInput, ReadonlyArray<string>>

/** The methods of each address: those of the contract, and of the routes beside it. */
const routesWith = (beside: Routes): Routes => {
  const methods = new Map(beside)
  for (const { endpoints } of Object.values(Api.groups))
    for (const { method, path } of Object.values(endpoints)) methods.set(path, [...(methods.get(path) ?? []), method])
  return methods
}

/** A router has one route for each method of an address: the routes here answer the other methods. HEAD is a GET without a body. */
const others = (path: HttpRouter.PathInput, allowed: ReadonlyArray<string>) => {
  const answered = allowed.includes("GET") ? [...allowed, "HEAD"] : allowed
  const refusal = Effect.map(
    HttpServerRespondable.toResponse(new MethodNotAllowed()),
    HttpServerResponse.setHeader("allow", answered.join(", "))
  )
  return [...HttpMethod.all]
    .filter((method) => !answered.includes(method))
    .map((method) => HttpRouter.route(method, path, refusal))
}

class PayloadTooLarge extends HttpApiError.Problem<PayloadTooLarge>()("PayloadTooLarge", {
  type: "about:blank",
  status: 413,
  title: "Payload Too Large"
}) {}

class UnsupportedMediaType extends HttpApiError.Problem<UnsupportedMediaType>()("UnsupportedMediaType", {
  type: "about:blank",
  status: 415,
  title: "Unsupported Media Type"
}) {}

/** Effect answers these by itself, with a line of text or nothing. */
const asProblem = (response: HttpServerResponse.HttpServerResponse) => {
  if (response.status !== 413 && response.status !== 415) return Effect.succeed(response)
  if (response.headers["content-type"] === "application/problem+json") return Effect.succeed(response)
  const problem = response.status === 413 ? new PayloadTooLarge() : new UnsupportedMediaType()
  return Effect.map(HttpServerRespondable.toResponse(problem), ({ body }) => HttpServerResponse.setBody(response, body))
}

const nowhere = HttpRouter.middleware(
  (handling) =>
    handling.pipe(
      Effect.catchCauseIf(isStray, () => HttpServerRespondable.toResponse(new NotFound())),
      Effect.catchDefect((defect) =>
        HttpServerRespondable.isRespondable(defect) ? HttpServerRespondable.toResponse(defect) : Effect.die(defect)
      ),
      Effect.flatMap(asProblem)
    ),
  { global: true }
)

const isStray = ({ reasons }: Cause.Cause<unknown>): boolean =>
  reasons.some(
    (reason) =>
      Cause.isFailReason(reason) &&
      HttpServerError.isHttpServerError(reason.error) &&
      reason.error.reason._tag === "RouteNotFound"
  )

/** For the contract, and the addresses beside it. */
export const layer = (beside: Routes) =>
  Layer.merge(HttpRouter.addAll([...routesWith(beside)].flatMap(([path, allowed]) => others(path, allowed))), nowhere)
