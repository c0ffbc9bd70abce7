/**
 * Codecs for the fields of errors. In memory, a cause is the original value; on a wire, it is a summary without headers, bodies and stacks.
 */
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as SchemaTransformation from "effect/SchemaTransformation"
import { ForeignError, summarise } from "./ErrorCause.ts"
import { quietly } from "./Foreign.ts"

/** Keeps any value in memory, and its summary on a wire. A decoded summary is a `ForeignError`. */
export const summary = Schema.Struct({
  name: Schema.String,
  message: Schema.String,
  code: Schema.optionalKey(Schema.String)
}).pipe(
  Schema.decodeTo(
    Schema.Unknown,
    SchemaTransformation.transform({
      decode: (fields): unknown => new ForeignError(fields),
      encode: (cause) => summarise(cause)
    })
  )
)

/**
 * Like `summary`, but errors of this library keep their class on a wire. `union` returns their schema; it is called at the
 * first use, so that the classes of the union may use the codec themselves.
 */
export const nested = (union: () => Schema.Codec<unknown, unknown>) => {
  let made: Schema.Codec<unknown, Schema.Json> | undefined
  // the JSON codec of any schema encodes to JSON
  const codec = () => (made ??= Schema.toCodecJson(union()) as Schema.Codec<unknown, Schema.Json>)
  return Schema.Json.pipe(
    Schema.decodeTo(
      Schema.Unknown,
      SchemaTransformation.transform({
        decode: (json): unknown =>
          Option.getOrElse(Schema.decodeUnknownOption(codec())(json), () =>
            Option.getOrElse(Schema.decodeUnknownOption(summary)(json), () => json)
          ),
        encode: (cause): Schema.Json =>
          Option.getOrElse(
            quietly(() => Schema.encodeUnknownOption(codec())(cause), Option.none()),
            () => summarise(cause)
          )
      })
    )
  )
}

/**
 * A codec for a large field of an error. It checks the value on a wire, but not in the constructor of the error: the maker of the error
 * has it from a trusted source.
 */
export const carried = <T, E>(codec: Schema.Codec<T, E>): Carried<T, E> =>
  codec.pipe(
    Schema.decodeTo(
      Schema.declare((_value): _value is T => true),
      SchemaTransformation.passthrough()
    )
  )

/** A codec whose constructor takes a `T`. The constructor of any other codec takes `unknown`. */
type Carried<T, E> = Schema.Codec<T, E> & { readonly "~type.make": T; readonly "~type.make.in": T }
