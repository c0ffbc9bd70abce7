/** The twenty scenarios. Each sends few tokens, the one with a prompt that is too long excepted, which no model takes. */
import { Message } from "@kintsugi/core"
import { Effect, Redacted, Ref, Stream } from "effect"
import { page, redSquare } from "./attachments.ts"
import {
  callsOf,
  failsWith,
  requestOf,
  said,
  type Scenario,
  streamed,
  type Subject,
  tokens,
  unexpected,
  whole
} from "./scenario.ts"

const half: Message.ToolSpec = {
  name: "half",
  description: "Gives half of an even number.",
  parameters: {
    type: "object",
    properties: { n: { type: "integer", description: "an even number" } },
    required: ["n"],
    additionalProperties: false
  }
}

const animal = {
  name: "animal",
  schema: {
    type: "object",
    properties: { name: { type: "string" }, legs: { type: "integer" } },
    required: ["name", "legs"],
    additionalProperties: false
  }
}

const calling = (text: string) => requestOf(text, { tools: [half] })

/** A call, its result in these words, and what the model makes of it. */
const afterResult = (subject: Subject, asked: string, text: string, kind: "told" | "result") =>
  Effect.gen(function* () {
    const first = yield* whole(subject, calling(asked))
    const calls = yield* callsOf(first)
    const settlements = calls.map(() => ({ kind, text }))
    const messages = [Message.user(asked), Message.settle(first, settlements)]
    return yield* whole(subject, requestOf(messages, { tools: [half] }))
  })

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text.replace(/^```(?:json)?\n|\n```\s*$/g, ""))
  } catch {
    return undefined
  }
}

const scenario = (name: string, play: Scenario["play"]): Scenario => ({ name, play })

