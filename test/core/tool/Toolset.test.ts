import { assert } from "@effect/vitest"
import { Agent, LlmError, Recovery, Skill, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Schema } from "effect"
import { it } from "../../_support/run.ts"
import {
  agentWith,
  batch,
  busy,
  callingOnce,
  done,
  eventLog,
  instantsOf,
  overADay,
  play,
  read,
  scripted
} from "../../_support/dialogue.ts"

const { call, calls, make } = ScriptedModel

const overloaded = () => LlmError.ModelOverloadedError.make({ model: "m" })

it.run("a told failure answers its own call, flagged as an error; nothing leaves the loop [C1 C2]", (run) =>
  Effect.gen(function* () {
    const empty = scripted("search", Effect.succeed(""))
    const failing = scripted("query", Effect.fail(busy("query failed")))
    const log = eventLog()
    const model = yield* make(calls(call("query", {}, "q1"), call("search", {}, "s1")), done)
    const agent = agentWith(empty.tool, failing.tool.pipe(Tool.onError({ Busy: Recovery.tell((e) => e.message) })))
    assert.strictEqual(yield* run(agent.pipe(log.listen), "go").pipe(Effect.provide(model.layer)), "done")
    const last = model.requests[1]?.messages.at(-1)
    assert.deepStrictEqual(last?.role === "assistant" ? last.content : [], [
      {
        type: "settled-call",
        call: call("query", {}, "q1"),
        settlement: { kind: "told", text: "query failed" }
      },
      { type: "settled-call", call: call("search", {}, "s1"), settlement: { kind: "result", text: "" } }
    ])
    assert.strictEqual(log.end()?.type, "run-completed")
  })
)

it.run("the model reads the names that this skill offers instead of an unknown tool; siblings run [C3 A1001]", (run) =>
  Effect.gen(function* () {
    const { tool } = scripted("look", Effect.succeed("seen"))
    const log = eventLog()
    const model = yield* callingOnce("sing", "look")
    yield* run(agentWith(tool, scripted("fetch").tool).pipe(log.listen), "go").pipe(Effect.provide(model.layer))
    assert.deepStrictEqual(read(model), ["told: unknown tool: sing; available tools: look, fetch", "result: seen"])
    assert.deepStrictEqual(
      log.of("tool-denied").map(({ callId, tool, turn }) => [callId, tool, turn]),
      [["c1", "sing", 1]]
    )
  })
)

it.run("the model reads that an agent has no tools [C3]", (run) =>
  Effect.gen(function* () {
    const model = yield* callingOnce("look")
    yield* run(Agent.make("bare", {}), "go").pipe(Effect.provide(model.layer))
    assert.deepStrictEqual(read(model), ["told: unknown tool: look; no tools are available"])
    assert.deepStrictEqual(model.requests[0]?.tools, [])
  })
)

it.run("the text of `tell` has whether to repeat, by the error's advice and the tool's effects [C5 C6]", (run) =>
  Effect.gen(function* () {
    const permanent = "permanent: busy; consider asking the user for clarification"
    // what helps an operator is nothing that a model can do
    const message = overloaded().message.replace(". Wait and send it again, or ask another model", "")
    const unsure = `transient: ${message}; it may have taken effect, check before repeating`
    for (const [sideEffects, failure, text] of [
      ["none", overloaded(), `transient: ${message}; safe to retry`],
      ["idempotent", overloaded(), `transient: ${message}; safe to retry`],
      ["undeclared", overloaded(), unsure],
      ["unsafe", overloaded(), unsure],
      ["none", busy(), permanent],
      ["none", Object.assign(busy("lent"), { isRetryable: true }), "transient: lent; safe to retry"],
      ["none", Object.assign(busy("lent"), { isRetryable: false }), permanent.replace("busy", "lent")],
      ["none", LlmError.AuthenticationError.make({ model: "m", detail: "no key" }), undefined]
    ] as const) {
      const { tool } = play("fetch", { sideEffects }, [Effect.fail(failure)])
      const model = yield* callingOnce("fetch")
      const agent = agentWith(tool.pipe(Tool.onError({ orElse: Recovery.tell() })))
      yield* run(agent, "go").pipe(Effect.provide(model.layer))
      if (text === undefined) assert.match(read(model)[0] ?? "", /^told: permanent: /)
      else assert.deepStrictEqual(read(model), [`told: ${text}`])
    }
  })
)

