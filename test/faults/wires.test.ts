/** The fault sweep of the wires: a streamed reply breaks off behind each of its events, and each status comes in its place. */
import { assert, describe, it } from "@effect/vitest"
import * as LlmError from "@kintsugi/core/LlmError"
import * as Message from "@kintsugi/core/Message"
import * as Model from "@kintsugi/core/Model"
import * as Usage from "@kintsugi/core/Usage"
import { Anthropic, Gemini, Ollama, OpenAi, Transport } from "@kintsugi/providers"
import { AnyWire, Fault, LoopbackServer } from "@kintsugi/providers/testing"
import { Effect, Exit, Layer, Redacted, Stream } from "effect"
import { failureOf, request } from "../_support/network.ts"

const common = { model: "m", apiKey: Redacted.make("k"), transport: { retry: { initialBackoff: "1 millis" } } } as const

const wires: Readonly<Record<string, (baseUrl: string) => Layer.Layer<Model.Model, never, Transport.HttpClient>>> = {
  anthropic: (baseUrl) => Anthropic.layer({ ...common, baseUrl }),
  "openai-chat": (baseUrl) => OpenAi.layer({ ...common, baseUrl }),
  "openai-responses": (baseUrl) => OpenAi.layerResponses({ ...common, baseUrl }),
  gemini: (baseUrl) => Gemini.layer({ ...common, baseUrl }),
  ollama: (baseUrl) => Ollama.layer({ model: "m", transport: common.transport, baseUrl })
}

const look = (id: string): Message.ToolCall => ({ type: "tool-call", id, name: "look", arguments: `{"of":"${id}"}` })

const contents: Readonly<Record<string, Message.Reply["content"]>> = {
  "two calls": [look("a"), look("b")],
  "a thought, a text and a call": [{ type: "reasoning", text: "Where is it?" }, Message.text("I will look."), look("a")]
}

/** Breaks off behind so many events; what is sent comes event by event, or in pieces of so many bytes. */
const behind =
  (events: number, how: "reset" | "end", every?: number): Fault.Fault =>
  (good) =>
    Effect.map(good, (answer) => {
      const separator = /ndjson/.test(answer.headers?.["content-type"] ?? "") ? "\n" : "\n\n"
      const sent = String(answer.body).split(separator).slice(0, events)
      const after = events === 0 ? 0 : Buffer.byteLength(sent.join(separator) + separator)
      return { ...answer, split: every === undefined ? "event" : { every }, cut: { after, how } }
    })

/** What a reader gets, how it ends, and how often the request is sent, if the first answers are faulty. */
const played = (
  layer: (url: string) => Layer.Layer<Model.Model, never, Transport.HttpClient>,
  content: Message.Reply["content"],
  fault: Fault.Fault,
  times: number
) =>
  Effect.gen(function* () {
    const usage = Usage.make({ inputTokens: 7, outputTokens: 5 })
    const brain = AnyWire.handler(() => Effect.succeed({ content, usage }))
    const faults = Array.from({ length: times }, () => fault)
    const server = yield* LoopbackServer.make(Fault.inFront(faults, brain))
    const collector = new Model.Collector()
    let hasGot = false
    const reading = Effect.flatMap(Model.Model, (model) =>
      Stream.runForEach(model.stream(request), (part) =>
        Effect.sync(() => {
          collector.push(part)
          hasGot ||= ["text-delta", "reasoning-delta", "tool-call"].includes(part.type)
        })
      )
    )
    const model = Layer.provide(layer(server.url), Transport.layerFetch)
    const exit = yield* Effect.exit(Effect.provide(reading, model))
    return { exit, collector, hasGot, sends: (yield* server.requests).length }
  })

/** No format has more for these replies. */
const most = 32

const callsOf = (content: Message.Reply["content"]) =>
  content.flatMap((part) =>
    part.type === "tool-call"
      ? [typeof part.arguments === "string" ? part.arguments : JSON.stringify(part.arguments)]
      : []
  )

describe.each(Object.entries(wires))("%s", (_, layer) => {
  for (const [name, content] of Object.entries(contents)) {
    it.live(`${name}, broken behind each event: sent again only before a reader has got anything [P1403]`, () =>
      Effect.gen(function* () {
        const how = name === "two calls" ? "reset" : "end"
        let events = 0
        for (; events < most; events++) {
          const { exit, hasGot, sends } = yield* played(layer, content, behind(events, how), 3)
          const where = `${how} behind ${events} events`
          assert.strictEqual(sends, hasGot || Exit.isSuccess(exit) ? 1 : 3, where)
          // it has its end, and so it has behind each later event: what was cut off are marks
          if (Exit.isSuccess(exit)) break
          assert.instanceOf(failureOf(exit), LlmError.NetworkError, where)
          if (hasGot) continue
          // what broke off before a reader got anything is whole in the end, and comes once
          const healed = yield* played(layer, content, behind(events, how), 2)
          assert.isTrue(Exit.isSuccess(healed.exit), where)
          const reply = healed.collector.reply() ?? assert.fail("no reply")
          assert.deepStrictEqual(callsOf(reply.content), callsOf(content), where)
          const { resent = Usage.empty, usage } = reply
          assert.strictEqual(usage.inputTokens - resent.inputTokens, 7, where)
          assert.strictEqual(usage.outputTokens - resent.outputTokens, 5, where)
        }
        assert.isAbove(events, 0)
        assert.isBelow(events, most)
      })
    )
  }

  it.live("broken behind each event, a reader gets the same from any pieces [P1404]", () =>
    Effect.gen(function* () {
      const content = contents["a thought, a text and a call"] ?? []
      for (let events = 0; events < most; events++) {
        const [one, other] = yield* Effect.all(
          [undefined, 7].map((every) => played(layer, content, behind(events, "end", every), 3))
        )
        assert(one !== undefined && other !== undefined)
        const seen = ({ collector, exit, hasGot, sends }: typeof one) => [collector.content, exit._tag, hasGot, sends]
        assert.deepStrictEqual(seen(other), seen(one), `behind ${events} events`)
        if (Exit.isSuccess(one.exit)) return
      }
      assert.fail("no stream has its end")
    })
  )

  it.live("each status in the place of a stream is sent as often as it may pass [P1405]", () =>
    Effect.gen(function* () {
      for (const [statuses, times] of [
        [[400, 401, 403, 404, 422], 1],
        [[409, 500, 501, 524, 599], 3]
      ] as const) {
        for (const status of statuses) {
          const { exit, sends } = yield* played(layer, [Message.text("hi")], Fault.status(status, {}), 3)
          assert.isTrue(Exit.isFailure(exit), String(status))
          assert.strictEqual(sends, times, String(status))
        }
      }
    })
  )
})
