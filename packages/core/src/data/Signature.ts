/** The signature of a document. */
import * as Schema from "effect/Schema"

/** The key that has signed a document, and the code that this key made of it. */
export type Signature = typeof Signature.Type

export const Signature = Schema.Struct({
  /** The id of the key. */
  key: Schema.String,
  /** The message authentication code, in hexadecimal digits. */
  mac: Schema.String
})