it.run("the text of a failure without a message is its tag, never empty [C5]", (run) =>
  Effect.gen(function* () {
    const { tool } = scripted(
      "fetch",
      Effect.fail(busy("")),
      Effect.fail({ _tag: "Mute" as const }),
      Effect.fail(busy("  "))
    )
    const model = yield* callingOnce("fetch", "fetch", "fetch")
    yield* run(agentWith(tool.pipe(Tool.onError({ orElse: Recovery.tell() }))), "go").pipe(Effect.provide(model.layer))
    const text = (tag: string) => `told: permanent: ${tag}; consider asking the user for clarification`
    assert.deepStrictEqual(read(model), [text("Busy"), text("Mute"), text("Busy")])
  })
)

it.run("the default text replaces an empty text of a renderer [C5]", (run) =>
  Effect.gen(function* () {
    const { tool } = scripted("fetch", Effect.fail(busy()))
    const model = yield* callingOnce("fetch")
    const agent = agentWith(tool.pipe(Tool.onError({ Busy: Recovery.tell(() => " ") })))
    yield* run(agent, "go").pipe(Effect.provide(model.layer))
    assert.deepStrictEqual(read(model), ["told: permanent: busy; consider asking the user for clarification"])
  })
)

it.run(
  "the text of a renderer reaches the model whole, the message of a failure is cut, and not within a character [C5 P1330]",
  (run) =>
    Effect.gen(function* () {
      const long = (offset: number) => "x".repeat(offset) + "😀".repeat(4000)
      const steps = [long(0), long(1)].map((text) => Effect.fail(busy(text)))
      const rendered = scripted("fetch", ...steps)
      const plain = scripted("look", ...steps)
      const model = yield* ScriptedModel.make(batch("fetch", "fetch"), batch("look", "look"), done)
      const agent = agentWith(
        rendered.tool.pipe(Tool.onError({ Busy: Recovery.tell((error) => error.message) })),
        plain.tool.pipe(Tool.onError({ Busy: Recovery.tell() }))
      )
      yield* run(agent, "go").pipe(Effect.provide(model.layer))
      const [first, second, ...others] = read(model)
      assert.deepStrictEqual([first, second], [`told: ${long(0)}`, `told: ${long(1)}`])
      assert.strictEqual(others.length, 2)
      for (const text of others) {
        assert.isAtMost(text.length, "told: ".length + 4000)
        assert.isTrue(text.isWellFormed() && text.includes("😀…"))
      }
    })
)

it.run(
  "retrying before telling: 1 s, 2 s, no third wait; the text names tool, attempts and last cause [C8 C10]",
  (run) =>
    Effect.gen(function* () {
      const failures = ["first", "second", "third"].map((message) => Effect.fail(busy(message)))
      const { runs, tool } = scripted("fetch", ...failures)
      const log = eventLog()
      const model = yield* callingOnce("fetch")
      const verdict = Recovery.ladder(Recovery.retry({ maxAttempts: 3, initialBackoff: "1 second" }), Recovery.tell())
      const agent = agentWith(tool.pipe(Tool.onError({ Busy: verdict }))).pipe(log.listen)
      yield* overADay(run(agent, "go").pipe(Effect.provide(model.layer)))
      assert.deepStrictEqual(instantsOf(runs), [0, 1000, 3000])
      assert.strictEqual(log.end()?.at, 3000)
      assert.deepStrictEqual(read(model), [
        "told: permanent: tool 'fetch' failed 3 times, at last: third; consider asking the user for clarification"
      ])
    })
)

it.run("an unsafe tool fails fast: one attempt, then the next rung [C9]", (run) =>
  Effect.gen(function* () {
    const { runs, tool } = play("pay", { sideEffects: "unsafe" }, [Effect.fail(busy())])
    const safe = play("look", { sideEffects: "none" }, [Effect.fail(busy()), Effect.succeed("seen")])
    const model = yield* callingOnce("pay", "look")
    const agent = agentWith(tool, safe.tool).pipe(
      Agent.toolDefaults({
        Busy: Recovery.ladder(
          Recovery.retry({ retries: 3 }),
          Recovery.tell(() => "ask before you pay again")
        )
      })
    )
    yield* run(agent, "go").pipe(Effect.provide(model.layer))
    assert.strictEqual(runs.length, 1)
    assert.deepStrictEqual(read(model), ["told: ask before you pay again", "result: seen"])
  })
)

