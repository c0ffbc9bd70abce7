import { assert } from "@effect/vitest"
import { Agent, Recovery, Tool, ToolError } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Cause, Duration, Effect, Exit } from "effect"
import { it } from "../../_support/run.ts"
import {
  agentWith,
  batch,
  busy,
  callingOnce,
  done,
  eventLog,
  gone,
  lastTranscript,
  overADay,
  play,
  read,
  scripted,
  settlements
} from "../../_support/dialogue.ts"

const { call, calls } = ScriptedModel

const say = (text: string) => Recovery.tell(() => text)

it.run("the nearest level that has a row for the tag decides, tag by tag [A501]", (run) =>
  Effect.gen(function* () {
    const odd = { _tag: "Odd", message: "odd" } as const
    const { tool } = scripted("fetch", Effect.fail(busy()), Effect.fail(gone()), Effect.fail(odd))
    const model = yield* ScriptedModel.make(batch("fetch", "fetch", "fetch"), done)
    const agent = agentWith(tool.pipe(Tool.onError({ Busy: say("tool") }))).pipe(
      Agent.toolDefaults({ Busy: say("defaults"), Gone: say("defaults"), Odd: say("defaults") }),
      Agent.onToolError({ fetch: { Busy: say("agent"), Gone: say("agent") } })
    )
    yield* run(agent, "go").pipe(Effect.provide(model.layer))
    assert.deepStrictEqual(read(model), ["told: tool", "told: agent", "told: defaults"])
  })
)

it.run("orElse of a nearer level wins over an exact row of a farther one [A501]", (run) =>
  Effect.gen(function* () {
    const { tool } = scripted("fetch", Effect.fail(busy()))
    const model = yield* callingOnce("fetch")
    const agent = agentWith(tool).pipe(
      Agent.toolDefaults({ Busy: say("defaults") }),
      Agent.onToolError({ fetch: { orElse: say("agent") } })
    )
    yield* run(agent, "go").pipe(Effect.provide(model.layer))
    assert.deepStrictEqual(read(model), ["told: agent"])
  })
)

it.run("within a level: the exact tag, then InvalidArgs or ExecutionError in its place, then orElse [A502]", (run) =>
  Effect.gen(function* () {
    const steps = [Effect.fail(busy()), Effect.fail(gone())] as const
    const raws = ["broken", '{"m":1}', "{}", "{}"]
    const textsOf = function* (tool: Tool.AnyTool) {
      const model = yield* ScriptedModel.make(calls(...raws.map((raw, i) => call("fetch", raw, `c${i}`))), done)
      const agent = agentWith(tool)
      yield* run(agent, "go").pipe(Effect.provide(model.layer), (effect) => effect as Effect.Effect<unknown>)
      return read(model).map((text) => text.replace("told: ", ""))
    }
    const strict = () => play("fetch", { coercion: [] }, steps).tool
    assert.deepStrictEqual(
      yield* textsOf(
        strict().pipe(
          Tool.onError({
            InvalidArgs: say("invalid"),
            DeserializationError: say("deserialization"),
            Busy: say("busy"),
            ExecutionError: say("execution"),
            orElse: say("else")
          })
        )
      ),
      ["invalid", "deserialization", "busy", "execution"]
    )
    assert.deepStrictEqual(
      yield* textsOf(
        strict().pipe(Tool.onError({ InvalidArgs: say("invalid"), Busy: say("busy"), orElse: say("else") }))
      ),
      ["invalid", "invalid", "busy", "else"]
    )
    assert.deepStrictEqual(
      yield* textsOf(strict().pipe(Tool.onError({ ExecutionError: say("execution"), orElse: say("else") }))),
      ["else", "else", "execution", "execution"]
    )
  })
)

it.run("a lower level changes nothing while a higher one matches [A503]", (run) =>
  Effect.gen(function* () {
    const asked: Array<unknown> = []
    const lower = Recovery.when((error: unknown) => {
      asked.push(error)
      return Recovery.raise
    })
    const { tool } = scripted("fetch", Effect.fail(busy()))
    const model = yield* callingOnce("fetch")
    const agent = agentWith(tool.pipe(Tool.onError({ Busy: say("tool") }))).pipe(
      Agent.onToolError({ fetch: { Busy: lower } }),
      Agent.toolDefaults({ orElse: lower })
    )
    yield* run(agent, "go").pipe(Effect.provide(model.layer))
    assert.deepStrictEqual(read(model), ["told: tool"])
    assert.deepStrictEqual(asked, [])
  })
)

