/** The end of a task as a value. It is no error, whether the task is done or cannot be done. */
import type * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

/** The result of a task. TnsAI throws it as `TaskCompleteException`. */
export class Completion extends Schema.Class<Completion>("Completion")({
  summary: Schema.String,
  isSuccess: Schema.Boolean,
  /** Absent if the summary is the whole result. */
  result: Schema.optionalKey(Schema.Json),
  metadata: Schema.Record(Schema.String, Schema.Json)
}) {
  get hasResult(): boolean {
    return this.result !== undefined
  }
  /** The result, decoded from its JSON. Fails if there is no result, or if it does not fit the schema. */
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

/** A task that is done, with metadata about it. */
export const withMetadata = (summary: string, metadata: Readonly<Record<string, Schema.Json>>): Completion =>
  new Completion({ summary, isSuccess: true, metadata })

/** Whether a value is a `Completion`. */
export const isCompletion = (value: unknown): value is Completion => value instanceof Completion
