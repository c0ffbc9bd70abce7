/** `Agent.prepareTurn`: what several choices for a turn admit together, and what no choice may demand. */
import { assert } from "@effect/vitest"
import { Agent, type Model, Router, Skill, Tool } from "@kintsugi/core"
import * as Interception from "@kintsugi/core/Interception"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Cause, Effect, Exit } from "effect"
import { it } from "../../_support/run.ts"
import { batch, done, scripted, settlements } from "../../_support/dialogue.ts"

const { make } = ScriptedModel

const tools = () => {
  const look = scripted("look", Effect.succeed("seen"))
  const send = scripted("send")
  return { look, agent: Agent.make("clerk", { tools: [look.tool, send.tool] }) }
}

/** The functions of these choices, in their order. */
const choosing = (...choices: ReadonlyArray<object>) =>
  // as from JavaScript
  choices.reduce<ReturnType<typeof tools>["agent"]>(
    (agent, choice) => agent.pipe(Agent.prepareTurn(() => Effect.succeed(choice as {}))),
    tools().agent
  )

it.run("of two tool choices the narrower one counts, in both orders [P1550]", (run) =>
  Effect.gen(function* () {
    const look = { tool: "look" }
    const cases = [
      ["auto", "auto", "auto"],
      ["auto", "required", "required"],
      ["auto", look, look],
      ["auto", "none", "none"],
      ["required", "required", "required"],
      ["required", look, look],
      ["required", "none", "none"],
      [look, look, look],
      [look, "none", "none"],
      ["none", "none", "none"]
    ] as const
    for (const [one, other, expected] of cases) {
      for (const [first, second] of [
        [one, other],
        [other, one]
      ]) {
        const model = yield* make(done)
        const agent = choosing({ toolChoice: first }, { toolChoice: second }, {})
        yield* run(agent, "go").pipe(Effect.provide(model.layer))
        assert.deepStrictEqual(model.requests[0]?.toolChoice, expected)
      }
    }
  })
)

it.run("a demand for a tool that is left out is a defect, whichever function leaves it out [P1550]", (run) =>
  Effect.gen(function* () {
    const toolChoice = { tool: "send" }
    const send = "TypeError: Agent 'clerk': prepareTurn demands a call of 'send', which it leaves out of the tools"
    const cases: ReadonlyArray<readonly [string, ...ReadonlyArray<object>]> = [
      [send, { tools: ["look"], toolChoice }],
      [send, { tools: ["look"] }, { toolChoice }],
      [send, { toolChoice }, { tools: ["look"] }],
      [send, { tools: ["look"] }, { tools: ["send"], toolChoice }],
      [
        "TypeError: Agent 'clerk': prepareTurn demands a call of 'send' after one of 'look'",
        { toolChoice: { tool: "look" } },
        { toolChoice }
      ],
      [
        "TypeError: Agent 'clerk': prepareTurn demands a call, and leaves out all tools",
        { toolChoice: "required" },
        { tools: [] }
      ]
    ]
    const model = yield* make()
    for (const [expected, ...choices] of cases) {
      const exit = yield* Effect.exit(run(choosing(...choices), "go").pipe(Effect.provide(model.layer)))
      assert(Exit.isFailure(exit))
      assert.strictEqual(String(Cause.squash(exit.cause)), expected)
    }
  })
)

it.run("of two choices of tools, those of both are left [P1550]", (run) =>
  Effect.gen(function* () {
    for (const [first, second, expected] of [
      [["look", "send"], ["send"], ["send"]],
      [["send"], ["look", "send"], ["send"]],
      [["look"], ["send"], []]
    ]) {
      const model = yield* make(done)
      yield* run(choosing({ tools: first }, { tools: second }), "go").pipe(Effect.provide(model.layer))
      assert.deepStrictEqual(
        model.requests[0]?.tools.map(({ name }) => name),
        expected
      )
    }
  })
)

