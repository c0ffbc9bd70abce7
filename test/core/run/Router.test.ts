import { assert } from "@effect/vitest"
import { Agent, type Budget, Compaction, LlmError, Message, Recovery, Router, RunError, Skill } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Cause, Effect, Exit } from "effect"
import { it } from "../../_support/run.ts"
import { batch, busy, done, eventLog, overADay, scripted } from "../../_support/dialogue.ts"

const { fails, make, text } = ScriptedModel

/** What a model says that has chosen. */
const chooses = (name: string, confidence: unknown) => text(JSON.stringify({ name, confidence }))

const overloaded = () => LlmError.ModelOverloadedError.make({ model: "scripted" })

/** An agent that bills by function and talks by model. */
const desk = (budget: Budget.Limits = {}) => {
  const bills: Array<string> = []
  const run = (input: string) => Effect.sync(() => (bills.push(input), "billed"))
  const agent = Agent.make("desk", {
    prompt: "You work at a desk.",
    budget,
    skills: [
      Skill.deterministic("billing", { description: "Writes bills.", run }),
      Skill.make("talking", { description: "Talks about anything.", prompt: "Be kind." })
    ]
  })
  return { agent, bills }
}

const chosen = (log: ReturnType<typeof eventLog>) =>
  log.of("skill-chosen").map(({ by, confidence, skill, turn }) => ({ by, confidence, skill, turn }))

it.run("an agent with one skill or none makes no routing call and chooses nothing [A1002]", (run) =>
  Effect.gen(function* () {
    for (const skills of [[], [Skill.make("only", { description: "Is alone." })]]) {
      const log = eventLog()
      const model = yield* make(done)
      const agent = Agent.make("worker", { skills }).pipe(log.listen)
      assert.strictEqual(yield* run(agent, "go").pipe(Effect.provide(model.layer)), "done")
      assert.strictEqual(model.requests.length, 1)
      assert.deepStrictEqual(log.of("skill-chosen"), [])
    }
  })
)

it.run("a rule always wins: no model is called to choose a skill [A1002]", (run) =>
  Effect.gen(function* () {
    const rules = [
      Router.byRule((input) => (input.startsWith("bill") ? "billing" : "talking")),
      Router.byRule((input) => Effect.succeed(input.startsWith("bill") ? "billing" : "talking")),
      Router.byRule((input) => (input.startsWith("bill") ? "billing" : input === "hello" ? "talking" : undefined))
    ] as const
    for (const router of rules) {
      const { agent, bills } = desk()
      const log = eventLog()
      const routed = agent.pipe(Agent.route(router), log.listen)
      const model = yield* make(done)
      assert.strictEqual(yield* run(routed, "bill me").pipe(Effect.provide(model.layer)), "billed")
      assert.strictEqual(model.requests.length, 0)
      assert.strictEqual(yield* run(routed, "hello").pipe(Effect.provide(model.layer)), "done")
      assert.strictEqual(model.requests.length, 1)
      assert.deepStrictEqual(bills, ["bill me"])
      assert.deepStrictEqual(chosen(log), [
        { skill: "billing", by: "rule", confidence: undefined, turn: 0 },
        { skill: "talking", by: "rule", confidence: undefined, turn: 0 }
      ])
    }
  })
)

it.run("else one model call chooses: it reads the skills, and the run goes on without it [A1002]", (run) =>
  Effect.gen(function* () {
    const { agent } = desk()
    const log = eventLog()
    const model = yield* make(chooses("talking", 0.9), done)
    assert.strictEqual(yield* run(agent.pipe(log.listen), "hello").pipe(Effect.provide(model.layer)), "done")
    const [routing, talking] = model.requests
    const [system, user] = routing?.messages ?? []
    assert.deepStrictEqual(
      system,
      Message.system(
        [
          "Choose the skill that fits what the user asks for. Do not answer the user.",
          "",
          "The skills:",
          '- "billing": Writes bills.',
          '- "talking": Talks about anything.',
          "",
          'Answer with JSON and nothing else: {"name": "<name of the skill>", "confidence": <number from 0 to 1>}.',
          'The name is "none" when no skill fits.'
        ].join("\n")
      )
    )
    assert.deepStrictEqual(user, Message.user("hello"))
    assert.deepStrictEqual(routing?.tools, [])
    assert.deepStrictEqual(talking?.messages, [
      Message.system("You work at a desk.\n\nBe kind."),
      Message.user("hello")
    ])
    assert.deepStrictEqual(chosen(log), [{ skill: "talking", by: "model", confidence: 0.9, turn: 1 }])
    const shown = log.all.filter(({ turn, type }) => turn === 1 && type !== "run-start").map(({ type }) => type)
    // its reply is no text of the run
    assert.deepStrictEqual(shown, ["turn-start", "model-start", "model-end", "skill-chosen"])
  })
)

