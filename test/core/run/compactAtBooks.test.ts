/** What `Agent.compactAt` spends, and where it is at work: in sub-agents, in fixers, until an interruption. */
import { assert } from "@effect/vitest"
import { Agent, Compaction, Explanation, Message, Recovery, Tool, Usage } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Duration, Effect, Exit, Schema } from "effect"
import { calm, done, eventLog, play } from "../../_support/dialogue.ts"
import { it } from "../../_support/run.ts"
import { reader, requested } from "../recovery/_support/longConversations.ts"
import { lines, started } from "./_support/saying.ts"
import { spending } from "./_support/spending.ts"

const { answers, call, make, reply, replies, text } = ScriptedModel

it.run(
  "a summary is booked as a compaction, and its agent does not shorten its own conversation by itself [P1573]",
  (run) =>
    Effect.gen(function* () {
      const summing = yield* make(spending(900, 1, "look"), text("in short"))
      const page = play("look", {}, [Effect.succeed("more")])
      const compaction: Compaction.Compaction = Compaction.summarise(
        (input) => Effect.orDie(summer(input) as Effect.Effect<string, unknown>),
        { keepLast: 1 }
      )
      const summer = Agent.make("summer", { tools: [page.tool], model: summing.layer }).pipe(
        Agent.compactAt({ window: 1000, with: compaction })
      )
      const log = eventLog()
      const model = yield* make(spending(1, 1, "look"), spending(900, 1, "look"), done)
      const agent = reader(200).pipe(Agent.compactAt({ window: 1000, with: compaction }), log.listen)
      yield* run(agent, "go").pipe(Effect.provide(model.layer))
      assert.lengthOf(requested(model)[2] ?? [], 4)
      const end = log.end()
      assert(end?.type === "run-completed")
      assert.deepStrictEqual(
        end.ledger.map(({ agent, purpose }) => [agent, purpose]),
        [
          ["reader", "agent"],
          ["reader", "agent"],
          ["summer", "compaction"],
          ["summer", "compaction"],
          ["reader", "agent"]
        ]
      )
      assert.lengthOf(log.of("compacted"), 1)
      assert.deepStrictEqual(log.of("not-compacted"), [])
    })
)

it("`explain` counts the model calls of an agent that shortens the conversation, once before each turn [P1573]", () => {
  const summer = Agent.make("summer", { budget: { maxTurns: 2 } })
  const worker = Agent.make("worker", { budget: { maxTurns: 3 } })
  const compacting = worker.pipe(Agent.compactAt({ window: 1000, with: Compaction.summarise(summer) }))
  const explained = Agent.explain(compacting)
  // the first too: a chat that goes on from a transcript is measured before it
  assert.strictEqual(explained.worst.compactions, 3)
  assert.deepInclude(explained.worst, { turns: 3, modelCalls: 3 })
  assert.include(Explanation.formatRun(explained), "a run, at worst: 3 turns, 3 compactions, 0 tool calls")
  assert.isFalse("compactions" in Agent.explain(worker).worst)
  const time = ({ worst }: Explanation.RunExplanation) => Duration.toMillis(worst.time)
  const waiting = summer.pipe(
    Agent.onLlmError({
      ModelOverloadedError: Recovery.retry({ retries: 1, initialBackoff: "1 second", jitter: "none" })
    })
  )
  const slowly = worker.pipe(Agent.compactAt({ window: 1000, with: Compaction.summarise(waiting) }))
  assert.isAbove(time(Agent.explain(waiting)), 0)
  assert.strictEqual(time(Agent.explain(slowly)), 3 * time(Agent.explain(waiting)))
})

it.run("as many compactions as `explain` counts are made in a chat that goes on [P1573]", (run) =>
  Effect.gen(function* () {
    let made = 0
    const shortest = Compaction.make("shortest", ({ transcript }) =>
      transcript.slice(-1).map((message) =>
        message.role === "assistant"
          ? {
              ...message,
              content: message.content.map((part) =>
                part.type === "settled-call"
                  ? { ...part, settlement: { ...part.settlement, text: `s${++made}` } }
                  : part
              )
            }
          : message
      )
    )
    for (const maxTurns of [1, 2, 3]) {
      const page = play(
        "look",
        {},
        [1, 2].map(() => Effect.succeed("page ".repeat(100)))
      )
      const log = eventLog()
      const agent = Agent.make("worker", { tools: [page.tool], budget: { maxTurns } }).pipe(
        Agent.compactAt({ window: 10, with: shortest })
      )
      const model = yield* make(...Array.from({ length: maxTurns - 1 }, () => spending(900, 1, "look")), done)
      const from = ["one ", "two "].flatMap((word) => [
        Message.user(word.repeat(100)),
        Message.assistant(word.repeat(100))
      ])
      yield* run(Agent.resume(agent.pipe(log.listen)), { from, input: "go" }).pipe(Effect.provide(model.layer))
      assert.lengthOf(log.of("compacted"), maxTurns)
      assert.strictEqual(Agent.explain(agent).worst.compactions, maxTurns)
    }
  })
)

