/** The class for a text that the model reads instead of a tool's result. */
import * as Schema from "effect/Schema"

/** A text that the model reads instead of a tool's result, such as a failure that was told. */
export class TextResult extends Schema.TaggedClass<TextResult>("@kintsugi/providers/EffectAi/TextResult")(
  "TextResult",
  {
    /** The kind of the settlement that the text belongs to: `told`, `denied`, `unknown` … */
    kind: Schema.String,
    /** The text that the model reads. */
    text: Schema.String
  }
) {}