it.run("an acknowledged tool may be retried; its bad arguments may be fixed: nothing ran yet [C9]", (run) =>
  Effect.gen(function* () {
    const { runs, tool } = play("pay", { sideEffects: "unsafe", coercion: [] }, [
      Effect.fail(busy()),
      Effect.succeed("paid")
    ])
    const model = yield* make(calls(call("pay", '{"n":1,}', "c1")), done)
    const agent = agentWith(
      tool.pipe(
        Tool.onError({
          InvalidArgs: Recovery.fix(() => Effect.succeed('{"n":1}')),
          Busy: Recovery.retry({ retries: 1, acknowledge: "may run twice" })
        })
      )
    )
    yield* run(agent, "go").pipe(Effect.provide(model.layer))
    assert.strictEqual(runs.length, 2)
    assert.deepStrictEqual(read(model), ["result: paid"])
  })
)

it.run("a tool with retry acts the same under any agent [C7]", (run) =>
  Effect.gen(function* () {
    for (const name of ["one", "another"]) {
      const { runs, tool } = scripted("fetch", Effect.fail(busy()), Effect.succeed("page"))
      const guarded = tool.pipe(Tool.onError({ Busy: Recovery.retry({ retries: 1 }) }))
      const model = yield* callingOnce("fetch")
      const skills = [Skill.make(name, { description: name, tools: [guarded] })] as const
      yield* run(Agent.make(name, { prompt: name, skills }), "go").pipe(Effect.provide(model.layer))
      assert.strictEqual(runs.length, 2)
      assert.deepStrictEqual(read(model), ["result: page"])
    }
  })
)

it.run("calls run concurrently; results stand in request order in any order of ends [K19 P606]", (run) =>
  Effect.gen(function* () {
    const after = (millis: number, text: string) => Effect.as(Effect.sleep(millis), text)
    const { runs, tool } = scripted("fetch", after(3000, "slow"), after(1000, "quick"), after(2000, "middling"))
    const log = eventLog()
    const model = yield* callingOnce("fetch", "fetch", "nope", "fetch")
    yield* overADay(run(agentWith(tool).pipe(log.listen), "go").pipe(Effect.provide(model.layer)))
    assert.deepStrictEqual(instantsOf(runs), [0, 0, 0])
    assert.deepStrictEqual(read(model), [
      "result: slow",
      "result: quick",
      "told: unknown tool: nope; available tools: fetch",
      "result: middling"
    ])
    assert.deepStrictEqual(
      log.of("tool-end").map(({ at, callId }) => [callId, at]),
      [
        ["c2", 1000],
        ["c4", 2000],
        ["c1", 3000]
      ]
    )
    assert.strictEqual(log.end()?.at, 3000)
  })
)

it.run("two calls of one id in one reply are settled apart [K19]", (run) =>
  Effect.gen(function* () {
    const { runs, tool } = scripted("fetch", Effect.as(Effect.sleep(10), "first"), Effect.succeed("second"))
    const model = yield* make(calls(call("fetch", {}, "same"), call("fetch", {}, "same")), done)
    yield* overADay(run(agentWith(tool), "go").pipe(Effect.provide(model.layer)))
    assert.deepStrictEqual(read(model), ["result: first", "result: second"])
    assert.notStrictEqual(runs[0]?.context.idempotencyKey, runs[1]?.context.idempotencyKey)
  })
)

it("two tools of one name die at construction, and so does a tool with the name of a built-in tool [A1005]", () => {
  assert.throws(() => agentWith(scripted("fetch").tool, scripted("fetch").tool), /two tools named 'fetch'/)
  for (const name of ["escalate", "throwException"]) {
    assert.throws(
      () =>
        Tool.make(name, {
          description: "d",
          parameters: Schema.Struct({}),
          success: Schema.String,
          run: () => Effect.succeed("mine")
        }),
      new RegExp(`'${name}'`)
    )
  }
})

it.run("a batch of many calls keeps each text with its own call [C4 C2]", (run) =>
  Effect.gen(function* () {
    const names = Array.from({ length: 30 }, () => "fetch")
    const { tool } = scripted("fetch", ...names.map((_, i) => Effect.as(Effect.sleep((i * 7919) % 1000), `page ${i}`)))
    const model = yield* make(batch(...names), done)
    yield* overADay(run(agentWith(tool), "go").pipe(Effect.provide(model.layer)))
    assert.deepStrictEqual(
      read(model),
      names.map((_, i) => `result: page ${i}`)
    )
  })
)
