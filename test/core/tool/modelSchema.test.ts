/** Schemas in the words of models: what is sent, and what is taken. */
import { assert, describe, it } from "@effect/vitest"
import { Agent, type Message, Recovery, Tool } from "@kintsugi/core"
import * as Issue from "@kintsugi/core/Issue"
import { ScriptedModel } from "@kintsugi/core/testing"
import * as Arbitraries from "@kintsugi/core/testing/Arbitraries"
import { Effect, type Result, Schema, type SchemaIssue } from "effect"
import * as Arbitrary from "effect/Arbitrary"
import { validates } from "../../_support/jsonSchema.ts"
import { agentWith, done, read } from "../../_support/dialogue.ts"
import { it as running } from "../../_support/run.ts"
import { schemaKinds } from "../../_support/schemaKinds.ts"

const toolOf = (schema: Schema.Codec<unknown, unknown>) =>
  Tool.make("look", {
    description: "Looks.",
    parameters: Schema.Struct({ v: schema }),
    success: Schema.String,
    run: () => Effect.succeed("ok")
  })

const readBy = (tool: Tool.AnyTool, value: Schema.Json): Result.Result<unknown, SchemaIssue.Issue> => {
  const read = tool.definition.decode(value)
  return Effect.isEffect(read) ? Effect.runSync(read) : read
}

/** Why a value is not taken. */
const misfitsOf = (schema: Schema.Codec<unknown, unknown>, v: Schema.Json): ReadonlyArray<string> => {
  const read = readBy(toolOf(schema), { v })
  return read._tag === "Success" ? [] : Issue.fromSchema(read.failure, { v }).map(Issue.format)
}

const sentOf = (schema: Schema.Codec<unknown, unknown>): Message.ToolSpec["parameters"] =>
  toolOf(schema).definition.spec().parameters

const probes: ReadonlyArray<Schema.Json> = [
  ...Object.values(schemaKinds).map(([, fits]) => fits),
  "NaN",
  "Infinity",
  "-Infinity",
  "",
  "x?",
  -1,
  0.5,
  1e300,
  false,
  null,
  [],
  [1, "NaN"],
  ["a", "NaN"],
  {},
  { a: "NaN" },
  { x: 1, y: "Infinity" },
  { value: "NaN", nested: [] },
  { _tag: "Some", value: "NaN" }
]

/** Their format says more than their type. */
const formatted = new Set(["Date", "DateTimeUtc", "URL", "Uint8Array", "String, with a pattern"])

