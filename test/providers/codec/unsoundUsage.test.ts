/** Servers that report less than nothing: a run reads it as no usage, not as zero. */
import { assert, it } from "@effect/vitest"
import { Agent, type AgentEvent, Message, Usage } from "@kintsugi/core"
import { Anthropic, Gemini, Ollama, OpenAi, Transport } from "@kintsugi/providers"
import { AnyWire, LoopbackServer } from "@kintsugi/providers/testing"
import { Effect, Layer, Redacted } from "effect"
import { eventLog } from "../../_support/dialogue.ts"
import { runners } from "../../_support/run.ts"

const model = "m"
const apiKey = Redacted.make("sk-test-1234")
const transport = { retry: false } as const

const clients = {
  anthropic: (baseUrl: string) => Anthropic.layer({ model, apiKey, baseUrl, transport }),
  "openai-chat": (url: string) => OpenAi.layer({ model, apiKey, baseUrl: `${url}/v1`, transport }),
  "openai-responses": (url: string) => OpenAi.layerResponses({ model, apiKey, baseUrl: `${url}/v1`, transport }),
  gemini: (url: string) => Gemini.layer({ model, apiKey, baseUrl: `${url}/v1beta`, transport }),
  ollama: (baseUrl: string) => Ollama.layer({ model, apiKey, baseUrl, transport })
}

const entryOf = (events: ReadonlyArray<AgentEvent.AgentEvent>) =>
  events.flatMap((event) => ("ledger" in event ? event.ledger : []))[0]

for (const [format, client] of Object.entries(clients)) {
  for (const [way, run] of Object.entries(runners))
    it.live(`a negative count of ${format} is booked as an estimate (${way}) [P1397]`, () =>
      Effect.gen(function* () {
        const usage = Usage.make({ inputTokens: -30, outputTokens: -9 })
        const brain = () => Effect.succeed({ content: [Message.text("a crane of paper")], usage })
        const server = yield* LoopbackServer.make(AnyWire.handler(brain))
        const log = eventLog()
        const agent = Agent.make("worker", {}).pipe(log.listen)
        const at = client(server.url).pipe(Layer.provide(Transport.layerFetch))
        assert.strictEqual(yield* run(agent, "go").pipe(Effect.provide(at)), "a crane of paper")
        const entry = entryOf(log.all)
        assert(entry?.isEstimated === true)
        assert.isTrue(Usage.isSound(entry.usage) && entry.usage.outputTokens > 3)
      })
    )
}
