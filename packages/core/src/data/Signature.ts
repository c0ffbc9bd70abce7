/** The signature of a document: which key has made it, and the code that this key makes of the document. */
import * as Schema from "effect/Schema"

export interface Signature extends Schema.Schema.Type<typeof Signature> {}

export const Signature = Schema.Struct({
  /** The id of the key. */
  key: Schema.String,
  /** The message authentication code, in hexadecimal digits. */
  mac: Schema.String
})