describe("a schema in the words of a model", () => {
  for (const [name, [schema, fits]] of Object.entries(schemaKinds)) {
    it(`${name}: the tool takes what the sent schema admits, and neither admits NaN [P1334]`, () => {
      const sent = sentOf(schema)
      assert.notMatch(JSON.stringify(sent), /NaN/)
      assert.deepStrictEqual(misfitsOf(schema, fits), [])
      for (const probe of probes) {
        const misfits = misfitsOf(schema, probe)
        for (const misfit of misfits) assert.notMatch(misfit.replace(/, got .*/s, ""), /NaN|"-?Infinity" \|/, misfit)
        if (formatted.has(name) && typeof probe === "string") continue
        const isSaid = validates(sent, { v: probe })
        assert.strictEqual(misfits.length === 0, isSaid, `${JSON.stringify(probe)}: ${misfits.join("; ")}`)
      }
    })
  }

  it("numbers are numbers, dates carry their format, and descriptions stay [P1334]", () => {
    const sent = (schema: Schema.Codec<unknown, unknown>) => sentOf(schema)["properties"]
    assert.deepStrictEqual(sent(Schema.Number), { v: { type: "number" } })
    assert.deepStrictEqual(sent(Schema.Number.check(Schema.isGreaterThan(0))), {
      v: { type: "number", exclusiveMinimum: 0 }
    })
    assert.deepStrictEqual(sent(Schema.Date), { v: { type: "string", format: "date-time" } })
    assert.deepStrictEqual(sent(Schema.URL), { v: { type: "string", format: "uri" } })
    assert.deepStrictEqual(sent(Schema.Date.annotate({ description: "when it was" })), {
      v: { type: "string", format: "date-time", description: "when it was" }
    })
    assert.deepStrictEqual(sent(Schema.String.check(Schema.isPattern(/^x+$/))), {
      v: { type: "string", description: "Wanted: a string matching the RegExp ^x+$" }
    })
    const even = Schema.makeFilter((n: number) => n % 2 === 0, { expected: "an even number" })
    assert.deepStrictEqual(sent(Schema.Number.check(even).annotate({ description: "How many." })), {
      v: { type: "number", description: "How many.\nWanted: an even number" }
    })
    assert.deepStrictEqual(sent(Schema.Struct({ a: Schema.String.annotateKey({ description: "The a." }) })), {
      v: {
        type: "object",
        properties: { a: { type: "string", description: "The a." } },
        required: ["a"],
        additionalProperties: false
      }
    })
    assert.deepStrictEqual(misfitsOf(Schema.Number, "x"), ['v: Expected number, got string "x"'])
    for (const text of ["2026-11-24", "2026-11-24T09:30:00", "1", "tomorrow"]) {
      assert.deepStrictEqual(misfitsOf(Schema.Date, text), [
        `v: Expected a date and time such as 2026-11-24T09:30:00Z, got string "${text}"`
      ])
    }
  })

  it("titles, descriptions and the texts of checks are read where they belong, and once [P1334]", () => {
    const sent = (schema: Schema.Codec<unknown, unknown>) => sentOf(schema)["properties"]
    const fieldless = { type: "object", properties: {}, additionalProperties: false }
    assert.deepStrictEqual(sent(Schema.Struct({})), { v: fieldless })
    assert.deepStrictEqual(sent(Schema.Struct({}).annotate({ title: "Nothing", description: "No fields." })), {
      v: { ...fieldless, title: "Nothing", description: "No fields." }
    })
    assert.deepStrictEqual(sent(Schema.Struct({ a: Schema.Struct({}).annotateKey({ description: "The a." }) })), {
      v: { ...fieldless, properties: { a: { ...fieldless, description: "The a." } }, required: ["a"] }
    })
    assert.deepStrictEqual(sent(Schema.String.annotate({ title: "Name", description: "The name." })), {
      v: { type: "string", title: "Name", description: "The name." }
    })
    const both = Schema.String.annotate({ description: "inner" }).annotateKey({ description: "outer" })
    assert.deepStrictEqual(sent(Schema.Struct({ a: both })), {
      v: { ...fieldless, properties: { a: { type: "string", description: "inner\nouter" } }, required: ["a"] }
    })
    const bounded = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 3 })).annotateKey({ description: "k" })
    assert.deepStrictEqual(sent(Schema.Struct({ a: bounded })), {
      v: {
        ...fieldless,
        properties: { a: { type: "integer", minimum: 1, maximum: 3, description: "k" } },
        required: ["a"]
      }
    })
    // checks without words of their own add no description
    const twice = Schema.String.check(Schema.isPattern(/^x/), Schema.isPattern(/y$/))
    assert.notInclude(JSON.stringify(sent(twice)), '"description":""')
    // keys that no pattern admits have no place in a schema without fields
    assert.deepStrictEqual(sent(Schema.Record(Schema.String, Schema.Never)), {
      v: { type: "object", additionalProperties: false }
    })
    const even = Schema.makeFilter((n: number) => n % 2 === 0, { expected: "an even number" })
    const byFive = Schema.makeFilter((n: number) => n % 5 === 0, { expected: "a multiple of 5" })
    assert.deepStrictEqual(sent(Schema.Number.check(Schema.makeFilterGroup([even, byFive]))), {
      v: { type: "number", description: "Wanted: an even number\nWanted: a multiple of 5" }
    })
    // checks of the value, and of the text that a model writes for it
    const late = Schema.makeFilter((date: Date) => date.getTime() > 0, { expected: "a date after 1970" })
    assert.deepStrictEqual(sent(Schema.Date.check(late)), {
      v: { type: "string", format: "date-time", description: "Wanted: a date after 1970" }
    })
    const secure = Schema.makeFilter(({ protocol }: URL) => protocol === "https:", { expected: "an https URL" })
    assert.deepStrictEqual(sent(Schema.URL.check(secure).annotate({ description: "The page." })), {
      v: { type: "string", format: "uri", description: "The page.\nWanted: an https URL" }
    })
  })

  it("what a check demands stays where a description or another check says something else [P1334]", () => {
    const long = Schema.isMaxLength(9)
    const cases: ReadonlyArray<readonly [Schema.Codec<unknown, unknown>, object]> = [
      [
        Schema.String.annotate({ description: "A code" }).check(Schema.isMaxLength(9, { description: "short" })),
        { type: "string", description: "A code", allOf: [{ maxLength: 9, description: "short" }] }
      ],
      [
        Schema.Finite.check(Schema.isMultipleOf(4), Schema.isMultipleOf(6)),
        { type: "number", multipleOf: 4, allOf: [{ multipleOf: 6 }] }
      ],
      [
        Schema.Record(Schema.TemplateLiteral(["a", Schema.String]), Schema.String).check(
          Schema.isPropertyNames(Schema.String.check(long))
        ),
        {
          type: "object",
          patternProperties: { "^a[\\s\\S]*?$": { type: "string" } },
          propertyNames: { type: "string", maxLength: 9 },
          additionalProperties: false
        }
      ],
      [
        Schema.Struct({ allOf: Schema.String }),
        {
          type: "object",
          properties: { allOf: { type: "string" } },
          required: ["allOf"],
          additionalProperties: false
        }
      ]
    ]
    for (const [schema, expected] of cases)
      assert.deepStrictEqual<unknown>(sentOf(schema)["properties"], { v: expected })
  })

  it("a date has a time and an offset, in each form of RFC 3339, and nothing around it [P1334]", () => {
    for (const text of [
      "2026-11-24T09:30Z",
      "2026-11-24T09:30:00Z",
      "2026-11-24T09:30:00.125Z",
      "2026-11-24t09:30:00z",
      "2026-11-24 09:30:00+01:00",
      "2026-11-24T09:30-0130"
    ]) {
      assert.deepStrictEqual(misfitsOf(Schema.Date, text), [], text)
    }
    for (const text of [
      "x2026-11-24T09:30:00Z",
      "+002026-11-24T09:30:00Z",
      "2026-11-24T09:30:00Zx",
      "2026-11-24T09:30:00.Z",
      "2026-11-24T09:30:0Z",
      "2026-11-24T09Z",
      "26-11-24T09:30:00Z"
    ]) {
      assert.lengthOf(misfitsOf(Schema.Date, text), 1, text)
    }
  })

  it.effect("generated arguments are arguments that the tool takes [P1334]", () =>
    Effect.gen(function* () {
      for (const [name, [schema]] of Object.entries(schemaKinds)) {
        if (name === "Unknown") continue
        const result = yield* Arbitrary.checkEffect(
          Arbitraries.toolArguments(toolOf(schema)),
          (args) =>
            Effect.sync(() => {
              const json = typeof args === "string" ? JSON.parse(args) : args
              assert.strictEqual(readBy(toolOf(schema), json)._tag, "Success", `${name}: ${JSON.stringify(json)}`)
              return true
            }),
          { runs: 50 }
        )
        const failure = Arbitrary.formatCheckFailure(result)
        if (failure !== undefined) assert.fail(failure)
      }
    })
  )
})

