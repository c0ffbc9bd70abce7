/** A call through `call_tool` is one of the tool itself: the same script is played directly and through it. */
import { assert } from "@effect/vitest"
import { Agent, type AgentEvent, Approval, Completion, type Message, Recovery, Tool, ToolPolicy } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Exit, Schema } from "effect"
import { busy, done, eventLog, overADay, play, read } from "../../_support/dialogue.ts"
import { it } from "../../_support/run.ts"
import { agentWith, deferring } from "./_support/deferring.ts"
import { deciding, outcomeOf, snapshotOf } from "../../_support/suspension.ts"

const { call, calls, make } = ScriptedModel

type Way = "direct" | "on demand"

/** One call of the script. */
const written = (way: Way, name: string, args: Message.ToolCall["arguments"], id = "c1") =>
  way === "direct"
    ? call(name, textOf(args), id)
    : call("call_tool", `{"name":${JSON.stringify(name)},"arguments":${textOf(args)}}`, id)

const textOf = (args: Message.ToolCall["arguments"]) => (typeof args === "string" ? args : JSON.stringify(args))

/** The tool as the agent gets it. */
const given = <T extends Tool.AnyTool>(way: Way, tool: T): T => (way === "direct" ? tool : Tool.onDemand([tool])[0])

/** The events of the calls, without what tells the two ways apart. */
const heardOf = (events: ReadonlyArray<AgentEvent.AgentEvent>): ReadonlyArray<Readonly<Record<string, unknown>>> =>
  events.flatMap((event): ReadonlyArray<Readonly<Record<string, unknown>>> => {
    if (!("callId" in event)) return []
    const { runId: _, ...others } = event
    const rest = { ...others, at: event.at - (events[0]?.at ?? 0) }
    if (rest.type === "tool-start") {
      const { calledAs: _, ...start } = rest
      return [start]
    }
    return [rest]
  })