it.run("the later table wins per tag, its other rows stay; at the other levels too [A504]", (run) =>
  Effect.gen(function* () {
    const steps = [Effect.fail(busy()), Effect.fail(gone())] as const
    const first = { Busy: say("first"), Gone: say("first") } as const
    const later = { Gone: say("later") } as const
    for (const agent of [
      agentWith(scripted("fetch", ...steps).tool.pipe(Tool.onError(first), Tool.onError(later))),
      agentWith(scripted("fetch", ...steps).tool).pipe(
        Agent.onToolError({ fetch: first }),
        Agent.onToolError({ fetch: later })
      ),
      agentWith(scripted("fetch", ...steps).tool).pipe(Agent.toolDefaults(first), Agent.toolDefaults(later))
    ]) {
      const model = yield* ScriptedModel.make(batch("fetch", "fetch"), done)
      yield* run(agent, "go").pipe(Effect.provide(model.layer))
      assert.deepStrictEqual(read(model), ["told: first", "told: later"])
    }
  })
)

it("a table for a tool that is not there dies at construction and names the tools that are [A505]", () => {
  const agent = agentWith(scripted("fetch").tool, scripted("look").tool)
  const table: object = { fetsch: {} }
  assert.throws(
    // such a table compiles only when its names are not known to the compiler
    () => agent.pipe(Agent.onToolError(table)),
    /'fetsch', available tools are: fetch, look/
  )
})

it.run("rethrow exempts a tag from every other row and level [A507]", (run) =>
  Effect.gen(function* () {
    const failure = busy()
    const { runs, tool } = scripted("fetch", Effect.fail(failure))
    const log = eventLog()
    const model = yield* ScriptedModel.make(batch("fetch"))
    const agent = agentWith(tool.pipe(Tool.onError({ Busy: Recovery.rethrow, orElse: say("tool") }))).pipe(
      Agent.onToolError({ fetch: { Busy: say("agent") } }),
      Agent.toolDefaults({ Busy: Recovery.retry({ retries: 3 }) }),
      log.listen
    )
    const error = yield* Effect.flip(run(agent, "go").pipe(Effect.provide(model.layer)))
    assert.strictEqual<unknown>(error, failure)
    assert.strictEqual(runs.length, 1)
    assert.deepStrictEqual(settlements(lastTranscript(log.end())), ["told: ERROR: busy"])
  })
)

/** Counts the errors of Effect's making, all of ours among them, that are constructed from here on until the scope ends. */
const countingErrors = Effect.acquireRelease(
  Effect.sync(() => {
    let top: object = ToolError.ToolExecutionError
    // the class of Effect's that extends Error itself
    while (Object.getPrototypeOf(top) !== Error) top = Object.getPrototypeOf(top)
    let made = 0
    const counting = Object.setPrototypeOf(function (...fields: ReadonlyArray<unknown>) {
      made++
      return Reflect.construct(Error, fields, new.target)
    }, Error)
    Object.setPrototypeOf(top, counting)
    return { made: () => made, restore: () => Object.setPrototypeOf(top, Error) }
  }),
  ({ restore }) => Effect.sync(restore)
)

it.run("the happy path constructs no error, with any tables [A508]", (run) =>
  Effect.gen(function* () {
    const { tool } = scripted("fetch", Effect.succeed("fine"))
    const guarded = tool.pipe(
      Tool.onError({ orElse: Recovery.ladder(Recovery.retry({ retries: 3 }), Recovery.tell()) })
    )
    const happy = yield* callingOnce("fetch")
    const agent = agentWith(guarded).pipe(Agent.onLlmError({ orElse: Recovery.retry({ retries: 1 }) }))
    const errors = yield* countingErrors
    yield* run(agent, "go").pipe(Effect.provide(happy.layer))
    assert.strictEqual(errors.made(), 0)
    // it does count
    ToolError.ToolExecutionError.make({ tool: "worker", message: "no" })
    assert.strictEqual(errors.made(), 1)
  })
)

it.run("on success no table is consulted [A508]", (run) =>
  Effect.gen(function* () {
    const asked: Array<unknown> = []
    const { tool } = scripted("fetch", Effect.succeed("page"))
    const log = eventLog()
    const model = yield* callingOnce("fetch")
    const agent = agentWith(
      tool.pipe(
        Tool.onError({
          orElse: Recovery.when((error) => {
            asked.push(error)
            return Recovery.tell()
          })
        })
      )
    ).pipe(log.listen)
    yield* run(agent, "go").pipe(Effect.provide(model.layer))
    assert.deepStrictEqual(asked, [])
    assert.deepStrictEqual(log.of("verdict"), [])
    assert.notProperty(log.of("tool-end")[0]?.use, "recoveredBy")
  })
)

it.run("respondWith settles the call as a success with its value, marked as recovered [A510]", (run) =>
  Effect.gen(function* () {
    const a = scripted("a", Effect.fail(busy("1")))
    const b = scripted("b", Effect.fail(busy("2")))
    const log = eventLog()
    const model = yield* callingOnce("a", "b")
    const agent = agentWith(
      a.tool.pipe(Tool.onError({ Busy: Recovery.respondWith("a stale page") })),
      b.tool.pipe(
        Tool.onError({
          Busy: Recovery.respondWith((error) => Effect.as(Effect.sleep("1 second"), `page ${error.message}`))
        })
      )
    ).pipe(log.listen)
    yield* overADay(run(agent, "go").pipe(Effect.provide(model.layer)))
    assert.deepStrictEqual(read(model), ["result: a stale page", "result: page 2"])
    assert.deepStrictEqual(
      log.of("tool-end").map(({ tool, use }) => [tool, use.settlement.kind, use.recoveredBy]),
      [
        ["a", "result", "respondWith"],
        ["b", "result", "respondWith"]
      ]
    )
  })
)

