/** Guardrails of the input: until they have passed, nothing of a reply leaves the run. */
import { assert } from "@effect/vitest"
import { Agent, Message, Model, Recovery, RunError, Skill, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Cause, Effect, Exit, Fiber, Layer, Schema, Stream } from "effect"
import { TestClock } from "effect/testing"
import { describe } from "vitest"
import { calm, eventLog } from "../../_support/dialogue.ts"
import { namedModel, overloaded } from "../../_support/namedModels.ts"
import { it, type Runner } from "../../_support/run.ts"
import { blockingAfter, looking, reading, secret, slowModel } from "./_support/guarded.ts"
import { eventsOf } from "./_support/saying.ts"

const { call, calls, fails, make, text } = ScriptedModel
const { block, pass, replace } = Agent.guard

type Looking = ReturnType<typeof looking>["tool"]

/** An agent that reads, thinks, says and calls something, behind a guardrail. */
const guardedBy = (tool: Looking, millis: number) =>
  Agent.make("clerk", { tools: [tool] }).pipe(Agent.guardInput(blockingAfter(millis), { name: "late" }))

const errorOf = (exit: Exit.Exit<unknown, unknown>): unknown =>
  Exit.isFailure(exit) ? Cause.squash(exit.cause) : undefined

const blockedBy = (exit: Exit.Exit<unknown, unknown>): string => {
  const error = errorOf(exit)
  return error instanceof RunError.GuardrailError ? `${error.side}, ${error.guard}: ${error.reason}` : String(error)
}

/** When each event of the first turn comes, in a run that no guardrail is in the way of. */
const unguarded = (run: Runner) =>
  Effect.gen(function* () {
    const seen = yield* reading(run(Agent.make("clerk", { tools: [looking().tool] }), "hi"), slowModel().layer)
    assert.include(seen.text, secret)
    const last = seen.events.findIndex(({ type }) => type === "turn-end")
    return [...new Set(seen.instants.slice(0, last + 1))].flatMap((at) => [at - 1, at, at + 1]).filter((at) => at >= 0)
  })

/** What the events of a run that was blocked beside its first model call are, and nothing else. */
const beside = ["run-start", "turn-start", "model-start", "model-interrupted", "guardrail", "run-failed"]

it.run(
  "a block before, at and after each event of the first turn: no tool has begun, no text was emitted, nothing is readable [P1378 P1595]",
  (run) =>
    Effect.gen(function* () {
      const instants = yield* unguarded(run)
      assert.isAbove(instants.length, 6)
      for (const at of instants) {
        const { runs, tool } = looking()
        const seen = yield* reading(run(guardedBy(tool, at), "hi"), slowModel().layer)
        assert.strictEqual(blockedBy(seen.exit), "input, late: not here", `${at}`)
        assert.deepStrictEqual(runs, [])
        assert.notInclude(seen.text, secret, `${at}`)
        assert.deepStrictEqual(
          seen.events.map(({ type }) => type),
          beside,
          `${at}`
        )
        // the model call has come to its end before the run has
        assert.strictEqual(seen.instants.at(-1), at)
        const entries = seen.events.flatMap((event) => ("entry" in event ? event.entry : []))
        assert.deepStrictEqual(
          entries.map(({ outcome, purpose }) => [outcome, purpose]),
          [["interrupted", "agent"]]
        )
      }
    })
)

/** An agent that asks the guarded one, and reads how that ended. */
const calling = (guarded: ReturnType<typeof guardedBy>) =>
  Agent.make("outer", {
    tools: [Agent.asTool(guarded, { name: "ask", description: "Asks.", sideEffects: "none" })]
  }).pipe(Agent.toolDefaults({ orElse: Recovery.tell() }))

