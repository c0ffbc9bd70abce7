/** `Agent.prepareTurn`: what is chosen for a turn, before its first attempt. */
import { assert } from "@effect/vitest"
import { Agent, Budget, Compaction, LlmError, Message, Model, Recovery, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Cause, Effect, Exit, Layer } from "effect"
import { it } from "../../_support/run.ts"
import { batch, busy, done, eventLog, gone, scripted, settlements } from "../../_support/dialogue.ts"
import { namedModel, overloaded } from "../../_support/namedModels.ts"

const { call, fails, make, replies, reply, text } = ScriptedModel

const tools = () => {
  const look = scripted("look", Effect.succeed("seen"), Effect.succeed("seen"), Effect.succeed("seen"))
  const send = scripted("send", Effect.succeed("sent"), Effect.succeed("sent"))
  return { look, send, agent: Agent.make("clerk", { prompt: "Be polite.", tools: [look.tool, send.tool] }) }
}

const unchosen = { model: undefined, tools: undefined, toolChoice: undefined, prompt: undefined, options: undefined }

const offered = ({ requests }: Pick<ScriptedModel.ScriptedModel, "requests">) =>
  requests.map(({ toolChoice, tools }) => [tools.map(({ name }) => name).join(" "), toolChoice])

it.run("a function chooses tools, a tool choice, a prompt and options of each turn [P1377 P1550 P1552]", (run) =>
  Effect.gen(function* () {
    const { agent } = tools()
    const log = eventLog()
    const seen: Array<ReadonlyArray<unknown>> = []
    const prepared = agent.pipe(
      Agent.prepareTurn(({ answerTurn, messages, prompt, tools, turn, usage }) => {
        seen.push([turn, answerTurn, messages.length, prompt, tools.join(" "), usage.inputTokens > 0])
        return Effect.succeed(
          turn === 1
            ? { tools: ["look"], toolChoice: { tool: "look" }, prompt: "Look first.", options: { seed: 1 } }
            : turn === 2
              ? { prompt: "" }
              : {}
        )
      }),
      log.listen
    )
    const model = yield* make(batch("look"), batch("look"), done)
    assert.strictEqual(yield* run(prepared, "go").pipe(Effect.provide(model.layer)), "done")
    assert.deepStrictEqual(seen, [
      [1, false, 2, "Be polite.", "look send", false],
      [2, false, 3, "Be polite.", "look send", true],
      [3, false, 4, "Be polite.", "look send", true]
    ])
    assert.deepStrictEqual(offered(model), [
      ["look", { tool: "look" }],
      ["look send", "auto"],
      ["look send", "auto"]
    ])
    assert.deepStrictEqual(
      model.requests.map(({ messages: [head], options }) => [head, options]),
      [
        [Message.system("Look first."), { seed: 1 }],
        [Message.user("go"), undefined],
        [Message.system("Be polite."), undefined]
      ]
    )
    assert.deepStrictEqual(
      log.of("turn-prepared").map(({ model, options, prompt, toolChoice, tools, turn }) => ({
        turn,
        model,
        tools,
        toolChoice,
        prompt,
        options
      })),
      [
        {
          turn: 1,
          model: undefined,
          tools: ["look"],
          toolChoice: { tool: "look" },
          prompt: "Look first.",
          options: { seed: 1 }
        },
        { ...unchosen, turn: 2, prompt: "" },
        { ...unchosen, turn: 3 }
      ]
    )
    const start = log.of("run-start")[0]
    assert.deepStrictEqual(start?.transcript[0], Message.system("Be polite."))
  })
)

