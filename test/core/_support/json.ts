/** Values that go through JSON. */
import { Schema } from "effect"

export const through = <A>(schema: Schema.Codec<A, unknown>, value: A): A => {
  const codec = Schema.toCodecJson(schema)
  return Schema.decodeUnknownSync(codec)(JSON.parse(JSON.stringify(Schema.encodeSync(codec)(value))))
}
