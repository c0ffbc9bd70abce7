/** The traps that the wires have in common, each for every provider that it concerns. */
import { assert } from "@effect/vitest"
import * as Message from "@kintsugi/core/Message"
import * as Tool from "@kintsugi/core/Tool"
import * as Usage from "@kintsugi/core/Usage"
import { Effect, Schema } from "effect"
import { chatBody, claude, each, generate, response, stream, type Tag, tagOf } from "./_support/spokenWires.ts"

each(
  "text before a failure is emitted; what broke off is no reply, and a call that was cut off never runs [P504 P403 A810]",
  (participant, wire) =>
    Effect.gen(function* () {
      const said = wire.text("so ") + wire.text("far")
      const calling = participant.capabilities.tools ? [true, false].map((isCut) => said + wire.call(isCut)) : []
      const rows: ReadonlyArray<readonly [body: string, ...read: ReadonlyArray<string | undefined>]> = [
        ["", "NetworkError", undefined, ""],
        [said, "NetworkError", undefined, "so far"],
        [wire.error, "ServerError", undefined, ""],
        [said + wire.error, "ServerError", undefined, "so far"],
        [said + wire.end("stop"), undefined, "stop", "so far"],
        ...calling.flatMap((begun) => [
          [begun, "NetworkError", undefined, "so far"] as const,
          [begun + wire.error, "ServerError", undefined, "so far"] as const,
          [begun + wire.end("length"), undefined, "length", "so far"] as const
        ])
      ]
      for (const [body, ...read] of rows) {
        const { error, reply, seen } = yield* stream(participant, body)
        assert.deepStrictEqual([tagOf(error), reply?.finish, seen], read, body)
      }
      if (calling.length === 0) return
      assert.strictEqual((yield* generate(participant, wire.calling({ args: {} }, true))).finish, "length")
    })
)

const look = Tool.make("look", {
  description: "Looks.",
  parameters: Schema.Struct({}),
  success: Schema.String,
  run: () => Effect.succeed("seen")
})

each(
  "what a reply leaves out, or has as null or empty, is nothing: no arguments, no usage [A114 T8]",
  (participant, wire) =>
    Effect.gen(function* () {
      for (const body of wire.uncounted) {
        assert.deepStrictEqual((yield* generate(participant, body)).usage, Usage.empty)
      }
      if (!participant.capabilities.tools) return
      for (const given of [{}, { args: null }, { args: "" }, { args: {} }, { args: "{}" }]) {
        const [call] = Message.callsOf(yield* generate(participant, wire.calling(given)))
        assert(call !== undefined)
        assert.deepStrictEqual(call.arguments, given.args ?? null)
        assert.strictEqual(yield* Effect.orDie(Tool.call(look, call.arguments)), "seen", JSON.stringify(given))
      }
    })
)

const page = "<html><head><title>502 Bad Gateway</title></head><body>cloudflare</body></html>"

each("pages and empty bodies are what their status says, with any content type [T8 T35 P1405]", (participant) =>
  Effect.gen(function* () {
    const tags = { 502: "ServerError", 503: "ModelOverloadedError", 403: "AuthenticationError" } as const
    for (const [status, tag] of Object.entries(tags)) {
      for (const body of [page, "", "null", '"no"', "[]"]) {
        // a firewall in front of the server says nothing about the key
        const expected = status === "403" && body === page ? "NetworkError" : tag
        for (const type of ["text/html", "application/json", "text/event-stream"]) {
          const headers = { "content-type": type }
          const error = yield* Effect.flip(generate(participant, body, Number(status), headers))
          assert.strictEqual(tagOf(error), expected, `${status} ${body}`)
          assert.strictEqual(tagOf((yield* stream(participant, body, Number(status), headers)).error), expected)
        }
      }
    }
  })
)

const refusedWords = "I cannot help with that"
const errors: Readonly<Record<string, ReadonlyArray<readonly [object, Tag]>>> = {
  openrouter: [[{ error: { code: 502, message: "Provider failed" } }, "ServerError"]],
  anthropic: [
    [{ type: "error", error: { type: "overloaded_error", message: "Overloaded" } }, "ModelOverloadedError"],
    [claude([], "refusal"), "ContentFilteredError"]
  ],
  gemini: [
    [{ promptFeedback: { blockReason: "SAFETY" } }, "ContentFilteredError"],
    [{ candidates: [{ content: {}, finishReason: "SAFETY" }] }, "ContentFilteredError"]
  ],
  deepseek: [[chatBody({ content: "hal" }, "insufficient_system_resource"), "ModelOverloadedError"]],
  ollama: [[{ error: "llama runner process has terminated" }, "ServerError"]],
  "openai-chat": [[chatBody({ content: null, refusal: refusedWords }, "stop"), "ContentFilteredError"]],
  "openai-responses": [
    [response([{ type: "message", content: [{ type: "refusal", refusal: refusedWords }] }]), "ContentFilteredError"],
    [{ status: "failed", output: [], error: { code: "server_error", message: "no" } }, "ServerError"]
  ]
}

each("a success without a reply in it is an error, the one that it names or an UnknownLlmError [T8]", (participant) =>
  Effect.gen(function* () {
    const isLines = participant.name === "ollama"
    // a stream without any event has no end
    const bare: ReadonlyArray<readonly [body: string, streamed: Tag]> = [
      [page, isLines ? "UnknownLlmError" : "NetworkError"],
      ["", "NetworkError"],
      ["\n\n", "NetworkError"],
      ["null", isLines ? "UnknownLlmError" : "NetworkError"],
      ["[]", "UnknownLlmError"],
      ["{}", isLines ? "NetworkError" : "UnknownLlmError"]
    ]
    for (const [body, streamed] of bare) {
      assert.strictEqual(tagOf(yield* Effect.flip(generate(participant, body))), "UnknownLlmError", body)
      assert.strictEqual(tagOf((yield* stream(participant, body)).error), streamed, body)
    }
    for (const [body, tag] of errors[participant.name] ?? []) {
      assert.strictEqual(tagOf(yield* Effect.flip(generate(participant, body))), tag, JSON.stringify(body))
      assert.strictEqual(tagOf((yield* stream(participant, JSON.stringify(body))).error), tag, JSON.stringify(body))
    }
  })
)
