/** What tools of the AI SDK get, what they say of themselves, and what becomes of their results. */
import { assert, describe } from "@effect/vitest"
import { Approval, Tool, ToolError } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import * as AiSdk from "@kintsugi/interop/AiSdk"
import { Effect, Schema } from "effect"
import { agentWith, done, read } from "../../_support/dialogue.ts"
import { it } from "../../_support/run.ts"

const { call, calls, make } = ScriptedModel

const jsonSchema = { type: "object" as const, properties: { n: { type: "number" as const } } }
const inputSchema = { jsonSchema }

const execute = () => "so"

/** Why a call fails. */
const failureOf = (foreign: { readonly execute: () => unknown; readonly toModelOutput?: unknown }) =>
  Effect.map(Effect.flip(Tool.call(AiSdk.tool("look", { inputSchema, ...foreign }), '{"n":1}')), (error) => {
    assert(error instanceof ToolError.ExecutionError)
    const { callId: _callId, lent, ...more } = { lent: undefined, ...error }
    return { ...more, message: error.message, cause: error.cause, isFinal: lent !== undefined && !error.isRetryable }
  })

describe("a tool", () => {
  it("is local and undeclared, and has no description, unless it says so [P1107 P1375]", () => {
    const factsOf = ({ definition }: Tool.AnyTool) => [
      definition.description,
      definition.foreignName,
      definition.kind,
      definition.sideEffects,
      definition.maxResultChars,
      definition.putAside
    ]
    assert.deepStrictEqual(factsOf(AiSdk.tool("a.b", { inputSchema, execute })), [
      "",
      "a.b",
      "local",
      "undeclared",
      undefined,
      undefined
    ])
    assert.deepStrictEqual(
      factsOf(
        AiSdk.tool(
          "look",
          { inputSchema, execute, description: "Looks." },
          { kind: "mcp-tool", sideEffects: "none", maxResultChars: 5 }
        )
      ),
      ["Looks.", undefined, "mcp-tool", "none", 5, undefined]
    )
    const putAside = Tool.putAside({ above: 10 })
    assert.strictEqual(AiSdk.tool("look", { inputSchema, execute }, { putAside }).definition.putAside, putAside)
    assert.strictEqual(AiSdk.tool("look", { inputSchema, execute, description: 5 }).definition.description, "")
  })

  it("that cannot be one says why [P1107]", () => {
    const says = (more: object, message: string) =>
      assert.throws(() => AiSdk.tool("a.b", { inputSchema, execute, ...more } as never), TypeError, message)
    says({ execute: undefined }, "AiSdk: tool 'a_b' has no execute, so it cannot run here")
    says({ execute: "x" }, "AiSdk: tool 'a_b' has no execute, so it cannot run here")
    for (const needsApproval of [true, () => false, "x", 0])
      says({ needsApproval }, "AiSdk: tool 'a_b' needs approval: say approval: true, and provide an Approver")
    for (const needsApproval of [undefined, null, false])
      assert.strictEqual(AiSdk.tool("look", { inputSchema, execute, needsApproval }).name, "look")
  })

  it.effect("gets its input and the options of the SDK [P1107]", () =>
    Effect.gen(function* () {
      const got: Array<unknown> = []
      const context = { user: "ann" }
      const tool = AiSdk.tool(
        "look",
        {
          inputSchema,
          execute: (input: unknown, { abortSignal, ...about }: { readonly abortSignal: AbortSignal }) => {
            got.push(input, about, abortSignal.aborted)
            return "seen"
          },
          toModelOutput: (about: object) => {
            got.push(about)
            return { type: "text", value: "shown" }
          }
        },
        { context }
      )
      assert.deepStrictEqual(yield* Tool.call(tool, { n: 1 }), { value: "seen", text: "shown" })
      const toolCallId = Object(got[1]).toolCallId
      assert.isString(toolCallId)
      assert.deepStrictEqual(got, [
        { n: 1 },
        { toolCallId, messages: [], context, experimental_context: context },
        false,
        { toolCallId, input: { n: 1 }, output: "seen" }
      ])
    })
  )
})

describe("a result", () => {
  it.effect("is stored as its text, or with its parts, and a text in its place is read [P1107 P1538]", () =>
    Effect.sync(() => {
      const codec = AiSdk.tool("look", { inputSchema, execute }).definition.success as Schema.Codec<unknown, unknown>
      const encode = Schema.encodeUnknownSync(codec)
      const decode = Schema.decodeUnknownSync(codec)
      assert.deepStrictEqual(encode({ value: { a: 1 }, text: "x" }), "x")
      assert.deepStrictEqual(encode({ value: 1, text: "x", isError: true }), "x")
      const parts = [{ type: "image", mediaType: "image/png", data: "AAAA" }]
      assert.deepStrictEqual(encode({ value: 1, text: "x", parts }), { text: "x", parts })
      assert.deepStrictEqual(decode("x"), { value: "x", text: "x" })
      assert.deepStrictEqual(decode({ text: "x", parts }), { value: "x", text: "x", parts })
    })
  )

  it.run("that is an error of toModelOutput is one for the model [P1107]", (run) =>
    Effect.gen(function* () {
      const shown = (name: string, output: object) =>
        AiSdk.tool(name, { inputSchema, execute, toModelOutput: () => output })
      const tools = [
        shown("denied", { type: "execution-denied", reason: "no" }),
        shown("failed", { type: "error-json", value: { a: 1 } }),
        shown("empty", { type: "content", value: [] })
      ]
      const model = yield* make(calls(...tools.map(({ name }, at) => call(name, {}, `c${at}`))), done)
      yield* run(agentWith(...tools), "go").pipe(Effect.provide(model.layer))
      assert.deepStrictEqual(read(model), ["told: no", 'told: {"a":1}', "result: "])
    })
  )
})