it.run("it blocks the same in a sub-agent, in a composition, and as a fixer [P1595]", (run) =>
  Effect.gen(function* () {
    for (const at of [0, 19, 50, 51]) {
      const { runs, tool } = looking()
      const slow = guardedBy(tool, at).pipe(Agent.withModel(slowModel().layer))
      const { layer } = yield* make(calls(call("ask", { input: "hi" })), text("it is blocked"))
      const nested = yield* reading(run(calling(slow), "go"), layer)
      assert.deepStrictEqual(nested.exit, Exit.succeed("it is blocked"))
      assert.notInclude(nested.text, secret)
      const composed = yield* reading(
        run(
          Agent.map(slow, (answer) => `${answer}!`),
          "hi"
        ),
        layer
      )
      assert.strictEqual(blockedBy(composed.exit), "input, late: not here")
      assert.notInclude(composed.text, secret)
      // another agent is not asked what this one may not answer
      const safe = Agent.deterministic("safe", (input: string) => Effect.succeed(input.replace(/.+/, "safe")))
      const saved = yield* reading(run(Agent.fallback(slow, safe), "hi"), layer)
      assert.strictEqual(blockedBy(saved.exit), "input, late: not here")
      assert.notInclude(saved.text, secret)
      const broken = Tool.make("pay", {
        description: "Pays.",
        parameters: Schema.Struct({ cents: Schema.Int }),
        success: Schema.String,
        run: () => Effect.succeed("paid"),
        onError: {
          InvalidArgs: Recovery.ladder(
            Recovery.fix(slow),
            Recovery.tell(() => "not mended")
          )
        }
      })
      const fixed = yield* make(calls(call("pay", "{")), text("as it is"))
      const mended = yield* reading(run(Agent.make("outer", { tools: [broken] }), "go"), fixed.layer)
      assert.deepStrictEqual(mended.exit, Exit.succeed("as it is"))
      assert.notInclude(mended.text, secret)
      assert.deepStrictEqual(runs, [])
    }
  })
)

it.effect("it blocks the same in a run with a handle, whose transcript has nothing of the reply [P1595]", () =>
  Effect.gen(function* () {
    for (const at of [0, 35, 50]) {
      const { tool } = looking()
      const run = yield* guardedBy(tool, at).start("hi").pipe(Effect.provide(slowModel().layer))
      yield* TestClock.adjust(at)
      yield* calm
      assert.strictEqual(blockedBy(yield* Effect.exit(run.outcome)), "input, late: not here")
      assert.deepStrictEqual(yield* run.transcript, [{ ...Message.user("hi"), withheld: true }])
      assert.notInclude(JSON.stringify(yield* eventsOf(run)), secret)
    }
  })
)

it.run(
  "a check that passes lets everything through: a text as it comes, and one that came before at once [P1595]",
  (run) =>
    Effect.gen(function* () {
      for (const at of [0, 25, 70]) {
        const { runs, tool } = looking()
        const agent = Agent.make("clerk", { tools: [tool] }).pipe(
          Agent.guardInput(() => Effect.delay(Effect.succeed(pass), at), { name: "slow" })
        )
        const seen = yield* reading(run(agent, "hi"), slowModel().layer)
        assert.deepStrictEqual(seen.exit, Exit.succeed("It is done"))
        assert.deepStrictEqual(runs, [secret])
        const instants = seen.events.flatMap(({ type }, index) =>
          type === "text-delta" ? [seen.instants[index] ?? 0] : []
        )
        if (run.isStreamed) assert.deepStrictEqual(instants.slice(0, 2), [Math.max(20, at), Math.max(30, at)])
        const verdicts = seen.events.flatMap((event) => (event.type === "guardrail" ? [event.verdict] : []))
        assert.deepStrictEqual(verdicts, ["pass"])
      }
    })
)

it.run("before: the model is called after the check, and no turn has begun that is blocked [P1595]", (run) =>
  Effect.gen(function* () {
    const { layer, requests } = slowModel()
    const { tool } = looking()
    const agent = Agent.make("clerk", { tools: [tool] }).pipe(Agent.guardInput(blockingAfter(5), { mode: "before" }))
    const seen = yield* reading(run(agent, "hi"), layer)
    assert.deepStrictEqual(
      seen.events.map(({ type }) => type),
      ["run-start", "guardrail", "run-failed"]
    )
    assert.lengthOf(requests, 0)
    const passing = Agent.make("clerk", { tools: [tool] }).pipe(
      Agent.guardInput(() => Effect.delay(Effect.succeed(pass), 5), { mode: "before" })
    )
    const passed = yield* reading(run(passing, "hi"), layer)
    assert.strictEqual(passed.instants[passed.events.findIndex(({ type }) => type === "model-start")], 5)
    assert.deepStrictEqual(passed.exit, Exit.succeed("It is done"))
  })
)

it.run("before: a check that blocks is asked once, at the safe point and in the last turn [P1595]", (run) =>
  Effect.gen(function* () {
    for (const budget of [{}, { maxTurns: 1 }]) {
      let asked = 0
      const check = () => (asked++, Agent.guard.block("no"))
      const agent = Agent.make("clerk", { budget }).pipe(Agent.guardInput(check, { mode: "before" }))
      const model = yield* make()
      assert.strictEqual(blockedBy((yield* reading(run(agent, "hi"), model.layer)).exit), "input, check: no")
      assert.strictEqual(asked, 1)
    }
  })
)

