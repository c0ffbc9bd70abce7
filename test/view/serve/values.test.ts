/** The values that are made of a JSON Schema, for a number that is drawn. */
import { describe, expect, it } from "vitest"
import { randomOf, tagsIn, valueOf } from "../../../packages/view/src/serve/generating.ts"

const made = (schema: unknown, drawn = 0.5, name?: string) => valueOf(schema, () => drawn, name)

describe("a made-up number [P1282]", () => {
  it("is small, and within the bounds of its schema [P1282]", () => {
    expect([0, 0.5, 0.999].map((drawn) => made({ type: "integer" }, drawn))).toEqual([1, 6, 10])
    expect([0, 0.5, 0.999].map((drawn) => made({ type: "number" }, drawn))).toEqual([1, 6, 10])
    const within = { type: "number", minimum: 3, maximum: 4.2 }
    expect([0, 0.999].map((drawn) => made(within, drawn))).toEqual([3, 4])
    const between = { type: "number", exclusiveMinimum: 0, exclusiveMaximum: 1 }
    expect([0, 0.4, 0.6].map((drawn) => made(between, drawn))).toEqual([0.01, 0.01, 0.99])
    const whole = { type: "integer", exclusiveMinimum: 5, exclusiveMaximum: 8 }
    expect([0, 0.999].map((drawn) => made(whole, drawn))).toEqual([6, 7])
    expect(made({ type: "integer", maximum: -5 })).toBe(-5)
    expect([0, 0.5, 0.999].map((drawn) => made({ type: "integer", maximum: 5 }, drawn))).toEqual([1, 3, 5])
    expect(made({ type: "integer", minimum: 100 }, 0.999)).toBe(109)
  })

  it("is a multiple within its bounds [P1282]", () => {
    const fives = { type: "number", multipleOf: 5, minimum: 3, maximum: 12 }
    expect([0, 0.5, 0.999].map((drawn) => made(fives, drawn))).toEqual([5, 10, 10])
  })
})

describe("a made-up text [P1282]", () => {
  it("has the form of its format [P1282]", () => {
    const formats = ["date", "date-time", "time", "email", "uri", "uuid", "other"]
    expect(formats.map((format) => made({ type: "string", format }))).toEqual([
      "2026-01-15",
      "2026-01-15T09:30:00.000Z",
      "09:30:00Z",
      "ada@example.com",
      "https://example.com/",
      "7f3c8f3e-2d0a-4c3b-9a51-0c4f5a8e1b22",
      "value 50"
    ])
  })

  it("looks like what its field is called [P1282]", () => {
    const names =
      "email E-Mail homeUrl uri link birthday date city place country currency name customer user orderId KEY number no json document body idea".split(
        " "
      )
    expect(names.map((name) => made({ type: "string" }, 0.5, name))).toEqual([
      "ada@example.com",
      "ada@example.com",
      "https://example.com/",
      "https://example.com/",
      "https://example.com/",
      "2026-01-15",
      "2026-01-15",
      "Paris",
      "Paris",
      "FR",
      "EUR",
      "Ada",
      "Ada",
      "Ada",
      "A-50",
      "A-50",
      "A-50",
      "A-50",
      '{"a":1}',
      '{"a":1}',
      '{"a":1}',
      "idea 50"
    ])
    expect([0, 0.999].map((drawn) => made({}, drawn, "x"))).toEqual(["x 1", "x 99"])
  })

  it("is as long as its schema wants it [P1282]", () => {
    expect(made({ type: "string", minLength: 10 })).toBe("value 50xx")
    expect(made({ type: "string", maxLength: 3 })).toBe("val")
  })
})

