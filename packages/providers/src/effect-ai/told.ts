/** The answer to a call that is no result: what the model is told in the place of one. */
import * as Schema from "effect/Schema"

/** What a model reads in the place of a result. */
export class Told extends Schema.TaggedClass<Told>("@kintsugi/providers/EffectAi/Told")("Told", {
  /** How the call was settled: `told`, `denied`, `unknown` … */
  kind: Schema.String,
  /** What the model reads. */
  text: Schema.String
}) {}