it.run("a call of a tool that was left out is denied, a built-in one too, and no other call is [P1552]", (run) =>
  Effect.gen(function* () {
    const { look, send } = tools()
    const agent = Agent.make("clerk", { tools: [look.tool, send.tool, Tool.complete] }).pipe(
      Agent.prepareTurn(({ turn }) => Effect.succeed(turn === 1 ? { tools: ["look"] } : {}))
    )
    const log = eventLog()
    const model = yield* make(batch("look", "send", "complete", "other"), batch("send"), text("done"))
    assert.strictEqual(yield* run(agent.pipe(log.listen), "go").pipe(Effect.provide(model.layer)), "done")
    const left = (name: string) => `denied: Tool '${name}' is not available in this turn. Try another way.`
    assert.deepStrictEqual(settlements(model.requests.at(-1)?.messages ?? []), [
      "result: seen",
      left("send"),
      left("complete"),
      "told: unknown tool: other; available tools: look",
      "result: sent"
    ])
    assert.deepStrictEqual([look.runs.length, send.runs.length], [1, 1])
    assert.deepStrictEqual(
      log.of("tool-denied").map(({ tool }) => tool),
      ["send", "complete", "other"]
    )
  })
)

it.run("each function sees what those before it chose, and may narrow it: no tool comes back [P1550]", (run) =>
  Effect.gen(function* () {
    const { agent } = tools()
    const seen: Array<unknown> = []
    const prepared = agent.pipe(
      Agent.prepareTurn(() =>
        Effect.succeed({ tools: ["send"], toolChoice: "none", prompt: "One.", options: { a: 1, b: 1 } })
      ),
      Agent.prepareTurn(({ chosen, prompt, tools }) => {
        seen.push({ chosen, prompt, tools })
        return Effect.succeed({ tools: ["look", "send"], toolChoice: "required", prompt: "Two.", options: { b: 2 } })
      }),
      Agent.prepareTurn(({ prompt, tools }) => {
        seen.push({ prompt, tools })
        return Effect.succeed({ prompt: undefined })
      })
    )
    const model = yield* make(done)
    yield* run(prepared, "go").pipe(Effect.provide(model.layer))
    assert.deepStrictEqual(offered(model), [["send", "none"]])
    assert.deepStrictEqual(model.requests[0]?.messages[0], Message.system("Two."))
    assert.deepStrictEqual(model.requests[0]?.options, { a: 1, b: 2 })
    const [first, second] = seen
    assert.deepNestedInclude(first, { prompt: "One.", tools: ["send"] })
    assert.deepNestedInclude(first, { "chosen.toolChoice": "none", "chosen.options": { a: 1, b: 1 } })
    assert.deepStrictEqual(second, { prompt: "Two.", tools: ["send"] })
  })
)

it.run("a model is built once for all runs, and called for its turn alone [P1550 P1552 P1504]", (run) =>
  Effect.gen(function* () {
    const { agent } = tools()
    const log = eventLog()
    const cheap = yield* namedModel("cheap", text("short"), text("short"))
    let built = 0
    const layer = Layer.effect(
      Model.Model,
      Effect.sync(() => {
        built++
        return cheap.service
      })
    )
    const prepared = agent.pipe(
      Agent.prepareTurn(({ turn }) => Effect.succeed(turn === 2 ? { model: layer } : {})),
      log.listen
    )
    const opaque = { provider: "scripted", data: "signed" }
    const thinking = replies(reply({ content: [{ type: "reasoning", text: "hm", opaque }, call("look", {}, "c1")] }))
    const model = yield* make(thinking, thinking)
    const twice = Effect.all([run(prepared, "go"), run(prepared, "go")])
    assert.deepStrictEqual(yield* twice.pipe(Effect.provide(model.layer)), ["short", "short"])
    assert.strictEqual(built, 1)
    const starts = log.of("model-start").map(({ model, provider, turn }) => [turn, model, provider])
    assert.deepStrictEqual(starts.slice(0, 2), [
      [1, "scripted", "scripted"],
      [2, "cheap", "of cheap"]
    ])
    assert.deepStrictEqual(
      log.of("turn-prepared").map(({ model }) => model),
      [undefined, "cheap", undefined, "cheap"]
    )
    // what another model has signed goes along under the name of its provider: the codec of this one leaves it out
    const said = cheap.requests[0]?.messages[2]
    assert.deepInclude(said?.role === "assistant" ? said.content[0] : undefined, { type: "reasoning", opaque })
  })
)

