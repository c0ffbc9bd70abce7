/** Replies that wait for something that no tool gives. */
import { assert } from "@effect/vitest"
import { Agent } from "@kintsugi/core"
import * as LlmError from "@kintsugi/core/LlmError"
import { Anthropic, OpenAi } from "@kintsugi/providers"
import { Effect, Layer, Option, Redacted, Stream } from "effect"
import { it } from "../../_support/run.ts"
import { event, failureOf, fakeNetwork, key, respond } from "../../_support/network.ts"
import { type Block, message as claude, streamed } from "../_support/anthropicMessages.ts"
import { events, type Item, message, reasoning, response } from "../codec/openai-responses/_support/responses.ts"

const agent = Agent.make("asker", { prompt: "Answer." })

const apiKey = Redacted.make(key)

/** What becomes of a run whose model gives one reply, and how often the model was asked. */
const playing = (body: string, layerOf: "responses" | "anthropic" | "chat", model = "m") => {
  const network = fakeNetwork([respond(200, body)])
  const layer =
    layerOf === "anthropic"
      ? Anthropic.layer({ model: "m", apiKey })
      : layerOf === "chat"
        ? OpenAi.layer({ model, apiKey })
        : OpenAi.layerResponses({ model, apiKey })
  return { ...network, model: Layer.provide(layer, network.layer) }
}

const written = (all: ReadonlyArray<unknown>) => all.map((one) => event(one as Item)).join("")

const item = (type: string, more: Item = {}): Item => ({ type, id: "i1", status: "completed", ...more })

const responses: ReadonlyArray<readonly [string, ReadonlyArray<Item>]> = [
  ["mcp_approval_request", [{ type: "mcp_approval_request", id: "r1", server_label: "s", name: "t", arguments: "{}" }]],
  ["computer_call", [reasoning("rs_1", "Click."), item("computer_call", { call_id: "c1", actions: [] })]],
  ["local_shell_call", [item("local_shell_call", { call_id: "c1", action: {} })]],
  ["shell_call", [message("I list."), item("shell_call", { call_id: "c1", action: {} })]],
  ["apply_patch_call", [item("apply_patch_call", { call_id: "c1", operation: {}, status: "in_progress" })]],
  ["custom_tool_call", [item("custom_tool_call", { call_id: "c1", name: "sql", input: "select 1" })]],
  ["tool_search_call", [item("tool_search_call", { call_id: "c1", execution: "client" })]],
  ["form_request", [item("form_request", { status: "awaiting_input" })]],
  ["computer_call", [item("computer_call", { call_id: "c1" }), message("I have asked.")]],
  ["custom_tool_call", [item("custom_tool_call", { call_id: "c1", name: "sql" }), message("I query.")]],
  // a tool of the client may have the name of one of xAI's
  ["custom_tool_call", [item("custom_tool_call", { call_id: "c1", name: "view_image" }), message("I look.")]],
  ["user_confirmation_request", [{ type: "user_confirmation_request", id: "u1", text: "Delete?" }]],
  ["user_confirmation_request", [item("user_confirmation_request"), message("")]],
  ["computer_call", [{ type: "computer_call", id: "i1", actions: [] }]],
  ["computer_call", [item("computer_call", { call_id: "c1", status: "incomplete" })]],
  ["apply_patch_call", [{ type: "apply_patch_call", id: "i1", status: "in_progress" }]],
  [
    "shell_call",
    [
      item("shell_call", { call_id: "c1" }),
      item("shell_call_output", { call_id: "c1" }),
      item("shell_call", { call_id: "c2" })
    ]
  ]
]

for (const [kind, output] of responses) {
  it.run(`a reply that waits for '${kind}' behind ${output.length} items is no answer [P1406]`, (run) =>
    Effect.gen(function* () {
      const whole = response(output)
      const { model, sent } = playing(run.isStreamed ? written(events(whole)) : JSON.stringify(whole), "responses")
      const error = failureOf(yield* Effect.exit(Effect.provide(run(agent, "go"), model)))
      assert.instanceOf(error, LlmError.CapabilityMismatchError)
      assert.include(error.message, `Model 'm' of openai waits for an answer to '${kind}'`)
      assert.deepInclude(error, { detail: kind, capability: "tools", provider: "openai" })
      assert.strictEqual(error.usage?.outputTokens, 9)
      assert.strictEqual(sent.length, 1)
    })
  )
}

const search: Block = { type: "server_tool_use", id: "s1", name: "web_search", input: {} }
const found: Block = { type: "web_search_tool_result", tool_use_id: "s1", content: [] }

const messages: ReadonlyArray<readonly [string, string, ReadonlyArray<Block>]> = [
  [
    "mcp_tool_use",
    "tool_use",
    [
      { type: "text", text: "So." },
      { type: "mcp_tool_use", id: "m1", name: "t", input: {} }
    ]
  ],
  ["server_tool_use", "end_turn", [search]],
  ["never_seen_tool_use", "needs_you", [search, found, { type: "never_seen_tool_use", id: "n1", input: {} }]]
]

for (const [kind, reason, content] of messages) {
  it.run(`a message that ends with '${reason}' and waits for '${kind}' is no answer [P1406]`, (run) =>
    Effect.gen(function* () {
      const body = run.isStreamed ? written(streamed(content, reason)) : JSON.stringify(claude(content, reason))
      const { model, sent } = playing(body, "anthropic")
      const error = failureOf(yield* Effect.exit(Effect.provide(run(agent, "go"), model)))
      assert.instanceOf(error, LlmError.CapabilityMismatchError)
      assert.deepInclude(error, { detail: kind, capability: "tools" })
      assert.strictEqual(error.usage?.outputTokens, 7)
      assert.strictEqual(sent.length, 1)
    })
  )
}

