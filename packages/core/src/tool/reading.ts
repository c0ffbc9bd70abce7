/** What a model has sent, read by a schema: at once, or once the effects of the schema are over. */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SchemaIssue from "effect/SchemaIssue"
import { once } from "../data/Once.ts"
import { isOverflow } from "./overflow.ts"

const strict = { errors: "all", onExcessProperty: "error" } as const

/** Reads a value as the schema says, in the form that it has as JSON: at once where the schema can: an effect where it has to wait, or needs services. */
export type Read = (value: Schema.Json) => Result.Result<unknown, SchemaIssue.Issue> | Later

/** What a schema says once its effects are over; its defects are defects. */
export type Later = Effect.Effect<Result.Result<unknown, SchemaIssue.Issue>>

export const reader = (schema: Schema.Codec<unknown, unknown, unknown, unknown>): Read => {
  const decode = once(() => Schema.decodeUnknownEffect(Schema.toCodecJson(schema), strict))
  return (value) => {
    let later: Effect.Effect<unknown, Schema.SchemaError> | undefined
    const now = resultOf(() => {
      // what it needs is in the tool's type
      const read = decode()(value) as Effect.Effect<unknown, Schema.SchemaError>
      if (Exit.isExit(read)) return read as Exit.Exit<unknown, Schema.SchemaError>
      later = read
      return waits
    })
    return later === undefined
      ? now
      : Effect.map(Effect.result(later), (result) => Result.mapError(result, ({ issue }) => issue))
  }
}

const waits = Exit.succeed(undefined)

const resultOf = (decode: () => Exit.Exit<unknown, Schema.SchemaError>): Result.Result<unknown, SchemaIssue.Issue> => {
  let error: unknown
  try {
    const exit = decode()
    if (Exit.isSuccess(exit)) return Result.succeed(exit.value)
    error = Cause.squash(exit.cause)
  } catch (thrown) {
    error = thrown
  }
  if (Schema.isSchemaError(error)) return Result.fail(error.issue)
  if (isOverflow(error)) return Result.fail(tooDeep)
  throw error
}

const tooDeep = new SchemaIssue.InvalidValue({ message: "Expected a value that is not nested so deeply" })