it.run("retries and fallback models of a turn keep the choice, which is asked for once [P1551]", (run) =>
  Effect.gen(function* () {
    const { agent } = tools()
    const log = eventLog()
    const a = yield* namedModel("a", fails(overloaded()), fails(overloaded()))
    const b = yield* namedModel("b", fails(overloaded("b")), text("done"))
    const asked: Array<number> = []
    const prepared = agent.pipe(
      Agent.onLlmError({
        ModelOverloadedError: Recovery.retry({ retries: 1, initialBackoff: 0 })
      }),
      Agent.prepareTurn(({ turn }) => {
        asked.push(turn)
        return Effect.succeed({ model: Model.fallback(a.layer, b.layer), tools: ["look"], prompt: `Turn ${turn}.` })
      }),
      log.listen
    )
    const none = yield* make()
    assert.strictEqual(yield* run(prepared, "go").pipe(Effect.provide(none.layer)), "done")
    assert.deepStrictEqual(asked, [1])
    const requests = [...a.requests, ...b.requests]
    assert.lengthOf(requests, 4)
    for (const { messages, tools } of requests) {
      assert.deepStrictEqual(messages[0], Message.system("Turn 1."))
      assert.deepStrictEqual(
        tools.map(({ name }) => name),
        ["look"]
      )
    }
  })
)

it.run("a shortened conversation keeps the prompt of the transcript for the turns after [P1552]", (run) =>
  Effect.gen(function* () {
    const { agent } = tools()
    const log = eventLog()
    const tooLong = fails(LlmError.ContextTooLongError.make({ model: "a", limit: 100, actual: 120 }))
    const prepared = agent.pipe(
      Agent.onLlmError({ ContextTooLongError: Recovery.compact(Compaction.dropOldest({ keepLast: 1 })) }),
      Agent.prepareTurn(({ turn }) => Effect.succeed(turn === 3 ? { prompt: "Third." } : {})),
      log.listen
    )
    const model = yield* make(batch("look"), batch("look"), tooLong, batch("look"), done)
    yield* run(prepared, "go").pipe(Effect.provide(model.layer))
    assert.deepStrictEqual(
      model.requests.map(({ messages: [head] }) => (head?.role === "system" ? head.text : head?.role)),
      ["Be polite.", "Be polite.", "Third.", "Third.", "Be polite."]
    )
    assert.deepStrictEqual(log.of("compacted")[0]?.transcript[0], Message.system("Be polite."))
  })
)

it.run("tools that are off or withheld stay so, and a demand for one of them is dropped [P1552]", (run) =>
  Effect.gen(function* () {
    const off = Recovery.tell(() => "off", { then: "tools-off" })
    const failing = scripted("look", Effect.fail(busy())).tool.pipe(Tool.onError({ Busy: off }))
    const demanding = Agent.prepareTurn(() =>
      Effect.succeed({ toolChoice: { tool: "look" }, tools: ["look"] } as const)
    )
    const first = yield* make(batch("look"), done)
    yield* run(Agent.make("clerk", { tools: [failing] }).pipe(demanding), "go").pipe(Effect.provide(first.layer))
    assert.deepStrictEqual(offered(first), [
      ["look", { tool: "look" }],
      ["look", "none"]
    ])
    const withheld = scripted("look", Effect.fail(busy()), Effect.fail(busy())).tool.pipe(
      Tool.onError({ Busy: Recovery.tell() })
    )
    const budget = { repeatedFailures: { hint: 1, withhold: 2, stop: 9 } }
    const second = yield* make(batch("look"), batch("look"), batch("look"), done)
    yield* run(Agent.make("clerk", { tools: [withheld], budget }).pipe(demanding), "go").pipe(
      Effect.provide(second.layer)
    )
    assert.deepStrictEqual(offered(second).at(2), ["", "auto"])
    assert.match(settlements(second.requests.at(-1)?.messages ?? [])[2] ?? "", /failed too often/)
  })
)

