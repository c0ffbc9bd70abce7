import { assert } from "@effect/vitest"
import { Agent, Budget, Compaction, LlmError, Message, Model, Recovery, Snapshot } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Schema, Stream } from "effect"
import { it } from "../../_support/run.ts"
import { batch, busy, done, eventLog, keptTranscript, scripted, settlements } from "../../_support/dialogue.ts"
import { asked, hello, namedModel } from "../../_support/namedModels.ts"

const { fails, make, text } = ScriptedModel

const tooLong = () => LlmError.ContextTooLongError.contextTooLong("scripted", 100, 120)

const compacting = <R>(compaction: Compaction.Compaction<R>) =>
  Agent.onLlmError({ ContextTooLongError: Recovery.compact(compaction) })

const keepOne = Compaction.dropOldest({ keepLast: 1 })

const systemOf = { role: "system", text: "Be brief." } as const

/** A tool that says `page 1`, `page 2` … at such a length. */
const pages = (length = 40) =>
  scripted(
    "look",
    ...Array.from({ length: 9 }, (_, index) => Effect.succeed(`page ${index + 1} ${".".repeat(length)}`))
  ).tool

const reader = (length?: number) =>
  Agent.make("reader", {
    prompt: systemOf.text,
    skills: [{ name: "read", description: "Reads.", tools: [pages(length)] }]
  })

/** What a request holds, short: roles, texts of users, and the numbers of the pages that were read. */
const outline = (messages: Message.Transcript) =>
  messages.map((message) => {
    if (message.role === "system") return "system"
    if (message.role === "user") return `user ${Message.textOf(message)}`
    return settlements([message])
      .map((line) => line.replace(/^result: (page \d) .*$/, "$1"))
      .join()
  })

const requested = (model: ScriptedModel.ScriptedModel) => model.requests.map(({ messages }) => outline(messages))

it.run("dropOldest keeps system messages, the user's, and calls with their results, and asks again [P1005]", (run) =>
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
    assert.deepStrictEqual(outline(keptTranscript(log.end())), [
      "system",
      "user go",
      "page 1",
      "page 2",
      "page 3",
      "page 4"
    ])
  })
)

const busyModel = LlmError.ModelOverloadedError.modelOverloaded("scripted")

