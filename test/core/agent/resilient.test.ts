/** The policy of one word: what it repeats, what it tells, and what stands before it. */
import { assert } from "@effect/vitest"
import { Agent, LlmError, Model, Recovery, Router, Skill, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Data, Effect, Exit, Schema, Stream } from "effect"
import { batch, busy, done, eventLog, instantsOf, overADay, play, read, scripted } from "../../_support/dialogue.ts"
import { it, runners } from "../../_support/run.ts"
import { deciding, outcomeOf, snapshotOf } from "../../_support/suspension.ts"

const { calls, call, fails, make, text } = ScriptedModel

class Passing extends Data.TaggedError("Passing")<{ readonly message: string; readonly isRetryable: true }> {}

const passing = () => Effect.fail(new Passing({ message: "busy", isRetryable: true }))

const refused = () => Effect.fail(Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" }))

const reset = () => Effect.fail(Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET" }))

const silent = () => Effect.fail(Object.assign(new Error("read ETIMEDOUT"), { code: "ETIMEDOUT", syscall: "read" }))

const byClient = () => Effect.fail(Object.assign(new Error("timed out"), { code: "ETIMEDOUT", name: "AxiosError" }))

const severalAddresses = () => Effect.fail(new AggregateError([coded("ECONNRESET"), coded("ECONNREFUSED")]))

const coded = (code: string) => Object.assign(new Error(code), { code })

const connecting = () => Effect.fail(Object.assign(coded("ETIMEDOUT"), { syscall: "connect" }))

const gone = () => Effect.fail(busy("no such host"))

const agentOf = <const T extends Tool.AnyTool>(tool: T) => Agent.make("worker", { tools: [tool] })

it.run("a failure that may pass is retried if the tool may run twice; the model reads all others [P1343]", (run) =>
  Effect.gen(function* () {
    for (const [sideEffects, steps, runs, ends] of [
      ["none", [passing(), passing(), Effect.succeed("ok")], 3, "ok"],
      ["idempotent", [reset(), refused(), reset(), Effect.succeed("ok")], 4, "ok"],
      ["idempotent", [passing(), passing(), passing(), passing()], 4, "told"],
      ["none", [gone()], 1, "told"],
      ["undeclared", [refused(), refused(), Effect.succeed("ok")], 3, "ok"],
      ["undeclared", [refused(), reset()], 2, "told"],
      ["undeclared", [passing()], 1, "told"],
      ["undeclared", [connecting(), Effect.succeed("ok")], 2, "ok"],
      ["undeclared", [silent()], 1, "told"],
      ["undeclared", [byClient()], 1, "told"],
      ["undeclared", [severalAddresses()], 1, "told"],
      ["unsafe", [refused()], 1, "told"],
      ["unsafe", [passing()], 1, "told"]
    ] as const) {
      const { runs: made, tool } = play(
        "fetch",
        { sideEffects },
        steps as ReadonlyArray<Effect.Effect<string, unknown>>
      )
      const model = yield* make(batch("fetch"), done)
      const log = eventLog()
      const agent = agentOf(tool).pipe(Agent.resilient(), log.listen)
      const exit = yield* overADay(run(agent, "go").pipe(Effect.provide(model.layer)))
      assert.deepStrictEqual(exit, Exit.succeed("done"))
      // what may not run twice is not even asked about it
      const verdicts = log.of("verdict").map(({ verdict }) => verdict)
      if (sideEffects === "unsafe") assert.deepStrictEqual(verdicts, ["tell"])
      assert.lengthOf(made, runs, `${sideEffects} ${steps.length}`)
      assert.match(read(model)[0] ?? "", ends === "ok" ? /^result: ok$/ : /^told: /)
    }
  })
)

it.run("resilient waits half a second, then twice as long each time, with jitter; a hint is a floor [P1343]", (run) =>
  Effect.gen(function* () {
    const { runs, tool } = play("fetch", { sideEffects: "none" }, [passing(), passing(), passing(), passing()])
    const model = yield* make(batch("fetch"), done)
    yield* overADay(run(agentOf(tool).pipe(Agent.resilient()), "go").pipe(Effect.provide(model.layer)))
    const instants = instantsOf(runs)
    const waits = instants.slice(1).map((at, index) => at - (instants[index] ?? 0))
    for (const [index, most] of [500, 1000, 2000].entries()) {
      assert.isAtLeast(waits[index] ?? 0, most / 2)
      assert.isAtMost(waits[index] ?? 0, most)
    }
    assert.strictEqual(read(model)[0], "told: transient: tool 'fetch' failed 4 times, at last: busy; safe to retry")
  })
)

it.run("a tool waits as long as its server asks for, and gives up beyond a minute [P1333 P1343]", (run) =>
  Effect.gen(function* () {
    const busyFor = (wait: string) =>
      Effect.fail(
        Object.assign(new Error("503"), { response: { status: 503, headers: new Headers({ "retry-after": wait }) } })
      )
    for (const [wait, made] of [
      ["20", [20_000]],
      ["60", [60_000]],
      ["61", []],
      ["Sun, 06 Nov 1994 08:49:37 GMT", undefined]
    ] as const) {
      const { runs, tool } = play("fetch", { sideEffects: "none" }, [busyFor(wait), Effect.succeed("ok")])
      const model = yield* make(batch("fetch"), done)
      yield* overADay(run(agentOf(tool).pipe(Agent.resilient()), "go").pipe(Effect.provide(model.layer)))
      const [first = 0, ...rest] = instantsOf(runs)
      const waits = rest.map((at) => at - first)
      // no date is known where the failure is read: it waits as ever
      if (made === undefined) assert.isBelow(waits[0] ?? 0, 501)
      else assert.deepStrictEqual<ReadonlyArray<number>>(waits, made)
    }
  })
)

it.effect("a reply that breaks off while it is streamed is requested once more [P1343]", () =>
  Effect.gen(function* () {
    const broken = () =>
      fails(LlmError.ModelOverloadedError.make({ model: "m" }), { type: "text-delta", text: "half a" })
    const plain = Agent.make("worker", {})
    for (const [agent, requests] of [
      [plain.pipe(Agent.resilient()), 2],
      [plain.pipe(Agent.resilient(), Agent.onLlmError({}, { onPartial: "fail" })), 1],
      [plain, 1]
    ] as const) {
      const model = yield* make(broken(), ...(requests === 2 ? [done] : []))
      yield* overADay(Effect.exit(runners.streamed(agent, "go").pipe(Effect.provide(model.layer))))
      assert.lengthOf(model.requests, requests)
    }
  })
)

it.run("its table is in the place of the retries of a transport, unless there is none [P1343]", (run) =>
  Effect.gen(function* () {
    const plain = Agent.make("worker", {})
    for (const [agent, resending] of [
      [plain, "on"],
      [plain.pipe(Agent.resilient()), "off"],
      [plain.pipe(Agent.onLlmError({})), "on"],
      [plain.pipe(Agent.onLlmError({}, { transport: "off" })), "off"],
      [plain.pipe(Agent.onLlmError({}, { transport: "off" }), Agent.resilient()), "off"]
    ] as const) {
      const model = yield* make(done)
      const { generate, stream, ...service } = yield* Model.Model.pipe(Effect.provide(model.layer))
      const seen: Array<string> = []
      const look = Effect.map(Model.Resending, (is) => void seen.push(is))
      const watched: Model.Service = {
        ...service,
        generate: (request) => Effect.andThen(look, generate(request)),
        stream: (request) => Stream.unwrap(Effect.as(look, stream(request)))
      }
      yield* run(agent, "go").pipe(Effect.provideService(Model.Model, watched))
      assert.deepStrictEqual(seen, [resending])
    }
  })
)

it.run("the model reads what to correct in its arguments, and the next call runs [P1343]", (run) =>
  Effect.gen(function* () {
    const { runs, tool } = play("fetch", { sideEffects: "unsafe" }, [Effect.succeed("ok")])
    const model = yield* make(
      calls(call("fetch", { n: "many" }, "c1")),
      calls(call("fetch", "{{", "c2")),
      calls(call("fetch", { n: 1 }, "c3")),
      done
    )
    yield* run(agentOf(tool).pipe(Agent.resilient()), "go").pipe(Effect.provide(model.layer))
    assert.lengthOf(runs, 1)
    const [first = "", second = "", third] = read(model)
    assert.match(first, /^told: .*; correct n and call the tool again$/)
    assert.match(second, /^told: .*; correct the arguments and call the tool again$/)
    assert.strictEqual(third, "result: ok")
  })
)

it.run("other rows decide first, anywhere in the pipe, and the model reads what they give up [P1343]", (run) =>
  Effect.gen(function* () {
    const table = { Busy: Recovery.retry({ retries: 1 }) }
    const answering = { orElse: Recovery.respondWith("instead") }
    for (const isFirst of [true, false]) {
      const own = agentOf(scripted("fetch", gone()).tool)
      const agent = isFirst
        ? own.pipe(Agent.resilient(), Agent.toolDefaults(answering))
        : own.pipe(Agent.toolDefaults(answering), Agent.resilient())
      const model = yield* make(batch("fetch"), done)
      yield* run(agent, "go").pipe(Effect.provide(model.layer))
      assert.deepStrictEqual(read(model), ["result: instead"])
    }
    for (const isFirst of [true, false]) {
      const failing = scripted("fetch", gone(), gone())
      const own = agentOf(failing.tool)
      const agent = isFirst
        ? own.pipe(Agent.resilient(), Agent.onToolError({ fetch: table }))
        : own.pipe(Agent.onToolError({ fetch: table }), Agent.resilient())
      const model = yield* make(batch("fetch"), done)
      yield* run(agent, "go").pipe(Effect.provide(model.layer))
      assert.lengthOf(failing.runs, 2)
      assert.deepStrictEqual(read(model), [
        "told: permanent: tool 'fetch' failed 2 times, at last: no such host; consider asking the user for clarification"
      ])
    }
  })
)

const overloaded = () => fails(LlmError.ModelOverloadedError.make({ model: "m" }))

it.run("a model call is retried after a failure that may pass, and after no other [P1343]", (run) =>
  Effect.gen(function* () {
    const agent = Agent.make("worker", {}).pipe(Agent.resilient())
    const model = yield* make(overloaded(), overloaded(), overloaded(), overloaded(), done)
    const exit = yield* overADay(run(agent, "go").pipe(Effect.provide(model.layer)))
    assert.deepStrictEqual(exit, Exit.succeed("done"))
    const over = yield* make(...Array.from({ length: 5 }, overloaded))
    const failed = yield* Effect.flip(Effect.flatten(overADay(run(agent, "go").pipe(Effect.provide(over.layer)))))
    assert.instanceOf(failed, LlmError.ModelOverloadedError)
    const refusing = yield* make(fails(LlmError.AuthenticationError.make({ model: "m", detail: "no key" })))
    const final = yield* Effect.flip(run(agent, "go").pipe(Effect.provide(refusing.layer)))
    assert.instanceOf(final, LlmError.AuthenticationError)
  })
)

const held = /^denied: Tool 'pay' was not run: .* may have taken effect[.] Look first whether it has[.]/

it.run("a call that may have taken effect, and that the model repeats at once, is held once [P1343]", (run) =>
  Effect.gen(function* () {
    const lost = [reset(), Effect.succeed("paid")]
    const twice = [batch("pay"), batch("pay")]
    const look = scripted("look", Effect.succeed("no payment"), Effect.succeed("no payment"))
    for (const [sideEffects, replies, expected] of [
      ["undeclared", [...twice, batch("pay")], ["told", "held", "result"]],
      ["unsafe", [...twice, batch("pay")], ["told", "held", "result"]],
      ["undeclared", [batch("pay"), batch("look"), batch("pay")], ["told", "result", "result"]],
      ["undeclared", [batch("pay"), calls(call("pay", { n: 2 }))], ["told", "result"]],
      // the model has not read yet what it looked up
      ["undeclared", [batch("pay"), batch("look", "pay")], ["told", "result", "held"]],
      // its name is understood
      ["undeclared", [calls(call("functions.pay", {})), batch("pay"), batch("pay")], ["told", "held", "result"]]
    ] as const) {
      const { runs, tool } = play("pay", { sideEffects }, lost)
      const model = yield* make(...replies, done)
      const agent = Agent.make("worker", { tools: [tool, look.tool] }).pipe(Agent.resilient())
      yield* overADay(run(agent, "go").pipe(Effect.provide(model.layer)))
      const said = read(model).map((text) => (held.test(text) ? "held" : (text.split(":")[0] ?? "")))
      assert.deepStrictEqual<ReadonlyArray<string>>(said, expected)
      assert.lengthOf(runs, said.at(-1) === "held" ? 1 : 2)
    }
  })
)

it.run("a repeated call is not held if the model has read another text, nor without `resilient` [P1343]", (run) =>
  Effect.gen(function* () {
    const pay = (first: Effect.Effect<never, unknown>) => play("pay", {}, [first, Effect.succeed("paid")])
    const [plain, clear, own, safe] = [
      pay(reset()),
      pay(gone()),
      pay(reset()),
      play("pay", { sideEffects: "none" }, [reset(), Effect.succeed("paid")])
    ]
    const renderer = { orElse: Recovery.tell(() => "just repeat it") }
    for (const [agent, { runs }] of [
      [agentOf(plain.tool).pipe(Agent.toolDefaults({ orElse: Recovery.tell() })), plain],
      [agentOf(clear.tool).pipe(Agent.resilient()), clear],
      [agentOf(own.tool).pipe(Agent.resilient(), Agent.toolDefaults(renderer)), own],
      [agentOf(safe.tool).pipe(Agent.resilient({ toolRetries: 0 })), safe]
    ] as const) {
      const model = yield* make(batch("pay"), batch("pay"), done)
      yield* run(agent, "go").pipe(Effect.provide(model.layer))
      assert.lengthOf(runs, 2)
    }
  })
)

it.run("if a person has to look up the outcome, the model reads so for each repeated call [P602 P1343]", (run) =>
  Effect.gen(function* () {
    let runs = 0
    const pay = Tool.make("pay", {
      description: "Pays.",
      parameters: Schema.Struct({}),
      success: Schema.String,
      sideEffects: "unsafe",
      timeout: "5 seconds",
      verify: () => Effect.fail(busy("no line")),
      run: (): Effect.Effect<string> => Effect.suspend(() => (runs++, Effect.never))
    })
    const model = yield* make(batch("pay"), batch("pay"), batch("pay"), done)
    const agent = Agent.make("worker", { tools: [pay] }).pipe(Agent.resilient())
    yield* overADay(run(agent, "go").pipe(Effect.provide(model.layer)))
    const leave = "Do not repeat the call: a person has to look it up."
    const held = `denied: Tool 'pay' was not run: the same call has just failed, and may have taken effect. ${leave}`
    const [first, ...others] = read(model)
    assert.include(first, leave)
    assert.deepStrictEqual(others, [held, held])
    assert.strictEqual(runs, 1)
  })
)

it.run("rows of others for a model come first; one for all failures takes the place of all [P1343]", (run) =>
  Effect.gen(function* () {
    for (const [rows, requests] of [
      [{ ModelOverloadedError: Recovery.rethrow }, 1],
      [{ orElse: Recovery.retry({ retries: 1 }) }, 2],
      [{ ServerError: Recovery.rethrow }, 5]
    ] as const) {
      for (const isFirst of [true, false]) {
        const made = Agent.make("worker", {})
        const agent = isFirst
          ? made.pipe(Agent.resilient(), Agent.onLlmError(rows))
          : made.pipe(Agent.onLlmError(rows), Agent.resilient())
        const model = yield* make(...Array.from({ length: requests }, overloaded))
        yield* overADay(Effect.exit(run(agent, "go").pipe(Effect.provide(model.layer))))
        assert.lengthOf(model.requests, requests)
      }
    }
  })
)

it.run("the call that chooses a skill is guarded too [P1343]", (run) =>
  Effect.gen(function* () {
    const skills = [Skill.make("one", { description: "One." }), Skill.make("two", { description: "Two." })] as const
    for (const agent of [
      Agent.make("worker", { skills }).pipe(Agent.resilient()),
      Agent.make("worker", { skills }).pipe(Agent.route(Router.byModel({ threshold: 0.5 })), Agent.resilient())
    ]) {
      const model = yield* make(overloaded(), text('{"name":"one","confidence":1}'), overloaded(), done)
      const exit = yield* overADay(run(agent, "go").pipe(Effect.provide(model.layer)))
      assert.deepStrictEqual(exit, Exit.succeed("done"))
    }
  })
)

it.run("a conversation that is too long is shortened: its long results, then its oldest messages [P1343]", (run) =>
  Effect.gen(function* () {
    const { tool } = scripted("fetch", Effect.succeed("x".repeat(5000)))
    const log = eventLog()
    const tooLong = fails(LlmError.ContextTooLongError.make({ model: "m" }))
    const model = yield* make(batch("fetch"), tooLong, done)
    yield* run(agentOf(tool).pipe(Agent.resilient(), log.listen), "go").pipe(Effect.provide(model.layer))
    assert.isBelow(read(model)[0]?.length ?? 0, 2500)
    assert.deepStrictEqual(
      log.of("compacted").map(({ compaction }) => compaction),
      ["shrinkResults"]
    )
  })
)

it.run("all long results of a reply are cut at once [P1343]", (run) =>
  Effect.gen(function* () {
    const names = ["a", "b", "c", "d", "e"] as const
    const tools = names.map((name) => scripted(name, Effect.succeed("x".repeat(5000))).tool)
    const log = eventLog()
    const model = yield* make(
      calls(...names.map((name) => call(name, {}, name))),
      fails(LlmError.ContextTooLongError.make({ model: "m" })),
      done
    )
    const agent = Agent.make("worker", { tools }).pipe(Agent.resilient(), log.listen)
    yield* run(agent, "go").pipe(Effect.provide(model.layer))
    assert.deepStrictEqual(
      log.of("compacted").map(({ compaction }) => compaction),
      ["shrinkResults"]
    )
    const sent = JSON.stringify(model.requests.at(-1)?.messages)
    assert.isBelow(sent.length, 5 * 2500)
  })
)

it.run("after a misfit answer the model is called twice more, or as outputRetries sets [P1343]", (run) =>
  Effect.gen(function* () {
    const made = Agent.make("worker", { output: Schema.Struct({ n: Schema.Finite }) })
    const wrong = text("many")
    for (const [agent, asked] of [
      [made, 2],
      [made.pipe(Agent.resilient()), 3],
      [made.pipe(Agent.resilient({ outputRetries: 0 })), 1],
      [made.pipe(Agent.outputRetries(3), Agent.resilient()), 4],
      [made.pipe(Agent.resilient(), Agent.outputRetries(0)), 1]
    ] as const) {
      const model = yield* make(...Array.from({ length: asked }, () => wrong))
      yield* Effect.flip(run(agent, "go").pipe(Effect.provide(model.layer)))
      assert.lengthOf(model.requests, asked)
    }
  })
)

it("refuses counts that are none [P1343]", () => {
  const agent = Agent.make("worker", {})
  for (const count of [-1, 0.5, NaN]) {
    const says = `Agent.resilient: outputRetries must be a whole number of at least 0, got ${count}`
    assert.throws(() => Agent.resilient(agent, { outputRetries: count }), RangeError, says)
    assert.throws(() => Agent.resilient(agent, { toolRetries: count }), RangeError)
    assert.throws(() => Agent.resilient(agent, { modelRetries: count }), RangeError)
  }
})

it.effect("a run that was suspended goes on with it [P1343]", () =>
  Effect.gen(function* () {
    const { runs, tool } = play("pay", { sideEffects: "idempotent" }, [passing(), Effect.succeed("paid")])
    const agent = Agent.make("worker", { tools: [tool.pipe(Tool.requireApproval())] }).pipe(Agent.resilient())
    const model = yield* make(batch("pay"), done)
    const from = yield* snapshotOf(yield* outcomeOf(agent, "go", model))
    const exit = yield* overADay(outcomeOf(Agent.resume(agent), deciding(from), model))
    assert(Exit.isSuccess(exit) && exit.value._tag === "Completed")
    assert.lengthOf(runs, 2)
    assert.deepStrictEqual(read(model), ["result: paid"])
  })
)