it.run("the last turn at a limit is prepared too, and calls no tool [P1552 P1551]", (run) =>
  Effect.gen(function* () {
    const seen: Array<ReadonlyArray<unknown>> = []
    const prepared = Agent.make("clerk", { tools: [tools().look.tool], budget: { maxTurns: 1 } }).pipe(
      Agent.onBudgetExceeded(() => Budget.answer),
      Agent.prepareTurn(({ answerTurn, turn }) => {
        seen.push([turn, answerTurn])
        return Effect.succeed({ toolChoice: "required", prompt: `Turn ${turn}.` })
      })
    )
    const model = yield* make(batch("look"), text("what I know"))
    assert.strictEqual(yield* run(prepared, "go").pipe(Effect.provide(model.layer)), "what I know")
    assert.deepStrictEqual(seen, [
      [1, false],
      [2, true]
    ])
    assert.deepStrictEqual(offered(model), [
      ["look", "required"],
      ["look", "none"]
    ])
    assert.deepStrictEqual(model.requests[1]?.messages[0], Message.system("Turn 2."))
  })
)

it.run("its failure ends the run, with what the model of its choice fails to be built with [P1550]", (run) =>
  Effect.gen(function* () {
    const { agent } = tools()
    const model = yield* make()
    const failing = agent.pipe(Agent.prepareTurn(() => Effect.fail(busy("no choice"))))
    const error = yield* Effect.flip(run(failing, "go").pipe(Effect.provide(model.layer)))
    assert.deepStrictEqual(error, busy("no choice"))
    const broken = Layer.effect(Model.Model, Effect.fail(gone("no model")))
    const built = agent.pipe(Agent.prepareTurn(() => Effect.succeed({ model: broken })))
    assert.deepStrictEqual(yield* Effect.flip(run(built, "go").pipe(Effect.provide(model.layer))), gone("no model"))
  })
)

it.run("a wrong name is a defect that names the agent and its tools, and so is what is no choice [P1550]", (run) =>
  Effect.gen(function* () {
    const { agent } = tools()
    const model = yield* make()
    const defectOf = (choice: object) =>
      Effect.map(
        // as from JavaScript
        Effect.exit(
          run(agent.pipe(Agent.prepareTurn(() => Effect.succeed(choice as {}))), "go").pipe(Effect.provide(model.layer))
        ),
        (exit) => {
          assert(Exit.isFailure(exit))
          return String(Cause.squash(exit.cause))
        }
      )
    const wrong =
      "TypeError: Agent 'clerk': prepareTurn names 'sned', which is no tool of the agent; its tools are: look, send"
    assert.strictEqual(yield* defectOf({ tools: ["sned"] }), wrong)
    assert.strictEqual(yield* defectOf({ toolChoice: { tool: "sned" } }), wrong)
    for (const choice of [{ tool: ["look"] }, { tools: "look" }, { model: {} }, { prompt: 1 }, { toolChoice: "all" }]) {
      assert.match(yield* defectOf(choice), /The function of Agent.prepareTurn of agent 'clerk' returned an object/)
    }
  })
)

it.effect("a run that is interrupted while it is asked ends as interrupted, and calls no model [P1550]", () =>
  Effect.gen(function* () {
    const { agent } = tools()
    const log = eventLog()
    const model = yield* make()
    const run = yield* agent
      .pipe(
        Agent.prepareTurn(() => Effect.never),
        log.listen
      )
      .start("go")
      .pipe(Effect.provide(model.layer))
    yield* Effect.forEach(Array.from({ length: 50 }), () => Effect.yieldNow, { discard: true })
    yield* run.interrupt
    assert.lengthOf(log.of("run-interrupted"), 1)
    assert.lengthOf(log.of("turn-prepared"), 0)
  })
)
