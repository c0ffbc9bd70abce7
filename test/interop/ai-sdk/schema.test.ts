/** Input schemas of tools of the AI SDK: which JSON Schema they give, and which of their checks counts. */
import { assert, describe, it } from "@effect/vitest"
import { Tool, ToolError } from "@kintsugi/core"
import * as AiSdk from "@kintsugi/interop/AiSdk"
import { Effect, Schema } from "effect"
import { read } from "../../../packages/interop/src/ai-sdk/schema.ts"
import { calm } from "../../_support/dialogue.ts"

const json = { type: "object" as const, properties: { n: {} } }
const other = { type: "object" as const, properties: { other: {} } }

const shownOf = (inputSchema: unknown, jsonSchema?: typeof json) =>
  AiSdk.tool(
    "look",
    { inputSchema, execute: () => 1 },
    jsonSchema === undefined ? {} : { jsonSchema }
  ).definition.spec().parameters

describe("the JSON Schema of a tool", () => {
  it("is that of the option, of the SDK, or of a standard schema [P1107]", () => {
    const targets: Array<unknown> = []
    const standard = {
      "~standard": {
        jsonSchema: {
          input: (options: unknown) => {
            targets.push(options)
            return json
          }
        }
      }
    }
    assert.deepStrictEqual(shownOf({ jsonSchema: json }), json)
    assert.deepStrictEqual(shownOf(standard), json)
    assert.deepStrictEqual(targets, [{ target: "draft-2020-12" }])
    assert.deepStrictEqual(shownOf({ jsonSchema: other, ...standard }), other)
    assert.deepStrictEqual(shownOf({ jsonSchema: Promise.resolve(other), ...standard }), json)
    assert.deepStrictEqual(shownOf({ jsonSchema: other }, json), json)
    assert.deepStrictEqual(shownOf(undefined, json), json)
    // made when it is needed, as the SDK makes schemas of zod
    assert.deepStrictEqual(
      shownOf(() => ({ jsonSchema: json })),
      json
    )
    // a schema may be a function, as those of arktype are
    assert.deepStrictEqual(shownOf(Object.assign(() => assert.fail("it is called"), standard)), json)
  })

  it("is missed where there is none, or none at once [P1107]", () => {
    const says =
      "AiSdk: the JSON Schema of tool 'look' is not available synchronously; give it as the option jsonSchema (asSchema of 'ai' has it)"
    const input = (made: unknown) => ({ "~standard": { jsonSchema: { input: made } } })
    const throwing = () => {
      throw new Error("no such target")
    }
    const values = [undefined, null, "x", {}, () => undefined]
    const own = [{ jsonSchema: "x" }, { jsonSchema: Promise.resolve(json) }]
    const standard = [{ "~standard": {} }, { "~standard": { jsonSchema: {} } }, input(json), input(() => "x")]
    const made = [input(() => Promise.resolve(json)), input(() => ({ a: 5n })), input(throwing)]
    for (const schema of [...values, ...own, ...standard, ...made])
      assert.throws(() => shownOf(schema), TypeError, says)
  })
})

const calling = (inputSchema: unknown, args: object = { n: 1 }) =>
  Effect.map(
    Tool.call(AiSdk.tool("look", { inputSchema, execute: (input: unknown) => ({ input }) }), JSON.stringify(args)),
    ({ value }) => Object(value).input
  )

const standard = (answer: unknown) => ({
  jsonSchema: json,
  validate: () => assert.fail("the check of the SDK is run"),
  "~standard": { validate: () => answer }
})

const own = (answer: unknown) => ({ jsonSchema: json, validate: () => answer })

const issuesOf = (inputSchema: unknown) =>
  Effect.map(Effect.flip(calling(inputSchema)), (error) => {
    assert(error instanceof ToolError.DeserializationError)
    return error.issues.map(({ expected, path }) => [path.join("."), expected])
  })