it.run("a rule that names no skill leaves it to the model, with its options [A1002]", (run) =>
  Effect.gen(function* () {
    const { agent, bills } = desk()
    const router = Router.byRule((): "talking" | undefined => undefined, { threshold: 0.2, prompt: "Pick one." })
    const model = yield* make(chooses("billing", 0.3))
    const answer = yield* run(agent.pipe(Agent.route(router)), "me").pipe(Effect.provide(model.layer))
    assert.strictEqual(answer, "billed")
    assert.deepStrictEqual(bills, ["me"])
    const [system] = model.requests[0]?.messages ?? []
    assert.match(system?.role === "system" ? system.text : "", /^Pick one\./)
  })
)

it.run("a rule that fails leaves as itself, and a rule that throws is a defect [A1002]", (run) =>
  Effect.gen(function* () {
    const error = busy()
    const failing = desk().agent.pipe(Agent.route(Router.byRule(() => Effect.fail(error))))
    const model = yield* make()
    assert.strictEqual(yield* Effect.flip(run(failing, "go").pipe(Effect.provide(model.layer))), error)
    const throwing = Router.byRule((): "billing" => {
      throw new Error("bug")
    })
    const exit = yield* Effect.exit(
      run(desk().agent.pipe(Agent.route(throwing)), "go").pipe(Effect.provide(model.layer))
    )
    assert.isTrue(Exit.hasDies(exit))
  })
)

it.run("the routing call is a turn, and is booked as routing with what it took [A1002]", (run) =>
  Effect.gen(function* () {
    const log = eventLog()
    const { runs, tool } = scripted("look", Effect.succeed("seen"))
    const looking = Agent.make("looker", {
      skills: [
        Skill.make("look", { description: "Looks.", tools: [tool] }),
        Skill.make("talk", { description: "Talks." })
      ]
    }).pipe(log.listen)
    const model = yield* make(chooses("look", 1), batch("look"), done)
    yield* run(looking, "go").pipe(Effect.provide(model.layer))
    const end = log.end()
    assert.deepStrictEqual(
      end?.type === "run-completed" ? end.ledger.map(({ outcome, purpose, turn }) => [purpose, outcome, turn]) : [],
      [
        ["routing", "used", 1],
        ["agent", "used", 2],
        ["agent", "used", 3]
      ]
    )
    assert.strictEqual(end?.type === "run-completed" ? end.usage.inputTokens : 0, 30)
    assert.strictEqual(runs.length, 1)
    const one = yield* make(chooses("talking", 1))
    const oneTurn = yield* Effect.flip(run(desk({ maxTurns: 1 }).agent, "go").pipe(Effect.provide(one.layer)))
    assert.deepInclude(oneTurn, { _tag: "BudgetExceededError", reason: "maxTurns", limit: 1, spent: 1 })
    const dear = yield* make(chooses("talking", 1))
    const tokens = yield* Effect.flip(run(desk({ maxTokens: 14 }).agent, "go").pipe(Effect.provide(dear.layer)))
    assert.deepInclude(tokens, { _tag: "BudgetExceededError", reason: "maxTokens", spent: 15 })
  })
)

it.run("the deadline of the run cuts a rule, the routing call and its waits [A903 A1002]", (run) =>
  Effect.gen(function* () {
    const never = Router.byRule(() => Effect.as(Effect.sleep("1 hour"), "talking"))
    const waiting = Router.byModel().pipe(
      Router.onLlmError({ orElse: Recovery.retry({ retries: 3, initialBackoff: "1 minute", jitter: "none" }) })
    )
    const { agent } = desk({ maxDuration: "3 seconds" })
    for (const [routed, ...script] of [
      [agent.pipe(Agent.route(never))],
      [agent, ScriptedModel.answers(() => Effect.never)],
      [agent.pipe(Agent.route(waiting)), fails(overloaded())]
    ] as const) {
      const log = eventLog()
      const model = yield* make(...script)
      const exit = yield* overADay(run(routed.pipe(log.listen), "go").pipe(Effect.provide(model.layer)))
      const error = Exit.isFailure(exit) ? Cause.squash(exit.cause) : undefined
      assert.instanceOf(error, RunError.BudgetExceededError)
      assert.deepInclude(error, { reason: "maxDuration", limit: 3000 })
      assert.isAtMost((log.end()?.at ?? Infinity) - (log.all[0]?.at ?? 0), 3000)
    }
  })
)

