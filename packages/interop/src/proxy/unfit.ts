/** Requests that do not fit their schema. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as SchemaGetter from "effect/SchemaGetter"
import * as SchemaIssue from "effect/SchemaIssue"
import { UnfitRequestError } from "./errors.ts"

const format = SchemaIssue.makeFormatterStandardSchemaV1()

/** The first issues of a request: its fields and what was expected there, without what came. */
export const issuesOf = (issue: SchemaIssue.Issue) =>
  format(issue)
    .issues.slice(0, 20)
    // Mutant `["Stryker was here"]` survives: each issue has a path, which its type does not say
    .map(({ message, path = [] }) => ({
      path: path.map((part) => String(typeof part === "object" ? part.key : part)).join("."),
      expected: message
    }))

/** What does not fit, as a refusal. */
export const unfitOf = ({ issue }: Schema.SchemaError): UnfitRequestError =>
  new UnfitRequestError({ issues: issuesOf(issue) })

/** What is handed to a handler in place of a request that does not fit. */
class Unfit {
  readonly issues: ReturnType<typeof issuesOf>
  constructor(issue: SchemaIssue.Issue) {
    this.issues = issuesOf(issue)
  }
}

/** The payload of a procedure. Effect answers a payload that does not fit with a defect, so here it decodes, and the handler refuses it. */
export const refusable = <Fields extends Schema.Struct.Fields>(fields: Fields): Schema.Struct<Fields> => {
  // cast: the fields of requests need no services
  const codec = Schema.toCodecJson(Schema.Struct(fields)) as unknown as Schema.Codec<unknown, unknown>
  const decode = Schema.decodeUnknownEffect(codec)
  const encode = Schema.encodeUnknownEffect(codec)
  return Schema.Unknown.pipe(
    Schema.decodeTo(Schema.Unknown, {
      decode: SchemaGetter.transformEffect((payload) =>
        Effect.match(decode(payload), { onFailure: ({ issue }) => new Unfit(issue), onSuccess: (value) => value })
      ),
      encode: SchemaGetter.transformEffect((payload) => Effect.mapError(encode(payload), ({ issue }) => issue))
    })
    // cast: a handler sees no `Unfit`, because `refused` comes before it
  ) as never
}

/** Refuses a payload that does not fit. */
export const refused = <Request>(request: Request): Effect.Effect<Request, UnfitRequestError> =>
  request instanceof Unfit ? Effect.fail(new UnfitRequestError({ issues: request.issues })) : Effect.succeed(request)