it.run("at most twice in a turn, and afresh in the next [P1005]", (run) =>
  Effect.gen(function* () {
    const error = tooLong()
    const shrink = (max: number) => Compaction.shrinkLargestResult({ maxLength: max })
    const ladder = Recovery.ladder(
      Recovery.compact(shrink(40)),
      Recovery.compact(shrink(20)),
      Recovery.compact(shrink(10))
    )
    const long = fails(tooLong())
    const model = yield* make(batch("look"), long, long, batch("look"), long, long, fails(error))
    const log = eventLog()
    const agent = reader(60).pipe(Agent.onLlmError({ ContextTooLongError: ladder }), log.listen)
    assert.strictEqual(yield* Effect.flip(run(agent, "go").pipe(Effect.provide(model.layer))), error)
    assert.deepStrictEqual(
      log.of("compacted").map(({ turn }) => turn),
      [2, 2, 3, 3]
    )
    assert.strictEqual(log.of("verdict").at(-1)?.verdict, "compact exhausted")
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

it.run("where one gives up, the next rung is asked, with the original error [P1006]", (run) =>
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

it.run("an event says what was shortened, by how much, and what the model reads from there on [P1005]", (run) =>
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

const wordsOf = (message: Message.Message | undefined) => (message?.role === "user" ? Message.textOf(message) : "")

/** Two models in one run: that of the agent, and that of its summariser. */
const summariser = Effect.fnUntraced(function* (...steps: ReadonlyArray<ScriptedModel.Step>) {
  const model = yield* make(...steps)
  const agent = Agent.make("summariser", { prompt: "Sum up.", model: model.layer, budget: { maxTurns: 1 } })
  return { agent, model }
})

it.run("summarise has an agent sum up what goes; its attempts are booked as compaction [P1005 P703]", (run) =>
  Effect.gen(function* () {
    const { agent: summing, model: second } = yield* summariser(text("Two pages were read."))
    const model = yield* make(batch("look"), batch("look"), batch("look"), fails(tooLong()), done)
    const log = eventLog()
    const agent = reader().pipe(compacting(Compaction.summarise(summing, { keepLast: 1 })), log.listen)
    assert.strictEqual(yield* run(agent, "go").pipe(Effect.provide(model.layer)), "done")
    assert.deepStrictEqual(requested(model).at(-1), [
      "system",
      "user A part of this conversation was left out. This is a summary of it:\n\nTwo pages were read.",
      "user go",
      "page 3"
    ])
    const read = wordsOf(second.requests[0]?.messages[1])
    assert.match(
      read,
      /^Assistant called look: \{\}\nlook, result: page 1 \.+\nAssistant called look: .*\n.* page 2 \.+$/
    )
    const end = log.end()
    assert.deepStrictEqual(
      end?.type === "run-completed" ? end.ledger.map(({ agent, layer, outcome }) => [agent, layer, outcome]) : [],
      [
        ["reader", "agent", "used"],
        ["reader", "agent", "used"],
        ["reader", "agent", "used"],
        ["reader", "agent", "failed"],
        ["summariser", "compaction", "used"],
        ["reader", "agent", "used"]
      ]
    )
  })
)

it.run("a second summary sums up the first one too, and the user's own words stay the last ones [P1005]", (run) =>
  Effect.gen(function* () {
    const { agent: summing, model: second } = yield* summariser(text("One."), text("Two."))
    const long = fails(tooLong())
    const model = yield* make(batch("look"), batch("look"), long, batch("look"), long, done)
    const agent = reader().pipe(compacting(Compaction.summarise(summing, { keepLast: 1 })))
    yield* run(agent, "go").pipe(Effect.provide(model.layer))
    assert.match(wordsOf(second.requests[1]?.messages[1]), /^User: A part .*\n\nOne\.\n/)
    assert.deepStrictEqual(requested(model).at(-1)?.slice(2), ["user go", "page 3"])
    assert.match(requested(model).at(-1)?.[1] ?? "", /Two\.$/)
  })
)

it.run("a summariser that fails has given up, and is remembered among the failures [P1006]", (run) =>
  Effect.gen(function* () {
    const { agent: summing } = yield* summariser(fails(busyModel))
    const error = tooLong()
    const model = yield* make(batch("look"), batch("look"), fails(error))
    const seen: Array<unknown> = []
    const agent = reader().pipe(
      Agent.onLlmError({
        ContextTooLongError: Recovery.ladder(
          Recovery.compact(Compaction.summarise(summing, { keepLast: 1 })),
          Recovery.when((_, { previous }) => {
            seen.push(...previous)
            return Recovery.rethrow
          })
        )
      })
    )
    assert.strictEqual(yield* Effect.flip(run(agent, "go").pipe(Effect.provide(model.layer))), error)
    assert.deepStrictEqual(seen, [busyModel])
  })
)

it.run(
  "the budget of the run is that of its summariser: where it ends, the run ends, whatever the table says [P1005]",
  (run) =>
    Effect.gen(function* () {
      const { agent: summing } = yield* summariser()
      const model = yield* make(batch("look"), batch("look"), fails(tooLong()))
      const base = Agent.make("reader", {
        budget: { maxTurns: 3 },
        skills: [{ name: "read", description: "Reads.", tools: [pages()] }]
      })
      const agent = base.pipe(
        Agent.onLlmError({
          ContextTooLongError: Recovery.ladder(
            Recovery.compact(Compaction.summarise(summing, { keepLast: 1 })),
            Recovery.respondWith("never")
          )
        })
      )
      const error = yield* Effect.flip(run(agent, "go").pipe(Effect.provide(model.layer)))
      assert.deepInclude(error, { _tag: "BudgetExceededError", reason: "maxTurns", limit: 3, agent: "reader" })
    })
)

it.run("what a run was asked stays, also when the last word of a user is another one [P1005]", (run) =>
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

const conversation: Message.Transcript = [
  Message.system("Be brief."),
  Message.user("one"),
  Message.assistant("first"),
  Message.user("two"),
  Message.assistant("second"),
  Message.user("three")
]

const overflow = (transcript: Message.Transcript): Compaction.Overflow => ({ transcript, error: tooLong() })

it.effect("dropOldest drops a reply that would come before every user message [P1005]", () =>
  Effect.gen(function* () {
    const kept = (keepLast: number) =>
      Effect.map(Compaction.dropOldest({ keepLast }).compact(overflow(conversation)), (messages) =>
        messages.map((message) => conversation.indexOf(message))
      )
    assert.deepStrictEqual(yield* kept(1), [0, 5])
    assert.deepStrictEqual(yield* kept(2), [0, 5])
    assert.deepStrictEqual(yield* kept(3), [0, 3, 4, 5])
    assert.deepStrictEqual(yield* kept(9), [0, 1, 2, 3, 4, 5])
  })
)

it.effect("shrinkLargestResult cuts the longest result alone, and leaves the original as it was [P1005]", () =>
  Effect.gen(function* () {
    const settled = (id: string, value: string): Message.SettledCall => ({
      type: "settled-call",
      call: ScriptedModel.call("look", {}, id),
      settlement: { kind: "told", text: value }
    })
    const transcript: Message.Transcript = [
      Message.user("go"),
      { role: "assistant", content: [settled("c1", "x".repeat(20)), settled("c2", "y".repeat(30))] }
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

it.effect("after text was streamed nothing is shortened, unless the attempt may be made again [P1005]", () =>
  Effect.gen(function* () {
    const says: Model.Part = { type: "text-delta", text: "so far" }
    const table = { ContextTooLongError: Recovery.compact(keepOne) }
    for (const onPartial of ["fail", "restart"] as const) {
      const rest = onPartial === "restart" ? [done] : []
      const model = yield* make(batch("look"), batch("look"), fails(tooLong(), says), ...rest)
      const log = eventLog()
      const agent = reader().pipe(Agent.onLlmError(table, { onPartial }), log.listen)
      yield* Effect.exit(Stream.runDrain(agent.stream("go").pipe(Stream.provide(model.layer))))
      assert.strictEqual(log.end()?.type, onPartial === "restart" ? "run-completed" : "run-failed")
      assert.deepStrictEqual(
        log.of("run-failed").map(({ error }) => error instanceof LlmError.ContextTooLongError && error.partial),
        onPartial === "restart" ? [] : ["so far"]
      )
      assert.strictEqual(log.of("attempt-discarded").length, rest.length)
      assert.strictEqual(log.of("compacted").length, rest.length)
    }
  })
)

it.effect("a bare model with a table is asked with the short conversation [P1005]", () =>
  Effect.gen(function* () {
    const scriptedModel = yield* make(fails(tooLong()), done)
    const service = yield* Effect.provide(Effect.service(Model.Model), scriptedModel.layer)
    const guarded = Model.onError(service, { ContextTooLongError: Recovery.compact(keepOne) })
    const reply = yield* guarded.generate({ messages: conversation, tools: [], toolChoice: "auto" })
    assert.strictEqual(Message.textOf(reply), "done")
    assert.deepStrictEqual(requested(scriptedModel)[1], ["system", "user three"])
  })
)

it.run("nothing but an overflow changes what stands at the head of a request [P1110]", (run) =>
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

/** Drops the first message, however little that is. */
const oneLess = Compaction.make("one less", ({ transcript }) => transcript.slice(1))

const table = { ContextTooLongError: Recovery.compact<LlmError.ContextTooLongError>(oneLess) }

it.run("at most twice in a turn, however many tables a question passes [P1005]", (run) =>
  Effect.gen(function* () {
    const long = fails(tooLong())
    const model = yield* make(batch("look"), long, long, long, batch("look"), long, long, done)
    const layer = model.layer.pipe(Model.onError(table), Model.onError(table))
    const log = eventLog()
    const patient = Recovery.ladder(
      Recovery.compact<LlmError.ContextTooLongError>(oneLess),
      Recovery.retry({ retries: 1 })
    )
    const agent = reader(60).pipe(Agent.onLlmError({ ContextTooLongError: patient }), log.listen)
    assert.strictEqual(yield* run(agent, "go").pipe(Effect.provide(layer)), "done")
    // the third refusal leaves nothing to shorten any more: the next rung asks again
    assert.deepStrictEqual(
      log.of("compacted").map(({ turn }) => turn),
      [2, 2, 3, 3]
    )
  })
)

asked("at most twice for a bare model, however many tables stand around it [P1005]", (ask) =>
  Effect.gen(function* () {
    const long = fails(tooLong())
    const { requests, service } = yield* namedModel("m", long, long, long, long, long, long)
    const models = Model.fallback(Model.onError(service, table), { when: () => true })
    const guarded = Model.onError(models, table)
    const request = { ...hello, messages: conversation }
    const before = requests.length
    yield* Effect.flip(ask(guarded, request))
    assert.deepStrictEqual(
      requests.slice(before).map(({ messages }) => messages.length),
      [6, 5, 4]
    )
    // afresh with the next request
    yield* Effect.flip(ask(guarded, request))
    assert.strictEqual(requests.length, 6)
  })
)

it.effect("a question that was asked 10,000 times is not asked again with a shorter conversation [P1005 A210]", () =>
  Effect.gen(function* () {
    let asked = 0
    const busyOnce = LlmError.ModelOverloadedError.modelOverloaded("m")
    const service: Model.Service = {
      name: "m",
      provider: "p",
      generate: () => Effect.suspend(() => Effect.fail(++asked < 10_000 ? busyOnce : tooLong())),
      stream: () => Stream.empty
    }
    const guarded = Model.onError(service, {
      ModelOverloadedError: Recovery.retry({ retries: 1_000_000 }),
      ContextTooLongError: Recovery.compact(keepOne)
    })
    const error = yield* Effect.flip(guarded.generate({ messages: conversation, tools: [], toolChoice: "auto" }))
    assert.strictEqual(error._tag, "ContextTooLongError")
    assert.strictEqual(asked, 10_000)
  })
)
