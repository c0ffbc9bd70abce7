import { assert } from "@effect/vitest"
import { Agent, Budget, Compaction, Message, Recovery, Snapshot } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Schema } from "effect"
import { it } from "../../_support/run.ts"
import { batch, busy, done, eventLog, lastTranscript, settlements } from "../../_support/dialogue.ts"
import {
  busyModel,
  compacting,
  conversation,
  keepOne,
  outline,
  pages,
  reader,
  requested,
  tooLong
} from "./_support/longConversations.ts"

const { fails, make, text } = ScriptedModel

it.run("dropOldest keeps the system's and the user's messages, and calls with their results [P1005]", (run) =>
  Effect.gen(function* () {
    const model = yield* make(batch("look"), batch("look"), batch("look"), fails(tooLong()), done)
    const agent = reader().pipe(compacting(keepOne))
    assert.strictEqual(yield* run(agent, "go").pipe(Effect.provide(model.layer)), "done")
    assert.deepStrictEqual(requested(model).slice(3), [
      ["system", "user go", "page 1", "page 2", "page 3"],
      ["system", "user go", "page 3"]
    ])
  })
)

it.run("the conversation stays short in later turns, and the run's own transcript stays whole [P1005]", (run) =>
  Effect.gen(function* () {
    const log = eventLog()
    const model = yield* make(
      batch("look"),
      batch("look"),
      fails(tooLong()),
      batch("look"),
      batch("look"),
      fails(busyModel)
    )
    const agent = reader().pipe(compacting(keepOne), log.listen)
    yield* Effect.flip(run(agent, "go").pipe(Effect.provide(model.layer)))
    assert.deepStrictEqual(requested(model).slice(2), [
      ["system", "user go", "page 1", "page 2"],
      ["system", "user go", "page 2"],
      ["system", "user go", "page 2", "page 3"],
      ["system", "user go", "page 2", "page 3", "page 4"]
    ])
    assert.deepStrictEqual(outline(lastTranscript(log.end())), [
      "system",
      "user go",
      "page 1",
      "page 2",
      "page 3",
      "page 4"
    ])
  })
)

it.run("a compaction that makes nothing shorter leaves the original error, without a call [P1006]", (run) =>
  Effect.gen(function* () {
    const same = Compaction.make("same", ({ transcript }) => transcript)
    const longer = Compaction.make("longer", ({ transcript }) => [...transcript, Message.user("and more")])
    const failing = Compaction.make("failing", () => Effect.fail(busy()))
    for (const compaction of [keepOne, same, longer, failing, Compaction.shrinkLargestResult({ maxLength: 10 })]) {
      const error = tooLong()
      const model = yield* make(fails(error))
      const log = eventLog()
      const agent = reader().pipe(compacting(compaction), log.listen)
      assert.strictEqual(yield* Effect.flip(run(agent, "go").pipe(Effect.provide(model.layer))), error)
      assert.strictEqual(model.requests.length, 1)
      assert.deepStrictEqual(log.of("compacted"), [])
    }
  })
)

it.run("if a compaction gives up, the next rung decides about the original error [P1006]", (run) =>
  Effect.gen(function* () {
    const error = tooLong()
    const model = yield* make(fails(error))
    const agent = reader().pipe(
      Agent.onLlmError({
        ContextTooLongError: Recovery.ladder(
          Recovery.compact(keepOne),
          Recovery.when((seen, { previous }) => {
            assert.strictEqual(seen, error)
            assert.deepStrictEqual(previous, [])
            return Recovery.respondWith("too much to read")
          })
        )
      })
    )
    assert.strictEqual(yield* run(agent, "go").pipe(Effect.provide(model.layer)), "too much to read")
  })
)

it.run("an event has what was shortened, by how much, and what the model reads from there on [P1005]", (run) =>
  Effect.gen(function* () {
    const log = eventLog()
    const model = yield* make(batch("look"), batch("look"), fails(tooLong()), done)
    yield* run(reader().pipe(compacting(keepOne), log.listen), "go").pipe(Effect.provide(model.layer))
    const [event] = log.of("compacted")
    const [before, after] = [model.requests[2]?.messages ?? [], model.requests[3]?.messages ?? []]
    assert.deepInclude(event, {
      compaction: "dropOldest",
      turn: 3,
      before: Compaction.sizeOf(before),
      after: Compaction.sizeOf(after)
    })
    assert.deepStrictEqual(event?.transcript, after)
    assert.strictEqual(event?.before.characters, JSON.stringify(before).length - before.length - 1)
    assert.deepStrictEqual(
      log.of("verdict").map(({ attempt, layer, tag, verdict }) => [layer, tag, verdict, attempt]),
      [["model", "ContextTooLongError", "compact", 1]]
    )
  })
)

