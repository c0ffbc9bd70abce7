/** The signature of a document: which key has made it, and the code that this key makes of the document. */
import * as Schema from "effect/Schema"

/** The key that has signed a document, and the code that this key makes of the document. */
export interface Signature extends Schema.Schema.Type<typeof Signature> {}

/** The same as a schema. */
export const Signature = Schema.Struct({
  /** The id of the key. */
  key: Schema.String,
  /** The message authentication code, in hexadecimal digits. */
  mac: Schema.String
})