describe("a failure", () => {
  const thrown = new RangeError("oh")
  const of = (more: object) => ({
    _tag: "ExecutionError",
    tool: "look",
    kind: "local",
    args: { n: 1 },
    message: "oh",
    cause: thrown,
    isFinal: false,
    ...more
  })

  it.effect("of the tool, or of its output for the model, is one of its call [P1107]", () =>
    Effect.gen(function* () {
      const throwing = () => {
        throw thrown
      }
      const rejecting = () => Promise.reject(thrown)
      // oxlint-disable-next-line require-yield -- it fails before it yields anything
      const yielding = async function* () {
        throw thrown
      }
      for (const foreign of [
        { execute: throwing },
        { execute: rejecting },
        { execute: yielding },
        { execute, toModelOutput: throwing },
        { execute, toModelOutput: rejecting }
      ])
        assert.deepStrictEqual<unknown>(yield* failureOf(foreign), of({ category: "unknown" }))
    })
  )

  it.effect("to write a result as JSON says so, and is final [P1107]", () =>
    Effect.gen(function* () {
      const { cause, ...failure } = yield* failureOf({ execute: () => 5n })
      const { cause: _cause, ...expected } = of({
        category: "validation",
        message: "its result cannot be written as JSON",
        isFinal: true
      })
      assert.deepStrictEqual<unknown>(failure, expected)
      assert.instanceOf(cause, TypeError)
    })
  )

  it.run("of the question whether a call needs approval means that it does [P906 P1107]", (run) =>
    Effect.gen(function* () {
      const asked: Array<string> = []
      const approver = Approval.layer(({ tool }) =>
        Effect.sync(() => {
          asked.push(tool)
          return Approval.approve
        })
      )
      const given: Array<unknown> = []
      const deciding = (name: string, needsApproval: unknown) =>
        AiSdk.tool(name, { inputSchema, execute, needsApproval }, { approval: true })
      const tools = [
        deciding("throws", () => {
          throw new Error("oh")
        }),
        deciding("rejects", () => Promise.reject(new Error("oh"))),
        deciding("unsure", () => undefined),
        deciding("always", true),
        deciding("later", { type: "user-approval" }),
        deciding("never", (...args: ReadonlyArray<unknown>) => {
          given.push(...args)
          return false
        })
      ]
      const model = yield* make(calls(...tools.map(({ name }, at) => call(name, { n: at }, `c${at}`))), done)
      yield* run(agentWith(...tools), "go").pipe(Effect.provide([approver, model.layer]))
      assert.deepStrictEqual(asked.toSorted(), ["always", "later", "rejects", "throws", "unsure"])
      assert.deepStrictEqual(given.slice(0, 2), [{ n: 5 }, { toolCallId: "", messages: [] }])
    })
  )
})

describe("a generator", () => {
  const iterating = (steps: ReadonlyArray<unknown>) => {
    let at = 0
    // no iterator by its type
    return {
      [Symbol.asyncIterator]: () => ({ next: () => Promise.resolve(steps[at++]) })
    } as unknown as AsyncIterable<number>
  }

  it.effect("gives its last value, and nothing if it has none [P1107]", () =>
    Effect.gen(function* () {
      const valueOf = (...steps: ReadonlyArray<unknown>) =>
        Effect.map(
          Tool.call(AiSdk.tool("look", { inputSchema, execute: () => iterating(steps) }), {}),
          ({ text, value }) => [value, text]
        )
      assert.deepStrictEqual<unknown>(
        yield* valueOf({ value: 1 }, { value: 2, done: false }, { done: true, value: 3 }),
        [2, "2"]
      )
      assert.deepStrictEqual<unknown>(yield* valueOf({ done: true, value: 3 }), [undefined, "null"])
      assert.deepStrictEqual<unknown>(yield* valueOf({ value: 1, done: "no" }, { done: true }), [1, "1"])
    })
  )

  it.effect("that gives no step fails [P1107]", () =>
    Effect.gen(function* () {
      for (const odd of [5, undefined, null]) {
        const error = yield* failureOf({ execute: () => iterating([{ value: 1 }, odd]) })
        assert.strictEqual(error.message, "its iterator gave no object")
        assert.instanceOf(error.cause, TypeError)
      }
    })
  )
})