describe("the check of a tool", () => {
  it.effect("is the standard one before that of the SDK, and none where there is none [P1107]", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* calling(standard({ value: "so" })), "so")
      assert.isUndefined(yield* calling(standard({})))
      assert.deepStrictEqual(yield* calling(standard({ value: "so", issues: undefined })), "so")
      for (const then of [undefined, 5])
        assert.deepStrictEqual(yield* calling(own({ success: true, value: "so", then })), "so")
      assert.isUndefined(yield* calling(own({ success: true })))
      assert.deepStrictEqual(yield* calling({ jsonSchema: json }), { n: 1 })
      assert.deepStrictEqual(yield* calling({ jsonSchema: json, validate: "x", "~standard": { validate: 5 } }), {
        n: 1
      })
    })
  )

  it.effect("says what is wrong, and where [P1107]", () =>
    Effect.gen(function* () {
      const issues = [
        { message: "a city", path: ["n"] },
        { message: "a day", path: [{ key: "list" }, 0, { key: 1 }] },
        { message: "more" },
        { path: [] },
        "text"
      ]
      assert.deepStrictEqual(yield* issuesOf(standard({ issues })), [
        ["n", "a city"],
        ["list.0.1", "a day"],
        ["", "more"],
        ["", "a valid value"],
        ["", "a valid value"]
      ])
      assert.deepStrictEqual(yield* issuesOf(standard({ issues: [] })), [["", "a valid value"]])
      assert.deepStrictEqual(yield* issuesOf(own({ success: false, error: new Error("a city") })), [["", "a city"]])
      for (const answer of [{ success: false }, { success: "true", value: 1 }, { error: "x" }, null, 5])
        assert.deepStrictEqual(yield* issuesOf(own(answer)), [["", "a valid value"]])
    })
  )

  it.effect("by promise says what is wrong when the tool is called [P1107]", () =>
    Effect.gen(function* () {
      const messageOf = (inputSchema: unknown) =>
        Effect.map(Effect.flip(calling(inputSchema)), (error) => {
          assert(error instanceof ToolError.ExecutionError)
          const { callId: _callId, lent: _lent, ...more } = { lent: undefined, ...error }
          assert.deepStrictEqual<unknown>(more, {
            _tag: "ExecutionError",
            tool: "look",
            kind: "local",
            category: "parameter",
            args: { n: 1 }
          })
          return error.message
        })
      const late = (answer: unknown) => standard(Promise.resolve(answer))
      const issues = [{ message: "a city", path: ["n"] }, { message: "a day" }]
      assert.strictEqual(yield* messageOf(late({ issues })), "the arguments do not fit: a city; a day")
      assert.strictEqual(
        yield* messageOf(own(Promise.resolve({ success: false, error: new Error("no") }))),
        "the arguments do not fit: no"
      )
      const failing = { jsonSchema: json, validate: () => Promise.reject(new Error("it broke")) }
      assert.strictEqual(yield* messageOf(failing), "the arguments do not fit: Error: it broke")
      assert.deepStrictEqual(yield* calling(late({ value: { n: 2 } })), { n: 2 })
    })
  )

  it.effect("by promise that breaks is no rejection that nothing handles [P1107]", () =>
    Effect.gen(function* () {
      const unhandled: Array<unknown> = []
      const hear = (reason: unknown) => void unhandled.push(reason)
      process.on("unhandledRejection", hear)
      const broken = new Error("it broke")
      const { codec } = read("look", { jsonSchema: json, validate: () => Promise.reject(broken) }, undefined, undefined)
      assert.deepStrictEqual(yield* Schema.decodeUnknownEffect(codec)({ n: 1 }), { n: 1 })
      yield* calm
      process.off("unhandledRejection", hear)
      assert.deepStrictEqual(unhandled, [])
    })
  )

  it.effect("by promise is run for inputs that were decoded so, and for no other [P1107]", () =>
    Effect.gen(function* () {
      let checks = 0
      const validate = () => {
        checks++
        return Promise.resolve({ success: true, value: "checked" })
      }
      const { late } = read("look", { jsonSchema: json, validate }, undefined, undefined)
      for (const params of [{ n: 1 }, undefined, "x"]) assert.strictEqual(yield* late(params), params)
      assert.strictEqual(checks, 0)
    })
  )
})
