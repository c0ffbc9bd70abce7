import { assert } from "@effect/vitest"
import { Agent, Message, Model, Usage } from "@kintsugi/core"
import { Effect, Schema, Stream } from "effect"
import fc from "fast-check"
import { schemaAndValue, toSchema } from "./_support/coercions.ts"
import { law } from "../_support/laws.ts"

const usage = Usage.empty

/** A model that writes these pieces. */
const writing = (pieces: ReadonlyArray<string>): Model.Service => ({
  name: "writer",
  provider: "test",
  generate: () => Effect.succeed({ content: [Message.text(pieces.join(""))], finish: "stop", usage }),
  stream: () =>
    Stream.fromIterable<Model.Part>([
      ...pieces.map((text): Model.Part => ({ type: "text-delta", text })),
      { type: "finish", finish: "stop", usage }
    ])
})

/** A text cut at these places, each from 0 to 1. */
const cut = (text: string, fractions: ReadonlyArray<number>): ReadonlyArray<string> => {
  const ends = [...fractions.map((fraction) => Math.floor(fraction * text.length)), text.length].toSorted(
    (x, y) => x - y
  )
  return ends.map((end, index) => text.slice(index === 0 ? 0 : ends[index - 1], end))
}

const fractions = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 40 })

/** Whether the one may become the other while it is written. */
const grows = (before: unknown, after: unknown): boolean => {
  if (typeof before === "string") return typeof after === "string" && after.startsWith(before)
  if (Array.isArray(before)) {
    return Array.isArray(after) && before.every((item, index) => index in after && grows(item, after[index]))
  }
  if (typeof before === "object" && before !== null) {
    return (
      typeof after === "object" &&
      after !== null &&
      Object.entries(before).every(([key, field]) => Object.hasOwn(after, key) && grows(field, Reflect.get(after, key)))
    )
  }
  return Object.is(before, after)
}

const partialsOf = (output: Schema.Codec<unknown, unknown>, pieces: ReadonlyArray<string>) => {
  const texts: Array<string> = []
  const agent = Agent.make("writer", { output })
  return Agent.partials(agent)("go").pipe(
    Stream.tap((value) => Effect.sync(() => texts.push(JSON.stringify(value)))),
    Stream.runCollect,
    Effect.map((seen) => ({ seen, texts })),
    Effect.provideService(Model.Model, writing(pieces))
  )
}

law(
  "partials grow to the output, however the text is cut, and none changes later [P301]",
  fc.record({ generated: schemaAndValue, fractions, indent: fc.constantFrom(0, 2) }),
  ({ generated: { shape, valid }, indent, fractions }) => {
    const text = JSON.stringify({ value: valid }, null, indent)
    const output = Schema.Struct({ value: toSchema(shape) })
    return Effect.gen(function* () {
      const pieces = cut(text, fractions)
      const { seen, texts } = yield* partialsOf(output, pieces)
      assert.isAtMost(seen.length, pieces.filter((piece) => piece !== "").length + 1)
      assert.deepStrictEqual(
        seen.map((value) => JSON.stringify(value)),
        texts
      )
      const agent = Agent.make("writer", { output })
      const whole = yield* agent("go").pipe(Effect.provideService(Model.Model, writing(pieces)))
      assert.deepStrictEqual(seen.at(-1), whole)
      for (const [index, value] of seen.entries()) {
        if (index > 0) assert.isTrue(grows(seen[index - 1], value), `${texts[index - 1]} → ${texts[index]}`)
      }
    })
  }
)

law(
  "any text at all is read without a defect [P301]",
  fc.record({
    text: fc.oneof(
      fc.string({ unit: fc.constantFrom(...'{}[]",:\\ue1-. atrufslnx\n') }),
      fc.string({ unit: "binary" })
    ),
    fractions
  }),
  ({ fractions, text }) => {
    const Tree = Schema.Struct({ e: Schema.String, a: Schema.Array(Schema.Struct({ e: Schema.String })) })
    return Effect.asVoid(Effect.result(partialsOf(Tree, cut(`{${text}`, fractions)))).pipe(
      Effect.andThen(Effect.result(partialsOf(Tree, cut(`{"e":"${text}","a":[${text}]}`, fractions)))),
      Effect.asVoid
    )
  }
)
