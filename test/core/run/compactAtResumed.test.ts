/** `Agent.compactAt` at the first turn of a run that goes on. */
import { assert } from "@effect/vitest"
import { Agent, Budget, Compaction, Message, Model, Skill, Snapshot, Tool, Usage } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Cause, Effect, Exit, Layer } from "effect"
import { it } from "../../_support/run.ts"
import { agentWith, done, eventLog, overADay, scripted } from "../../_support/dialogue.ts"
import { deciding, outcomeOf, snapshotOf } from "../../_support/suspension.ts"
import { keepOne, outline, requested } from "../recovery/_support/longConversations.ts"
import { cut } from "./_support/continued.ts"
import { spending } from "./_support/spending.ts"

const { make } = ScriptedModel

/** About 400 tokens. */
const chat = ["one", "two"].flatMap((word) => [Message.user(word), Message.assistant(`${word} `.repeat(200))])

it.run("a chat that goes on is measured by an estimate before its first turn [P1570]", (run) =>
  Effect.gen(function* () {
    for (const { shortens, window } of [
      { window: 400, shortens: true },
      { window: 1000, shortens: false }
    ]) {
      const model = yield* make(done)
      const log = eventLog()
      const agent = Agent.resume(agentWith().pipe(Agent.compactAt({ window, with: keepOne }), log.listen))
      yield* run(agent, { from: chat, input: "three" }).pipe(Effect.provide(model.layer))
      assert.deepStrictEqual(
        log.of("compacted").map(({ ahead, turn }) => [turn, ahead?.window]),
        shortens ? [[1, window]] : []
      )
      assert.lengthOf(model.requests[0]?.messages ?? [], shortens ? 3 : 5)
      assert.deepStrictEqual(model.requests[0]?.messages.at(-1), Message.user("three"))
    }
  })
)

it.run("it is not measured again before a reply has told its usage, and then by that [P1570 P1572]", (run) =>
  Effect.gen(function* () {
    const look = scripted("look", Effect.succeed("page"), Effect.succeed("page"), Effect.succeed("page"))
    const model = yield* make(spending(Number.NaN, 1, "look"), spending(1, 1, "look"), spending(900, 1, "look"), done)
    const log = eventLog()
    const agent = agentWith(look.tool).pipe(Agent.compactAt({ window: 400, with: keepOne }), log.listen)
    yield* run(Agent.resume(agent), { from: chat, input: "three" }).pipe(Effect.provide(model.layer))
    assert.deepStrictEqual(
      log.of("compacted").map(({ turn }) => turn),
      [1, 4]
    )
  })
)

it.run("a transcript without a reply has nothing to be measured by [P1570]", (run) =>
  Effect.gen(function* () {
    const model = yield* make(done)
    const log = eventLog()
    const agent = Agent.resume(agentWith().pipe(Agent.compactAt({ window: 10, with: keepOne }), log.listen))
    const from = [Message.user("one ".repeat(100)), Message.user("two ".repeat(100))]
    yield* run(agent, { from, input: "three" }).pipe(Effect.provide(model.layer))
    assert.deepStrictEqual([...log.of("compacted"), ...log.of("not-compacted")], [])
    assert.lengthOf(model.requests[0]?.messages ?? [], 3)
  })
)

it.run("a first message that is a reply is one to measure by, and a reply that broke off is none [P1570]", (run) =>
  Effect.gen(function* () {
    const long = "two ".repeat(100)
    for (const { from, shortens } of [
      { from: [Message.assistant(long), Message.user("one")], shortens: true },
      { from: [Message.user("one"), cut(long)], shortens: false }
    ]) {
      const model = yield* make(done)
      const log = eventLog()
      const forget = Compaction.make("forget", () => [])
      const agent = Agent.resume(agentWith().pipe(Agent.compactAt({ window: 10, with: forget }), log.listen))
      yield* run(agent, { from, input: "three" }).pipe(Effect.provide(model.layer))
      assert.lengthOf(log.of("compacted"), shortens ? 1 : 0)
    }
  })
)

it.run("of a chat that is forgotten, a last reply without calls goes too [P1571]", (run) =>
  Effect.gen(function* () {
    const model = yield* make(done)
    const forget = Compaction.make("forget", () => [])
    const agent = Agent.resume(agentWith().pipe(Agent.compactAt({ window: 400, with: forget })))
    yield* run(agent, { from: chat, input: "three" }).pipe(Effect.provide(model.layer))
    assert.deepStrictEqual(model.requests[0]?.messages, [Message.user("three")])
  })
)

