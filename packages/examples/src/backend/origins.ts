/**
 * The origin of a request. Browsers send it with every form, and with every request of a script that may change something. Other
 * clients do not send it, and are not stopped here.
 */
import { Effect } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerRespondable } from "effect/http"
import { HttpApiError } from "effect/http-api"

class Foreign extends HttpApiError.Problem<Foreign>()("Foreign", {
  type: "about:blank",
  status: 403,
  title: "Forbidden"
}) {}

/** The answer to a page of another site. */
export const refusal = Effect.suspend(() => HttpServerRespondable.toResponse(new Foreign()))

/**
 * Whether a page of this server sent the request. A proxy before the server may have ended TLS, so only the browser can compare
 * schemes: it says so over TLS, and for the machine itself.
 */
export const isOwn = ({ headers }: HttpServerRequest.HttpServerRequest): boolean => {
  const { host = "", origin = "", "sec-fetch-site": site = "same-origin" } = headers
  const from = URL.parse(origin)
  return site === "same-origin" && /^https?:$/.test(from?.protocol ?? "") && from?.host === host
}

/** Whether a browser says that a page of another site sent the request. */
const isForeign = (request: HttpServerRequest.HttpServerRequest): boolean =>
  request.headers["origin"] !== undefined && request.method !== "GET" && request.method !== "HEAD" && !isOwn(request)

/** For all routes: nothing is started or decided for a page of another site. */
export const layer = HttpRouter.middleware(
  (handling) =>
    Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => (isForeign(request) ? refusal : handling)),
  { global: true }
)