for (const name of ["x_keyword_search", "x_trends_search"]) {
  it.run(`a call of xAI's own '${name}' waits for nothing if a text stands behind it [P1406]`, (run) =>
    Effect.gen(function* () {
      const call = item("custom_tool_call", { call_id: "c1", name, input: "{}" })
      const bodyOf = (items: ReadonlyArray<Item>) =>
        run.isStreamed ? written(events(response(items))) : JSON.stringify(response(items))
      for (const grok of ["grok-4.3", "xai/grok-4.3"]) {
        const { model } = playing(bodyOf([call, message("Here.")]), "responses", grok)
        assert.strictEqual(yield* Effect.provide(run(agent, "go"), model), "Here.")
      }
      for (const items of [[call], [call, message("")], [message("I look."), call]]) {
        const { model } = playing(bodyOf(items), "responses", "grok-4.3")
        const error = failureOf(yield* Effect.exit(Effect.provide(run(agent, "go"), model)))
        assert.instanceOf(error, LlmError.CapabilityMismatchError)
      }
    })
  )
}

it.run("a message that is paused behind a summary of its conversation goes on [P1406]", (run) =>
  Effect.gen(function* () {
    const summary: Block = { type: "compaction", content: "What was said." }
    const say = (content: ReadonlyArray<Block>, reason: string) =>
      respond(200, run.isStreamed ? written(streamed(content, reason)) : claude(content, reason))
    const network = fakeNetwork([say([summary], "compaction"), say([{ type: "text", text: "Done." }], "end_turn")])
    const model = Layer.provide(Anthropic.layer({ model: "m", apiKey }), network.layer)
    assert.strictEqual(yield* Effect.provide(run(agent, "go"), model), "Done.")
    const sent = JSON.parse(network.sent[1]?.body ?? "{}")
    assert.deepStrictEqual(sent.messages[1], { role: "assistant", content: [summary] })
  })
)

it.run("a custom call of chat completions is no call of a function [P1406]", (run) =>
  Effect.gen(function* () {
    const call = { index: 0, id: "c1", type: "custom", custom: { name: "sql", input: "select 1" } }
    const choice = (said: object) => ({
      choices: [{ index: 0, ...said, finish_reason: "tool_calls" }],
      usage: { prompt_tokens: 3, completion_tokens: 9 }
    })
    const body = run.isStreamed
      ? `${event(choice({ delta: { tool_calls: [call] } }))}data: [DONE]\n\n`
      : JSON.stringify(choice({ message: { role: "assistant", content: null, tool_calls: [call] } }))
    const { model, sent } = playing(body, "chat")
    const error = failureOf(yield* Effect.exit(Effect.provide(run(agent, "go"), model)))
    assert.instanceOf(error, LlmError.CapabilityMismatchError)
    assert.deepInclude(error, { detail: "custom", capability: "tools" })
    assert.strictEqual(error.usage?.outputTokens, 9)
    assert.strictEqual(sent.length, 1)
  })
)

/** What stands before the text, and behind it. */
const answered: ReadonlyArray<readonly [string, ReadonlyArray<Item>, ReadonlyArray<Item>?]> = [
  ["a container has run", [item("shell_call", { call_id: "c1" }), item("shell_call_output", { call_id: "c1" })]],
  [
    "a person has approved",
    [item("mcp_approval_request"), { type: "mcp_approval_response", approval_request_id: "i1" }]
  ],
  ["its own server looks up", [], [item("tool_search_call", { execution: "server", status: "in_progress" })]],
  ["a server does", [item("web_search_call", { status: "searching" }), item("later_call", { status: "done" })]]
]

for (const [what, before, behind = []] of answered) {
  it.run(`a reply waits for nothing that ${what} [P1406]`, (run) =>
    Effect.gen(function* () {
      const whole = response([...before, message("Here."), ...behind])
      const { model } = playing(run.isStreamed ? written(events(whole)) : JSON.stringify(whole), "responses")
      assert.strictEqual(yield* Effect.provide(run(agent, "go"), model), "Here.")
    })
  )
}

for (const status of ["incomplete", "completed"]) {
  it.effect(`a call that was cut off behind a text in a ${status} response waits for nothing [P1406]`, () =>
    Effect.gen(function* () {
      const cut = item("computer_call", { call_id: "c1", status: "incomplete" })
      const whole = response([message("Well"), cut], { status })
      const run = yield* agent.start("go").pipe(Effect.provide(playing(JSON.stringify(whole), "responses").model))
      assert.deepInclude(yield* run.outcome, { _tag: "Completed", output: "Well", finish: "length" })
      const { model } = playing(written(events(whole)), "responses")
      const end = yield* Stream.runLast(agent.stream("go")).pipe(Effect.provide(model))
      assert.deepInclude(Option.getOrThrow(end), { type: "run-completed", output: "Well", finish: "length" })
    })
  )
}

it.effect("a text that comes in pieces alone is an answer behind an item of an unknown kind [P1406]", () =>
  Effect.gen(function* () {
    const body = written([
      { type: "response.output_item.done", output_index: 0, item: item("later_call", { call_id: "c1" }) },
      { type: "response.output_text.delta", output_index: 1, item_id: "m1", delta: "Here." },
      { type: "response.completed", response: { ...response([]), output: [] } }
    ])
    const { model } = playing(body, "responses")
    const end = yield* Stream.runLast(agent.stream("go")).pipe(Effect.provide(model))
    assert.deepInclude(Option.getOrThrow(end), { type: "run-completed", output: "Here." })
  })
)
