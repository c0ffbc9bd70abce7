/** Agents, skills and tools that are plain functions: what they throw, and what becomes of it. */
import { assert } from "@effect/vitest"
import { Agent, Recovery, Skill, Tool, ToolError } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Cause, Effect, Exit, Fiber, Schema } from "effect"
import { agentWith, asHard, busy, calm, done, read } from "../../_support/dialogue.ts"
import { it } from "../../_support/run.ts"

const throwing = (thrown: unknown) => (): string => {
  throw thrown
}

/** The same function as an agent, and as the only skill of one. */
const made = (f: (input: string, context: { readonly signal: AbortSignal }) => string | Promise<string>) =>
  [
    Agent.fromFunction("plain", f),
    Agent.make("plain", { skills: [Skill.fromFunction("plain", { description: "Works.", run: f })] })
  ] as const

const escalation = ToolError.EscalationError.make({ source: "plain", reason: "Schema mismatch", severity: "HIGH" })
const hard = ToolError.ToolExecutionError.make({ tool: "plain", message: "hopeless" })

it.run("a value, and a promise of one, is the answer [P1351]", (run) =>
  Effect.gen(function* () {
    for (const f of [(text: string) => `${text}!`, async (text: string) => `${text}!`]) {
      for (const agent of made(f)) assert.strictEqual(yield* noModel(run(agent, "go")), "go!")
    }
  })
)

/** A skill of an agent has no model; its type has one. */
const noModel = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.flatMap(ScriptedModel.make(), ({ layer }) => Effect.provide(effect, layer))

it.run("an escalation and a hard failure that are thrown or rejected pass as themselves [P1351 A407]", (run) =>
  Effect.gen(function* () {
    for (const thrown of [escalation, hard]) {
      for (const f of [throwing(thrown), () => Promise.reject(thrown)]) {
        for (const agent of made(f)) assert.strictEqual(yield* Effect.flip(noModel(run(agent, "go"))), thrown)
      }
    }
  })
)

it.run("everything else that is thrown is an ExecutionError, by what is known of it [P1351]", (run) =>
  Effect.gen(function* () {
    for (const [thrown, category] of [
      [new SyntaxError("no JSON"), "invocation"],
      ["a text", "invocation"],
      [undefined, "invocation"],
      [Object.assign(new Error("refused"), { code: "ECONNREFUSED" }), "network"]
    ] as const) {
      for (const agent of made(throwing(thrown))) {
        const error = yield* Effect.flip(noModel(run(agent, "go")))
        assert(error instanceof ToolError.ExecutionError)
        assert.deepStrictEqual([error.tool, error.kind, error.category], ["plain", "local", category])
        assert.strictEqual(error.cause, thrown)
      }
    }
  })
)

it.effect("the signal is aborted when the run is stopped [P1351]", () =>
  Effect.gen(function* () {
    for (const index of [0, 1] as const) {
      const signals: Array<AbortSignal> = []
      const agent = made((_input, { signal }) => {
        signals.push(signal)
        return new Promise<string>(() => {})
      })[index]
      const fiber = yield* Effect.forkChild(noModel(agent("go")))
      yield* calm
      assert.deepStrictEqual(
        signals.map(({ aborted }) => aborted),
        [false]
      )
      yield* Fiber.interrupt(fiber)
      assert.isTrue(signals[0]?.aborted)
    }
  })
)

const counting = Tool.make("count", {
  description: "Counts.",
  parameters: Schema.Struct({ n: Schema.Finite }),
  success: Schema.String,
  coercion: [],
  run: ({ n }) => Effect.succeed(`${n}`)
})

it.run(
  "a function as a fixer escalates or ends the run by what it throws, else the next rung decides [P1351 A407]",
  (run) =>
    Effect.gen(function* () {
      const broken = ScriptedModel.calls(ScriptedModel.call("count", "{n: 1}", "c1"))
      const textsWith = (f: () => string) =>
        Effect.gen(function* () {
          const model = yield* ScriptedModel.make(broken, done)
          const rows = {
            InvalidArgs: Recovery.ladder(
              Recovery.fix(Agent.fromFunction("plain", f)),
              Recovery.tell(() => "told")
            )
          }
          yield* run(agentWith(counting.pipe(Tool.onError(rows))), "go").pipe(Effect.provide(model.layer))
          return read(model)
        })
      assert.deepStrictEqual(yield* textsWith(() => '{"n":2}'), ["result: 2"])
      assert.deepStrictEqual(yield* textsWith(throwing(escalation)), [
        "told: ERROR: Tool 'count' failed: Schema mismatch (severity: HIGH). Please retry with corrected arguments."
      ])
      assert.deepStrictEqual(yield* textsWith(throwing(new SyntaxError("no JSON"))), ["told: told"])
      const model = yield* ScriptedModel.make(broken)
      const rows = { InvalidArgs: Recovery.fix(Agent.fromFunction("plain", throwing(hard))) }
      const agent = agentWith(counting.pipe(Tool.onError(rows)))
      assert.strictEqual(asHard(yield* Effect.flip(run(agent, "go").pipe(Effect.provide(model.layer)))), hard)
    })
)

it.run(
  "a function of effects that throws an end of an agent fails with it; anything else is a defect that names it [P1351]",
  (run) =>
    Effect.gen(function* () {
      const agents = (thrown: unknown) =>
        [
          [Agent.deterministic("plain", throwing(thrown) as never), "The function of agent 'plain' threw: "],
          [
            Agent.seal(
              Agent.make("plain", {
                skills: [Skill.deterministic("skilled", { description: "Works.", run: throwing(thrown) as never })]
              })
            ),
            "The function of skill 'skilled' threw: "
          ]
        ] as const
      for (const thrown of [escalation, hard]) {
        for (const [agent] of agents(thrown)) {
          const exit = yield* Effect.exit(noModel(run(agent as Agent.Any<string, string, unknown>, "go")))
          assert.deepStrictEqual(exit, Exit.fail(thrown))
        }
      }
      const thrown = new SyntaxError("no JSON")
      for (const [agent, message] of agents(thrown)) {
        const exit = yield* Effect.exit(noModel(run(agent as Agent.Any<string, string, unknown>, "go")))
        assert(Exit.isFailure(exit) && Cause.hasDies(exit.cause))
        const defect = Cause.squash(exit.cause)
        assert.instanceOf(defect, TypeError)
        assert.deepStrictEqual([(defect as Error).message, (defect as Error).cause], [`${message}no JSON`, thrown])
      }
    })
)

it.run(
  "a tool that is a function may throw an escalation or a hard failure; all else is an ExecutionError [P1351 A109]",
  (run) =>
    Effect.gen(function* () {
      const tool = (thrown: unknown) =>
        Tool.fromFunction("work", {
          description: "Works.",
          parameters: Schema.Struct({}),
          success: Schema.String,
          run: throwing(thrown)
        })
      for (const thrown of [escalation, hard]) {
        const model = yield* ScriptedModel.make(ScriptedModel.calls(ScriptedModel.call("work", {}, "c1")))
        assert.strictEqual(
          yield* Effect.flip(run(agentWith(tool(thrown)), "go").pipe(Effect.provide(model.layer))),
          thrown
        )
      }
      const error = yield* Effect.flip(Tool.call(tool(busy()), {}))
      assert(error instanceof ToolError.ExecutionError)
      assert.strictEqual(error.category, "invocation")
    })
)