it.run("a limit of cost needs the price of the model before it chooses [A904 A1002]", (run) =>
  Effect.gen(function* () {
    const model = yield* make()
    const { agent } = desk({ maxCost: 1 })
    const exit = yield* Effect.exit(run(agent, "go").pipe(Effect.provide(model.layer)))
    assert.include(
      String(Exit.isFailure(exit) ? Cause.squash(exit.cause) : exit),
      "needs the price of model 'scripted'"
    )
    assert.strictEqual(model.requests.length, 0)
  })
)

it.run("an agent beyond maxDepth calls neither its rule nor its model [A908 A1002]", (run) =>
  Effect.gen(function* () {
    let asked = 0
    const { agent, bills } = desk()
    const ruled = agent.pipe(Agent.route(Router.byRule(() => (asked++, "billing"))))
    for (const deepest of [agent, ruled]) {
      const child = <E, R>(name: string, next: (input: string) => Effect.Effect<string, E, R>, budget = {}) =>
        Agent.make(name, { budget, skills: [Skill.deterministic("pass", { description: "Passes on.", run: next })] })
      const model = yield* make()
      const outer = child("outer", child("middle", deepest), { maxDepth: 1 })
      const error = yield* Effect.flip(run(outer, "go").pipe(Effect.provide(model.layer)))
      assert.deepInclude(error, { _tag: "BudgetExceededError", reason: "maxDepth", limit: 1, spent: 2 })
    }
    assert.deepStrictEqual([asked, bills], [0, []])
  })
)

it.run("confidence below the threshold, an unknown name or a blank answer is a RoutingError [A1003]", (run) =>
  Effect.gen(function* () {
    for (const answer of [
      JSON.stringify({ name: "billing", confidence: 0.59 }),
      JSON.stringify({ name: "Billing", confidence: 1 }),
      JSON.stringify({ name: "none", confidence: 1 }),
      JSON.stringify({ name: "shipping", confidence: 1 }),
      JSON.stringify({ name: "billing", confidence: 95 }),
      JSON.stringify({ name: "billing" }),
      JSON.stringify({ confidence: 1 }),
      '"billing"',
      "billing",
      " "
    ]) {
      const { agent, bills } = desk()
      const model = yield* make(text(answer))
      const error = yield* Effect.flip(run(agent, "go").pipe(Effect.provide(model.layer)))
      assert.instanceOf(error, RunError.RoutingError)
      assert.deepInclude(error, { agent: "desk", candidates: ["billing", "talking"], answer })
      assert.deepStrictEqual(bills, [])
    }
  })
)

it.run("a choice at the threshold counts, however its JSON is wrapped [A1003]", (run) =>
  Effect.gen(function* () {
    for (const answer of [
      JSON.stringify({ name: "billing", confidence: 0.6 }),
      JSON.stringify({ name: "billing", confidence: "0.6" }),
      JSON.stringify({ name: "billing", confidence: 1, reason: "it says so" }),
      '```json\n{"name": "billing", "confidence": 0.8}\n```',
      'It is {"name": "billing", "confidence": 0.8}.'
    ]) {
      const model = yield* make(text(answer))
      assert.strictEqual(yield* run(desk().agent, "go").pipe(Effect.provide(model.layer)), "billed")
    }
  })
)

it.run("the threshold can be set, and has to make sense [A1003]", (run) =>
  Effect.gen(function* () {
    for (const [threshold, confidence, isTaken] of [
      [0, 0, true],
      [0.9, 0.8, false],
      [1, 1, true]
    ] as const) {
      const model = yield* make(chooses("billing", confidence))
      const agent = desk().agent.pipe(Agent.route(Router.byModel({ threshold })))
      const exit = yield* Effect.exit(run(agent, "go").pipe(Effect.provide(model.layer)))
      assert.strictEqual(Exit.isSuccess(exit), isTaken)
    }
    for (const threshold of [-0.1, 1.1, Number.NaN]) {
      assert.throws(() => Router.byModel({ threshold }), RangeError)
      assert.throws(() => Router.byRule(() => "billing", { threshold }), RangeError)
    }
  })
)

