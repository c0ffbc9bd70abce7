/** Functions of users that give no effect where one is expected, as JavaScript and casts allow: each is a defect that names it. */
import { assert } from "@effect/vitest"
import {
  Agent,
  Approval,
  Compaction,
  LlmError,
  type Message,
  Model,
  Recovery,
  Router,
  Skill,
  Tool
} from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Cause, Effect, Exit, Layer, Logger, Schema, Stream } from "effect"
import { it, type Runnable, type Runner } from "../../_support/run.ts"
import { agentWith, batch, eventLog, gone, isTerminal, overADay } from "../../_support/dialogue.ts"

type Step = ScriptedModel.ScriptedStep

/** An agent with a hook that gives `wrong`, what its model says, and what the defect says of the hook. */
interface Row {
  readonly hook: string
  readonly agent: (wrong: unknown) => unknown
  readonly steps?: ReadonlyArray<Step>
  readonly names: string
  /** It may also give a plain value: these are none of its kind. */
  readonly orValue?: string
}

const about = { description: "Works.", parameters: Schema.Struct({}), success: Schema.String } as const

/** What JavaScript lets a user write. */
// oxlint-disable-next-line typescript/no-explicit-any -- no type lets these functions pass
const giving = (wrong: unknown) => () => wrong as any

// the same, where the type of the answer counts
const answering = (wrong: unknown) => () => wrong as Effect.Effect<string>

const working = Tool.make("work", { ...about, run: () => Effect.succeed("worked") })
const failing = Tool.make("fail", { ...about, run: () => Effect.fail(gone()) })
const overlong = LlmError.ContextTooLongError.make({ model: "scripted" })
const overloaded = LlmError.ModelOverloadedError.make({ model: "scripted" })
const plain = Agent.deterministic("plain", (said: string) => Effect.succeed(said))
const cutOff = { ...about, sideEffects: "unsafe", timeout: 1000, run: () => Effect.never } as const

const withModel = (model: Layer.Layer<Model.Model>) => Agent.make("worker", { model })
const own = (of: Partial<Model.Service>): Model.Service => ({
  name: "own",
  provider: "test",
  generate: () => Effect.never,
  stream: () => Stream.never,
  ...of
})

