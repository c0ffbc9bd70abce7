/** The law of replies that break off and go on, for all who follow them: the run, its events, also as JSON, and a front end. */
import { assert } from "@effect/vitest"
import { Agent, AgentEvent, LlmError, Message, Model } from "@kintsugi/core"
import * as UiMessageStream from "@kintsugi/interop/UiMessageStream"
import { Effect, Schema, Stream } from "effect"
import fc from "fast-check"
import { continuing, cut, readAlong } from "../core/run/_support/continued.ts"
import { eventLog } from "../_support/dialogue.ts"
import { lawOfRuns } from "./_support/runs.ts"

/** An attempt that breaks off: what it shows beyond the text that it goes on from. */
interface Break {
  readonly characters: number
  readonly isThinking: boolean
  readonly callsTool: boolean
  readonly fails: boolean
}

interface Story {
  readonly answer: string
  readonly breaks: ReadonlyArray<Break>
  /** How long the pieces of each text are. */
  readonly piece: number
  readonly continuation: "rest" | "whole" | "message"
  /** How much of the answer an earlier run has shown. */
  readonly shownBefore: number
}

const story: fc.Arbitrary<Story> = fc.record({
  answer: fc
    .tuple(
      fc.constantFrom("", "", " ", "\n\n"),
      fc.string({ unit: fc.constantFrom("a", "b", " ", "\n", "🙂"), minLength: 1, maxLength: 12 })
    )
    .map(([white, rest]) => `${white}a${rest}`),
  breaks: fc.array(
    fc.record({
      characters: fc.integer({ min: 0, max: 4 }),
      isThinking: fc.boolean(),
      callsTool: fc.boolean(),
      fails: fc.boolean()
    }),
    { maxLength: 4 }
  ),
  piece: fc.integer({ min: 1, max: 3 }),
  continuation: fc.constantFrom("rest", "whole", "message"),
  shownBefore: fc.constantFrom(0, 0, 1, 3)
})

const usage = { inputTokens: 1, outputTokens: 1, cachedInputTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 }

const overloaded = () => LlmError.ModelOverloadedError.make({ model: "m" })

/** What a model was sent to go on from. */
const sentIn = ({ messages }: Model.Request): string => {
  const last = messages.findLast(({ role }) => role === "assistant")
  return last?.role === "assistant" && last.incomplete === true ? Message.textOf(last) : ""
}

/** A model that has one answer, and breaks off on its way to it. */
const modelOf = ({ answer, breaks, continuation, piece }: Story): Model.Service => {
  let attempts = 0
  const said = (request: Model.Request) => (continuation === "whole" ? answer : answer.slice(sentIn(request).length))
  const partsOf = (text: string): ReadonlyArray<Model.Part> =>
    Array.from({ length: Math.ceil(text.length / piece) }, (_, index) => ({
      type: "text-delta",
      text: text.slice(index * piece, (index + 1) * piece)
    }))
  return {
    name: "m",
    provider: "here",
    ...(continuation === "message" ? {} : { continuation }),
    generate: (request) =>
      Effect.suspend(() =>
        breaks[attempts++] === undefined
          ? Effect.succeed({ content: [Message.text(said(request))], finish: "stop" as const, usage })
          : Effect.fail(overloaded())
      ),
    stream: (request) =>
      Stream.suspend((): Stream.Stream<Model.Part, LlmError.LlmError> => {
        const broken = breaks[attempts++]
        if (broken === undefined) {
          return Stream.fromIterable([...partsOf(said(request)), { type: "finish", finish: "stop", usage }])
        }
        const { callsTool, characters, fails, isThinking } = broken
        const echo = continuation === "whole" ? sentIn(request).length : 0
        const parts: ReadonlyArray<Model.Part> = [
          ...(isThinking ? [{ type: "reasoning-delta", text: "hm" } as const] : []),
          ...partsOf(said(request).slice(0, echo + characters)),
          ...(callsTool ? [{ type: "tool-call", id: "c", name: "look", arguments: "{}" } as const] : [])
        ]
        return Stream.concat(Stream.fromIterable(parts), fails ? Stream.fail(overloaded()) : Stream.empty)
      })
  }
}

/** The text that a front end holds. */
const textOf = (chunks: ReadonlyArray<UiMessageStream.Chunk>): string => {
  let text = ""
  for (const chunk of chunks) {
    if (chunk.type === "text-delta") text += chunk.delta
    if (chunk.type === "reset-step") text = ""
  }
  return text
}

const codec = Schema.fromJsonString(AgentEvent.AgentEvent)

lawOfRuns(
  "a reply that breaks off and goes on is the reply that would have come, in the run and for all who follow it [L1011]",
  story,
  Effect.fnUntraced(function* (story, run) {
    const { answer, breaks, continuation, shownBefore } = story
    // no model goes on from white space alone: the next attempt begins anew
    const before = answer.slice(0, shownBefore).trim() === "" ? "" : answer.slice(0, shownBefore)
    const log = eventLog()
    const by = continuation === "message" ? continuation : undefined
    const agent = Agent.make("worker", {}).pipe(continuing(breaks.length, by), log.listen)
    const from = [Message.user("go"), ...(before === "" ? [] : [cut(before)])]
    const resumed = run(Agent.resume(agent), { from, incomplete: "continue" })
    const value = yield* resumed.pipe(Effect.provideService(Model.Model, modelOf(story)))

    assert.strictEqual(value, answer)
    assert.deepStrictEqual(AgentEvent.transcriptOf(log.all), [Message.user("go"), Message.assistant(answer)])
    assert.strictEqual(before + textOf(UiMessageStream.fromEvents(log.all)), answer)
    const read = log.all.map((event) => Schema.decodeUnknownSync(codec)(Schema.encodeSync(codec)(event)))
    if (run.isStreamed) for (const events of [log.all, read]) assert.deepStrictEqual(readAlong(events), [answer])
    const booked = log.all.flatMap((event) => ("entry" in event ? [event.entry.attempt] : []))
    assert.deepStrictEqual(
      booked,
      Array.from({ length: breaks.length + 1 }, (_, index) => index + 1)
    )
    for (const event of log.of("attempt-continued")) assert.isTrue(answer.startsWith(event.kept))
    assert.lengthOf(
      log.of("attempt-discarded").filter(({ text }) => text.trim() !== ""),
      0
    )
  })
)