it.run("of words that are said several times, each stays where it is [P1571]", (run) =>
  Effect.gen(function* () {
    const from = ["a", "b"].flatMap((word) => [Message.user("go"), Message.assistant(`${word} `.repeat(400))])
    const nothing = Compaction.make("nothing", () => [])
    const model = yield* make(done)
    const agent = Agent.resume(agentWith().pipe(Agent.compactAt({ window: 400, with: nothing })))
    yield* run(agent, { from, input: "go" }).pipe(Effect.provide(model.layer))
    assert.deepStrictEqual(model.requests[0]?.messages, [Message.user("go"), Message.user("go"), Message.user("go")])
  })
)

it.run("a run is not measured by a reply of its sub-agent [P1570]", (run) =>
  Effect.gen(function* () {
    const inner = yield* make(spending(900))
    const child = Agent.asTool(Agent.make("child", { model: inner.layer }), { name: "ask", description: "Asks." })
    const log = eventLog()
    const agent = agentWith(child).pipe(Agent.compactAt({ window: 1000, with: keepOne }), log.listen)
    const model = yield* make(ScriptedModel.calls(ScriptedModel.call("ask", { input: "why?" })), done)
    yield* run(agent, "go").pipe(Effect.provide(model.layer))
    assert.deepStrictEqual([...log.of("compacted"), ...log.of("not-compacted")], [])
  })
)

/** The models of a layer, with this window. */
const declaring = (window: number | undefined) => (layer: Layer.Layer<Model.Model>) =>
  Layer.effect(
    Model.Model,
    Effect.map(Model.Model, (model) => ({ ...model, ...(window === undefined ? {} : { contextWindow: window }) }))
  ).pipe(Layer.provide(layer))

const gated = () =>
  Agent.make("worker", {
    tools: [scripted("look", Effect.succeed("page ".repeat(5))).tool.pipe(Tool.requireApproval({ validFor: "1 day" }))]
  })

it.effect("the window is that of the model that was chosen for the turn before the suspension [P1570 P1551]", () =>
  Effect.gen(function* () {
    const cases = [
      { own: 1_000_000, chosen: 1000, shortens: true },
      { own: 1000, chosen: 1_000_000, shortens: false },
      { own: undefined, chosen: 1000, shortens: true },
      { own: 1000, chosen: undefined, shortens: false }
    ]
    for (const { chosen, own, shortens } of cases) {
      const model = yield* make(spending(900, 1, "look"), done)
      const log = eventLog()
      const agent = gated().pipe(
        Agent.prepareTurn(() => Effect.succeed({ model: declaring(chosen)(model.layer) })),
        Agent.compactAt({ with: Compaction.make("less", ({ transcript }) => transcript.slice(1)) }),
        log.listen
      )
      const other = { ...model, layer: declaring(own)(model.layer) }
      const taken = yield* snapshotOf(
        yield* outcomeOf(
          Agent.resume(agent),
          { from: [Message.user("one"), Message.assistant("two")], input: "three" },
          other
        )
      )
      assert.strictEqual(taken.prepared?.contextWindow, chosen)
      const from = yield* Snapshot.fromJson(Snapshot.toJson(taken))
      const outcome = yield* outcomeOf(Agent.resume(agent), deciding(from), other)
      assert.strictEqual(outcome._tag, "Completed")
      assert.lengthOf(log.of("compacted"), shortens ? 1 : 0, `${own} ${chosen}`)
    }
  })
)

it.effect("what was shortened before the suspension is not measured by the reply before it [P1570]", () =>
  Effect.gen(function* () {
    const look = scripted("look", Effect.succeed("page"), Effect.succeed("page"))
    const log = eventLog()
    const agent = Agent.make("worker", { tools: [look.tool], budget: { maxDuration: "1 second" } }).pipe(
      Agent.compactAt({ window: 1000, with: keepOne }),
      Agent.onBudgetExceeded(() => Budget.checkpoint),
      log.listen
    )
    const never = ScriptedModel.answers(() => Effect.never)
    const model = yield* make(spending(1, 1, "look"), spending(900, 1, "look"), never, done)
    const exit = yield* overADay(outcomeOf(agent, "go", model))
    assert(Exit.isSuccess(exit))
    const from = yield* snapshotOf(exit.value)
    const outcome = yield* outcomeOf(Agent.resume(agent), { from, budget: { maxDuration: "7 days" } }, model)
    assert.deepInclude(outcome, { _tag: "Completed", output: "done" })
    assert.deepStrictEqual(
      log.of("compacted").map(({ turn }) => turn),
      [3]
    )
  })
)

