/** The failures that clients of the backend read: `application/problem+json`, each kind with its status. */
import { Approval, KintsugiError } from "@kintsugi/core"
import { Schema } from "effect"
import { HttpApiError, HttpApiSchema } from "effect/http-api"

/** The statuses of runs that fail. A test holds that every error of Kintsugi that ends a run has one of them. */
export const statuses = [403, 410, 413, 422, 429, 500, 501, 502, 503, 504] as const

type Status = (typeof statuses)[number]

const fields = { ...KintsugiError.Problem.fields, status: Schema.Literals(statuses) }

/** A run that failed. The client gets this class for any status; `code` says what it was. */
export class RunFailed extends Schema.Error<RunFailed>("RunFailed")(fields) {
  readonly _tag = "RunFailed"

  override get message(): string {
    return this.detail
  }

  /** The message of an error for a person, and the fields that a client can act on: no transcript, no arguments, no cause. */
  static from(error: KintsugiError.KintsugiError): RunFailed {
    const problem = KintsugiError.toProblem(error)
    return new RunFailed({ ...problem, status: statuses.find((status) => status === problem.status) ?? 500 })
  }
}

const wireOf = (status: Status) =>
  Schema.Struct(fields).pipe(
    HttpApiSchema.status(status),
    HttpApiSchema.asJson({ contentType: KintsugiError.problemMediaType })
  )

/** One schema for each status, so that the response has it. How long to wait is in the header as well, where proxies look. */
export const runFailures = statuses.map((status) =>
  RunFailed.check(Schema.makeFilter((error: RunFailed) => error.status === status)).pipe(
    HttpApiSchema.encodeToWithHeaders(
      { body: wireOf(status), headers: { "retry-after": Schema.optionalKey(Schema.Finite) } },
      {
        decode: ({ body }) => new RunFailed(body),
        encode: ({ _tag, ...body }) => ({
          body,
          headers: body.retryAfter === undefined ? {} : { "retry-after": body.retryAfter }
        })
      }
    )
  )
)

/** No run waits for a decision under this id. */
export class UnknownRun extends HttpApiError.Problem<UnknownRun>()(
  "UnknownRun",
  { type: "urn:backend:unknown-run", status: 404, title: "No such run waits for a decision." },
  { runId: Schema.String }
) {}

/** No run of this id is at work, and none has ended just now. */
export class NoSuchRun extends HttpApiError.Problem<NoSuchRun>()(
  "NoSuchRun",
  { type: "urn:backend:no-such-run", status: 404, title: "No such run is at work." },
  { runId: Schema.String }
) {}

/** The run has waited for too long, or too many have come after it: it is no longer stored. */
export class ExpiredRun extends HttpApiError.Problem<ExpiredRun>()(
  "ExpiredRun",
  { type: "urn:backend:expired-run", status: 404, title: "The run has expired: ask again." },
  { runId: Schema.String }
) {}

/** Decisions about approvals, and reading them, need the token of the server. */
export class Unauthorized extends HttpApiError.Problem<Unauthorized>()("Unauthorized", {
  type: "urn:backend:unauthorized",
  status: 401,
  title: "Approvals need the token of this server: Authorization: Bearer <token>."
}) {}

/** A decision does not count: it came twice, too late, or for another call. What counts is done all the same. */
export class StaleDecision extends HttpApiError.Problem<StaleDecision>()(
  "StaleDecision",
  { type: "urn:backend:stale-decision", status: 409, title: "The decision does not count any more." },
  {
    runId: Schema.String,
    /** The requests for approval now; empty if the run is at work or over. */
    requests: Schema.Array(Approval.ApprovalRequest),
    /** The answer to each decision, with the reason if it does not count. */
    answers: Schema.Array(Approval.DecisionReceipt)
  }
) {}
