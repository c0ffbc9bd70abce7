/** Whole conversations in the formats that keep more of a call than its arguments. */
import { assert } from "@effect/vitest"
import { Recovery, Tool } from "@kintsugi/core"
import { Gemini, Ollama } from "@kintsugi/providers"
import { Effect, Redacted } from "effect"
import { agentWith, busy, scripted } from "../../_support/dialogue.ts"
import { it } from "../../_support/run.ts"
import { event, fakeNetwork, key, respond } from "../../_support/network.ts"

const gemini = (parts: ReadonlyArray<object>, end: object = { finishReason: "STOP" }) => ({
  candidates: [{ content: { role: "model", parts }, ...end }],
  modelVersion: "gemini-3-pro"
})

it.run("Gemini gets its rejected call, its errors and its signatures back [P404 P1002]", (run) =>
  Effect.gen(function* () {
    const replies = [
      gemini([], {
        finishReason: "MALFORMED_FUNCTION_CALL",
        finishMessage: "Malformed function call: print(default_api.look(n=one))"
      }),
      gemini([{ functionCall: { id: "fc-1", name: "look", args: { n: 1 } }, thoughtSignature: "s1" }]),
      gemini([{ functionCall: { name: "look", args: { n: 2 } }, thoughtSignature: "s2" }]),
      gemini([{ text: "done" }])
    ]
    const network = fakeNetwork(replies.map((reply) => respond(200, run.isStreamed ? event(reply) : reply)))
    const layer = Gemini.layer({ model: "gemini-3-pro", apiKey: Redacted.make(key), baseUrl: "https://g.test" })
    const { tool } = scripted("look", Effect.fail(busy("not now")), Effect.succeed("seen"))
    const telling = tool.pipe(Tool.onError({ InvalidArgs: Recovery.tell(), Busy: Recovery.tell() }))
    const text = yield* run(agentWith(telling), "go").pipe(Effect.provide(layer), Effect.provide(network.layer))
    assert.strictEqual(text, "done")
    const last = JSON.parse(network.sent.at(-1)?.body ?? "")
    const [, rejected, rejection, failing, failure, working, result] = last.contents
    assert.deepStrictEqual(rejected.parts, [
      {
        functionCall: { name: "look", args: { arguments: "n=one" } },
        thoughtSignature: "skip_thought_signature_validator"
      }
    ])
    assert.isString(rejection.parts[0].functionResponse.response.error)
    assert.deepStrictEqual(failing.parts, [
      { functionCall: { id: "fc-1", name: "look", args: { n: 1 } }, thoughtSignature: "s1" }
    ])
    assert.strictEqual(failure.parts[0].functionResponse.id, "fc-1")
    assert.include(failure.parts[0].functionResponse.response.error, "not now")
    assert.deepStrictEqual(working.parts, [{ functionCall: { name: "look", args: { n: 2 } }, thoughtSignature: "s2" }])
    assert.deepStrictEqual(result.parts, [{ functionResponse: { name: "look", response: { output: "seen" } } }])
  })
)

it.run("Ollama gets its calls back as objects, each with its result [C1 C2]", (run) =>
  Effect.gen(function* () {
    const call = (name: string, n: unknown) => ({ function: { name, arguments: { n } } })
    const end = { model: "m", created_at: "2026-01-05T10:00:00Z", done: true }
    const replies = [
      { message: { thinking: "hmm", content: "", tool_calls: [call("look", 1), call("look", 2)] }, ...end },
      { message: { content: "done" }, ...end }
    ]
    const network = fakeNetwork(replies.map((reply) => respond(200, `${JSON.stringify(reply)}\n`)))
    const { tool } = scripted("look", Effect.succeed("seen"), Effect.fail(busy("not now")))
    const telling = tool.pipe(Tool.onError({ Busy: Recovery.tell() }))
    const layer = Ollama.layer({ model: "m" })
    const text = yield* run(agentWith(telling), "go").pipe(Effect.provide(layer), Effect.provide(network.layer))
    assert.strictEqual(text, "done")
    const last = JSON.parse(network.sent.at(-1)?.body ?? "")
    assert.strictEqual(last.stream, run.isStreamed)
    const [, assistant, first, second] = last.messages
    const ids = assistant.tool_calls.map(({ id }: { id: string }) => id)
    assert.deepStrictEqual(assistant, {
      role: "assistant",
      content: "",
      thinking: "hmm",
      tool_calls: [
        { id: ids[0], ...call("look", 1) },
        { id: ids[1], ...call("look", 2) }
      ]
    })
    assert.strictEqual(new Set(ids).size, 2)
    assert.deepStrictEqual(first, { role: "tool", content: "seen", tool_name: "look", tool_call_id: ids[0] })
    assert.strictEqual(second.tool_call_id, ids[1])
    assert.match(second.content, /^(?:ERROR|transient|permanent): .*not now/)
  })
)