it.run("a sub-agent shortens its own conversation, and no other [P1570 P1573]", (run) =>
  Effect.gen(function* () {
    const inner = yield* make(spending(900, 1, "look"), text("inner"))
    const child = reader(200).pipe(
      Agent.compactAt({ window: 1000, with: Compaction.shrinkLargestResult({ maxLength: 20 }) })
    )
    const tool = Agent.asTool(child.pipe(Agent.withModel(inner.layer)), { name: "ask", description: "Asks." })
    const model = yield* make(
      replies(
        reply({
          content: [call("ask", { input: "hi" }, "c1")],
          usage: Usage.make({ inputTokens: 900, outputTokens: 1 })
        })
      ),
      done
    )
    const log = eventLog()
    const agent = Agent.make("worker", { tools: [tool] }).pipe(log.listen)
    yield* run(agent, "go").pipe(Effect.provide(model.layer))
    assert.deepStrictEqual(
      log.of("compacted").map(({ agent, turn }) => [agent, turn]),
      [["reader", 2]]
    )
  })
)

it.run("the agent of a fixer shortens its conversation as any other [P1570 P1573]", (run) =>
  Effect.gen(function* () {
    const fixing = yield* make(spending(900, 1, "look"), text('{"n":2}'))
    const mender = reader(200).pipe(
      Agent.compactAt({ window: 1000, with: Compaction.shrinkLargestResult({ maxLength: 20 }) }),
      Agent.withModel(fixing.layer)
    )
    const fetch = play("fetch", { coercion: [] }, [Effect.succeed("page")]).tool
    const model = yield* make(ScriptedModel.calls(call("fetch", '{"n":1,}', "c1")), done)
    const log = eventLog()
    const agent = Agent.make("worker", { tools: [fetch.pipe(Tool.onError({ InvalidArgs: Recovery.fix(mender) }))] })
    yield* run(agent.pipe(log.listen), "go").pipe(Effect.provide(model.layer))
    assert.deepStrictEqual(
      log.of("compacted").map(({ agent, turn }) => [agent, turn]),
      [["reader", 2]]
    )
  })
)

it.effect("an interruption while the conversation is shortened ends the run [P1572]", () =>
  Effect.gen(function* () {
    const model = yield* make(spending(900, 1, "look"))
    const never = Compaction.make("own", () => Effect.never)
    const run = yield* started(
      reader()
        .pipe(Agent.compactAt({ window: 1000, with: never }))
        .start("go"),
      model
    )
    yield* calm
    yield* run.interrupt
    assert.isTrue(Exit.hasInterrupts(yield* Effect.exit(run.outcome)))
    assert.lengthOf(model.requests, 1)
  })
)

it.effect("a call whose result is to come stays, and its result too [P1571]", () =>
  Effect.gen(function* () {
    let token = ""
    const order = Tool.deferred("order", {
      description: "Orders.",
      parameters: Schema.Struct({}),
      success: Schema.String,
      start: (_, context) => Effect.sync(() => ((token = context.token), { job: 1 })),
      wait: "continue",
      deadline: "1 hour"
    })
    const ordered = answers(() =>
      Effect.as(
        Effect.orDie(Tool.settle(token, Exit.succeed("ordered"))),
        reply({ content: [call("look", {}, "c3")], usage: Usage.make({ inputTokens: 900, outputTokens: 1 }) })
      )
    )
    const model = yield* make(spending(1, 1, "order"), spending(900, 1, "look"), ordered, done)
    const look = play("look", {}, [Effect.succeed("page ".repeat(50)), Effect.succeed("page ".repeat(50))]).tool
    const agent = Agent.make("worker", { tools: [order, look] }).pipe(
      Agent.compactAt({ window: 1000, with: Compaction.make("forget", () => []) })
    )
    const run = yield* started(agent.start("go"), model)
    yield* run.outcome
    const read = model.requests.map(({ messages }) => lines(messages).slice(1).join("; "))
    assert.deepStrictEqual(
      read.slice(2).map((one) => one.replace(/ is over.*$/, "")),
      [
        "model: order: deferred; model: look: result",
        "model: order: deferred; model: look: result; user: The call 'c1' of tool 'order', with the handle <data>{\"job\":1}</data>,"
      ]
    )
  })
)

it.run("what sends have used that broke off is booked, and is no part of the conversation [P1570 P703]", (run) =>
  Effect.gen(function* () {
    const resent = Usage.make({ inputTokens: 600, outputTokens: 10 })
    const usage = Usage.make({ inputTokens: 900, outputTokens: 15 })
    const looks = replies(reply({ content: [call("look", {}, "c1")], usage, resent }))
    const model = yield* make(spending(1, 1, "look"), looks, done)
    const log = eventLog()
    const agent = reader().pipe(
      Agent.compactAt({ window: 1000, with: Compaction.dropOldest({ keepLast: 1 }) }),
      log.listen
    )
    yield* run(agent, "go").pipe(Effect.provide(model.layer))
    assert.deepStrictEqual(log.of("compacted"), [])
    const [, second] = log.of("model-end")
    assert.deepInclude(second?.entry, { usage, resent })
  })
)
