/** Bugs: defects of the backend itself. Each is logged with its cause, and clients learn only that there was one. */
import { Cause, Effect, ErrorReporter } from "effect"
import { HttpRouter, HttpServerRespondable, HttpServerResponse } from "effect/http"
import { HttpApiError } from "effect/http-api"

/** For Effect, a body that is too large is a defect too, but it has its own answer. */
const isBug = (defect: unknown): boolean =>
  !HttpServerResponse.isHttpServerResponse(defect) && !HttpServerRespondable.isRespondable(defect)

/** Every route answers a bug with status 500 and a problem that says just that. A stream that has begun only ends. */
export const layer = HttpRouter.middleware(
  (handling) =>
    Effect.catchCauseIf(
      handling,
      (cause) => cause.reasons.some((reason) => Cause.isDieReason(reason) && isBug(reason.defect)),
      (cause) =>
        Effect.logError("a request has met a bug", cause).pipe(
          Effect.andThen(ErrorReporter.report(cause)),
          Effect.andThen(HttpServerRespondable.toResponse(new HttpApiError.InternalServerErrorProblem()))
        )
    ),
  { global: true }
)
