/** The stored form of the end of a step. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Bounds from "@kintsugi/core/Bounds"
import { requestFields, type Stamp } from "./asks.ts"
import { type Spent, spentFields } from "./books.ts"
import { Counted } from "./words.ts"

/** Any schema that encodes and decodes values without the help of services. */
export type AnyCodec = Schema.Codec<unknown, unknown>

/** The stored result of a step, and when it ended. `Late`: a wait of the run, such as a timeout, was over before the step was. */
export type Outcome =
  | ({ readonly _tag: "Done"; readonly at: number; readonly value: unknown } & Stamped)
  | ({ readonly _tag: "Failed"; readonly at: number; readonly error: unknown } & Stamped)
  | ({ readonly _tag: "Late"; readonly counted?: typeof Counted.Type } & Spent)

type Stamped = Spent & Stamp

/** Encodes the outcome of a step to JSON, and decodes it. */
interface OutcomeCodec {
  readonly encode: (outcome: Outcome) => Effect.Effect<unknown>
  readonly decode: (stored: unknown) => Effect.Effect<Outcome, Schema.SchemaError>
}

/**
 * The deepest nesting of JSON in a row: the arguments of a call may have 1,000 levels, and the row adds a few around them. The engine
 * writes rows recursively, and would retry a deeper row for ever.
 */
const deepest = 1100

const storable = (encoded: unknown): Effect.Effect<void> =>
  Bounds.isDeeper(encoded, deepest)
    ? Effect.die(new TypeError(`What a step gave is nested in more than ${deepest} levels: no row can hold it`))
    : Effect.void

const outcomes = new WeakMap<object, WeakMap<object, OutcomeCodec>>()

/** Makes the codec for the outcome of steps with these schemas. It is compiled once for each pair of schemas. */
export const outcomeOf = (value: AnyCodec, error: AnyCodec): OutcomeCodec => {
  const compiled = outcomes.get(value)?.get(error)
  if (compiled !== undefined) return compiled
  const stampFields = { ...requestFields, ...spentFields }
  const schema = Schema.toCodecJson(
    Schema.Union([
      Schema.Struct({ _tag: Schema.tag("Done"), at: Schema.Finite, value, ...stampFields }),
      Schema.Struct({ _tag: Schema.tag("Failed"), at: Schema.Finite, error, ...stampFields }),
      Schema.Struct({ _tag: Schema.tag("Late"), counted: Schema.optionalKey(Counted), ...spentFields })
    ])
  )
  const encode = Schema.encodeEffect(schema)
  const made: OutcomeCodec = {
    // dies if a tool gives a value that its own schema refuses
    encode: (outcome) => Effect.tap(Effect.orDie(encode(outcome)), storable),
    decode: Schema.decodeUnknownEffect(schema)
  }
  const byError = outcomes.get(value) ?? new WeakMap<object, OutcomeCodec>()
  outcomes.set(value, byError.set(error, made))
  return made
}
