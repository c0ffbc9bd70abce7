/** Replies that break off before a reader has got a text, a thought or a whole call, on every wire. */
import { assert, describe, it } from "@effect/vitest"
import { Agent } from "@kintsugi/core"
import * as LlmError from "@kintsugi/core/LlmError"
import * as Message from "@kintsugi/core/Message"
import * as Model from "@kintsugi/core/Model"
import * as Usage from "@kintsugi/core/Usage"
import { Anthropic, Gemini, Ollama, OpenAi, Transport } from "@kintsugi/providers"
import { AnyWire, Fault, LoopbackServer } from "@kintsugi/providers/testing"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Layer, Redacted, Stream } from "effect"
import { eventLog } from "../../_support/dialogue.ts"
import { failsWith, request, streamText } from "../../_support/network.ts"

const common = { model: "m", apiKey: Redacted.make("k") }

type At = (baseUrl: string, transport: Transport.Options) => Layer.Layer<Model.Model, never, Transport.HttpClient>

const wires: Readonly<Record<string, At>> = {
  anthropic: (baseUrl, transport) => Anthropic.layer({ ...common, baseUrl, transport }),
  "openai-chat": (baseUrl, transport) => OpenAi.layer({ ...common, baseUrl, transport }),
  "openai-responses": (baseUrl, transport) => OpenAi.layerResponses({ ...common, baseUrl, transport }),
  gemini: (baseUrl, transport) => Gemini.layer({ ...common, baseUrl, transport }),
  ollama: (baseUrl, transport) => Ollama.layer({ model: "m", baseUrl, transport })
}

const call = (id: string, q: string): Message.ToolCall => ({
  type: "tool-call",
  id,
  name: "search",
  arguments: JSON.stringify({ q })
})

const usage = Usage.make({ inputTokens: 7, outputTokens: 5 })

/** The answer breaks off within these words. */
const cutAt =
  (word: string, how: "reset" | "end"): Fault.Fault =>
  (good) =>
    Effect.map(good, (answer) => {
      const after = Buffer.from(answer.body).indexOf(word)
      assert.isAbove(after, 0)
      return { ...answer, cut: { after, how } }
    })

const serving = (content: Message.Reply["content"], ...faults: ReadonlyArray<Fault.Fault>) => {
  const brain = AnyWire.handler(() => Effect.succeed({ content, usage }))
  return LoopbackServer.make(Fault.inFront(faults, brain))
}

const brisk: Transport.Options = { retry: { initialBackoff: "1 millis" } }

const over = (at: At, url: string, transport: Transport.Options) =>
  Layer.provide(at(url, transport), Transport.layerFetch)

const collect = Effect.gen(function* () {
  const model = yield* Model.Model
  const collector = new Model.Collector()
  yield* Stream.runForEach(model.stream(request), (part) => Effect.sync(() => collector.push(part)))
  return collector.reply()
})

const textOf = (reply: Message.Reply | undefined) => JSON.stringify(Message.callsOf(reply ?? ScriptedModel.reply({})))

describe.each(Object.entries(wires))("%s", (_, at) => {
  for (const how of ["reset", "end"] as const) {
    it.live(`half a call is sent again, and comes once, after a ${how} [P1403]`, () =>
      Effect.gen(function* () {
        const half = cutAt("paper", how)
        const server = yield* serving([call("call_1", "folded paper cranes")], half, half)
        const reply = yield* Effect.provide(collect, over(at, server.url, brisk))
        assert.strictEqual((yield* server.requests).length, 3)
        assert.strictEqual(textOf(reply).split("folded paper cranes").length, 2)
        const { resent = Usage.empty, usage = Usage.empty } = reply ?? {}
        assert.strictEqual(usage.inputTokens - resent.inputTokens, 7)
        assert.strictEqual(usage.outputTokens - resent.outputTokens, 5)
      })
    )
  }

  it.live("what follows a shown text is not sent again [P1403 A810]", () =>
    Effect.gen(function* () {
      const server = yield* serving([Message.text("I look."), call("call_1", "paper")], cutAt("paper", "reset"))
      const { exit, text } = yield* Effect.provide(streamText, over(at, server.url, brisk))
      assert.strictEqual(text, "I look.")
      failsWith(exit, LlmError.NetworkError)
      assert.strictEqual((yield* server.requests).length, 1)
    })
  )

  it.live("the next model of a fallback is asked after half a call, without a run and within one [P1403 P1003]", () =>
    Effect.gen(function* () {
      const half = cutAt("paper", "reset")
      const server = yield* serving([call("call_1", "folded paper cranes")], half, half)
      const other = yield* ScriptedModel.make(ScriptedModel.text("from b"), ScriptedModel.text("from b"))
      const both = Model.fallback(over(at, server.url, { retry: false }), other.layer)
      const { text } = yield* Effect.provide(streamText, both)
      assert.strictEqual(text, "from b")
      const agent = Agent.make("worker", { model: both })
      const log = eventLog()
      yield* Stream.runDrain(agent.pipe(log.listen).stream("go"))
      assert.deepInclude(log.end(), { type: "run-completed", output: "from b" })
      assert.strictEqual((yield* server.requests).length, 2)
    })
  )
})

// the other wires tell that a call is whole at the end of all
for (const name of ["anthropic", "openai-responses"]) {
  it.live(`a call of ${name} that is whole is not sent again, though the next one is half [P1403]`, () =>
    Effect.gen(function* () {
      const content = [call("call_1", "cranes"), call("call_2", "folded paper")]
      const server = yield* serving(content, cutAt("paper", "reset"))
      const seen: Array<string> = []
      const reading = Effect.flatMap(Model.Model, (model) =>
        Stream.runForEach(model.stream(request), ({ type }) => Effect.sync(() => void seen.push(type)))
      )
      const at = wires[name] ?? assert.fail("no such wire")
      const error = yield* Effect.flip(Effect.provide(reading, over(at, server.url, brisk)))
      assert.instanceOf(error, LlmError.NetworkError)
      assert.deepStrictEqual(
        seen.filter((type) => type !== "usage"),
        ["tool-call"]
      )
      assert.strictEqual((yield* server.requests).length, 1)
    })
  )
}

it.live("the usage of half a reply is in its failure, and a run books it [P1403 P703]", () =>
  Effect.gen(function* () {
    const half = cutAt("paper", "reset")
    const server = yield* serving([call("call_1", "folded paper cranes")], half, half)
    const model = over(wires["anthropic"] ?? assert.fail("no such wire"), server.url, { retry: false })
    const error = yield* Effect.flip(Effect.provide(collect, model))
    assert.strictEqual(error.usage?.inputTokens, 7)
    const log = eventLog()
    const run = Agent.make("worker", { model }).pipe(log.listen)
    yield* Effect.exit(Stream.runDrain(run.stream("go")))
    const [failed] = log.of("model-failed")
    assert.deepInclude(failed?.entry, { outcome: "failed" })
    assert.strictEqual(failed?.entry.usage.inputTokens, 7)
  })
)