it.run("a demand without the name of a tool is no choice, and a wrong name is one in any skill [P1550]", (run) =>
  Effect.gen(function* () {
    const defectOf = <E>(agent: Parameters<typeof run<string, string, E, Model.Model>>[0]) =>
      Effect.gen(function* () {
        const model = yield* make()
        const exit = yield* Effect.exit(run(agent, "go").pipe(Effect.provide(model.layer)))
        assert(Exit.isFailure(exit))
        return String(Cause.squash(exit.cause))
      })
    for (const toolChoice of [{}, { tool: 7 }, { name: "look" }]) {
      assert.match(
        yield* defectOf(choosing({ toolChoice })),
        /The function of Agent.prepareTurn of agent 'clerk' returned/
      )
    }
    // as from JavaScript
    const wrong = Agent.prepareTurn(() => Effect.succeed({ tools: ["sned"] } as {}))
    const error = "TypeError: Agent 'clerk': prepareTurn names 'sned', which is no tool of the agent;"
    assert.strictEqual(yield* defectOf(Agent.make("clerk", {}).pipe(wrong)), `${error} it has no tools`)
    const skills = [
      Skill.deterministic("echo", { description: "Echoes.", run: (input) => Effect.succeed(input) }),
      Skill.make("work", { description: "Works.", tools: [tools().look.tool] })
    ]
    const skilled = Agent.make("clerk", { skills }).pipe(Agent.route(Router.byRule(() => "work")), wrong)
    assert.strictEqual(yield* defectOf(skilled), `${error} its tools are: look`)
  })
)

it.effect("a choice is recorded without its model, which a replay has to choose once more [P1551]", () =>
  Effect.gen(function* () {
    const chosen = yield* make(done)
    const recorded: Array<unknown> = []
    const played = (model: typeof chosen.layer | undefined, intercept: Interception.Interceptor["intercept"]) =>
      Effect.gen(function* () {
        const own = yield* make(...(model === undefined ? [done] : []))
        const agent = tools().agent.pipe(
          Agent.prepareTurn(() => Effect.succeed({ toolChoice: "none", ...(model === undefined ? {} : { model }) }))
        )
        const run = agent("go").pipe(
          Effect.provide(own.layer),
          Effect.provideService(Interception.Current, { intercept })
        )
        return yield* Effect.exit(run)
      })
    const recording: Interception.Interceptor["intercept"] = (step, self) =>
      step.type === "choice" ? Effect.tap(self, (value) => Effect.sync(() => recorded.push(value))) : self
    assert.deepStrictEqual(yield* played(undefined, recording), Exit.succeed("done"))
    assert.deepStrictEqual(yield* played(chosen.layer, recording), Exit.succeed("done"))
    assert.deepStrictEqual(
      recorded,
      [false, true].map((hasModel) => ({ choice: { toolChoice: "none" }, hasModel }))
    )
    const replaying: Interception.Interceptor["intercept"] = (step, self) =>
      step.type === "choice" ? Effect.succeed({ choice: {}, hasModel: true }) : self
    const exit = yield* played(chosen.layer, replaying)
    assert(Exit.isFailure(exit))
    assert.match(
      String(Cause.squash(exit.cause)),
      /has chosen a model for this turn before, and chooses none in a replay/
    )
  })
)

it.run("an agent without a prompt has an empty one for the function [P1550]", (run) =>
  Effect.gen(function* () {
    const prompts: Array<string> = []
    const agent = Agent.make("clerk", {}).pipe(
      Agent.prepareTurn(({ prompt }) =>
        Effect.as(
          Effect.sync(() => prompts.push(prompt)),
          {}
        )
      )
    )
    const model = yield* make(done)
    yield* run(agent, "go").pipe(Effect.provide(model.layer))
    assert.deepStrictEqual(prompts, [""])
  })
)

it.run("a call in a turn that is to have none is denied, and runs nothing [P1552]", (run) =>
  Effect.gen(function* () {
    const { look } = tools()
    const agent = Agent.make("clerk", { tools: [look.tool, Tool.complete] }).pipe(
      Agent.prepareTurn(({ turn }) => Effect.succeed(turn === 1 ? { toolChoice: "none" } : {}))
    )
    const model = yield* make(batch("look", "complete"), batch("look"), done)
    assert.strictEqual(yield* run(agent, "go").pipe(Effect.provide(model.layer)), "done")
    const left = (name: string) => `denied: Tool '${name}' is not available in this turn. Try another way.`
    assert.deepStrictEqual(settlements(model.requests.at(-1)?.messages ?? []), [
      left("look"),
      left("complete"),
      "result: seen"
    ])
    assert.strictEqual(model.requests[0]?.toolChoice, "none")
    assert.lengthOf(model.requests[0]?.tools ?? [], 2)
    assert.lengthOf(look.runs, 1)
  })
)

it("what is no function is refused when the agent is made [P1550]", () => {
  const { agent } = tools()
  for (const prepare of [undefined, {}, Effect.succeed({})]) {
    // as from JavaScript
    const given = prepare as unknown as () => Effect.Effect<{}>
    assert.throws(() => Agent.prepareTurn(agent, given), "Agent 'clerk': prepareTurn takes a function, got")
  }
})
