/** Laws of conversations that are too long: what stays of them, and how often they are shortened. */
import { assert } from "@effect/vitest"
import { Agent, Compaction, LlmError, Message, Model, Recovery, Skill } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Exit, Layer, Stream } from "effect"
import fc from "fast-check"
import { toParts } from "../../packages/core/src/testing/ScriptedModel.ts"
import { eventLog, play, settlements } from "../_support/dialogue.ts"
import { lawOfRuns } from "./_support/runs.ts"
import { law } from "../_support/laws.ts"

const tooLong = () => LlmError.ContextTooLongError.make({ model: "m" })

const words = fc.string({ maxLength: 60 })

const callPart: fc.Arbitrary<Message.SettledCall> = fc
  .tuple(fc.string({ maxLength: 4 }), fc.constantFrom(...Message.Settlement.fields.kind.literals), words)
  .map(([id, kind, text]) => ({
    type: "settled-call",
    call: { type: "tool-call", id, name: "look", arguments: {} },
    settlement: { kind, text }
  }))

const message: fc.Arbitrary<Message.Message> = fc.oneof(
  { weight: 1, arbitrary: words.map(Message.system) },
  { weight: 2, arbitrary: words.map((text) => Message.user(text)) },
  {
    weight: 4,
    arbitrary: fc
      .array(fc.oneof(callPart, words.map(Message.text)), { maxLength: 4 })
      .map((content): Message.Assistant => ({ role: "assistant", content }))
  }
)

const transcript = fc.array(message, { maxLength: 14 })

const callsOf = (messages: Message.Transcript) =>
  messages.flatMap((one) =>
    one.role === "assistant" ? one.content.filter((part) => part.type === "settled-call") : []
  )

const isSubsequence = <A>(part: ReadonlyArray<A>, whole: ReadonlyArray<A>): boolean => {
  let at = 0
  for (const one of whole) if (one === part[at]) at++
  return at === part.length
}

law(
  "dropOldest keeps system messages, the last user message and the order, and drops whole messages alone [L1010]",
  fc.record({ transcript, keepLast: fc.integer({ min: 1, max: 6 }) }),
  ({ keepLast, transcript }) =>
    Effect.map(Compaction.dropOldest({ keepLast }).compact({ transcript, error: tooLong() }), (rest) => {
      assert.isTrue(isSubsequence(rest, transcript))
      const systems = transcript.filter(({ role }) => role === "system")
      assert.deepStrictEqual(
        rest.filter(({ role }) => role === "system"),
        systems
      )
      const lastUser = transcript.findLast(({ role }) => role === "user")
      if (lastUser !== undefined) assert.include(rest, lastUser)
      const talk = rest.filter(({ role }) => role !== "system")
      assert.isAtMost(talk.length, keepLast + 1)
      if (lastUser !== undefined) assert.strictEqual(talk[0]?.role, "user")
      const last = transcript.findLast(({ role }) => role !== "system")
      if (last !== undefined && lastUser !== undefined) assert.include(rest, last)
    })
)

law(
  "summarise keeps what dropOldest would, but for replies at the head, and gives the rest to its agent [L1010]",
  fc.record({ transcript, keepLast: fc.integer({ min: 1, max: 6 }) }),
  ({ keepLast, transcript }) => {
    const read: Array<string> = []
    const agent = (text: string) => Effect.sync(() => `summary ${read.push(text)}`)
    return Effect.map(Compaction.summarise(agent, { keepLast }).compact({ transcript, error: tooLong() }), (rest) => {
      const own = rest.filter((one) => transcript.includes(one))
      assert.isTrue(isSubsequence(own, transcript))
      const gone = transcript.filter((one) => !own.includes(one))
      assert.deepStrictEqual(read, gone.length === 0 ? [] : [Compaction.toText(gone)])
      assert.strictEqual(rest.length - own.length, read.length)
      const lastUser = transcript.findLast(({ role }) => role === "user")
      if (lastUser !== undefined)
        assert.strictEqual(
          rest.findLast(({ role }) => role === "user"),
          lastUser
        )
    })
  }
)