export const scenarios: ReadonlyArray<Scenario> = [
  scenario("text", (subject) => Effect.flatMap(whole(subject, requestOf("Say hello in one word.")), said)),
  scenario("streamed text", (subject) =>
    Effect.flatMap(streamed(subject, requestOf("Say hello in one sentence.")), said)
  ),
  scenario("tool call", (subject) =>
    Effect.gen(function* () {
      const reply = yield* afterResult(subject, "Use half to halve 8, then say the result.", "4", "result")
      return yield* said(reply)
    })
  ),
  scenario("parallel calls", (subject) =>
    Effect.gen(function* () {
      const reply = yield* streamed(subject, calling("Halve 8 and halve 10: call half twice, both at once."))
      return `${(yield* callsOf(reply)).length} in one reply`
    })
  ),
  scenario("structured output", (subject) =>
    Effect.gen(function* () {
      const asked = "Describe a cat as JSON with the fields name and legs."
      const reply = yield* whole(subject, requestOf(asked, { output: animal }))
      const value = parsed(Message.textOf(reply))
      const fits = typeof value === "object" && value !== null && "name" in value && "legs" in value
      return fits ? tokens(reply) : yield* unexpected(`no such JSON: ${Message.textOf(reply).slice(0, 80)}`)
    })
  ),
  scenario("forced call", (subject) =>
    Effect.gen(function* () {
      const request = requestOf("Say hello.", { tools: [half], toolChoice: { tool: "half" } })
      const [call] = yield* callsOf(yield* whole(subject, request))
      return `${call?.name ?? ""} was called`
    })
  ),
  scenario("bad arguments", (subject) =>
    Effect.gen(function* () {
      const asked = "Use half to halve 7. Where it refuses a number, call it with the next one."
      const reply = yield* afterResult(subject, asked, "The arguments do not fit: n must be even, got 7", "told")
      return `${(yield* callsOf(reply)).length} call after it`
    })
  ),
  scenario("tool error", (subject) =>
    Effect.gen(function* () {
      const asked = "Use half once to halve 12. If it fails, say why."
      return yield* said(yield* afterResult(subject, asked, "The calculator has no power.", "told"))
    })
  ),
  scenario("thinking", (subject) =>
    Effect.gen(function* () {
      const asked = "A bat and a ball cost 1.10 together, and the bat costs 1.00 more. What is the ball?"
      const reply = yield* streamed(subject, requestOf(asked), { reasoning: "high", maxTokens: 16_000 })
      yield* said(reply)
      const parts = reply.content.filter(({ type }) => type === "reasoning").length
      return `${parts} parts, ${reply.usage.reasoningTokens} tokens of thoughts`
    })
  ),
  scenario("thinking off", (subject) =>
    Effect.gen(function* () {
      const reply = yield* whole(subject, requestOf("Say hello in one word."), { reasoning: "none" })
      yield* said(reply)
      return `${reply.usage.reasoningTokens} tokens of thoughts`
    })
  ),
  scenario("long reply", (subject) =>
    Effect.gen(function* () {
      const request = requestOf("Count from one to two thousand, in words.")
      const reply = yield* streamed(subject, request, { maxTokens: 256 })
      return reply.finish === "length" ? tokens(reply) : yield* unexpected(`finish '${reply.finish}', and not 'length'`)
    })
  ),
  scenario("image", (subject) =>
    Effect.gen(function* () {
      const picture = Message.image("image/png", { data: redSquare(64) })
      const user = Message.user([Message.text("Which colour is this, in one word?"), picture])
      return yield* said(yield* whole(subject, requestOf([user])))
    })
  ),
  scenario("file", (subject) =>
    Effect.gen(function* () {
      const document = Message.file("application/pdf", { data: page("The word is crane.") }, "word.pdf")
      const user = Message.user([Message.text("Which word does this page name?"), document])
      return yield* said(yield* whole(subject, requestOf([user])))
    })
  ),
  scenario("usage", (subject) =>
    Effect.gen(function* () {
      const reply = yield* streamed(subject, requestOf("Say hello in one word."))
      const { inputTokens, outputTokens } = reply.usage
      return inputTokens > 0 && outputTokens > 0 ? tokens(reply) : yield* unexpected(`usage of ${tokens(reply)}`)
    })
  ),
  scenario("cache", (subject) =>
    Effect.gen(function* () {
      const system = Message.system("The desk is open from nine to five, on every day but Sunday. ".repeat(300))
      const request = requestOf([system, Message.user("When is the desk open?")])
      yield* whole(subject, request)
      const { usage } = yield* whole(subject, request)
      return `${usage.cachedInputTokens} of ${usage.inputTokens} tokens`
    })
  ),
  scenario("wrong key", (subject) => {
    const apiKey = Redacted.make("kintsugi-key-that-does-not-exist")
    return failsWith("AuthenticationError", whole(subject, requestOf("Say hello."), { apiKey }))
  }),
  scenario("unknown model", (subject) => {
    const name = "kintsugi-model-that-does-not-exist"
    return failsWith("ModelNotFoundError", whole(subject, requestOf("Say hello."), { name }))
  }),
  scenario("too long context", (subject) =>
    failsWith("ContextTooLongError", whole(subject, requestOf(`Count the words:${" a".repeat(subject.tooLong)}`)))
  ),
  {
    name: "stop early",
    isPartial: true,
    play: Effect.fnUntraced(function* (subject) {
      const model = yield* subject.model()
      const seen = yield* Ref.make(0)
      const parts = Stream.tap(model.stream(requestOf("Tell a story of three hundred words.")), () =>
        Ref.update(seen, (before) => before + 1)
      )
      yield* Stream.runDrain(Stream.takeUntil(parts, ({ type }) => type.endsWith("-delta")))
      return `left after ${yield* Ref.get(seen)} parts`
    })
  },
  scenario("content filter", (subject) =>
    // Some models answer it, and that is right as well: the table tells which.
    Effect.matchEffect(whole(subject, requestOf(refused)), {
      onFailure: (error) => (error._tag === "ContentFilteredError" ? Effect.succeed("filtered") : Effect.fail(error)),
      onSuccess: () => Effect.succeed("answered")
    })
  )
]

/**
 * Claude refuses this text, which stands for no harm (platform.claude.com, handling of streaming refusals, looked up on 2026-11-26). Of
 * other providers no such text is documented.
 */
const refused =
  "ANTHROPIC_MAGIC_STRING_TRIGGER_REFUSAL_1FAEFB6177B4672DEE07F9D3AFC62588CCD2631EDCF22E8CCC1FB35B501C9C86"
