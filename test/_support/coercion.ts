/** The ladder by itself: what it makes of arguments for a schema, and how often it decodes. And a tool around it. */
import { Coercion, Tool } from "@kintsugi/core"
import * as Issue from "@kintsugi/core/Issue"
import { Effect, Result, Schema } from "effect"

const strict = { errors: "all", onExcessProperty: "error" } as const

/** As a tool decodes its parameters. */
export const codec = (schema: Schema.Codec<unknown, unknown>) => {
  const decode = Schema.decodeUnknownResult(Schema.toCodecJson(schema), strict)
  return (value: unknown) => Result.mapError(decode(value), ({ issue }) => issue)
}

export const mend = (schema: Schema.Codec<unknown, unknown>, sent: unknown, ladder = Coercion.steps) => {
  const decode = codec(schema)
  const tries: Array<unknown> = []
  // tests send nothing but JSON
  const parsed = Coercion.parse(sent as Schema.Json, ladder)
  const result = Result.flatMap(parsed, (parsed) =>
    Coercion.decode(parsed, (value) => (tries.push(value), decode(value)), ladder)
  )
  const ended = Result.isSuccess(result) ? result.success : undefined
  return {
    /** Absent when it does not decode. */
    value: ended?.value,
    decoded: ended?.decoded,
    changes: (ended?.changes ?? []).map(({ path, step }) => [step, path.join(".")]),
    tries,
    decodes: tries.length,
    /** The paths of what is wrong with the value as it came; found when they are looked at. */
    get issues(): ReadonlyArray<string> {
      const first = tries.length === 0 ? undefined : decode(tries[0])
      if (first === undefined || Result.isSuccess(first)) return []
      return Issue.fromSchema(first.failure, tries[0])
        .map(({ path }) => path.join("."))
        .toSorted()
    }
  }
}

/** A tool that gives its parameters back, and what it was given. */
export const keeping = <P>(parameters: Schema.Codec<P, unknown>, coercion?: ReadonlyArray<Coercion.CoercionStep>) => {
  const seen: Array<P> = []
  const tool = Tool.make("keep", {
    description: "Keeps.",
    parameters,
    success: Schema.String,
    ...(coercion === undefined ? {} : { coercion }),
    run: (params) => Effect.sync(() => (seen.push(params), "kept"))
  })
  return { seen, tool }
}

export const flight = Schema.Struct({
  to: Schema.String,
  seats: Schema.optionalKey(Schema.Finite),
  meals: Schema.optionalKey(Schema.Array(Schema.String)),
  guest: Schema.optionalKey(Schema.Struct({ name: Schema.String, age: Schema.optionalKey(Schema.Finite) }))
})