/** Plays a script in both ways, and compares everything that was read, heard and run. */
const same = <A, E, R>(body: (way: Way) => Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.gen(function* () {
    const direct = yield* body("direct")
    assert.deepStrictEqual(yield* body("on demand"), direct)
    return direct
  })

it.run("its table, its limit of calls, its events and its idempotency keys are the same [P1385]", (run) =>
  Effect.gen(function* () {
    const { heard, keys, results } = yield* same((way) =>
      Effect.gen(function* () {
        const { runs, tool } = play("flaky", { sideEffects: "idempotent" }, [
          Effect.fail(busy()),
          Effect.succeed("ok"),
          Effect.succeed("again")
        ])
        const log = eventLog()
        const limited = Tool.fromDefinition<typeof tool>({ ...tool.definition, callCap: { tool: "flaky", max: 2 } })
        const agent = Agent.make("desk", { tools: [given(way, limited)] }).pipe(
          Agent.onToolError({ flaky: { Busy: Recovery.retry({ retries: 1, initialBackoff: "1 second" }) } }),
          Agent.withRunId(() => "r"),
          log.listen
        )
        const script = calls(
          written(way, "flaky", { n: 1 }, "c1"),
          written(way, "flaky", '{"n": 2.50}', "c2"),
          written(way, "flaky", { n: 3 }, "c3")
        )
        const model = yield* make(script, done)
        yield* overADay(run(agent, "go").pipe(Effect.provide(model.layer)))
        const keys = runs.map(({ context, params }) => [context.idempotencyKey, params])
        return { heard: heardOf(log.all), keys, results: read(model) }
      })
    )
    assert.lengthOf(keys, 3)
    assert.include(results, "result: again")
    assert.include(results.join(), "limit of 2 calls reached")
    assert.isTrue(heard.some(({ type }) => type === "verdict"))
  })
)

it.run("arguments that do not fit are those of the tool; digits and mended text stay as written [P1385]", (run) =>
  Effect.gen(function* () {
    const { results } = yield* same((way) =>
      Effect.gen(function* () {
        const seen: Array<unknown> = []
        const tool = Tool.make("pay", {
          description: "Pays.",
          parameters: Schema.Struct({ account: Schema.String, cents: Schema.Int }),
          success: Schema.String,
          run: (params) => Effect.sync(() => `paid ${seen.push(params)}`)
        })
        const log = eventLog()
        const model = yield* make(
          calls(
            written(way, "pay", '{"account": 12345678901234567890, "cents": "5"}', "c1"),
            written(way, "pay", { account: "a", cents: "many" }, "c2"),
            written(way, "pay", { cents: 5 }, "c3")
          ),
          done
        )
        yield* run(
          Agent.make("desk", { tools: [given(way, tool)] }).pipe(
            Agent.toolDefaults(Recovery.presets.tellAll()),
            log.listen
          ),
          "go"
        ).pipe(Effect.provide(model.layer))
        return { seen, heard: heardOf(log.all), results: read(model) }
      })
    )
    assert.strictEqual(results[0], "result: paid 1")
    assert.include(results[1], "cents")
    assert.include(results[2], "account")
  })
)

it.run("policies see the tool and the name that the model wrote [P1385 A515]", (run) =>
  Effect.gen(function* () {
    const seen: Array<unknown> = []
    const { runs, tool } = play("wipe", { sideEffects: "unsafe" }, [])
    const agent = Agent.make("desk", { tools: Tool.onDemand([tool]) }).pipe(
      Agent.toolPolicy(({ arguments: args, calledAs, params, sideEffects, tool }) => {
        seen.push({ args, calledAs, params, sideEffects, tool })
        return ToolPolicy.deny("never")
      })
    )
    const model = yield* make(calls(written("on demand", "wipe", { n: 1 })), done)
    yield* run(agent, "go").pipe(Effect.provide(model.layer))
    assert.deepStrictEqual(seen, [
      { args: '{"n":1}', calledAs: "call_tool", params: { n: 1 }, sideEffects: "unsafe", tool: "wipe" }
    ])
    assert.lengthOf(runs, 0)
    assert.include(read(model)[0], "never")
  })
)

const paying = () => {
  const runs: Array<string> = []
  const tool = Tool.make("pay", {
    description: "Pays.",
    parameters: Schema.Struct({ cents: Schema.Int }),
    success: Schema.String,
    sideEffects: "unsafe",
    run: ({ cents }, { idempotencyKey }) => Effect.sync(() => `paid ${runs.push(`${cents} ${idempotencyKey}`)}`)
  })
  return { runs, tool }
}

it.run("a person is asked about the tool itself [P1385 A510]", (run) =>
  Effect.gen(function* () {
    yield* same((way) =>
      Effect.gen(function* () {
        const { runs, tool } = paying()
        const asked: Array<unknown> = []
        const agent = Agent.make("desk", { tools: [given(way, tool.pipe(Tool.requireApproval()))] }).pipe(
          Agent.withRunId(() => "r")
        )
        const layer = Approval.layer((request) =>
          Effect.sync(() => (asked.push(request), Approval.approveWith({ cents: 4 })))
        )
        const model = yield* make(calls(written(way, "pay", { cents: 5 })), done)
        yield* run(agent, "go").pipe(Effect.provide([model.layer, layer]))
        assert.lengthOf(asked, 1)
        return { asked, runs, results: read(model) }
      })
    )
  })
)

it.effect(
  "a run that waits for an approval, a deferred call or a sub-agent is read back from JSON and goes on [P1385 P1004]",
  () =>
    Effect.gen(function* () {
      const { runs, tool } = paying()
      const inner = Agent.make("clerk", { tools: Tool.onDemand([tool.pipe(Tool.requireApproval())]) })
      const outer = Agent.make("desk", {
        tools: Tool.onDemand([Agent.asTool(inner, { description: "Asks the clerk." })])
      })
      const model = yield* make(
        calls(written("on demand", "clerk", { input: "go" })),
        calls(written("on demand", "pay", { cents: 5 })),
        done,
        done
      )
      const from = yield* snapshotOf(yield* outcomeOf(outer, "go", model))
      assert.lengthOf(runs, 0)
      const end = yield* outcomeOf(Agent.resume(outer), deciding(from), model)
      assert.deepInclude(end, { _tag: "Completed", output: "done" })
      assert.lengthOf(runs, 1)

      const { tokenOf, tool: order } = deferring()
      const worker = agentWith(...Tool.onDemand([order]))
      const second = yield* make(calls(written("on demand", "order", {})), done)
      const waiting = yield* snapshotOf(yield* outcomeOf(worker, "go", second))
      const settlements = [{ token: tokenOf(), exit: Exit.succeed({ at: 7 }) }]
      const last = yield* outcomeOf(Agent.resume(worker), { from: waiting, settlements }, second)
      assert.deepInclude(last, { _tag: "Completed", output: "done" })
      assert.deepStrictEqual(read(second), ['result: {"at":7}'])
    })
)

it.run("a built-in tool is called by its own name only, also within two calls of call_tool [P1385]", (run) =>
  Effect.gen(function* () {
    const agent = Agent.make("desk", { tools: [Tool.complete, ...Tool.onDemand([paying().tool])] })
    const model = yield* make(
      calls(
        written("on demand", "complete", { summary: "over" }),
        written("on demand", "call_tool", { name: "complete", arguments: { summary: "over" } }, "c2")
      ),
      calls(call("complete", { summary: "over" }))
    )
    assert.instanceOf(yield* run(agent, "go").pipe(Effect.provide(model.layer)), Completion.Completion)
    const all = read(model)
    assert.lengthOf(all, 2)
    for (const text of all) assert.include(text, "Call any other tool by its own name.")
  })
)

it.run("a call that may have taken effect is not repeated at once by a resilient agent [P1385 P1364]", (run) =>
  Effect.gen(function* () {
    const { results, runs } = yield* same((way) =>
      Effect.gen(function* () {
        const { runs, tool } = play("pay", { kind: "web-service", sideEffects: "unsafe" }, [
          Effect.fail(Object.assign(new Error("reset"), { code: "ECONNRESET" })),
          Effect.succeed("paid")
        ])
        const agent = Agent.make("desk", { tools: [given(way, tool)] }).pipe(Agent.resilient())
        const script = calls(written(way, "pay", { n: 1 }))
        const model = yield* make(script, script, done)
        yield* run(agent, "go").pipe(Effect.provide(model.layer))
        return { runs: runs.length, results: read(model) }
      })
    )
    assert.strictEqual(runs, 1)
    assert.include(results[1], "not run")
  })
)

it.run("a search shows what the server of a tool has now, and leaves out what is refused [P1385 P1549]", (run) =>
  Effect.gen(function* () {
    const made = (description: string) =>
      Tool.make("pay", {
        description,
        parameters: Schema.Struct({}),
        success: Schema.String,
        run: () => Effect.succeed("paid")
      })
    let now = { digest: "two", verdict: "accept" as "accept" | "refuse" }
    const pinned = Tool.pinned(made("Pays, as of yesterday."), {
      key: "k",
      server: "s",
      digest: "one",
      now: Effect.sync(() => ({ digest: now.digest, tool: () => made("Pays, as of today.").definition })),
      verdict: () => now.verdict,
      change: () => ({}) as never,
      accept: () => Effect.void
    })
    const search = calls(call("search_tools", { query: "pays" }))
    const first = yield* make(search, done)
    const agent = Agent.make("desk", { tools: Tool.onDemand([pinned]) })
    yield* run(agent, "go").pipe(Effect.provide(first.layer))
    assert.include(read(first)[0], "as of today")
    now = { digest: "three", verdict: "refuse" }
    const second = yield* make(search, done)
    yield* run(agent, "go").pipe(Effect.provide(second.layer))
    assert.include(read(second)[0], "No tool fits")
  })
)
