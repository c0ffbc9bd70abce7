/** JSON Schemas that a stranger has made large: they are refused before anything follows their references. */
import { assert, it } from "@effect/vitest"
import { Tool } from "@kintsugi/core"
import * as Bounds from "@kintsugi/core/Bounds"
import * as DoorError from "@kintsugi/core/DoorError"
import * as RawSchema from "@kintsugi/core/RawSchema"
import type * as Raw from "@kintsugi/core/RawSchema"
import { Effect, Schema } from "effect"

const look = (parameters: Raw.RawSchema, bounds?: Partial<Bounds.Bounds>) =>
  Tool.make("look", {
    description: "Gives back what it got.",
    parameters: RawSchema.make(parameters, { bounds }),
    success: Schema.Json,
    run: (params) => Effect.succeed(params)
  })

/** Definitions of which each refers to the next one, as `link` says. */
const chain = (length: number, link: (next: Raw.RawSchema) => Schema.Json, last: Schema.Json): Raw.RawSchema => {
  const entries = Array.from({ length }, (_, index) => [`d${index}`, link({ $ref: `#/$defs/d${index + 1}` })] as const)
  return {
    type: "object",
    properties: { a: { $ref: "#/$defs/d0" } },
    $defs: Object.fromEntries([...entries, [`d${length}`, last]])
  }
}

const number = { type: "number" }

/** An object in an object, and so on. */
const nested = (levels: number, inside: Schema.Json = number): Schema.Json => {
  let schema = inside
  for (let level = 0; level < levels; level++) schema = { type: "object", properties: { a: schema } }
  return schema
}

const refusal = (schema: Raw.RawSchema, bounds?: Partial<Bounds.Bounds>): readonly [string, number] | undefined => {
  const error = RawSchema.tooLarge(schema, { bounds })
  if (error === undefined) return undefined
  assert(error instanceof DoorError.InputTooLargeError)
  assert.throws(() => RawSchema.make(schema, { bounds }), error.message)
  return [error.bound, error.limit]
}

const bombs: Readonly<Record<string, Raw.RawSchema>> = {
  choices: chain(40, (next) => ({ anyOf: [next, next] }), number),
  "choices of one": chain(40, (next) => ({ oneOf: [next, next] }), number),
  properties: chain(40, (next) => ({ type: "object", properties: { a: next, b: next } }), number),
  items: chain(40, (next) => ({ type: "array", prefixItems: [next, next] }), number),
  "what holds together": chain(40, (next) => ({ allOf: [next, next] }), nested(5)),
  "what holds together, a little": chain(7, (next) => ({ allOf: [next, next] }), nested(5)),
  "the same object many times": {
    type: "object",
    properties: { a: { allOf: Array.from({ length: 20 }, () => nested(20)) } }
  },
  "a choice beside properties": chain(40, (next) => ({ ...number, anyOf: [next, next] }), number)
}

for (const [name, schema] of Object.entries(bombs)) {
  it(`a small JSON Schema that becomes large by ${name} is refused before it is expanded [P1391]`, () => {
    assert.isBelow(JSON.stringify(schema).length, 16_384)
    assert.deepStrictEqual(refusal(schema), ["nodes", 20_000])
  })
}

it("a JSON Schema that is nested too deeply is refused, directly or by its references [P1391 P1393]", () => {
  for (const levels of [128, 6000, 100_000]) {
    assert.deepStrictEqual(refusal({ type: "object", properties: { a: nested(levels) } }, { bytes: 1e8 }), [
      "depth",
      128
    ])
  }
  const far = chain(128, (next) => ({ type: "array", items: next }), number)
  assert.deepStrictEqual(refusal(far), ["depth", 128])
  assert.strictEqual(RawSchema.whole(far), undefined)
})

it("a JSON Schema of too many bytes is refused, counted as UTF-8 [P1391]", () => {
  const described = (description: string): Raw.RawSchema => ({ type: "object", description })
  assert.deepStrictEqual(refusal(described("x".repeat(256 * 1024))), ["bytes", 256 * 1024])
  assert.deepStrictEqual(refusal(described("é".repeat(130 * 1024))), ["bytes", 256 * 1024])
  assert.strictEqual(refusal(described("é".repeat(127 * 1024))), undefined)
  assert.deepStrictEqual(refusal({ type: "object", enum: Array.from({ length: 40 }, () => "€") }, { bytes: 100 }), [
    "bytes",
    100
  ])
})