it.run("with tools of the provider in the request, the check comes before the model call [P1595]", (run) =>
  Effect.gen(function* () {
    const { service } = yield* namedModel("plain")
    const searching = yield* namedModel("searching")
    const hosted = { ...searching.service, providerTools: true }
    for (const model of [hosted, Model.fallback(service, hosted)]) {
      const layer = Layer.succeed(Model.Model, model)
      const blocked = yield* reading(run(Agent.make("clerk", {}).pipe(Agent.guardInput(blockingAfter(5))), "hi"), layer)
      assert.deepStrictEqual(
        blocked.events.map(({ type }) => type),
        ["run-start", "guardrail", "run-failed"]
      )
    }
  })
)

describe("a check that does not decide", () => {
  const undecided = {
    fails: () => Effect.fail("lost"),
    dies: () => Effect.die(new Error("lost")),
    throws: () => {
      throw new Error("lost")
    },
    "interrupts itself": () => Effect.interrupt,
    "is interrupted within": () => Effect.flatMap(Effect.forkChild(Effect.interrupt), Fiber.join),
    "is late": () => Effect.never,
    "says something else": () => Effect.succeed({ type: "maybe" } as never)
  }
  for (const [name, check] of Object.entries(undecided)) {
    it.run(`and ${name} blocks, unless it is to pass [P1596]`, (run) =>
      Effect.gen(function* () {
        for (const mode of ["beside", "before"] as const) {
          const { runs, tool } = looking()
          const agent = Agent.make("clerk", { tools: [tool] }).pipe(Agent.guardInput(check, { mode, timeout: 40 }))
          const seen = yield* reading(run(agent, "hi"), slowModel().layer)
          assert.match(blockedBy(seen.exit), /: the check could not decide: /)
          assert.notInclude(seen.text, secret)
          const lenient = Agent.make("clerk", { tools: [tool] }).pipe(
            Agent.guardInput(check, { mode, timeout: 40, onFailure: "pass" })
          )
          const passed = yield* reading(run(lenient, "hi"), slowModel().layer)
          assert.deepStrictEqual(passed.exit, Exit.succeed("It is done"))
          assert.deepStrictEqual(runs, [secret])
        }
      })
    )
  }
})

it.run(
  "of a block and a reply that come together the block wins, and of a block and the answer of a row [P1596]",
  (run) =>
    Effect.gen(function* () {
      const { runs, tool } = looking()
      const seen = yield* reading(run(guardedBy(tool, 50), "hi"), slowModel().layer)
      assert.strictEqual(blockedBy(seen.exit), "input, late: not here")
      assert.deepStrictEqual(runs, [])
      const { layer } = yield* make(fails(overloaded()))
      const answering = Agent.make("clerk", {}).pipe(
        Agent.onLlmError({ orElse: Recovery.respondWith(secret) }),
        Agent.guardInput(blockingAfter(7))
      )
      const answered = yield* reading(run(answering, "hi"), layer)
      assert.strictEqual(blockedBy(answered.exit), "input, guardInput 1: not here")
      assert.notInclude(answered.text, secret)
    })
)

it.run("a replaced text takes the place of the message, for the model and in the transcript [P1596]", (run) =>
  Effect.gen(function* () {
    const log = eventLog()
    const model = yield* make(text("hello"))
    const agent = Agent.make("clerk", { prompt: "Be brief." }).pipe(
      Agent.guardInput(({ text }) => replace(text.replace("4711", "****")), { mode: "before", name: "mask" }),
      Agent.guardInput(({ text }) => (text.includes("4711") ? block("a number") : pass)),
      log.listen
    )
    assert.strictEqual(yield* run(agent, "I am 4711").pipe(Effect.provide(model.layer)), "hello")
    assert.deepStrictEqual(model.requests[0]?.messages, [Message.system("Be brief."), Message.user("I am ****")])
    const [replaced] = log.of("guardrail")
    assert.deepInclude(replaced, { verdict: "replace", guard: "mask", index: 1, message: Message.user("I am ****") })
  })
)