const rows: ReadonlyArray<Row> = [
  {
    hook: "Tool.make run",
    agent: (wrong) => agentWith(Tool.make("book", { ...about, run: giving(wrong) })),
    steps: [batch("book")],
    names: "The run of tool 'book'"
  },
  {
    hook: "Tool.make run, beside another call",
    agent: (wrong) => agentWith(Tool.make("book", { ...about, run: giving(wrong) }), working),
    steps: [batch("book", "work")],
    names: "The run of tool 'book'"
  },
  {
    hook: "Tool.make run, with a layer",
    agent: (wrong) => agentWith(Tool.make("book", { ...about, run: giving(wrong) }).pipe(Tool.provide(Layer.empty))),
    steps: [batch("book")],
    names: "The run of tool 'book'"
  },
  {
    hook: "Tool.onDemand search",
    agent: (wrong) => agentWith(...Tool.onDemand([working], { search: () => giving(wrong) })),
    steps: [ScriptedModel.calls(ScriptedModel.call("search_tools", { query: "work" }, "c1"))],
    names: "The search of Tool.onDemand",
    orValue: "a list of names"
  },
  {
    hook: "Tool.make verify",
    agent: (wrong) => agentWith(Tool.make("book", { ...cutOff, verify: giving(wrong) })),
    steps: [batch("book")],
    names: "The verify of tool 'book'"
  },
  {
    hook: "Tool.requireApproval when",
    agent: (wrong) =>
      Agent.provide(
        agentWith(working.pipe(Tool.requireApproval({ when: giving(wrong) }))),
        Approval.layer(() => Effect.never)
      ),
    steps: [batch("work")],
    names: "The when of Tool.requireApproval for tool 'work'",
    orValue: "boolean"
  },
  {
    hook: "Approval.layer",
    agent: (wrong) => Agent.provide(agentWith(working.pipe(Tool.requireApproval())), Approval.layer(giving(wrong))),
    steps: [batch("work")],
    names: "The decide of the Approver"
  },
  {
    hook: "Recovery.fix",
    agent: (wrong) => agentWith(failing.pipe(Tool.onError({ Gone: Recovery.fix(giving(wrong)) }))),
    steps: [batch("fail")],
    names: "The fixer of tool 'fail'"
  },
  {
    hook: "Recovery.respondWith",
    agent: (wrong) => agentWith(failing.pipe(Tool.onError({ Gone: Recovery.respondWith(answering(wrong)) }))),
    steps: [batch("fail")],
    names: "Recovery.respondWith for 'Gone'"
  },
  {
    hook: "Recovery.tell",
    agent: (wrong) => agentWith(failing.pipe(Tool.onError({ Gone: Recovery.tell(giving(wrong)) }))),
    steps: [batch("fail")],
    names: "The renderer for tool 'fail'",
    orValue: "string"
  },
  {
    hook: "Recovery.tell for unknown tools",
    agent: (wrong) => agentWith(working).pipe(Agent.toolDefaults({ UnknownToolError: Recovery.tell(giving(wrong)) })),
    steps: [batch("play")],
    names: "The renderer for tool 'play'",
    orValue: "string"
  },
  {
    hook: "Recovery.when",
    agent: (wrong) =>
      agentWith(failing.pipe(Tool.onError({ Gone: Recovery.when(() => wrong as typeof Recovery.raise) }))),
    steps: [batch("fail")],
    names: "Recovery.when",
    orValue: "verdict"
  },
  {
    hook: "Agent.onLlmError respondWith",
    agent: (wrong) => agentWith().pipe(Agent.onLlmError({ orElse: Recovery.respondWith(answering(wrong)) })),
    steps: [ScriptedModel.fails(overloaded)],
    names: "Recovery.respondWith for 'ModelOverloadedError'"
  },
  {
    hook: "Compaction.make",
    agent: (wrong) =>
      agentWith().pipe(
        Agent.onLlmError({ ContextTooLongError: Recovery.compact(Compaction.make("mine", giving(wrong))) })
      ),
    steps: [ScriptedModel.fails(overlong)],
    names: "compaction 'mine'",
    orValue: "array"
  },
  {
    hook: "a compaction of one's own",
    agent: (wrong) =>
      agentWith().pipe(
        Agent.onLlmError({ ContextTooLongError: Recovery.compact({ name: "own", compact: giving(wrong) }) })
      ),
    steps: [ScriptedModel.fails(overlong)],
    names: "compaction 'own'"
  },
  {
    hook: "Compaction.summarise",
    agent: (wrong) =>
      agentWith(working).pipe(
        Agent.onLlmError({
          ContextTooLongError: Recovery.compact(Compaction.summarise(giving(wrong), { keepLast: 1 }))
        })
      ),
    steps: [batch("work"), batch("work"), batch("work"), ScriptedModel.fails(overlong)],
    names: "The agent of Compaction.summarise"
  },
  {
    hook: "Agent.deterministic",
    agent: (wrong) => Agent.deterministic("clerk", giving(wrong)),
    names: "The function of agent 'clerk'"
  },
  {
    hook: "Agent.deterministic as a tool",
    agent: (wrong) =>
      agentWith(Agent.asTool(Agent.deterministic("clerk", answering(wrong)), { description: "Works." })),
    steps: [ScriptedModel.calls(ScriptedModel.call("clerk", { input: "go" }))],
    names: "The function of agent 'clerk'"
  },
  {
    hook: "Skill.deterministic",
    agent: (wrong) =>
      Agent.make("worker", { skills: [Skill.deterministic("look", { description: "Looks.", run: giving(wrong) })] }),
    names: "The function of skill 'look'"
  },
  {
    hook: "Router.byRule",
    agent: (wrong) =>
      Agent.make("worker", {
        skills: [
          Skill.deterministic("look", { description: "Looks.", run: Effect.succeed }),
          Skill.deterministic("find", { description: "Finds.", run: Effect.succeed })
        ]
      }).pipe(Agent.route(Router.byRule(giving(wrong)))),
    names: "The rule of the router",
    orValue: "string or undefined"
  },
  {
    hook: "Router.onLlmError respondWith",
    agent: (wrong) =>
      Agent.make("worker", {
        skills: [
          Skill.deterministic("look", { description: "Looks.", run: Effect.succeed }),
          Skill.deterministic("find", { description: "Finds.", run: Effect.succeed })
        ]
      }).pipe(
        Agent.route(Router.byModel().pipe(Router.onLlmError({ orElse: Recovery.respondWith(answering(wrong)) })))
      ),
    steps: [ScriptedModel.fails(overloaded)],
    names: "Recovery.respondWith for 'ModelOverloadedError'"
  },
  {
    hook: "Agent.toolPolicy",
    agent: (wrong) => agentWith(working).pipe(Agent.toolPolicy(giving(wrong))),
    steps: [batch("work")],
    names: "A policy of agent 'worker'",
    orValue: "decision"
  },
  {
    hook: "Agent.onBudgetExceeded",
    agent: (wrong) =>
      Agent.make("worker", {
        budget: { maxTurns: 1 },
        skills: [Skill.make("work", { description: "Works.", tools: [working] })]
      }).pipe(Agent.onBudgetExceeded(giving(wrong))),
    steps: [batch("work")],
    names: "Agent.onBudgetExceeded of agent 'worker'",
    orValue: "decision"
  },
  {
    hook: "Agent.loopUntil",
    agent: (wrong) => plain.pipe(Agent.loopUntil(giving(wrong), { maxIterations: 2, feedback: () => "again" })),
    names: "The condition of Agent.loopUntil",
    orValue: "boolean"
  },
  {
    hook: "Model generate and stream",
    agent: (wrong) => withModel(Layer.succeed(Model.Model, own({ generate: giving(wrong), stream: giving(wrong) }))),
    names: "of model 'own'"
  },
  {
    hook: "Model.fallback",
    agent: (wrong) => {
      const model = own({ generate: giving(wrong), stream: giving(wrong) })
      return withModel(Layer.succeed(Model.Model, Model.fallback(model, own({}))))
    },
    names: "of model 'own'"
  },
  {
    hook: "Model.around",
    agent: (wrong) => {
      const around = { generate: giving(wrong), stream: giving(wrong) }
      return withModel(Layer.succeed(Model.Model, Model.around(own({}), around)))
    },
    names: "of Model.around"
  },
  {
    hook: "Model.around an order",
    agent: (wrong) => {
      const around = { generate: giving(wrong), stream: giving(wrong) }
      return withModel(Layer.succeed(Model.Model, Model.around(Model.fallback(own({}), own({})), around)))
    },
    names: "of Model.around"
  },
  {
    hook: "Model.onError respondWith",
    agent: (wrong) => {
      const model = own({ generate: () => Effect.fail(overloaded), stream: () => Stream.fail(overloaded) })
      const answer = () => wrong as Effect.Effect<Message.Reply>
      return withModel(Layer.succeed(Model.Model, Model.onError(model, { orElse: Recovery.respondWith(answer) })))
    },
    names: "Recovery.respondWith for 'ModelOverloadedError'"
  }
]

