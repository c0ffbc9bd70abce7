import { assert } from "@effect/vitest"
import { Agent, Budget, Explanation, Message, Recovery, Router, RunError, Skill, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Cause, Effect, Exit } from "effect"
import { it } from "../../_support/run.ts"
import {
  batch,
  busy,
  callingOnce,
  done,
  eventLog,
  interruptedAt,
  overADay,
  read,
  scripted
} from "../../_support/dialogue.ts"

const { make } = ScriptedModel

const skill = <const Name extends string, const Tools extends ReadonlyArray<Tool.AnyTool>>(
  name: Name,
  ...tools: Tools
) => Skill.make(name, { description: `Does ${name}.`, tools })

/** A skill that gives its input back, and counts how often it did. */
const echo = <const Name extends string>(name: Name) => {
  const inputs: Array<string> = []
  const run = (input: string) => Effect.sync(() => (inputs.push(input), `${name}: ${input}`))
  return { inputs, skill: Skill.deterministic(name, { description: `Does ${name}.`, run }) }
}

/** The two skills whose tools have names that are near to each other. */
const desk = () => {
  const pay = scripted("payInvoice", Effect.succeed("paid"))
  const show = scripted("showInvoice", Effect.succeed("shown"))
  return { pay, show, skills: [skill("paying", pay.tool), skill("showing", show.tool)] as const }
}

it.run("a tool of another skill is unknown in this one, and is neither offered nor named [A1001]", (run) =>
  Effect.gen(function* () {
    const { pay, show, skills } = desk()
    const model = yield* make(batch("payInvoice", "payInvoic", "showInvoice"), done)
    const agent = Agent.make("desk", { skills }).pipe(Agent.route(Router.byRule(() => "showing")))
    assert.strictEqual(yield* run(agent, "go").pipe(Effect.provide(model.layer)), "done")
    assert.deepStrictEqual(
      model.requests.map(({ tools }) => tools.map(({ name }) => name)),
      [["showInvoice"], ["showInvoice"]]
    )
    assert.deepStrictEqual(read(model), [
      "told: unknown tool: payInvoice; available tools: showInvoice",
      "told: unknown tool: payInvoic; available tools: showInvoice",
      "result: shown"
    ])
    assert.deepStrictEqual([pay.runs.length, show.runs.length], [0, 1])
  })
)

it.run("the error of an unknown name does not know it either [A1001]", (run) =>
  Effect.gen(function* () {
    const { skills } = desk()
    const available: Array<ReadonlyArray<string>> = []
    const model = yield* callingOnce("payInvoice")
    const agent = Agent.make("desk", { skills }).pipe(
      Agent.toolDefaults({
        UnknownToolError: Recovery.tell((error) => {
          available.push(error.available)
          return "no"
        })
      }),
      Agent.route(Router.byRule(() => "showing"))
    )
    yield* run(agent, "go").pipe(Effect.provide(model.layer))
    assert.deepStrictEqual(available, [["showInvoice"]])
    assert.deepStrictEqual(read(model), ["told: no"])
  })
)

it.run("tables are for the tools of all skills, whichever is at work [A1001]", (run) =>
  Effect.gen(function* () {
    for (const name of ["one", "two"] as const) {
      const [first, second] = [scripted("first", Effect.fail(busy())), scripted("second", Effect.fail(busy()))]
      const agent = Agent.make("worker", { skills: [skill("one", first.tool), skill("two", second.tool)] }).pipe(
        Agent.onToolError({ first: { Busy: Recovery.tell(() => "by tool") } }),
        Agent.toolDefaults({ Busy: Recovery.tell(() => "by default") }),
        Agent.route(Router.byRule((): "one" | "two" => name))
      )
      const model = yield* callingOnce(name === "one" ? "first" : "second")
      assert.strictEqual(yield* run(agent, "go").pipe(Effect.provide(model.layer)), "done")
      assert.deepStrictEqual(read(model), [name === "one" ? "told: by tool" : "told: by default"])
    }
  })
)