it.run("`when` gets every failure, its attempt, errors before, elapsed time, params and effects [A511]", (run) =>
  Effect.gen(function* () {
    const seen: Array<Recovery.FailureContext> = []
    const failures = [busy("1"), busy("2"), busy("3")] as const
    const { tool } = play(
      "fetch",
      { sideEffects: "idempotent" },
      failures.map((failure) => Effect.andThen(Effect.sleep("1 second"), Effect.fail(failure)))
    )
    const model = yield* ScriptedModel.make(calls(call("fetch", '{"n":1}', "c1")), done)
    const choose = Recovery.when((_error: unknown, context) => {
      seen.push(context)
      return context.attempt < 3 ? Recovery.retry({ retries: 9, initialBackoff: "5 seconds" }) : Recovery.tell()
    })
    yield* overADay(run(agentWith(tool.pipe(Tool.onError({ Busy: choose }))), "go").pipe(Effect.provide(model.layer)))
    assert.deepStrictEqual(
      seen.map(({ attempt, elapsed, previous }) => [attempt, Duration.toMillis(elapsed), previous]),
      [
        [1, 1000, []],
        [2, 7000, [failures[0]]],
        [3, 18_000, [failures[0], failures[1]]]
      ]
    )
    for (const context of seen)
      assert.deepInclude(context, {
        tool: "fetch",
        callId: "c1",
        arguments: '{"n":1}',
        params: { n: 1 },
        sideEffects: "idempotent"
      })
  })
)

it.run("with bad arguments it sees the raw ones and no params [A511]", (run) =>
  Effect.gen(function* () {
    const seen: Array<Recovery.FailureContext> = []
    const { tool } = scripted("fetch")
    const model = yield* ScriptedModel.make(calls(call("fetch", '{"m":1}', "c1")), done)
    const choose = Recovery.when((_error: unknown, context) => {
      seen.push(context)
      return Recovery.tell()
    })
    yield* run(agentWith(tool.pipe(Tool.onError({ InvalidArgs: choose }))), "go").pipe(Effect.provide(model.layer))
    assert.deepInclude(seen[0], { attempt: 1, arguments: '{"m":1}', sideEffects: "undeclared" })
    assert.notProperty(seen[0], "params")
  })
)

it.run("a handler that fails ends the call with that error, unwrapped, and no row decides about it [A512]", (run) =>
  Effect.gen(function* () {
    const failure = gone("no fallback")
    const { tool } = scripted("fetch", Effect.fail(busy()))
    const log = eventLog()
    const model = yield* ScriptedModel.make(batch("fetch"))
    const agent = agentWith(tool.pipe(Tool.onError({ Busy: Recovery.respondWith(() => Effect.fail(failure)) }))).pipe(
      Agent.toolDefaults({ orElse: say("defaults") }),
      log.listen
    )
    const error = yield* Effect.flip(run(agent, "go").pipe(Effect.provide(model.layer)))
    assert.strictEqual(error, failure)
    assert.deepStrictEqual(settlements(lastTranscript(log.end())), ["told: ERROR: no fallback"])
  })
)

it.run("a handler that dies kills the run, whichever kind it is [A512]", (run) =>
  Effect.gen(function* () {
    const bug = new Error("bug")
    const boom = (): never => {
      throw bug
    }
    const answer = (): Effect.Effect<string> => boom()
    const choose = (): typeof Recovery.raise => boom()
    for (const verdict of [
      Recovery.respondWith(() => Effect.die(bug)),
      Recovery.respondWith(answer),
      Recovery.tell(boom),
      Recovery.when(choose),
      Recovery.fix(() => Effect.die(bug)),
      Recovery.fix(answer),
      Recovery.fix(() => Effect.succeed("{}"), { input: boom })
    ]) {
      const { tool } = scripted("fetch", Effect.fail(busy()))
      const log = eventLog()
      const model = yield* ScriptedModel.make(batch("fetch"))
      const agent = agentWith(tool.pipe(Tool.onError({ Busy: verdict }))).pipe(log.listen)
      const exit = yield* Effect.exit(run(agent, "go").pipe(Effect.provide(model.layer)))
      assert.isTrue(Exit.isFailure(exit) && Cause.squash(exit.cause) === bug && Cause.hasDies(exit.cause))
      assert.deepInclude(log.end(), { type: "run-failed", error: bug })
      assert.deepStrictEqual(settlements(lastTranscript(log.end())), [
        "interrupted: The call was interrupted before it ended."
      ])
    }
  })
)
