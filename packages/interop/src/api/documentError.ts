/** The error for an OpenAPI document, or for one of its operations, of which no tool can be made. */
import * as Redaction from "@kintsugi/core/Redaction"
import * as Schema from "effect/Schema"

/**
 * The kind of failure:
 *
 * - `version`: it is no OpenAPI document of version 3.0 or 3.1.
 * - `reference`: a `$ref` leads out of the document, to nothing, or to itself.
 * - `host`: the server is not in the list of hosts, or its address cannot be used.
 * - `unsupported`: the operation needs what this library does not send: a media type, a style of parameters, a body of a GET.
 * - `operation`: the options name an operation that the document does not have, or several operations have the same id.
 * - `count`: the document has more operations than the options allow.
 */
const Reason = Schema.Literals(["version", "reference", "host", "unsupported", "operation", "count"])

/** An OpenAPI document, or one of its operations, cannot be made a tool. */
export class ApiDocumentError extends Schema.TaggedError<ApiDocumentError>()("ApiDocumentError", {
  message: Schema.String,
  /** The name of the API. */
  api: Schema.String,
  /** The JSON pointer of the part of the document that is refused. */
  pointer: Schema.String,
  reason: Reason
}) {}

/** Makes the error. `what` is a clause about the part of the document. */
export const refusal = (api: string, pointer: string, reason: typeof Reason.Type, what: string): ApiDocumentError =>
  new ApiDocumentError({
    message: `OpenAPI document '${Redaction.foreign(api, 200)}' at ${Redaction.foreign(pointer, 500)}: ${Redaction.foreign(what, 500)}`,
    api,
    pointer: Redaction.foreign(pointer, 500),
    reason
  })