it.run(
  "an empty text in the place of what the user says is left out, and blocks a message without more [P1596]",
  (run) =>
    Effect.gen(function* () {
      const image = Message.image("image/png", { data: "AAAA" })
      const emptying = (onFailure: "block" | "pass") =>
        Agent.make("clerk", { input: Message.UserContent }).pipe(
          Agent.guardInput(() => replace(""), { mode: "before", onFailure })
        )
      const seen = yield* make(text("ok"))
      yield* run(emptying("block"), [Message.text("q"), image, Message.text("r")]).pipe(Effect.provide(seen.layer))
      assert.deepStrictEqual(seen.requests[0]?.messages, [Message.user([image])])
      const unasked = yield* make()
      const exit = yield* Effect.exit(run(emptying("block"), [Message.text("q")]).pipe(Effect.provide(unasked.layer)))
      const reason = "the check could not decide: an empty text leaves nothing of this message"
      assert.strictEqual(blockedBy(exit), `input, guardInput 1: ${reason}`)
      const passed = yield* make(text("ok"))
      yield* run(emptying("pass"), [Message.text("q")]).pipe(Effect.provide(passed.layer))
      assert.deepStrictEqual(passed.requests[0]?.messages, [Message.user("q")])
    })
)

it.effect("a check beside the model call that replaces blocks: the model has read the text [P1596]", () =>
  Effect.gen(function* () {
    const agent = Agent.make("clerk", {}).pipe(Agent.guardInput(() => replace("x") as never))
    const seen = yield* reading(agent("hi"), slowModel().layer)
    assert.match(blockedBy(seen.exit), /it cannot replace this text/)
  })
)

it.run("a row answers in the place of the error, or leaves it [P1598]", (run) =>
  Effect.gen(function* () {
    const { tool } = looking()
    for (const mode of ["beside", "before"] as const) {
      const agent = Agent.make("clerk", { tools: [tool] }).pipe(
        Agent.guardInput(blockingAfter(20), { mode }),
        Agent.onGuardrail({ input: Recovery.respondWith(({ reason }) => Effect.succeed(`No: ${reason}`)) })
      )
      const seen = yield* reading(run(agent, "hi"), slowModel().layer)
      assert.deepStrictEqual(seen.exit, Exit.succeed("No: not here"))
      assert.notInclude(seen.text, secret)
      assert.strictEqual(seen.events.at(-1)?.type, "run-completed")
      const left = agent.pipe(Agent.onGuardrail({ input: Recovery.rethrow }))
      assert.strictEqual(
        blockedBy((yield* reading(run(left, "hi"), slowModel().layer)).exit),
        "input, guardInput 1: not here"
      )
    }
  })
)

it.effect("of several guardrails each has to pass, and the first block counts [P1595]", () =>
  Effect.gen(function* () {
    const { tool } = looking()
    const agent = guardedBy(tool, 30).pipe(
      Agent.guardInput(() => Effect.delay(Effect.succeed(pass), 10)),
      Agent.guardInput(blockingAfter(20), { name: "sooner" })
    )
    const seen = yield* reading(agent.stream("hi").pipe(Stream.runDrain), slowModel().layer)
    assert.strictEqual(blockedBy(seen.exit), "input, sooner: not here")
    assert.notInclude(seen.text, secret)
  })
)

it.run("where a skill has to be chosen, the check comes before the choice, with the replaced text [P1595]", (run) =>
  Effect.gen(function* () {
    const heard: Array<string> = []
    const skills = [
      Skill.make("talk", { description: "Talks." }),
      Skill.deterministic("echo", {
        description: "Echoes.",
        run: (input) => Effect.sync(() => (heard.push(input), input))
      })
    ]
    const agent = Agent.make("clerk", { skills }).pipe(Agent.guardInput(() => replace("masked"), { mode: "before" }))
    const model = yield* make(
      text('{"name":"echo","confidence":1}'),
      text('{"name":"talk","confidence":1}'),
      text("we talk")
    )
    assert.strictEqual(yield* run(agent, "4711").pipe(Effect.provide(model.layer)), "masked")
    assert.deepStrictEqual(heard, ["masked"])
    assert.strictEqual(yield* run(agent, "4711").pipe(Effect.provide(model.layer)), "we talk")
    assert.notInclude(JSON.stringify(model.requests), "4711")
    const blocking = Agent.make("clerk", { skills }).pipe(Agent.guardInput(blockingAfter(3)))
    const seen = yield* reading(run(blocking, "hi"), model.layer)
    assert.deepStrictEqual(
      seen.events.map(({ type }) => type),
      ["run-start", "guardrail", "run-failed"]
    )
  })
)
