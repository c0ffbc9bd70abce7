/** A text for the model in place of a result. */
import * as Schema from "effect/Schema"

/** A text that the model reads instead of a result. */
export class TextResult extends Schema.TaggedClass<TextResult>("@kintsugi/providers/EffectAi/TextResult")(
  "TextResult",
  {
    /** The kind of the settlement: `told`, `denied`, `unknown` … */
    kind: Schema.String,
    /** What the model reads. */
    text: Schema.String
  }
) {}
