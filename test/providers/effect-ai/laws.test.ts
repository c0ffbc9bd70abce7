/** Conversations through `effect/ai` come back unchanged. */
import { assert, describe, it } from "@effect/vitest"
import { Message, Model, Usage } from "@kintsugi/core"
import * as Arbitraries from "@kintsugi/core/testing/Arbitraries"
import { fromEffect } from "@kintsugi/core/testing/FastCheck"
import * as EffectAi from "@kintsugi/providers/EffectAi"
import { Effect, type Schema, Stream } from "effect"
import { LanguageModel, Prompt, type Response } from "effect/ai"
import * as fc from "fast-check"
import { streamed } from "./_support/scriptedLanguageModel.ts"

/** Calls are handed over as they are. */
const asIs = { disableToolCallResolution: true, toolCallValidation: "deferred" } as const

/** A model of ours that says this, and remembers what it was asked. */
const saying = (reply: Message.Reply) => {
  const asked: Array<Message.Transcript> = []
  const service: Model.Service = {
    name: "m",
    provider: "p",
    generate: ({ messages }) => Effect.sync(() => (asked.push(messages), reply)),
    stream: ({ messages }) =>
      Stream.suspend(() => {
        asked.push(messages)
        return Stream.fromIterable(Model.partsOf(reply))
      })
  }
  return { asked, service }
}

const words = fc.string({ minLength: 1, maxLength: 12 })
const json = fc.jsonValue({ maxDepth: 2 }).map((value): Schema.Json => JSON.parse(JSON.stringify(value)))
const opaque = fc.option(
  json.map((data): Message.Opaque => ({ provider: "p", data })),
  { nil: undefined }
)
const withOpaque = (opaque: Message.Opaque | undefined) => (opaque === undefined ? {} : { opaque })

const content: fc.Arbitrary<Message.Reply["content"][number]> = fc.oneof(
  words.map(Message.text),
  fc.tuple(words, opaque).map(([text, opaque]) => ({ type: "reasoning" as const, text, ...withOpaque(opaque) })),
  fc
    .tuple(words, json)
    .map(([kind, data]) => ({ type: "provider-item" as const, kind, opaque: { provider: "p", data } })),
  fc.tuple(fc.uuid(), words, fc.dictionary(words, json, { maxKeys: 3 }), opaque).map(([id, name, args, opaque]) => ({
    type: "tool-call" as const,
    id,
    name,
    arguments: args,
    ...withOpaque(opaque)
  }))
)

const facts = fc.record(
  {
    model: words,
    responseId: words,
    requestId: words,
    rawFinish: words,
    serviceTier: words,
    cost: fc.nat(),
    isEstimated: fc.constant(true as const)
  },
  { requiredKeys: [] }
)

const replies: fc.Arbitrary<Message.Reply> = fc
  .tuple(fc.array(content, { maxLength: 6 }), fc.constantFrom(...Message.Reply.fields.finish.literals), facts)
  .map(([content, finish, facts]) =>
    Model.collected({
      ...facts,
      content,
      finish,
      usage: Usage.make({ inputTokens: 9, outputTokens: 4, cachedInputTokens: 3, reasoningTokens: 1 })
    })
  )

const ask = Effect.fnUntraced(function* (
  language: LanguageModel.LanguageModel,
  prompt: Prompt.RawInput,
  isStreamed: boolean
) {
  if (!isStreamed) return (yield* language.generateText({ prompt, ...asIs })).content
  return yield* Stream.runCollect(language.streamText({ prompt, ...asIs }))
})

/** What the same provider would have to read of it. */
const withResults = (reply: Message.Reply): Message.Assistant =>
  Message.settle(
    reply,
    Message.callsOf(reply).map(() => Message.interrupted)
  )