it.run("a skill adds its prompt to that of the agent, with one skill and with several [A1001]", (run) =>
  Effect.gen(function* () {
    const [polite, plain] = [
      Skill.make("polite", { description: "Is polite.", prompt: "Say please." }),
      Skill.make("plain", { description: "Is plain." })
    ]
    const both = { prompt: "Be brief.", skills: [polite, plain] } as const
    for (const [agent, system] of [
      [Agent.make("a", { skills: [polite] }), "Say please."],
      [Agent.make("a", { prompt: "Be brief.", skills: [polite] }), "Be brief.\n\nSay please."],
      [Agent.make("a", { prompt: "Be brief.", skills: [plain] }), "Be brief."],
      [Agent.make("a", both).pipe(Agent.route(Router.byRule(() => "polite"))), "Be brief.\n\nSay please."],
      [Agent.make("a", both).pipe(Agent.route(Router.byRule(() => "plain"))), "Be brief."]
    ] as const) {
      const model = yield* make(done)
      yield* run(agent, "go").pipe(Effect.provide(model.layer))
      assert.deepStrictEqual(model.requests[0]?.messages, [Message.system(system), Message.user("go")])
    }
  })
)

it.run("a deterministic skill makes no model call and runs no loop; its value is the output [A1004]", (run) =>
  Effect.gen(function* () {
    const log = eventLog()
    const { inputs, skill: shouting } = echo("shout")
    const alone = Agent.make("alone", { skills: [shouting] }).pipe(log.listen)
    assert.strictEqual(yield* run(alone, "go"), "shout: go")
    assert.deepStrictEqual(log.types(), ["run-start", "run-completed"])
    const model = yield* make()
    const among = Agent.make("among", { skills: [shouting, skill("work")] }).pipe(
      Agent.route(Router.byRule(() => "shout"))
    )
    assert.strictEqual(yield* run(among, "on").pipe(Effect.provide(model.layer)), "shout: on")
    assert.deepStrictEqual(inputs, ["go", "on"])
  })
)

it.run("what a deterministic skill fails with leaves the agent, its defect and its interruption too [A1004]", (run) =>
  Effect.gen(function* () {
    const agentOf = <A, E>(body: Effect.Effect<A, E>) => {
      const failing = Skill.deterministic("fail", { description: "Fails.", run: () => body })
      return Agent.make("worker", { skills: [failing, echo("other").skill] }).pipe(
        Agent.route(Router.byRule(() => "fail"))
      )
    }
    const error = busy()
    assert.strictEqual(yield* Effect.flip(run(agentOf(Effect.fail(error)), "go")), error)
    const bug = new Error("bug")
    const died = yield* Effect.exit(run(agentOf(Effect.die(bug)), "go"))
    assert.isTrue(Exit.isFailure(died) && Cause.squash(died.cause) === bug)
    const stopped = yield* interruptedAt(5, run(agentOf(Effect.sleep("1 hour")), "go"))
    assert.isTrue(Exit.hasInterrupts(stopped))
  })
)

it.run("a deterministic skill is cut by the agent's deadline, and counts as a child run by depth [A1004]", (run) =>
  Effect.gen(function* () {
    const slow = Skill.deterministic("slow", { description: "Is slow.", run: () => Effect.sleep("1 hour") })
    const late = Agent.make("late", { budget: { maxDuration: "3 seconds" }, skills: [slow] })
    const exit = yield* overADay(run(late, "go"))
    const error = Exit.isFailure(exit) ? Cause.squash(exit.cause) : undefined
    assert.instanceOf(error, RunError.BudgetExceededError)
    assert.deepInclude(error, { reason: "maxDuration", limit: 3000 })
    const inner = echo("inner")
    const innermost = Agent.make("below", { skills: [inner.skill] })
    const middle = Agent.make("middle", {
      skills: [Skill.deterministic("pass", { description: "Asks below.", run: (input) => innermost(input) })]
    })
    const outer = Skill.deterministic("outer", { description: "Asks the middle.", run: (input) => middle(input) })
    const shallow = Agent.make("shallow", { budget: { maxDepth: 1 }, skills: [outer] })
    const deep = yield* Effect.flip(run(shallow, "go"))
    assert.deepInclude(deep, { _tag: "BudgetExceededError", reason: "maxDepth", limit: 1 })
    assert.deepStrictEqual(inner.inputs, [])
  })
)