const wrongs: ReadonlyArray<readonly [string, unknown]> = [
  ["undefined", undefined],
  ["an object", { then: 1 }],
  ["a Promise", Promise.resolve("later")],
  ["a function", () => Effect.succeed("never called")]
]

/** Runs an agent of any type, with the events that its listeners and the readers of its stream get. */
const play = (run: Runner, agent: unknown, steps: ReadonlyArray<Step> = []) =>
  Effect.gen(function* () {
    const log = eventLog()
    const model = yield* ScriptedModel.make(...steps)
    // no agent of the table needs more than a model
    const listened = log.listen(agent as Parameters<typeof log.listen>[0]) as unknown as Runnable<
      string,
      unknown,
      unknown,
      Model.Model
    >
    const exit = yield* overADay(run(listened, "go").pipe(Effect.provide(model.layer)))
    return { exit, ends: log.all.filter((event) => isTerminal(event) && event.parent === undefined), events: log.all }
  })

for (const { agent, hook, names, orValue, steps } of rows) {
  it.run(`a run dies of a function that gives no effect, named, and ends once: ${hook} [P1395]`, (run) =>
    Effect.gen(function* () {
      for (const [said, wrong] of wrongs) {
        // the rule of a router may leave the choice to the model
        if (wrong === undefined && orValue?.includes("undefined") === true) continue
        const { ends, events, exit } = yield* play(run, agent(wrong), steps)
        assert.isTrue(Exit.isFailure(exit) && Cause.hasDies(exit.cause), `${hook}: ${String(exit)}`)
        const defect = Exit.isFailure(exit) ? Cause.squash(exit.cause) : undefined
        assert.instanceOf(defect, TypeError)
        const { message } = defect as TypeError
        assert.include(message, names)
        assert.include(message, `returned ${said}`)
        assert.match(message, /Effect|Stream|verdict/)
        assert.deepStrictEqual(
          ends.map((end) => end.type === "run-failed" && end.isDefect && end.error === defect),
          [true]
        )
        assert.strictEqual(
          events.findLast(({ parent }) => parent === undefined),
          ends[0]
        )
      }
    })
  )
}

