/**
 * What a request to an agent can fail with, on the wire. Each failure is a problem document (RFC 9457) without causes, arguments and
 * transcripts. The table below has the status of each failure of a request; a failure of a run has that of core's table of errors.
 */
import * as HttpApiError from "effect/http-api/HttpApiError"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as Schema from "effect/Schema"
import { Approval, KintsugiError, Snapshot } from "@kintsugi/core"

/** The statuses of the failures of requests. */
const statusOf = {
  UnauthorizedError: 401,
  RunNotFoundError: 404,
  RunConflictError: 409,
  RequestTooLargeError: 413,
  UnfitRequestError: 422,
  TooBusyError: 429
} as const

/** The statuses of runs that fail. A test holds that every error of this library has one of them. */
const runStatuses = [403, 409, 410, 413, 422, 429, 500, 501, 502, 503, 504] as const

const declared = <const Tag extends keyof typeof statusOf, const Name extends string>(
  tag: Tag,
  name: Name,
  title: string
) => ({ type: `urn:kintsugi:error:${name}` as const, status: statusOf[tag], title })

/** The credentials are missing or wrong. It is for the middleware that knows the subject. */
export class UnauthorizedError extends HttpApiError.Problem<UnauthorizedError>()(
  "UnauthorizedError",
  declared("UnauthorizedError", "unauthorized", "The request needs valid credentials")
) {}

/** There is no such run. Also if the cursor is that of another run. Whether another subject has the run, the error does not say. */
export class RunNotFoundError extends HttpApiError.Problem<RunNotFoundError>()(
  "RunNotFoundError",
  declared("RunNotFoundError", "run-not-found", "There is no such run"),
  { run: Schema.String }
) {}

/** The run is in another state. `reason` says which. */
export class RunConflictError extends HttpApiError.Problem<RunConflictError>()(
  "RunConflictError",
  declared("RunConflictError", "run-conflict", "The run is in another state"),
  {
    run: Schema.String,
    /**
     * `at-work`: the run waits for no decision now. `over`: it has ended. `stopped`: it was stopped before it had an answer. `other-input`:
     * a run with this id has another input. `not-counted`: a decision does not count, and `receipts` says why.
     */
    reason: Schema.Literals(["at-work", "over", "stopped", "other-input", "not-counted"]),
    /** What became of each decision of the request. */
    receipts: Schema.optionalKey(Schema.Array(Approval.DecisionReceipt)),
    /** What the run waits for now. */
    waiting: Schema.optionalKey(Schema.Array(Snapshot.Waiting))
  }
) {}

/** The request is too large. */
export class RequestTooLargeError extends HttpApiError.Problem<RequestTooLargeError>()(
  "RequestTooLargeError",
  declared("RequestTooLargeError", "request-too-large", "The request is too large")
) {}

/** The request does not fit. Nothing was begun. */
export class UnfitRequestError extends HttpApiError.Problem<UnfitRequestError>()(
  "UnfitRequestError",
  declared("UnfitRequestError", "unfit-request", "The request does not fit"),
  {
    /** Each part that does not fit, and what was expected there. */
    issues: Schema.Array(Schema.Struct({ path: Schema.String, expected: Schema.String }))
  }
) {}

/** Too much is at work. The server has too many runs, or the run too many unread messages. Nothing was begun. */
export class TooBusyError extends HttpApiError.Problem<TooBusyError>()(
  "TooBusyError",
  declared("TooBusyError", "too-busy", "The server is too busy"),
  {
    /** In seconds; also in the header `Retry-After`. */
    retryAfter: Schema.Finite
  }
) {}

type RunStatus = (typeof runStatuses)[number]

const ofRun = { ...KintsugiError.Problem.fields, status: Schema.Literals(runStatuses) }

/** The run has failed. `code` says how, and stays the same over releases. */
export class RunFailedError extends Schema.Error<RunFailedError>("RunFailedError")(ofRun) {
  readonly _tag = "RunFailedError"

  override get message(): string {
    return this.detail
  }
}

/** The failure of a run for its client. */
export const runFailed = (error: KintsugiError.KintsugiError): RunFailedError => {
  const problem = KintsugiError.toProblem(error)
  return new RunFailedError({ ...problem, status: runStatuses.find((status) => status === problem.status) ?? 500 })
}

/** A failure whose details only the server may know. */
export const failedInside = (code: string): RunFailedError =>
  new RunFailedError({
    type: `urn:kintsugi:error:${code.replace("KINTSUGI-", "").toLowerCase()}`,
    title: "The server has failed",
    status: 500,
    detail: "The server has failed",
    code,
    retryable: false
  })

/** A failure of the server that passes. `retryAfter` is in seconds. */
export const failedForNow = (code: string, retryAfter: number): RunFailedError =>
  new RunFailedError({ ...failedInside(code), status: 503, retryable: true, retryAfter })

const problem = HttpApiSchema.asJson({ contentType: KintsugiError.problemMediaType })

const withStatus = (status: RunStatus) =>
  RunFailedError.check(Schema.makeFilter((error: RunFailedError) => error.status === status))

const wireOf = (status: RunStatus) => Schema.Struct({ ...ofRun, status: Schema.Literal(status) })

/** A failure that is worth another request says when in a header too, where proxies look. */
const headers = { "retry-after": Schema.optionalKey(Schema.Finite) }

const headersOf = ({ retryAfter }: { readonly retryAfter?: number }) =>
  retryAfter === undefined ? {} : { "retry-after": retryAfter }

const retryable = (status: RunStatus) =>
  withStatus(status).pipe(
    HttpApiSchema.encodeToWithHeaders(
      { body: wireOf(status).pipe(HttpApiSchema.status(status), problem), headers },
      {
        decode: ({ body }) => new RunFailedError(body),
        // the check above has compared the status
        encode: ({ _tag, ...body }) => ({ body: { ...body, status }, headers: headersOf(body) })
      }
    )
  )

const plain = (status: RunStatus): Schema.Codec<RunFailedError, unknown> =>
  problem(HttpApiSchema.status(status)(withStatus(status)))

const busyFields = {
  type: Schema.tag(`urn:kintsugi:error:too-busy`),
  status: Schema.Literal(429),
  title: Schema.String,
  detail: Schema.optionalKey(Schema.String),
  retryAfter: Schema.Finite
}

/** One status has one schema with headers. */
const busy = Schema.Union([TooBusyError, withStatus(429)]).pipe(
  HttpApiSchema.encodeToWithHeaders(
    { body: Schema.Union([Schema.Struct(busyFields), wireOf(429)]).pipe(HttpApiSchema.status(429), problem), headers },
    {
      decode: ({ body }) => ("code" in body ? new RunFailedError(body) : new TooBusyError(body)),
      encode: (error) => {
        const headers = headersOf(error)
        if (error._tag === "RunFailedError") return { body: { ...error, status: 429 as const }, headers }
        const { detail, retryAfter, title, type } = error
        return {
          body: { type, status: 429 as const, title, retryAfter, ...(detail === undefined ? {} : { detail }) },
          headers
        }
      }
    }
  )
)

/** How each failure that any endpoint may have is sent over HTTP, with its status. */
export const failures: ReadonlyArray<Schema.Codec<unknown, unknown>> = [
  RunConflictError,
  busy,
  ...runStatuses.flatMap((status) => {
    if (status === 429) return []
    return status > 501 ? [retryable(status)] : [plain(status)]
  })
]