it.run("an agent of nothing but functions mends raw arguments, as any deterministic fixer [A1004]", (run) =>
  Effect.gen(function* () {
    const { inputs, skill: mending } = echo("mend")
    const { tool } = scripted("fetch")
    const guarded = tool.pipe(
      Tool.onError({
        InvalidArgs: Recovery.ladder(Recovery.fix(Agent.make("mender", { skills: [mending] })), Recovery.tell())
      })
    )
    const model = yield* make(ScriptedModel.calls(ScriptedModel.call("fetch", "no json")), done)
    const agent = Agent.make("worker", { skills: [skill("work", guarded)] })
    yield* run(agent, "go").pipe(Effect.provide(model.layer))
    assert.deepStrictEqual(inputs, ["no json"])
  })
)

it("several skills bring their choice along: one of them has to be made by the module [A1005]", () => {
  const plain = (name: string) => ({ name, description: "Is plain.", tools: [] })
  assert.throws(() => Agent.make("a", { skills: [plain("one"), plain("two")] }), /made by Skill\.make/)
  assert.strictEqual(Agent.make("a", { skills: [plain("one"), skill("two")] }).name, "a")
  assert.strictEqual(Agent.make("a", { skills: [plain("one")] }).name, "a")
})

it("two skills of one name die at construction, and reserved and blank names too [A1005]", () => {
  assert.throws(() => Agent.make("a", { skills: [skill("one"), skill("one")] }), /two skills named 'one'/)
  assert.throws(() => Agent.make("a", { skills: [skill("one"), echo("one").skill] }), /two skills named 'one'/)
  for (const name of ["none", "", "  "]) {
    assert.throws(() => skill(name), TypeError)
    assert.throws(() => echo(name).skill, TypeError)
  }
})

it("one tool may be in several skills; two tools of one name may not, and tables name existing tools [A1005]", () => {
  const { tool } = scripted("fetch")
  Agent.make("a", { skills: [skill("one", tool, Tool.escalate), skill("two", tool, Tool.escalate)] })
  assert.throws(() => Agent.make("a", { skills: [skill("one", tool, tool), skill("two")] }), /two tools named 'fetch'/)
  assert.throws(
    () => Agent.make("a", { skills: [skill("one", tool), skill("two", scripted("fetch").tool)] }),
    /two tools named 'fetch'/
  )
  const agent = Agent.make("a", { skills: [skill("one", tool), skill("two")] })
  const table: object = { push: { orElse: Recovery.tell() } }
  assert.throws(() => agent.pipe(Agent.onToolError(table)), /onToolError names 'push'/)
})

it("explain of an agent with skills: functions make no model calls, and choosing takes a turn [A1004 P1102]", () => {
  const worst = <A extends { readonly turns: number; readonly modelCalls: number }>({ modelCalls, turns }: A) => [
    turns,
    modelCalls
  ]
  const budget = { maxTurns: 3 }
  const loops = Agent.make("a", { budget, skills: [skill("one"), skill("two")] })
  const retrying = Router.byModel().pipe(Router.onLlmError({ orElse: Recovery.retry({ retries: 4 }) }))
  assert.deepStrictEqual(worst(Agent.explain(loops).worst), [3, 3])
  const explained = Agent.explain(loops.pipe(Agent.route(retrying)))
  assert.deepStrictEqual(worst(explained.worst), [3, 7])
  assert.strictEqual(explained.routing?.worst.attempts, 5)
  assert.match(Explanation.formatRun(explained), /^routing\nrow .*\norElse +1 retry/)
  const calm = loops.pipe(Agent.onLlmError({ orElse: Recovery.retry({ retries: 1 }) }))
  assert.deepStrictEqual(worst(Agent.explain(calm).worst), [3, 6])
  const mixed = Agent.make("a", { budget, skills: [echo("one").skill, skill("two")] })
  assert.deepStrictEqual(worst(Agent.explain(mixed).worst), [3, 3])
  assert.isUndefined(Agent.explain(Agent.make("a", { skills: [skill("one")] })).routing)
})