it.run("the run's input stays, also if the last message of a user is another one [P1005]", (run) =>
  Effect.gen(function* () {
    const answer = Schema.Struct({ n: Schema.Finite })
    const model = yield* make(batch("look"), text("no number"), fails(tooLong()), text('{"n":1}'))
    const agent = Agent.make("reader", {
      output: answer,
      skills: [{ name: "read", description: "Reads.", tools: [pages()] }]
    }).pipe(Agent.onLlmError({ ContextTooLongError: Recovery.compact(keepOne) }))
    assert.deepStrictEqual(yield* run(agent, "go").pipe(Effect.provide(model.layer)), { n: 1 })
    const sent = requested(model).at(-1) ?? []
    assert.strictEqual(sent[0], "user go")
    assert.strictEqual(sent.length, 2)
  })
)

const overflow = (transcript: Message.Transcript): Parameters<Compaction.Compaction["compact"]>[0] => ({
  transcript,
  error: tooLong()
})

it.effect("dropOldest drops a reply that would come before every user message [P1005]", () =>
  Effect.gen(function* () {
    const retained = (keepLast: number) =>
      Effect.map(Compaction.dropOldest({ keepLast }).compact(overflow(conversation)), (messages) =>
        messages.map((message) => conversation.indexOf(message))
      )
    assert.deepStrictEqual(yield* retained(1), [0, 5])
    assert.deepStrictEqual(yield* retained(2), [0, 5])
    assert.deepStrictEqual(yield* retained(3), [0, 3, 4, 5])
    assert.deepStrictEqual(yield* retained(9), [0, 1, 2, 3, 4, 5])
  })
)

it.effect("summarise keeps a reply that comes right behind the summary [P1005]", () =>
  Effect.gen(function* () {
    const read: Array<string> = []
    const summariser = (text: string) => Effect.sync(() => (read.push(text), "in short"))
    const messages = yield* Compaction.summarise(summariser, { keepLast: 2 }).compact(overflow(conversation))
    const [system, summary, ...rest] = messages
    assert.deepStrictEqual([system, ...rest], [conversation[0], conversation[4], conversation[5]])
    assert.strictEqual(
      summary?.role === "user" ? Message.textOf(summary) : "",
      "A part of this conversation was left out. This is a summary of it:\n\n<data>in short</data>"
    )
    assert.lengthOf(read, 1)
  })
)

it.effect("the parts of a user message come in lines of their own in the text of a conversation [P1005]", () =>
  Effect.gen(function* () {
    const read: Array<string> = []
    const summariser = (text: string) => Effect.sync(() => (read.push(text), "in short"))
    const shown: Message.User = {
      role: "user",
      content: [Message.text("see"), Message.image("image/png", { data: "AA==" }), Message.text("and say")]
    }
    const transcript = [shown, Message.assistant("well"), Message.user("more"), Message.assistant("so")]
    yield* Compaction.summarise(summariser, { keepLast: 2 }).compact(overflow(transcript))
    assert.deepStrictEqual(read, ["User: see\n[image]\nand say\nAssistant: well"])
  })
)

it.effect(
  "shrinkLargestResult cuts the parts of a result to the same length, and drops texts without a rest [P1005]",
  () =>
    Effect.gen(function* () {
      const image = Message.image("image/png", { data: "AA==" })
      const settlement: Message.Settlement = {
        kind: "result",
        text: "x".repeat(30),
        parts: [Message.text("x".repeat(9)), image, Message.text("y".repeat(9)), Message.text("z")]
      }
      const call = ScriptedModel.call("look", {}, "c1")
      const transcript: Message.Transcript = [
        Message.user("go"),
        { role: "assistant", content: [{ type: "settled-call", call, settlement }] }
      ]
      const shrink = Compaction.shrinkLargestResult({ maxLength: 9 })
      assert.strictEqual(shrink.name, "shrinkLargestResult")
      const [, message] = yield* shrink.compact(overflow(transcript))
      assert.deepStrictEqual(message, {
        role: "assistant",
        content: [
          {
            type: "settled-call",
            call,
            settlement: { kind: "result", text: `${"x".repeat(6)}...`, parts: [Message.text("x".repeat(9)), image] }
          }
        ]
      })
    })
)