describe("a made-up value [P1282]", () => {
  it("is what the schema names: a constant, a choice, a default or an example [P1282]", () => {
    expect([0, 0.5, 0.999].map((drawn) => made({ enum: ["a", "b"] }, drawn))).toEqual(["a", "b", "b"])
    expect(made({ const: 7, enum: [1], default: 2 })).toBe(7)
    expect(made({ enum: [1], default: 2, examples: [3] })).toBe(1)
    expect(made({ type: "string", default: 2, examples: [3] })).toBe(2)
    expect(made({ type: "string", examples: [3, 4] }, 0)).toBe(3)
  })

  it("is of the type, that of an alternative too [P1282]", () => {
    expect([made({ type: "null" }), made({ type: "boolean" }, 0.49), made({ type: "boolean" })]).toEqual([
      null,
      true,
      false
    ])
    expect(made({ type: ["null", "integer"] }, 0)).toBe(1)
    expect(made({ anyOf: [{ type: "null" }, { const: 1 }] })).toBe(1)
    expect(made({ oneOf: [{ const: 2 }, { const: 3 }] })).toBe(2)
    expect(made({ anyOf: [{ type: "null" }] })).toBe(null)
    const all = [{ type: "object" }, { $ref: "#/$defs/A" }]
    expect(made({ allOf: all, $defs: { A: { properties: { a: { const: 1 } } } } })).toEqual({ a: 1 })
  })

  it("follows references, with the signs of a pointer [P1282]", () => {
    const $defs = { "a/b": { const: 1 }, "~c": { const: 2 } }
    expect([made({ $ref: "#/$defs/a~1b", $defs }), made({ $ref: "#/$defs/~0c", $defs })]).toEqual([1, 2])
    expect(made({ $ref: "#/$defs/gone", $defs })).toBe("value 50")
    // a list of lists, down to an empty one
    expect(JSON.stringify(made({ type: "array", items: { $ref: "#" } }))).toBe("[[[[[[[]]]]]]]")
  })

  it("is a list with as many items as there must be, one at least [P1282]", () => {
    const items = { const: 3 }
    expect(made({ type: "array", items })).toEqual([3])
    expect(made({ type: "array", items, minItems: 0 })).toEqual([])
    expect(made({ type: "array", items, minItems: 2 })).toEqual([3, 3])
    expect(made({ type: "array", items, minItems: 3, prefixItems: [{ const: 1 }, { const: 2 }] })).toEqual([1, 2, 3])
    expect(made({ type: "array", prefixItems: [{ const: 1 }, { const: 2 }] })).toEqual([1, 2])
  })

  it("has the fields of its schema, of deep ones those that are required [P1282]", () => {
    const node = (inner: object) => ({ properties: { deep: inner, more: { const: 1 } }, required: ["deep"] })
    const four = node(node(node(node({ const: 0 }))))
    expect(made(four)).toEqual({ more: 1, deep: { more: 1, deep: { more: 1, deep: { deep: 0 } } } })
    const lists = (levels: number): object =>
      levels === 0 ? { const: 1 } : { type: "array", items: lists(levels - 1) }
    expect(JSON.stringify(made(lists(9)))).toBe("[[[[[[[]]]]]]]")
  })

  it("follows from its seed [P1282]", () => {
    const numbers = (seed: number) => {
      const random = randomOf(seed)
      return Array.from({ length: 3 }, () => Math.floor(random() * 1000))
    }
    expect(numbers(1)).toEqual(numbers(1))
    expect(numbers(1)).not.toEqual(numbers(2))
    // the sequence is part of what a seed means
    expect(numbers(1)).toEqual([627, 2, 527])
  })
})

it("tags are the constants of fields _tag, wherever they are, each once [P1281]", () => {
  const error = (tag: object) => ({ properties: { _tag: tag } })
  const cyclic: { self?: unknown; properties: object } = error({ const: "C" })
  cyclic.self = cyclic
  expect(
    tagsIn({
      anyOf: [error({ const: "A" }), error({ enum: ["B", "A", 5] })],
      $defs: { cyclic, none: error({ type: "string" }) }
    })
  ).toEqual(["A", "B", "C"])
  expect([tagsIn(null), tagsIn("A")]).toEqual([[], []])
})
