/** Conversations with agents of several skills: each new word is routed afresh, and the model reads one system message. */
import { assert } from "@effect/vitest"
import { Agent, Budget, Message, Router, RunError, Skill } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect } from "effect"
import { it } from "../../_support/run.ts"
import { batch, eventLog, scripted } from "../../_support/dialogue.ts"
import { outcomeOf, snapshotOf } from "../../_support/suspension.ts"

const { make, text } = ScriptedModel

const prompts = { billing: "Bill.", support: "Help." } as const

const skills = [
  Skill.make("billing", { description: "Bills.", prompt: prompts.billing }),
  Skill.make("support", { description: "Helps.", prompt: prompts.support })
] as const

const wanted = (input: string): "billing" | "support" => (input.includes("bill") ? "billing" : "support")

const desk = Agent.make("desk", { prompt: "Be brief.", skills }).pipe(Agent.route(Router.byRule(wanted)))

const systems = (messages: Message.Transcript | undefined): ReadonlyArray<string> =>
  (messages ?? []).flatMap((message) => (message.role === "system" ? [message.text] : []))

const rolesOf = (messages: Message.Transcript | undefined) => (messages ?? []).map(({ role }) => role)

it.run(
  "a new message in a conversation is routed afresh, and its skill reads its own prompt alone [A1002 A911]",
  (run) =>
    Effect.gen(function* () {
      const log = eventLog()
      const model = yield* make(text("billed"), text("helped"), text("billed again"), text("and again"))
      const agent = desk.pipe(log.listen)
      const talking = Effect.provide(model.layer)
      yield* talking(run(agent, "a bill"))
      let said: Message.Transcript = [...(model.requests[0]?.messages ?? []), Message.assistant("billed")]
      for (const [word, answer] of [
        ["help me", "helped"],
        ["the bill", "billed again"],
        ["another bill", "and again"]
      ] as const) {
        assert.strictEqual(yield* talking(run(Agent.resume(agent), { from: said, input: word })), answer)
        said = [...(model.requests.at(-1)?.messages ?? []), Message.assistant(answer)]
      }
      assert.deepStrictEqual(
        model.requests.map(({ messages }) => systems(messages)),
        [["Be brief.\n\nBill."], ["Be brief.\n\nHelp."], ["Be brief.\n\nBill."], ["Be brief.\n\nBill."]]
      )
      assert.strictEqual(
        rolesOf(model.requests[3]?.messages).join(" "),
        "system user assistant user assistant user assistant user"
      )
      assert.deepStrictEqual(
        log.of("skill-chosen").map(({ skill }) => skill),
        ["billing", "support", "billing", "billing"]
      )
    })
)

it.run("a conversation whose message fits no skill fails with its transcript, and can resume [A1003 P406]", (run) =>
  Effect.gen(function* () {
    const agent = Agent.make("desk", { skills })
    const none = text(JSON.stringify({ name: "none", confidence: 1 }))
    const model = yield* make(none, text(JSON.stringify({ name: "support", confidence: 1 })), text("helped"))
    const from = [Message.system("Bill."), Message.user("a bill"), Message.assistant("billed")]
    const failing = run(Agent.resume(agent), { from, input: "what?" })
    const error = yield* Effect.flip(failing.pipe(Effect.provide(model.layer)))
    assert(error instanceof RunError.RoutingError)
    assert.deepStrictEqual(error.transcript, [...from, Message.user("what?")])
    assert.deepInclude(error.usage, { inputTokens: 10, outputTokens: 5 })
    const resumption = run(Agent.resume(agent), { from: error.transcript })
    assert.strictEqual(yield* resumption.pipe(Effect.provide(model.layer)), "helped")
    assert.deepStrictEqual(systems(model.requests.at(-1)?.messages), ["Help."])
  })
)

it.run("a checkpoint resumes its skill; with a new message, the skill that fits it [A1002 A909]", (run) =>
  Effect.gen(function* () {
    const look = scripted("look", Effect.succeed("seen"))
    const agent = Agent.make("desk", {
      budget: { maxTurns: 1 },
      skills: [Skill.make("billing", { description: "Bills.", prompt: "Bill.", tools: [look.tool] }), skills[1]]
    }).pipe(
      Agent.route(Router.byRule(wanted)),
      Agent.onBudgetExceeded(() => Budget.checkpoint)
    )
    const model = yield* make(batch("look"), text("on"), text("helped"))
    const from = yield* snapshotOf(yield* outcomeOf(agent, "a bill", model))
    assert.strictEqual(from.skill, "billing")
    const resumed = Agent.resume(agent)
    const budget = { maxTurns: 9 }
    assert.strictEqual(yield* run(resumed, { from, budget }).pipe(Effect.provide(model.layer)), "on")
    const turned = run(resumed, { from, budget, input: "help me", repeat: true })
    assert.strictEqual(yield* turned.pipe(Effect.provide(model.layer)), "helped")
    assert.deepStrictEqual(
      model.requests.map(({ messages, tools }) => [systems(messages), tools.length]),
      [
        [["Bill."], 1],
        [["Bill."], 1],
        [["Help."], 0]
      ]
    )
  })
)

it.run(
  "a deterministic skill that is chosen for a new word gets that word, and the transcript one prompt [A1004]",
  (run) =>
    Effect.gen(function* () {
      const log = eventLog()
      const echo = Skill.deterministic("echo", { description: "Echoes.", run: (word) => Effect.fail(word) })
      const agent = Agent.make("desk", { prompt: "Be brief.", skills: [skills[0], echo] }).pipe(
        Agent.route(Router.byRule(() => "echo")),
        log.listen
      )
      const model = yield* make()
      const from = [Message.system("Be brief.\n\nBill."), Message.user("a bill"), Message.assistant("billed")]
      const failing = run(Agent.resume(agent), { from, input: "again" })
      assert.strictEqual(yield* Effect.flip(failing.pipe(Effect.provide(model.layer))), "again")
      const end = log.end()
      assert(end?.type === "run-failed")
      assert.deepStrictEqual(systems(end.transcript), ["Be brief."])
    })
)

it.run("an agent with one skill keeps the system message that a history of foreign origin begins with [A1002]", (run) =>
  Effect.gen(function* () {
    const agent = Agent.make("desk", { prompt: "Be brief.", skills: [skills[0]] })
    const model = yield* make(text("billed"))
    const from = [Message.system("Be kind."), Message.user("a bill")]
    yield* run(Agent.resume(agent), { from }).pipe(Effect.provide(model.layer))
    assert.deepStrictEqual(systems(model.requests[0]?.messages), ["Be kind."])
  })
)
