/** Decodes what a model has sent: at once, or by an effect if the schema has to wait. */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SchemaIssue from "effect/SchemaIssue"
import { once } from "../data/Once.ts"
import { isOverflow } from "./overflow.ts"

const strict = { errors: "all", onExcessProperty: "error" } as const

/**
 * Decodes the JSON form of a value. It returns a result if the schema decodes at once, and an effect if the schema has to wait or needs
 * services.
 */
export type Read = (value: Schema.Json) => Result.Result<unknown, SchemaIssue.Issue> | Later

/** The effect of a decoding that has to wait. A defect of the schema is a defect of this effect. */
export type Later = Effect.Effect<Result.Result<unknown, SchemaIssue.Issue>>

export const reader = (schema: Schema.Codec<unknown, unknown, unknown, unknown>): Read => {
  const decode = once(() => Schema.decodeUnknownEffect(Schema.toCodecJson(schema), strict))
  return (value) => {
    let later: Effect.Effect<unknown, Schema.SchemaError> | undefined
    const now = resultOf(() => {
      // the services that the schema needs are in the type of the tool
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
