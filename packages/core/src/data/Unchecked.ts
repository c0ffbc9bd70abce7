/** What an error takes along: it may be large, and whoever makes the error has it from a place that vouches for it. */
import * as Schema from "effect/Schema"
import * as SchemaTransformation from "effect/SchemaTransformation"

/** The same codec, that checks a value when it comes from outside or goes there, but not whenever an error is made of it. */
export const kept = <T, E>(codec: Schema.Codec<T, E>): Schema.Codec<T, E> =>
  codec.pipe(
    Schema.decodeTo(
      Schema.declare((_value): _value is T => true),
      SchemaTransformation.passthrough()
    )
  )