it("each bound is exact, and an option takes its place [P1391]", () => {
  // the root, the reference and two times the definition
  const twice: Raw.RawSchema = {
    type: "object",
    properties: { a: { $ref: "#/$defs/d" }, b: { $ref: "#/$defs/d" } },
    $defs: { d: { type: "object", properties: { c: number, d: number } } }
  }
  assert.deepStrictEqual(refusal(twice, { nodes: 8 }), ["nodes", 8])
  assert.strictEqual(refusal(twice, { nodes: 9 }), undefined)
  assert.deepStrictEqual(refusal({ type: "object", properties: { a: number } }, { depth: 2 }), ["depth", 2])
  assert.strictEqual(refusal({ type: "object", properties: { a: number } }, { depth: 3 }), undefined)
  const text = JSON.stringify(twice)
  assert.deepStrictEqual(refusal(twice, { bytes: text.length - 1 }), ["bytes", text.length - 1])
  assert.strictEqual(refusal(twice, { bytes: text.length }), undefined)
  assert.deepStrictEqual(Bounds.resolve({ nodes: 7 }), { depth: 128, nodes: 7, bytes: 262_144 })
  for (const senseless of [{ depth: 0 }, { depth: 513 }, { nodes: 1.5 }, { bytes: Number.NaN }, { nodes: -1 }])
    assert.throws(() => Bounds.resolve(senseless), RangeError)
})

it("the error names what is too large, the bound and its limit [P1391]", () => {
  const what = "The input schema of tool 'sell' of MCP server 'shop'"
  const error = RawSchema.tooLarge({ type: "object" }, { what, bounds: { bytes: 3 } })
  assert(error !== undefined)
  assert.deepInclude(error, { what, bound: "bytes", limit: 3, isRetryable: false, recovery: "shrink", httpStatus: 413 })
  assert.match(error.message, /^The input schema of tool 'sell' of MCP server 'shop' is beyond the bound of 3 bytes/)
})

it.effect("recursive schemas are no larger than their text [P1391]", () =>
  Effect.gen(function* () {
    const ofAll = Array.from({ length: 15 }, (_, index) => `k${index}`)
    // a grammar: each kind holds nodes of each kind
    const grammar: Raw.RawSchema = {
      type: "object",
      properties: { root: { allOf: [{ $ref: "#/$defs/node" }], description: "where it begins" } },
      $defs: {
        node: { anyOf: ofAll.map((kind) => ({ $ref: `#/$defs/${kind}` })) },
        ...Object.fromEntries(
          ofAll.map((kind) => [
            kind,
            {
              type: "object",
              properties: {
                kind: { const: kind },
                left: { $ref: "#/$defs/node" },
                more: { type: "array", items: { allOf: [{ $ref: "#/$defs/node" }] } }
              },
              required: ["kind"]
            }
          ])
        )
      }
    }
    const good = { root: { kind: "k3", left: { kind: "k0" }, more: [{ kind: "k14", more: [] }] } }
    assert.deepStrictEqual(yield* Tool.call(look(grammar), good), good)
    const wrong = yield* Effect.flip(Tool.call(look(grammar), { root: { kind: "k3", more: [{ kind: "k99" }] } }))
    assert.match(wrong.message, /root\.more\[0\]/)
    // a name for itself and nothing else, and a name for nothing
    for (const d of [
      { $ref: "#/$defs/d" },
      { anyOf: [{ $ref: "#/$defs/d" }, number] },
      { $ref: "#/nowhere" },
      { $ref: "#" }
    ])
      assert.strictEqual(refusal({ type: "object", properties: { a: { $ref: "#/$defs/d" } }, $defs: { d } }), undefined)
  })
)

it.effect("a large schema that is meant is read with a bound of its own [P1391]", () =>
  Effect.gen(function* () {
    const wide: Raw.RawSchema = {
      type: "object",
      properties: Object.fromEntries(Array.from({ length: 3000 }, (_, index) => [`field${index}`, number]))
    }
    assert.deepStrictEqual(refusal(wide, { nodes: 3000 }), ["nodes", 3000])
    assert.deepStrictEqual(yield* Tool.call(look(wide), { field7: "7" }), { field7: 7 })
  })
)

/** Alternatives that a check tries one by one. */
const atLeast = (count: number): Schema.Json => ({
  anyOf: Array.from({ length: count }, (_, index) => ({ ...number, minimum: 10 + index }))
})

const atLeastLong = (count: number): Schema.Json => ({
  anyOf: Array.from({ length: count }, (_, index) => ({ type: "string", minLength: 30 + index }))
})

const list = (items: Schema.Json): Raw.RawSchema => ({ type: "object", properties: { a: { type: "array", items } } })

const times = <A>(count: number, item: A): ReadonlyArray<A> => Array.from({ length: count }, () => item)

const names = (count: number, prefix: string) => Array.from({ length: count }, (_, index) => `${prefix}${index}`)

/** At each level of a value, each alternative tries all of the levels within it. */
const recursive: Raw.RawSchema = {
  type: "object",
  properties: { a: { $ref: "#/$defs/n" } },
  $defs: {
    n: {
      anyOf: ["x", "y"].map((other) => ({
        type: "object",
        properties: { a: { $ref: "#/$defs/n" }, [other]: number },
        required: ["a", other]
      }))
    }
  }
}