running.run("a model that writes NaN is told which number is wanted; so is one whose answer has it [P1334]", (run) =>
  Effect.gen(function* () {
    const model = yield* ScriptedModel.make(
      ScriptedModel.calls(ScriptedModel.call("look", { v: "NaN" }, "c1")),
      ScriptedModel.calls(ScriptedModel.call("look", { v: "1.5" }, "c2")),
      done
    )
    const agent = agentWith(toolOf(Schema.Number).pipe(Tool.onError({ orElse: Recovery.tell() })))
    yield* run(agent, "go").pipe(Effect.provide(model.layer))
    const [first = "", second] = read(model)
    assert.match(first, /v: Expected number, got string "NaN"; correct v and call the tool again$/)
    assert.strictEqual(second, "result: ok")
    const answering = yield* ScriptedModel.make(ScriptedModel.text('{"v":"Infinity"}'), ScriptedModel.text('{"v":2}'))
    const measuring = Agent.make("m", { output: Schema.Struct({ v: Schema.Number }) })
    assert.deepStrictEqual(yield* run(measuring, "go").pipe(Effect.provide(answering.layer)), { v: 2 })
    const [, , asked] = answering.requests[1]?.messages ?? []
    assert.match(JSON.stringify(asked), /v: Expected number, got string .*Infinity/)
  })
)