it.run("a model that is chosen for each turn has a window, although the agent's own has none [P1570]", (run) =>
  Effect.gen(function* () {
    for (const isDeclared of [true, false]) {
      const look = scripted("look", Effect.succeed("page"), Effect.succeed("page"))
      const model = yield* make(spending(1, 1, "look"), spending(900, 1, "look"), done)
      const log = eventLog()
      const agent = agentWith(look.tool).pipe(
        Agent.prepareTurn(() => Effect.succeed({ model: declaring(isDeclared ? 1000 : undefined)(model.layer) })),
        Agent.compactAt({ with: keepOne }),
        log.listen
      )
      yield* run(agent, "go").pipe(Effect.provide(model.layer))
      assert.lengthOf(log.of("compacted"), isDeclared ? 1 : 0)
      assert.deepStrictEqual(
        log.of("not-compacted").map(({ turn, why }) => [turn, why]),
        isDeclared ? [] : [[2, "no-window"]]
      )
      assert.lengthOf(outline(model.requests[2]?.messages ?? []), isDeclared ? 2 : 3)
    }
  })
)

it.run("of what it was given, the input stays as a guardrail has replaced it [P1571]", (run) =>
  Effect.gen(function* () {
    const look = scripted("look", Effect.succeed("page"), Effect.succeed("page"))
    const model = yield* make(spending(1, 1, "look"), spending(900, 1, "look"), done)
    const agent = agentWith(look.tool).pipe(
      Agent.guardInput(() => Agent.guard.replace("harmless"), { mode: "before" }),
      Agent.compactAt({ window: 1000, with: Compaction.make("forget", () => []) })
    )
    yield* run(agent, "secret").pipe(Effect.provide(model.layer))
    assert.deepStrictEqual(requested(model)[2], ["user harmless", "result: page"])
  })
)

it.effect("a sub-agent that was suspended is measured by its own last reply [P1570]", () =>
  Effect.gen(function* () {
    const inner = yield* make(spending(1, 1, "look"), spending(900, 1, "look"), done)
    const pages = scripted("look", Effect.succeed("page ".repeat(50)), Effect.succeed("page ".repeat(50))).tool
    const child = Agent.make("child", {
      tools: [pages.pipe(Tool.requireApproval({ validFor: "1 day" }))],
      model: inner.layer
    }).pipe(Agent.compactAt({ window: 1000, with: keepOne }))
    const log = eventLog()
    const agent = agentWith(Agent.asTool(child, { name: "ask", description: "Asks." })).pipe(log.listen)
    const model = yield* make(ScriptedModel.calls(ScriptedModel.call("ask", { input: "why?" })), done)
    const first = yield* snapshotOf(yield* outcomeOf(agent, "go", model))
    const second = yield* snapshotOf(yield* outcomeOf(Agent.resume(agent), deciding(first), model))
    assert.deepInclude(yield* outcomeOf(Agent.resume(agent), deciding(second), model), { output: "done" })
    assert.deepStrictEqual(
      log.of("compacted").map(({ agent, turn }) => [agent, turn]),
      [["child", 3]]
    )
  })
)

it.effect("the end of the time of the run ends a compaction, and the run with it [P1572]", () =>
  Effect.gen(function* () {
    const look = scripted("look", Effect.succeed("page"))
    const model = yield* make(spending(900, 1, "look"))
    const agent = Agent.make("worker", { tools: [look.tool], budget: { maxDuration: "1 second" } }).pipe(
      Agent.compactAt({ window: 1000, with: Compaction.make("slow", () => Effect.never) })
    )
    const exit = yield* overADay(outcomeOf(agent, "go", model))
    assert(Exit.isFailure(exit))
    assert.deepInclude(Cause.squash(exit.cause), { _tag: "BudgetExceededError", reason: "maxDuration" })
  })
)

it.run("the reply that has chosen a skill is no reply of the conversation: nothing is measured by it [P1570]", (run) =>
  Effect.gen(function* () {
    const choosing = ScriptedModel.replies(
      ScriptedModel.reply({
        content: [Message.text(JSON.stringify({ name: "talking", confidence: 1 }))],
        usage: Usage.make({ inputTokens: 900, outputTokens: 50 })
      })
    )
    const skills = ["talking", "reading"].map((name) => Skill.make(name, { description: name }))
    for (const { shortens, window } of [
      // the chat has about 400 tokens
      { window: 1000, shortens: false },
      { window: 400, shortens: true }
    ]) {
      const model = yield* make(choosing, done)
      const log = eventLog()
      const agent = Agent.make("worker", { skills }).pipe(Agent.compactAt({ window, with: keepOne }), log.listen)
      yield* run(Agent.resume(agent), { from: chat, input: "three" }).pipe(Effect.provide(model.layer))
      assert.lengthOf(log.of("skill-chosen"), 1)
      assert.lengthOf(log.of("compacted"), shortens ? 1 : 0)
      assert.deepStrictEqual(log.of("not-compacted"), [])
    }
  })
)
