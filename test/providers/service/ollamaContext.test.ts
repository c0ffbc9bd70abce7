/** Runs over an Ollama server that cuts prompts without a word. */
import { assert } from "@effect/vitest"
import { Agent, type AgentEvent, Compaction, LlmError, Recovery } from "@kintsugi/core"
import { Ollama } from "@kintsugi/providers"
import { Effect } from "effect"
import { agentWith, scripted } from "../../_support/dialogue.ts"
import { fakeNetwork, respond } from "../../_support/network.ts"
import { it } from "../../_support/run.ts"

const numCtx = 1024

/** The server reads half of its context of what is longer, and answers all the same. */
const server = () => {
  const network = fakeNetwork(() =>
    Effect.suspend(() => {
      const { messages } = JSON.parse(network.sent.at(-1)?.body ?? "") as {
        readonly messages: ReadonlyArray<{ readonly role: string; readonly content: string }>
      }
      const tokens = Math.ceil(messages.reduce((sum, { content }) => sum + content.length, 0) / 4)
      const wasRead = tokens > numCtx ? numCtx / 2 + 2 : tokens
      const isFirst = !messages.some(({ role }) => role === "tool")
      const call = { function: { name: "look", arguments: { n: 1 } } }
      const message = isFirst ? { content: "", tool_calls: [call] } : { content: "done" }
      const end = { done: true, done_reason: "stop", prompt_eval_count: wasRead, eval_count: 5 }
      return respond(200, `${JSON.stringify({ model: "m", message: { role: "assistant", ...message }, ...end })}\n`)()
    })
  )
  return network
}

const layer = Ollama.layer({ model: "qwen3", numCtx, transport: { retry: false } })

it.run(
  "a result too long for the context ends the run by name, and never with an answer to half of it [P1410]",
  (run) =>
    Effect.gen(function* () {
      const network = server()
      const agent = agentWith(scripted("look", Effect.succeed("word ".repeat(2000))).tool)
      const error = yield* Effect.flip(run(agent, "go").pipe(Effect.provide(layer), Effect.provide(network.layer)))
      assert.instanceOf(error, LlmError.ContextTooLongError)
      assert.strictEqual(network.sent.length, 2)
    })
)

it.run("a run whose prompt may have been cut has an event of it, and a remark in its reply [P1410]", (run) =>
  Effect.gen(function* () {
    const events: Array<AgentEvent.AgentEvent> = []
    const end = { done: true, done_reason: "stop", prompt_eval_count: 2050, eval_count: 5 }
    const network = fakeNetwork([
      respond(200, `${JSON.stringify({ model: "m", message: { role: "assistant", content: "done" }, ...end })}\n`)
    ])
    const agent = Agent.make("asker", {}).pipe(Agent.onEvent((event) => Effect.sync(() => events.push(event))))
    const text = yield* run(agent, "word ".repeat(2050)).pipe(
      Effect.provide(Ollama.layer({ model: "qwen3", transport: { retry: false } })),
      Effect.provide(network.layer)
    )
    assert.strictEqual(text, "done")
    const replies = events.flatMap((event) => (event.type === "model-end" ? event.reply.content : []))
    assert.deepStrictEqual(
      replies.map((part) => (part.type === "provider-item" ? part.kind : part.type)),
      ["text", "truncated_prompt"]
    )
    const types = events.map(({ type }) => type)
    assert.strictEqual(types.indexOf("request-adapted"), types.indexOf("model-end") - 1)
    const counts = { prompt_eval_count: 2050, prompt_bytes: 10_250, suspected: true }
    assert.deepInclude(
      events.find(({ type }) => type === "request-adapted"),
      { model: "qwen3", provider: "ollama", family: "qwen3", changes: [{ option: "messages", sent: counts }] }
    )
  })
)

it.run("an empty reply stays one beside the remark that its prompt may have been cut [P1410]", (run) =>
  Effect.gen(function* () {
    const end = { done: true, done_reason: "stop", prompt_eval_count: 2050, eval_count: 1 }
    const network = fakeNetwork(() =>
      respond(200, `${JSON.stringify({ model: "m", message: { role: "assistant", content: "" }, ...end })}\n`)()
    )
    const error = yield* run(Agent.make("asker", {}), "word ".repeat(2050)).pipe(
      Effect.flip,
      Effect.provide(Ollama.layer({ model: "qwen3", transport: { retry: false } })),
      Effect.provide(network.layer)
    )
    assert.instanceOf(error, LlmError.EmptyReplyError)
    // it is asked for once more
    assert.strictEqual(network.sent.length, 2)
  })
)

it.run("a row of the table shortens it, and the model is called with the rest [P1410]", (run) =>
  Effect.gen(function* () {
    const network = server()
    const agent = agentWith(scripted("look", Effect.succeed("word ".repeat(2000))).tool).pipe(
      Agent.onLlmError({ ContextTooLongError: Recovery.compact(Compaction.shrinkLargestResult({ maxLength: 400 })) })
    )
    const text = yield* run(agent, "go").pipe(Effect.provide(layer), Effect.provide(network.layer))
    assert.strictEqual(text, "done")
    assert.strictEqual(network.sent.length, 3)
  })
)
