/** Reads the name of the model in a reply. */
import type * as Schema from "effect/Schema"
import * as Json from "../transport/Json.ts"

/** The name under which the provider answered. */
export const modelOf = (message: Schema.Json | undefined): { readonly model?: string } => {
  const model = Json.text(Json.field(message, "model"))
  return model === undefined ? {} : { model }
}
