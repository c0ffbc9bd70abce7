/** Thoughts go back to their provider only behind what they came behind, and only to models of their family. */
import { assert, describe, it } from "@effect/vitest"
import * as Message from "@kintsugi/core/Message"
import * as Model from "@kintsugi/core/Model"
import {
  Anthropic,
  DeepSeek,
  Gemini,
  Kimi,
  Ollama,
  OpenAi,
  OpenRouter,
  Perplexity,
  type Transport
} from "@kintsugi/providers"
import { Context, Effect, Layer, Redacted, Schema, Stream } from "effect"
import { event, fakeNetwork, respond } from "../../_support/network.ts"
import { type Participant, participants } from "../_support/participants.ts"
import { markOf } from "../_support/requestShapes.ts"
import { specOf } from "../_support/toolSpecs.ts"

const common = { apiKey: Redacted.make("k"), baseUrl: "https://p.test", transport: { retry: false } } as const

type Layered = Layer.Layer<Model.Model, never, Transport.HttpClient>

/** A model of another family, at the same provider. */
const others: Readonly<Record<string, Layered>> = {
  "openai-responses": OpenAi.layerResponses({ ...common, model: "gpt-5.6-sol" }),
  anthropic: Anthropic.layer({ ...common, model: "claude-sonnet-4-6", reasoning: { maxTokens: 2000 } }),
  gemini: Gemini.layer({ ...common, model: "gemini-3.5-flash" }),
  ollama: Ollama.layer({ ...common, model: "gpt-oss:20b" }),
  deepseek: DeepSeek.layer({ ...common, model: "deepseek-v4-pro" }),
  kimi: Kimi.layer({ ...common, model: "kimi-k3" }),
  openrouter: OpenRouter.layer({ ...common, model: "openai/gpt-5.6-sol" }),
  "perplexity-agent": Perplexity.layer({ ...common, model: "google/gemini-3-pro" })
}

/** Other names of the same family. */
const aliases: Readonly<Record<string, Layered>> = {
  anthropic: Anthropic.layer({ ...common, model: "claude-opus-4-6-20260205", reasoning: { maxTokens: 2000 } }),
  "openai-responses": OpenAi.layerResponses({ ...common, model: "gpt-5-2025-08-07" }),
  gemini: Gemini.layer({ ...common, model: "gemini-3-pro-preview" })
}

const thoughtful = participants.filter(({ name }) => name in others)

const outputOf = (answer: Schema.Codec<unknown>) => ({ name: "The answer", schema: specOf("", answer).parameters })

const asked = {
  tools: [specOf("look", Schema.Struct({ at: Schema.optionalKey(Schema.Finite) }))],
  toolChoice: "auto",
  output: outputOf(Schema.Struct({ answer: Schema.String }))
} as const satisfies Partial<Model.Request>

const modelOf = (layer: Layered, network: ReturnType<typeof fakeNetwork>) =>
  Effect.map(Layer.build(Layer.provide(layer, network.layer)), (context) => Context.get(context, Model.Model))

/** A conversation in which the model has thought, called, thought, and answered. */
const talk = Effect.fnUntraced(function* (of: Participant) {
  let next: object = {}
  const network = fakeNetwork(() => Effect.suspend(respond(200, next)))
  const model = yield* modelOf(of.layer, network)
  const transcript: Array<Message.Message> = [Message.system("Be brief."), Message.user("Where does it rain?")]
  let marks = 0
  for (const [count, turn] of (["calls", "answer"] as const).entries()) {
    next = of.says(turn, (kind = "mark") => markOf(kind, of.name, marks++), count)
    const reply = Model.collected(yield* model.generate({ ...asked, messages: transcript }))
    const failed: Message.Settlement = { kind: "told", text: "transient: busy" }
    transcript.push(Message.settle(reply, [{ kind: "result", text: "rain" }, failed]))
  }
  transcript.push(Message.user("And now?"))
  return transcript
})

/** The body with which the model is sent a transcript; it has the form that the wire demands. */
const sentBy = Effect.fnUntraced(function* (
  { says, shape }: Participant,
  layer: Layered,
  messages: Message.Transcript,
  more: Partial<Model.Request> = {}
) {
  const network = fakeNetwork(
    respond(
      200,
      says("answer", () => "m", 9)
    )
  )
  const model = yield* modelOf(layer, network)
  yield* model.generate({ ...asked, messages, ...more })
  const body = network.sent[0]?.body ?? ""
  assert.deepStrictEqual(shape(JSON.parse(body)), [], body)
  return body
})

