/** The end of a task as a value: a task that is done, or that cannot be done, is no error. */
import type * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

/** What became of a task (after TnsAI's `TaskCompleteException`, which is thrown there). */
export class Completion extends Schema.Class<Completion>("Completion")({
  summary: Schema.String,
  isSuccess: Schema.Boolean,
  /** Absent where the summary says it all. */
  result: Schema.optionalKey(Schema.Json),
  metadata: Schema.Record(Schema.String, Schema.Json)
}) {
  get hasResult(): boolean {
    return this.result !== undefined
  }
  /** The result, decoded from its JSON; fails when there is none or when it does not fit. */
  resultAs<A, R>(schema: Schema.Codec<A, unknown, R>): Effect.Effect<A, Schema.SchemaError, R> {
    return Schema.decodeUnknownEffect(Schema.toCodecJson(schema), { errors: "all" })(this.result)
  }
}

/** A task that is done. */
export const make = (summary: string): Completion => new Completion({ summary, isSuccess: true, metadata: {} })

/** A task that is done, with its result as JSON. */
export const withResult = (summary: string, result: Schema.Json): Completion =>
  new Completion({ summary, isSuccess: true, result, metadata: {} })

/** A task that cannot be done; the reason is in the metadata. */
export const failed = (summary: string, reason: string): Completion =>
  new Completion({ summary, isSuccess: false, metadata: { reason } })

/** A task that is done, with what is to be known about it. */
export const withMetadata = (summary: string, metadata: Readonly<Record<string, Schema.Json>>): Completion =>
  new Completion({ summary, isSuccess: true, metadata })

/** Whether a value is a `Completion`. */
export const isCompletion = (value: unknown): value is Completion => value instanceof Completion