const within = (levels: number): Schema.Json => {
  let value: Schema.Json = 1
  for (let level = 0; level < levels; level++) value = { a: value }
  return value
}

const fieldsOf = (count: number) => Object.fromEntries(names(count, "p").map((name) => [name, number] as const))

/** Schemas within the bounds, and values that would take them minutes, or longer than anyone lives. */
const costly: Readonly<Record<string, readonly [Raw.RawSchema, Schema.Json]>> = {
  "alternatives of items": [list(atLeast(1000)), { a: times(20_000, 1) }],
  "one of many": [list({ oneOf: [atLeast(1000)] }), { a: times(20_000, 1) }],
  "what applies together": [
    list({ allOf: names(100, "").map((_, index) => ({ ...number, minimum: index })) }),
    { a: times(50_000, -1) }
  ],
  "a recursive schema": [recursive, within(100)],
  "absent fields": [list({ type: "object", properties: fieldsOf(5000) }), { a: times(20_000, {}) }],
  "required fields": [list({ type: "object", required: names(5000, "r") }), { a: times(20_000, {}) }],
  "names of fields": [
    { type: "object", properties: { a: { type: "object", propertyNames: atLeastLong(500) } } },
    { a: Object.fromEntries(names(20_000, "n").map((name) => [name, 1] as const)) }
  ],
  "further fields": [
    { type: "object", properties: { a: { type: "object", additionalProperties: atLeast(500) } } },
    { a: Object.fromEntries(names(20_000, "n").map((name) => [name, 1] as const)) }
  ],
  "a tuple and more": [
    { type: "object", properties: { a: { type: "array", prefixItems: [number], items: atLeast(500) } } },
    { a: times(20_000, 1) }
  ],
  "a tuple of draft-07": [
    {
      type: "object",
      properties: { a: { type: "array", items: [number], additionalItems: atLeast(500) } },
      definitions: {}
    },
    { a: times(20_000, 1) }
  ]
}

for (const [name, [schema, value]] of Object.entries(costly)) {
  it.effect(`a call whose check takes too long by ${name} is refused with its tool, its id and its field [P1391]`, () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(Tool.call(look(schema), value))
      assert(error._tag === "DeserializationError")
      assert.include(
        error.message,
        `of tool 'look' do not fit its parameters (call ${error.callId}): a: Expected a smaller value`
      )
      assert.deepStrictEqual(
        error.issues.map(({ path }) => path),
        [["a"]]
      )
    })
  )
}

it.effect("a value without fields is refused as a whole [P1391]", () =>
  Effect.gen(function* () {
    const codec = RawSchema.make({ type: "array", items: atLeast(1000) })
    const error = yield* Effect.flip(Schema.decodeUnknownEffect(codec)(times(20_000, 1)))
    assert.match(error.message, /^Expected a smaller value[^\n]*$/)
  })
)

it.effect("long lists pass, and so do alternatives that a type or a constant tells apart [P1391]", () =>
  Effect.gen(function* () {
    const kinds = names(200, "k").map((kind) => ({
      type: "object",
      properties: { kind: { const: kind }, a: number },
      required: ["kind"]
    }))
    const $defs = Object.fromEntries(kinds.map((kind) => [kind.properties.kind.const, kind] as const))
    const last = times(5000, { kind: "k199", a: 1 })
    const passing: ReadonlyArray<readonly [Raw.RawSchema, ReadonlyArray<Schema.Json>]> = [
      [list(number), times(100_000, 1)],
      [list({ anyOf: [number, { type: "null" }, { type: "string" }, { type: "boolean" }] }), times(100_000, null)],
      [list({ anyOf: names(500, "").map((text) => ({ const: text })) }), times(5000, "499")],
      [list({ anyOf: names(500, "").map((text) => ({ type: "string", enum: [text] })) }), times(5000, "499")],
      [list({ anyOf: [...times(500, { type: "array", items: number }), { type: "object" }] }), times(5000, {})],
      [list({ oneOf: kinds }), last],
      [
        { ...list({ anyOf: kinds.map(({ properties }) => ({ $ref: `#/$defs/${properties.kind.const}` })) }), $defs },
        last
      ],
      [list({ anyOf: kinds.map((kind) => ({ allOf: [kind] })) }), last]
    ]
    for (const [schema, items] of passing) {
      const read = yield* Schema.decodeUnknownEffect(RawSchema.make(schema))({ a: items })
      assert.deepStrictEqual(read, { a: items })
    }
  })
)

it.effect("an error has the first 1,000 issues of its call [P1391]", () =>
  Effect.gen(function* () {
    const error = yield* Effect.flip(Tool.call(look(list(number)), { a: times(2000, "x") }))
    assert(error._tag === "DeserializationError")
    assert.strictEqual(error.issues.length, 1000)
  })
)