law(
  "shrinkLargestResult keeps every message and every call, and makes no text longer than it was or than its limit [L1010]",
  fc.record({ transcript, maxLength: fc.integer({ min: 1, max: 40 }) }),
  ({ maxLength, transcript }) =>
    Effect.map(Compaction.shrinkLargestResult({ maxLength }).compact({ transcript, error: tooLong() }), (rest) => {
      assert.strictEqual(rest.length, transcript.length)
      const [before, after] = [callsOf(transcript), callsOf(rest)]
      assert.deepStrictEqual(
        after.map(({ call, settlement }) => [call, settlement.kind]),
        before.map(({ call, settlement }) => [call, settlement.kind])
      )
      const changed = after.filter((one, index) => one.settlement.text !== before[index]?.settlement.text)
      assert.isAtMost(changed.length, 1)
      for (const { settlement } of changed) assert.isAtMost(Array.from(settlement.text).length, maxLength)
    })
)

/** Each reply calls a tool, until the model has been asked so often; a request above the limit is too long for it. */
lawOfRuns(
  "a run strictly shortens its conversation or stops, at most twice a turn, within what is explained, and loses nothing [L1010]",
  fc.record({
    limit: fc.integer({ min: 300, max: 3_000 }),
    texts: fc.array(fc.integer({ min: 0, max: 900 }), { minLength: 1, maxLength: 6 }),
    first: fc.integer({ min: 1, max: 4 }),
    second: fc.integer({ min: 1, max: 300 })
  }),
  Effect.fnUntraced(function* ({ first, limit, second, texts }, run) {
    const steps = texts.flatMap((_, index) => [ScriptedModel.calls(ScriptedModel.call("look", {}, `c${index}`))])
    const pages = texts.map((length, index) => Effect.succeed(`${index} ${".".repeat(length)}`))
    const { tool } = play("look", {}, pages)
    let replies = 0
    const requests: Array<number> = []
    const answering: ScriptedModel.ScriptedStep["answer"] = (request) =>
      Effect.suspend(() => {
        const { characters } = Compaction.sizeOf(request.messages)
        requests.push(characters)
        if (characters > limit) return Effect.fail(tooLong())
        const step = steps[replies++]
        return step === undefined
          ? Effect.succeed(ScriptedModel.reply({ content: [Message.text("done")] }))
          : step.answer(request)
      })
    const table = {
      ContextTooLongError: Recovery.ladder(
        Recovery.compact<LlmError.ContextTooLongError>(Compaction.dropOldest({ keepLast: first })),
        Recovery.compact<LlmError.ContextTooLongError>(Compaction.shrinkLargestResult({ maxLength: second }))
      )
    }
    const log = eventLog()
    const agent = Agent.make("a", {
      prompt: "Look.",
      skills: [Skill.make("look", { description: "Looks.", tools: [tool] })]
    }).pipe(Agent.onLlmError(table), log.listen)
    const exit = yield* Effect.exit(run(agent, "go").pipe(Effect.provide(modelOf(answering))))
    const perTurn = new Map<number, number>()
    for (const { after, before, turn } of log.of("compacted")) {
      assert.isBelow(after.characters, before.characters)
      perTurn.set(turn, (perTurn.get(turn) ?? 0) + 1)
    }
    for (const count of perTurn.values()) assert.isAtMost(count, 2)
    const { worst } = Recovery.explain(table)
    assert.strictEqual(worst.attempts, 3)
    for (const { attempt } of log.of("model-start")) assert.isAtMost(attempt, worst.attempts)
    const isAnswered = Exit.isSuccess(exit)
    assert.strictEqual(requests.filter((characters) => characters > limit).length, log.of("model-failed").length)
    const end = log.end()
    if (isAnswered || end?.type !== "run-failed") return
    assert.strictEqual(end.error, log.of("model-failed").at(-1)?.error)
    assert.deepStrictEqual(
      settlements(end.transcript).map((line) => line.length),
      texts.slice(0, replies).map((length) => "result: 0 ".length + length)
    )
  })
)

/** A model that answers each request alike. */
const modelOf = (answer: ScriptedModel.ScriptedStep["answer"]): Layer.Layer<Model.Model> =>
  Layer.succeed(Model.Model, {
    name: "m",
    provider: "p",
    generate: answer,
    stream: (request) => Stream.unwrap(Effect.map(answer(request), (reply) => Stream.fromIterable(toParts(reply))))
  })