it.effect(
  "the time of a function is a limit like any: it can be extended, or be a checkpoint to go on from [A909 A1004]",
  () =>
    Effect.gen(function* () {
      const begun: Array<string> = []
      const slow = Skill.deterministic("slow", {
        description: "Takes its time.",
        run: (input) =>
          Effect.as(
            Effect.delay(
              Effect.sync(() => begun.push(input)),
              "3 seconds"
            ),
            `${input}!`
          )
      })
      const timed = Agent.make("timed", { budget: { maxDuration: "2 seconds" }, skills: [slow] })
      const asked: Array<readonly [string, number]> = []
      const extended = timed.pipe(
        Agent.onBudgetExceeded(({ limit, reason }) => {
          asked.push([reason, limit])
          return Budget.extend(4000)
        })
      )
      const more = yield* overADay(extended("go"))
      assert.deepStrictEqual(more, Exit.succeed("go!"))
      assert.deepStrictEqual(asked, [["maxDuration", 2000]])

      const suspending = timed.pipe(Agent.onBudgetExceeded(() => Budget.checkpoint))
      const exit = yield* overADay(Effect.scoped(Effect.flatMap(suspending.start("again"), ({ outcome }) => outcome)))
      assert(Exit.isSuccess(exit) && exit.value._tag === "Suspended")
      const resumed = Agent.resume(suspending)({ from: exit.value.snapshot, budget: { maxDuration: "1 minute" } })
      assert.deepStrictEqual(yield* overADay(resumed), Exit.succeed("again!"))
      assert.deepStrictEqual(begun, ["go", "again"])
    })
)

it("an agent of nothing but functions calls a model for choosing at most [P1102]", () => {
  const one = Agent.make("one", { skills: [echo("a").skill] })
  assert.deepInclude(Agent.explain(one).worst, { turns: 0, modelCalls: 0, toolCalls: 0 })
  const two = Agent.make("two", { skills: [echo("a").skill, echo("b").skill] })
  assert.deepInclude(Agent.explain(two).worst, { turns: 1, modelCalls: 1, toolCalls: 0 })
})

it("a skill has what it was given, and a name: what lacks it is none [P1306]", () => {
  const plain = Skill.make("plain", { description: "d" })
  assert.deepStrictEqual({ ...plain }, { ...plain, name: "plain", description: "d", tools: [] })
  assert.notProperty(plain, "prompt")
  assert.strictEqual(Skill.make("polite", { description: "d", prompt: "Say please." }).prompt, "Say please.")
  const names = Object.getOwnPropertySymbols(plain).map((symbol) => Symbol.keyFor(symbol))
  assert.deepStrictEqual(names, ["~@kintsugi/core/Skill/Chooses"])
  assert.throws(() => Skill.make(" ", { description: "d" }), TypeError, "Skill: a skill needs a name")
  const parts = { name: "x", description: "d", tools: [] }
  assert.isTrue(Skill.isSkill(parts))
  for (const wrong of [{ name: 5 }, { name: undefined }, { description: 5 }, { tools: [5] }, { tools: "look" }])
    assert.isFalse(Skill.isSkill({ ...parts, ...wrong }))
  const { name: _, ...nameless } = parts
  assert.isFalse(Skill.isSkill(nameless))
})