describe("conversations through effect/ai", () => {
  it.each([false, true])(
    "what a reply says about itself comes back through effect/ai (streamed: %s) [P1407]",
    async (isStreamed) => {
      await fc.assert(
        fc.asyncProperty(replies, (reply) =>
          Effect.runPromise(
            Effect.gen(function* () {
              const language = yield* EffectAi.toLanguageModel(saying(reply).service)
              const model = EffectAi.fromLanguageModel(language, { name: "m", provider: "p", isScripted: true })
              const request: Model.Request = { messages: [Message.user("hi")], tools: [], toolChoice: "auto" }
              const collector = new Model.Collector()
              const back = isStreamed
                ? Effect.as(
                    Stream.runForEach(model.stream(request), (part) => Effect.sync(() => collector.push(part))),
                    undefined
                  )
                : model.generate(request)
              const { content: _content, finish: _finish, ...facts } = (yield* back) ?? collector.reply() ?? reply
              const { content: _said, finish: _end, ...expected } = reply
              assert.deepStrictEqual(facts, expected)
            })
          )
        )
      )
    }
  )

  it.each([false, true])(
    "any reply of ours comes back to its model, part by part (streamed: %s) [P1002 P1107]",
    async (isStreamed) => {
      await fc.assert(
        fc.asyncProperty(replies, (reply) =>
          Effect.runPromise(
            Effect.gen(function* () {
              const { asked, service } = saying(reply)
              const language = yield* EffectAi.toLanguageModel(service)
              const parts = yield* ask(language, "hi", isStreamed)
              const end = parts.find((part) => part.type === "finish")
              assert.deepInclude(end?.usage.inputTokens, { total: 9, uncached: 6, cacheRead: 3 })
              const history = Prompt.concat(Prompt.make("hi"), Prompt.fromResponseParts(parts))
              yield* ask(language, Prompt.concat(history, "go on"), isStreamed)
              const said = withResults(reply)
              const expected = [Message.user("hi"), ...(isSilent(said) ? [] : [said]), Message.user("go on")]
              const found = asked[1]?.filter((message) => message.role !== "assistant" || !isSilent(message))
              assert.deepStrictEqual(found, expected)
            })
          )
        )
      )
    }
  )

  it.each([false, true])(
    "any response of theirs comes back to its model with its metadata (streamed: %s) [P1002 P1107]",
    async (isStreamed) => {
      await fc.assert(
        fc.asyncProperty(responses, (parts) =>
          Effect.runPromise(
            Effect.gen(function* () {
              const prompts: Array<Prompt.Prompt> = []
              const language = yield* LanguageModel.make({
                generateText: ({ prompt }) => Effect.sync(() => (prompts.push(prompt), [...parts])),
                streamText: ({ prompt }) =>
                  Stream.suspend(() => {
                    prompts.push(prompt)
                    return Stream.fromIterable(streamed(parts))
                  })
              })
              const model = EffectAi.fromLanguageModel(language, { name: "m", provider: "p", isScripted: true })
              const request = (messages: Message.Transcript): Model.Request => ({
                messages,
                tools: [],
                toolChoice: "auto"
              })
              const replied = (messages: Message.Transcript) =>
                isStreamed
                  ? Effect.map(Stream.runCollect(model.stream(request(messages))), (all) => {
                      const collector = new Model.Collector()
                      for (const part of all) collector.push(part)
                      return collector.reply()
                    })
                  : model.generate(request(messages))
              const reply = yield* replied([Message.user("hi")])
              assert(reply !== undefined)
              yield* replied([Message.user("hi"), withResults(reply)])
              const found = prompts[1]?.content.find(({ role }) => role === "assistant")
              const content = found?.role === "assistant" ? found.content : []
              assert.deepStrictEqual(merged(content), merged(expectedOf(parts)))
            })
          )
        )
      )
    }
  )

  it("any transcript is a prompt, and each of its calls has its result there [P402 P1107]", async () => {
    await fc.assert(
      fc.asyncProperty(fromEffect(Arbitraries.transcript), (messages) =>
        Effect.runPromise(
          Effect.gen(function* () {
            let asked = Prompt.empty
            const language = yield* LanguageModel.make({
              generateText: ({ prompt }) => Effect.sync(() => ((asked = prompt), [])),
              streamText: () => Stream.empty
            })
            const model = EffectAi.fromLanguageModel(language, { name: "m", provider: "p", isScripted: true })
            yield* model.generate({ messages, tools: [], toolChoice: "auto" })
            const ids = (type: "tool-call" | "tool-result") =>
              asked.content.flatMap(({ content }) =>
                typeof content === "string"
                  ? []
                  : content.flatMap((part) => (part.type === type && !part.providerExecuted ? [part.id] : []))
              )
            assert.deepStrictEqual(ids("tool-call"), ids("tool-result"))
            assert.deepStrictEqual(
              ids("tool-call"),
              messages.flatMap((message) =>
                message.role === "assistant"
                  ? message.content.flatMap((part) => (part.type === "settled-call" ? [part.call.id] : []))
                  : []
              )
            )
          })
        )
      )
    )
  })
})

