/** The replies of the stand-in, one after the other. */
import { assert, describe, it } from "@effect/vitest"
import { type Message, type Model, Usage } from "@kintsugi/core"
import { Effect, Fiber, Stream } from "effect"
import { TestClock } from "effect/testing"
import { make, replyTo } from "../../../packages/view/src/serve/standIn.ts"

const spec = (name: string): Message.ToolSpec => ({
  name,
  description: "",
  parameters: { type: "object", properties: { amount: { const: 7 } } }
})

type Kind = "result" | "told"

/** A message of calls that have their settlements. */
const calls = (
  ...made: ReadonlyArray<readonly [name: string, kind: Kind, text?: string]>
): Message.Transcript[number] => ({
  role: "assistant",
  content: made.map(([name, kind, text = "ok"], index) => ({
    type: "settled-call",
    call: { type: "tool-call", id: `c${index}`, name, arguments: "{}" },
    settlement: { kind, text }
  }))
})

const user: Message.Transcript[number] = { role: "user", content: [{ type: "text", text: "Hi" }] }

const request = (messages: Message.Transcript, fields: Partial<Model.Request> = {}): Model.Request => ({
  messages,
  tools: [spec("a"), spec("b")],
  toolChoice: "auto",
  ...fields
})

const reply = (messages: Message.Transcript, fields: Partial<Model.Request> = {}) => {
  const [part] = replyTo(1, request(messages, fields), new Map()).content
  return part?.type === "tool-call" ? part.name : part?.type === "text" ? part.text : "nothing"
}

describe("the stand-in", () => {
  it("calls each tool once, in order, and then answers [P1282]", () => {
    assert.deepStrictEqual(replyTo(1, request([user]), new Map()), {
      content: [{ type: "tool-call", id: "call-1", name: "a", arguments: '{"amount":7}' }],
      finish: "tool-calls",
      usage: Usage.make({ inputTokens: Math.ceil(JSON.stringify([user]).length / 4), outputTokens: 24 })
    })
    assert.strictEqual(reply([user, calls(["a", "result"])]), "b")
    assert.strictEqual(
      reply([user, calls(["a", "result"]), calls(["b", "result", "x".repeat(81)])]),
      `The stand-in has called 2 tools: a answered (ok); b answered (${"x".repeat(79)}…).`
    )
    // calls before the last message of the user are over
    assert.strictEqual(reply([user, calls(["a", "result"]), user]), "a")
  })

  it("calls a tool that has failed once more, and no more than that [P1282]", () => {
    const failed = calls(["a", "told", "no"])
    assert.strictEqual(reply([user, failed]), "a")
    assert.strictEqual(reply([user, failed, failed]), "b")
    assert.strictEqual(
      reply([user, failed], { toolChoice: "none" }),
      "The stand-in has called one tool: a failed (no)."
    )
    assert.strictEqual(reply([user, calls(["gone", "told"])]), "a")
  })

  it("calls no more than four tools, and that which completes the run last [P1282]", () => {
    const tools = ["complete", "a", "b", "c", "d", "e"].map(spec)
    const three = calls(["a", "result"], ["b", "result"], ["c", "result"])
    assert.strictEqual(reply([user], { tools }), "a")
    assert.strictEqual(reply([user, three], { tools }), "d")
    assert.strictEqual(reply([user, three], { tools: tools.slice(0, 4) }), "complete")
    assert.strictEqual(reply([user, three, calls(["d", "result"])], { tools }), "complete")
    assert.match(reply([user, three, calls(["d", "result"])], { tools: tools.slice(1) }), /^The stand-in has called 4/)
    assert.strictEqual(
      reply([user, three, calls(["d", "result"])], { tools: tools.slice(1), toolChoice: "required" }),
      "e"
    )
  })

  it("ends no run on purpose, unless it must call a tool [P1282]", () => {
    const tools = ["escalate", "throwException"].map(spec)
    assert.strictEqual(
      reply([user], { tools }),
      "I am a stand-in without a key: I have no tool to call, so this is my whole answer."
    )
    assert.strictEqual(reply([user], { tools, toolChoice: "required" }), "escalate")
    assert.strictEqual(reply([user], { toolChoice: { tool: "b" } }), "b")
    assert.match(reply([user], { toolChoice: { tool: "gone" } }), /^I am a stand-in/)
  })

  it("answers by the schema of an output, if it may answer [P1282]", () => {
    const output = { name: "out", schema: { type: "object", properties: { cents: { const: 5 } } } }
    assert.deepStrictEqual(replyTo(1, request([user], { tools: [], output }), new Map()).content, [
      { type: "text", text: '{"cents":5}' }
    ])
    assert.strictEqual(replyTo(1, request([user], { tools: [], output }), new Map()).finish, "stop")
    const both = calls(["a", "result"], ["b", "result"])
    assert.strictEqual(reply([user, both], { output }), '{"cents":5}')
    // a model that must call a tool answers in no other way
    assert.strictEqual(reply([user, both], { output, toolChoice: "required" }), "a")
    assert.strictEqual(reply([user], { output, tools: [], toolChoice: "required" }), '{"cents":5}')
  })

  it.effect("streams an answer word by word, and waits for each [P1282]", () =>
    Effect.gen(function* () {
      const parts = (pause: number) =>
        Stream.runCollect(make(1, { tools: new Map(), pause }).stream(request([user], { tools: [] })))
      const texts = (all: ReadonlyArray<Model.Part>) =>
        all.flatMap((part) => (part.type === "text-delta" ? [part.text] : []))
      const [first, second, ...rest] = texts([...(yield* parts(0))])
      assert.deepStrictEqual([first, second], ["I ", "am "])
      assert.strictEqual(rest.at(-1), "answer.")
      const slowly = yield* Effect.forkChild(parts(10), { startImmediately: true })
      yield* TestClock.adjust((rest.length + 1) * 10)
      assert.isUndefined(slowly.pollUnsafe())
      yield* TestClock.adjust(10)
      assert.lengthOf(texts([...(yield* Fiber.join(slowly))]), rest.length + 2)
      const { name, provider } = make(1, { tools: new Map(), pause: 0 })
      assert.deepStrictEqual([name, provider], ["stand-in", "none"])
    })
  )
})