it.run("listeners that give no effect are logged by agent, get every event and change no run [P1395]", (run) =>
  Effect.gen(function* () {
    for (const [said, wrong] of wrongs) {
      const heard: Array<string> = []
      const note = (event: string) => (heard.push(event), wrong as Effect.Effect<void>)
      const agent = agentWith(working, failing).pipe(
        Agent.onEvent(({ type }) => note(type)),
        Agent.onToolUse((name) => note(`use of ${name}`)),
        Agent.onFailure(() => note("failure"))
      )
      const logged: Array<string> = []
      const logger = Logger.make(({ cause, message }) => void logged.push(`${String(message)} ${Cause.pretty(cause)}`))
      const { ends, exit } = yield* play(run, agent, [batch("work"), batch("fail")]).pipe(
        Effect.provide(Logger.layer([logger]))
      )
      assert.isTrue(Exit.isFailure(exit) && !Cause.hasDies(exit.cause))
      assert.strictEqual(ends.length, 1)
      assert.includeMembers(heard, ["run-start", "tool-end", "use of work", "failure"])
      assert.deepStrictEqual(
        heard.filter((event) => event === "run-failed"),
        ["run-failed"]
      )
      assert.strictEqual(logged.length, heard.length)
      for (const line of logged) assert.include(line, `A listener of agent 'worker' returned ${said}, not an Effect`)
    }
  })
)

it.effect("Tool.call dies of a function that gives no effect too [P1395]", () =>
  Effect.gen(function* () {
    const exit = yield* Effect.exit(Tool.call(Tool.make("book", { ...about, run: giving(undefined) }), {}))
    assert.isTrue(Exit.isFailure(exit) && Cause.hasDies(exit.cause))
    assert.include(String(exit), "The run of tool 'book' returned undefined, not an Effect")
  })
)

it.run("a function that decides, and whose effect gives a value of the wrong kind, is a defect [P1395]", (run) =>
  Effect.gen(function* () {
    for (const { agent, hook, names, orValue, steps } of rows) {
      if (orValue === undefined || orValue === "verdict") continue
      const { ends, exit } = yield* play(run, agent(Effect.succeed(Symbol("odd"))), steps)
      assert.isTrue(Exit.isFailure(exit) && Cause.hasDies(exit.cause), hook)
      assert.include(String(Exit.isFailure(exit) ? Cause.squash(exit.cause) : ""), names)
      assert.strictEqual(ends.length, 1)
    }
  })
)

it.run("a promise in the place of an effect may reject: its rejection reaches nothing else [P1395]", (run) =>
  Effect.gen(function* () {
    // what nothing awaits would end the process, and this test with it
    const late = (async () => Promise.reject(new Error("late"))) as never
    const hooks = [
      agentWith(Tool.make("book", { ...about, run: late })),
      agentWith(working.pipe(Tool.requireApproval({ when: late })))
    ]
    for (const agent of hooks) {
      const { ends, exit } = yield* play(run, agent, [batch(agent === hooks[0] ? "book" : "work")])
      assert.isTrue(Exit.isFailure(exit) && Cause.hasDies(exit.cause))
      assert.strictEqual(ends.length, 1)
    }
  })
)