it.run("a name that is no skill is refused from rules and tables too [A1003]", (run) =>
  Effect.gen(function* () {
    const skills: ReadonlyArray<Skill.Skill> = ["a", "b"].map((name) => Skill.make(name, { description: name }))
    const ruled = Agent.make("worker", { skills }).pipe(Agent.route(Router.byRule((): string => "c")))
    const model = yield* make()
    const error = yield* Effect.flip(run(ruled, "go").pipe(Effect.provide(model.layer)))
    assert.deepInclude(error, { _tag: "RoutingError", candidates: ["a", "b"], answer: "c" })
    const fallback = Router.byModel().pipe(Router.onLlmError({ orElse: Recovery.respondWith("c") }))
    const down = yield* make(fails(overloaded()))
    const answered = Agent.make("worker", { skills }).pipe(Agent.route(fallback))
    const second = yield* Effect.flip(run(answered, "go").pipe(Effect.provide(down.layer)))
    assert.deepInclude(second, { _tag: "RoutingError", candidates: ["a", "b"], answer: "c" })
  })
)

it.run("failures of the routing call escape, and the agent's own table never decides about them [A713]", (run) =>
  Effect.gen(function* () {
    const error = overloaded()
    const model = yield* make(fails(error))
    const agent = desk().agent.pipe(
      Agent.onLlmError({ orElse: Recovery.ladder(Recovery.retry({ retries: 3 }), Recovery.respondWith("sorry")) })
    )
    assert.strictEqual(yield* Effect.flip(run(agent, "go").pipe(Effect.provide(model.layer))), error)
    const later = yield* make(chooses("talking", 1), fails(overloaded()), done)
    assert.strictEqual(yield* run(agent, "go").pipe(Effect.provide(later.layer)), "done")
  })
)

it.run("the router's own table retries, answers with a skill, or lets through [A713]", (run) =>
  Effect.gen(function* () {
    const retrying = Router.byModel().pipe(
      Router.onLlmError({
        ModelOverloadedError: Recovery.ladder(Recovery.retry({ retries: 1 }), Recovery.respondWith("billing")),
        ServerError: Recovery.rethrow
      })
    )
    const { agent } = desk()
    const log = eventLog()
    const routed = agent.pipe(Agent.route(retrying), log.listen)
    const twice = yield* make(fails(overloaded()), chooses("talking", 0.7), done)
    assert.strictEqual(yield* run(routed, "go").pipe(Effect.provide(twice.layer)), "done")
    assert.strictEqual(twice.requests.length, 3)
    const down = yield* make(fails(overloaded()), fails(overloaded()))
    assert.strictEqual(yield* run(routed, "go").pipe(Effect.provide(down.layer)), "billed")
    assert.deepStrictEqual(
      chosen(log).map(({ by, skill }) => [by, skill]),
      [
        ["model", "talking"],
        ["table", "billing"]
      ]
    )
    const failed = LlmError.ServerError.make({ model: "scripted", cause: new Error("boom") })
    const broken = yield* make(fails(failed))
    assert.strictEqual(yield* Effect.flip(run(routed, "go").pipe(Effect.provide(broken.layer))), failed)
  })
)

it.run(
  "a routing call that was too long is shortened by its own table, and the run's conversation is not [A713 P1005]",
  (run) =>
    Effect.gen(function* () {
      const short = Compaction.make("short", () => [Message.user("which?")])
      const tooLong = LlmError.ContextTooLongError.make({ model: "scripted", limit: 100, actual: 120 })
      const router = Router.byModel().pipe(Router.onLlmError({ ContextTooLongError: Recovery.compact(short) }))
      const { agent } = desk()
      const model = yield* make(fails(tooLong), chooses("talking", 1), done)
      assert.strictEqual(yield* run(agent.pipe(Agent.route(router)), "hello").pipe(Effect.provide(model.layer)), "done")
      const [, routing, talking] = model.requests
      assert.deepStrictEqual(routing?.messages, [Message.user("which?")])
      assert.deepStrictEqual(talking?.messages.at(-1), Message.user("hello"))
    })
)

it.run("the attempts of a routing call are booked as routing, the failed ones too [A713]", (run) =>
  Effect.gen(function* () {
    const log = eventLog()
    const router = Router.byModel().pipe(Router.onLlmError({ orElse: Recovery.retry({ retries: 1 }) }))
    const model = yield* make(fails(overloaded()), chooses("billing", 1))
    yield* run(desk().agent.pipe(Agent.route(router), log.listen), "go").pipe(Effect.provide(model.layer))
    const end = log.end()
    assert.deepStrictEqual(
      end?.type === "run-completed"
        ? end.ledger.map(({ attempt, outcome, purpose }) => [purpose, attempt, outcome])
        : [],
      [
        ["routing", 1, "failed"],
        ["routing", 2, "used"]
      ]
    )
  })
)