/** A message in which nothing is said is none. */
const isSilent = (message: Message.Assistant): boolean => message.content.length === 0 && message.paused === undefined

const metadata = fc.dictionary(fc.constantFrom("p", "q"), fc.dictionary(words, json, { maxKeys: 2 }), { maxKeys: 2 })

const responses: fc.Arbitrary<ReadonlyArray<Response.PartEncoded>> = fc
  .array(
    fc.oneof(
      fc.tuple(words, metadata).map(([text, metadata]): Response.PartEncoded => ({ type: "text", text, metadata })),
      fc
        .tuple(
          words,
          metadata.filter((all) => Object.keys(all).length > 0)
        )
        .map(([text, metadata]): Response.PartEncoded => ({ type: "reasoning", text, metadata })),
      fc
        .tuple(fc.uuid(), words, fc.dictionary(words, json, { maxKeys: 3 }), metadata)
        .map(([id, name, params, metadata]): Response.PartEncoded => ({
          type: "tool-call",
          id,
          name,
          params,
          metadata
        })),
      metadata.map((metadata): Response.PartEncoded => ({
        type: "file",
        mediaType: "image/png",
        data: "AQID",
        metadata
      }))
    ),
    { maxLength: 6 }
  )
  .map((parts) => [
    ...parts,
    { type: "finish", reason: "stop", usage: { inputTokens: { total: 1 }, outputTokens: { total: 1 } } }
  ])

/** What `effect/ai` itself would send back. */
const expectedOf = (parts: ReadonlyArray<Response.PartEncoded>): ReadonlyArray<Prompt.AssistantMessagePart> =>
  parts.flatMap((part): ReadonlyArray<Prompt.AssistantMessagePart> => {
    const options = part.metadata ?? {}
    switch (part.type) {
      case "text":
        return [Prompt.textPart({ text: part.text, options })]
      case "reasoning":
        return [Prompt.reasoningPart({ text: part.text, options })]
      case "tool-call":
        return [
          Prompt.toolCallPart({ id: part.id, name: part.name, params: part.params, providerExecuted: false, options })
        ]
      case "file":
        return [Prompt.filePart({ mediaType: part.mediaType, data: part.data, options })]
      default:
        return []
    }
  })

/** Neighbouring texts that say nothing of themselves are one text. */
const merged = (parts: ReadonlyArray<Prompt.AssistantMessagePart>): ReadonlyArray<Prompt.AssistantMessagePart> => {
  const all: Array<Prompt.AssistantMessagePart> = []
  for (const part of parts) {
    const last = all.at(-1)
    const isBare = part.type === "text" && Object.keys(part.options).length === 0
    if (isBare && last?.type === "text" && Object.keys(last.options).length === 0) {
      all[all.length - 1] = Prompt.textPart({ text: last.text + part.text })
    } else all.push(part)
  }
  return all
}