/** How many texts of thoughts a body has, and how many signatures and the like. */
const thoughtsIn = (body: string) => ({
  texts: body.match(/hmm mark/g)?.length ?? 0,
  secrets:
    body.match(
      /"(?:signature|encrypted_content|thoughtSignature|thought_signature)":"mark|"type":"redacted_thinking"|"(?:fc|msg)_[^"]*mark|"reasoning_details"/g
    )?.length ?? 0
})

const none = { texts: 0, secrets: 0 }

/** What stays of a reply whose thoughts are left out. */
const stays: Readonly<Record<string, ReadonlyArray<string>>> = {
  anthropic: ["server_tool_use", "web_search_tool_result"],
  gemini: ["executableCode", "skip_thought_signature_validator"]
}

const assertLeftOut = ({ name }: Participant, body: string, why: string) => {
  const found = thoughtsIn(body)
  // results of a search are encrypted as well, and are no thoughts
  const secrets =
    name === "anthropic" ? found.secrets - (body.match(/"encrypted_content":"mark/g)?.length ?? 0) : found.secrets
  assert.deepStrictEqual({ ...found, secrets }, none, `${name}: ${why}: ${body}`)
  assert.include(body, "rain")
  for (const word of stays[name] ?? []) assert.include(body, word)
}

const edits: Readonly<Record<string, (transcript: Message.Transcript) => Message.Transcript>> = {
  "the prompt has changed": ([, ...rest]) => [Message.system("Be long."), ...rest],
  "the first message has changed": ([head, , ...rest]) => [head!, Message.user("Where does it snow?"), ...rest],
  "the beginning is compacted to a summary": (all) => [Message.user("We spoke of rain."), ...all.slice(2)],
  "a picture stands before them": ([head, , ...rest]) => [
    head!,
    Message.user([Message.text("Where does it rain?"), Message.image("image/png", { data: "AAAA" })]),
    ...rest
  ]
}

describe("thoughts", () => {
  it.effect("go back behind what they came behind, under any name of a model of their family [P1410]", () =>
    Effect.gen(function* () {
      for (const of of thoughtful) {
        const transcript = yield* talk(of)
        const found = thoughtsIn(yield* sentBy(of, of.layer, transcript))
        assert.isAbove(found.texts + found.secrets, 0, of.name)
        const alias = aliases[of.name]
        if (alias === undefined) continue
        assert.deepStrictEqual(thoughtsIn(yield* sentBy(of, alias, transcript)), found, of.name)
      }
    })
  )

  it.effect("do not go to a model of another family, and go back to their own behind its turn [P1410]", () =>
    Effect.gen(function* () {
      for (const of of thoughtful) {
        const transcript = yield* talk(of)
        const other = others[of.name]
        assert(other !== undefined)
        assertLeftOut(of, yield* sentBy(of, other, transcript), "another family")
        const later = [...transcript, Message.assistant("Everywhere."), Message.user("Thanks.")]
        const found = thoughtsIn(yield* sentBy(of, of.layer, transcript))
        assert.deepStrictEqual(thoughtsIn(yield* sentBy(of, of.layer, later)), found, of.name)
      }
    })
  )

  for (const [why, edit] of Object.entries(edits)) {
    it.effect(`are left out where ${why} [P1410]`, () =>
      Effect.gen(function* () {
        for (const of of thoughtful) {
          if (of.name === "deepseek" && why.includes("picture")) continue
          assertLeftOut(of, yield* sentBy(of, of.layer, edit(yield* talk(of))), why)
        }
      })
    )
  }

  it.effect("before a change go back, those behind it are left out [P1410]", () =>
    Effect.gen(function* () {
      for (const of of thoughtful) {
        const [head, asked, called, answered, now] = yield* talk(of)
        assert(called?.role === "assistant")
        const changed: Message.Assistant = {
          ...called,
          content: called.content.map((part) =>
            part.type === "settled-call" ? { ...part, settlement: { kind: "result", text: "sun" } } : part
          )
        }
        const before = thoughtsIn(yield* sentBy(of, of.layer, [head!, asked!, called]))
        const body = yield* sentBy(of, of.layer, [head!, asked!, changed, answered!, now!])
        assert.strictEqual(thoughtsIn(body).texts, before.texts, `${of.name}: ${body}`)
      }
    })
  )

  it.effect("go back from a database that orders the fields of objects anew [P1410]", () =>
    Effect.gen(function* () {
      const reversed = (value: unknown): unknown =>
        Array.isArray(value)
          ? value.map(reversed)
          : typeof value === "object" && value !== null
            ? Object.fromEntries(
                Object.entries(value)
                  .map(([name, field]) => [name, reversed(field)] as const)
                  .toReversed()
              )
            : value
      for (const of of thoughtful) {
        const transcript = yield* talk(of)
        const stored: unknown = reversed(JSON.parse(JSON.stringify(transcript)))
        const read = yield* Effect.orDie(Schema.decodeUnknownEffect(Message.Transcript)(stored))
        const found = thoughtsIn(yield* sentBy(of, of.layer, transcript))
        assert.deepStrictEqual(thoughtsIn(yield* sentBy(of, of.layer, read)), found, of.name)
        assert.deepStrictEqual(Message.repair(stored), read)
      }
    })
  )

  it.effect("of an older version, without family and digest, go to their provider as before [P1410]", () =>
    Effect.gen(function* () {
      for (const of of thoughtful) {
        const transcript = yield* talk(of)
        const older: Message.Transcript = JSON.parse(
          JSON.stringify(transcript, (name, value: unknown) =>
            name === "family" || name === "before" ? undefined : value
          )
        )
        assert.notInclude(JSON.stringify(older), '"family"')
        const found = thoughtsIn(yield* sentBy(of, of.layer, transcript))
        const edited = [Message.system("Be long."), ...older.slice(1)]
        assert.deepStrictEqual(thoughtsIn(yield* sentBy(of, others[of.name]!, edited)), found, of.name)
      }
    })
  )

  it.effect("of Anthropic are left out beside other tools, or behind a later instruction; others are not [P1410]", () =>
    Effect.gen(function* () {
      const more = [...asked.tools, specOf("more", Schema.Struct({}))]
      for (const of of thoughtful) {
        const transcript = yield* talk(of)
        const instructed = [...transcript, Message.system("Be long."), Message.user("Go on.")]
        const bodies = [
          yield* sentBy(of, of.layer, transcript, { tools: more }),
          yield* sentBy(of, of.layer, instructed),
          yield* sentBy(of, of.layer, transcript, {
            output: outputOf(Schema.Struct({ answer: Schema.String, more: Schema.String }))
          })
        ]
        const found = thoughtsIn(yield* sentBy(of, of.layer, transcript))
        for (const body of bodies) {
          if (of.name === "anthropic") assertLeftOut(of, body, "tools")
          else assert.deepStrictEqual(thoughtsIn(body), found, of.name)
        }
      }
    })
  )

  it.effect("have the same origin whether whole or streamed [P1410]", () =>
    Effect.gen(function* () {
      const opening = { type: "message_start", message: { model: "m", usage: {} } }
      const deltas = [
        { type: "content_block_start", index: 0, content_block: { type: "thinking", thinking: "" } },
        { type: "content_block_delta", index: 0, delta: { type: "thinking_delta", thinking: "hmm" } },
        { type: "content_block_delta", index: 0, delta: { type: "signature_delta", signature: "s" } },
        { type: "content_block_stop", index: 0 },
        { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 3 } },
        { type: "message_stop" }
      ]
      const content = [{ type: "thinking", thinking: "hmm", signature: "s" }]
      const whole = { type: "message", model: "m", content, stop_reason: "end_turn", usage: { output_tokens: 3 } }
      const network = fakeNetwork([respond(200, whole), respond(200, [opening, ...deltas].map(event).join(""))])
      const model = yield* modelOf(Anthropic.layer({ ...common, model: "claude-opus-5-5" }), network)
      const request: Model.Request = { ...asked, messages: [Message.user("hi")] }
      const reply = yield* model.generate(request)
      const collector = new Model.Collector()
      for (const part of yield* Stream.runCollect(model.stream(request))) collector.push(part)
      assert.deepStrictEqual(collector.reply()?.content, reply.content)
      const [thought] = reply.content
      assert(thought?.type === "reasoning" && thought.opaque !== undefined)
      assert.strictEqual(thought.opaque.family, "claude-opus-5-5")
      assert.match(thought.opaque.before ?? "", /^[0-9a-z]{6,11}$/)
    })
  )
})