it.effect("shrinkLargestResult cuts the longest result alone, and leaves the original as it was [P1005]", () =>
  Effect.gen(function* () {
    const callWith = (id: string, value: string): Message.SettledCall => ({
      type: "settled-call",
      call: ScriptedModel.call("look", {}, id),
      settlement: { kind: "told", text: value }
    })
    const transcript: Message.Transcript = [
      Message.user("go"),
      { role: "assistant", content: [callWith("c1", "x".repeat(20)), callWith("c2", "y".repeat(30))] }
    ]
    const before = JSON.stringify(transcript)
    const messages = yield* Compaction.shrinkLargestResult({ maxLength: 10 }).compact(overflow(transcript))
    assert.deepStrictEqual(settlements(messages), [`told: ${"x".repeat(20)}`, `told: ${"y".repeat(7)}...`])
    assert.strictEqual(JSON.stringify(transcript), before)
  })
)

it("counts are whole numbers of at least 1 [P1005]", () => {
  for (const bad of [0, -1, 1.5, NaN, Infinity]) {
    assert.throws(() => Compaction.dropOldest({ keepLast: bad }), RangeError)
    assert.throws(() => Compaction.summarise(Effect.succeed, { keepLast: bad }), RangeError)
    assert.throws(() => Compaction.shrinkLargestResult({ maxLength: bad }), RangeError)
  }
})

it.effect(
  "a run that is resumed from its snapshot goes on with the short conversation, and keeps the whole one [P1005]",
  () =>
    Effect.gen(function* () {
      const steps = [batch("look"), batch("look"), fails(tooLong()), batch("look"), done]
      const resumable = reader().pipe(compacting(keepOne))
      const checkpoint = resumable.pipe(Agent.onBudgetExceeded(() => Budget.checkpoint))
      const straight = yield* make(...steps)
      yield* reader().pipe(compacting(keepOne))("go").pipe(Effect.provide(straight.layer))
      const model = yield* make(...steps)
      const first = yield* Agent.resume(checkpoint)
        .start({ from: [Message.user("go")], budget: { maxTurns: 3 } })
        .pipe(
          Effect.flatMap(({ outcome }) => outcome),
          Effect.provide(model.layer)
        )
      assert.strictEqual(first._tag, "Suspended")
      if (first._tag !== "Suspended") return
      const snapshot = yield* Snapshot.fromJson(JSON.parse(JSON.stringify(Snapshot.toJson(first.snapshot))))
      assert.deepStrictEqual(outline(snapshot.transcript), ["system", "user go", "page 1", "page 2", "page 3"])
      assert.deepStrictEqual(outline(snapshot.compacted?.head ?? []), ["system", "user go"])
      assert.strictEqual(snapshot.compacted?.from, 3)
      const output = yield* Agent.resume(resumable)({ from: snapshot, budget: { maxTurns: 9 } }).pipe(
        Effect.provide(model.layer)
      )
      assert.strictEqual(output, "done")
      assert.deepStrictEqual(requested(model), requested(straight))
    })
)

it.run("only an overflow changes the head of a request [P1110]", (run) =>
  Effect.gen(function* () {
    const model = yield* make(batch("look"), batch("look"), fails(tooLong()), batch("look"), done)
    yield* run(reader().pipe(compacting(keepOne)), "go").pipe(Effect.provide(model.layer))
    const [first, second, long, short, last] = model.requests.map(({ messages }) => messages)
    const extendsIt = (later: Message.Transcript = [], earlier: Message.Transcript = []) =>
      earlier.every((message, index) => later[index] === message)
    assert.isTrue(extendsIt(second, first) && extendsIt(long, second) && extendsIt(last, short))
    assert.isFalse(extendsIt(short, long))
  })
)

it("the text of a conversation has a line for each text and call, and none for thoughts [P1005]", () => {
  const settlement = { kind: "result", text: "ok" } as const
  const call = { type: "tool-call", id: "c1", name: "look", arguments: { n: 1 } } as const
  const transcript: Message.Transcript = [
    { role: "system", text: "Be brief." },
    Message.user("go"),
    {
      role: "assistant",
      content: [{ type: "reasoning", text: "hm" }, Message.text("I look."), { type: "settled-call", call, settlement }]
    }
  ]
  assert.deepStrictEqual(Compaction.toText(transcript).split("\n").slice(0, 4), [
    "System: Be brief.",
    "User: go",
    "Assistant: I look.",
    'Assistant called look: {"n":1}'
  ])
})
