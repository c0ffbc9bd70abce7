/** The words of sub-agents reach the readers of the run around them, while they are written. */
import { assert } from "@effect/vitest"
import { Agent, type AgentEvent, Approval, LlmError, Model, Recovery, Tool, Usage } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Deferred, Effect, Fiber, Layer, Schema, Stream } from "effect"
import { calm, done, eventLog, read } from "../../_support/dialogue.ts"
import { namedModel, overloaded } from "../../_support/namedModels.ts"
import { it } from "../../_support/run.ts"
import { deciding, outcomeOf, paying, snapshotOf } from "../../_support/suspension.ts"

const { call, calls, fails, make, text } = ScriptedModel

/** A model that writes a word, and holds the rest of its answer back until it is told to go on. */
const held = (first: string, last: string) => {
  const goOn = Deferred.makeUnsafe<void>()
  const reply = ScriptedModel.reply({ content: [{ type: "text", text: first + last }] })
  const rest: ReadonlyArray<Model.Part> = [
    { type: "text-delta", text: last },
    { type: "finish", finish: reply.finish, usage: Usage.make({ inputTokens: 10, outputTokens: 5 }) }
  ]
  const layer = Layer.succeed(Model.Model, {
    name: "held",
    provider: "held",
    generate: () => Effect.as(Deferred.await(goOn), reply),
    stream: () =>
      Stream.concat(
        Stream.succeed<Model.Part>({ type: "text-delta", text: first }),
        Stream.unwrap(Effect.as(Deferred.await(goOn), Stream.fromIterable(rest)))
      )
  })
  return { layer, end: Deferred.succeed(goOn, undefined) }
}

const askCall = calls(call("ask", { input: "why?" }))

/** The words of each agent. */
const wordsIn = (events: ReadonlyArray<AgentEvent.AgentEvent>) =>
  events.flatMap((event) => (event.type === "text-delta" ? [`${event.agent}: ${event.text}`] : []))

type Whole = Agent.Agent<string, unknown, unknown, Model.Model>

/** Where an agent may be at work inside another one; `layer` is the model of the outermost one. */
const homes: Readonly<Record<string, (inner: Whole) => Effect.Effect<Whole, never, never>>> = {
  "a tool that is made of it": (inner) =>
    Effect.succeed(outer(Agent.asTool(inner as never, { name: "ask", description: "Asks." }))),
  "the function of a tool": (inner) =>
    Effect.succeed(
      outer(
        Tool.make("ask", {
          description: "Asks.",
          parameters: Schema.Struct({ input: Schema.String }),
          success: Schema.String,
          run: () => Effect.orDie(inner("why?")) as Effect.Effect<string>
        })
      )
    ),
  "a fixer": (inner) =>
    Effect.succeed(
      outer(
        Tool.make("ask", {
          description: "Asks.",
          parameters: Schema.Struct({ n: Schema.Finite }),
          success: Schema.String,
          run: () => Effect.succeed("asked")
        }).pipe(Tool.onError({ InvalidArgs: Recovery.ladder(Recovery.fix(inner as never), Recovery.tell()) }))
      )
    ),
  "a composition that is a tool": (inner) =>
    Effect.succeed(
      outer(
        Agent.asTool(Agent.fallback(inner as never, Agent.make("spare", {}) as never) as never, {
          name: "ask",
          description: "Asks."
        })
      )
    ),
  "a part of a composition": (inner) =>
    Effect.succeed(Agent.fallback(inner as never, Agent.make("spare", {}) as never) as unknown as Whole)
}

// the types of agents are tested elsewhere
const outer = (tool: Tool.AnyTool): Whole =>
  Agent.make("outer", { tools: [tool] }).pipe(
    Agent.withModel(ScriptedModel.answering(({ messages }) => (messages.length > 1 ? done : askCall)))
  ) as never

for (const [home, within] of Object.entries(homes)) {
  it.effect(`words of an agent in ${home} reach the stream while they are written [P1372]`, () =>
    Effect.gen(function* () {
      const { end, layer } = held("fir", "st")
      const agent = yield* within(Agent.make("inner", {}).pipe(Agent.withModel(layer)) as never)
      for (const way of ["stream", "start"] as const) {
        const events: Array<AgentEvent.AgentEvent> = []
        const running = Effect.gen(function* () {
          const stream = way === "stream" ? agent.stream("go") : (yield* agent.start("go")).events
          yield* Stream.runForEach(stream, (event) => Effect.sync(() => void events.push(event)))
        })
        const fiber = yield* Effect.forkChild(Effect.scoped(running) as Effect.Effect<void>)
        yield* calm
        if (way === "stream") assert.deepStrictEqual(wordsIn(events), ["inner: fir"])
        const delta = events.find(({ type }) => type === "text-delta")
        const [first] = events
        if (way === "stream") assert.strictEqual(delta?.parent?.runId === undefined, false)
        assert.notStrictEqual(delta?.runId, first?.runId)
        yield* end
        yield* Fiber.join(fiber)
        assert.deepStrictEqual(wordsIn(events).slice(0, 2), ["inner: fir", "inner: st"])
      }
    })
  )
}

it.run("a sub-agent writes its words in parts where the run around it is, and else for whole replies [P1372]", (run) =>
  Effect.gen(function* () {
    const inner = yield* make(text("because"))
    const model = yield* make(askCall, done)
    const expert = Agent.make("expert", { model: inner.layer })
    const agent = Agent.make("outer", { tools: [Agent.asTool(expert, { name: "ask", description: "Asks." })] })
    const log = eventLog()
    assert.strictEqual(yield* run(agent.pipe(log.listen), "go").pipe(Effect.provide(model.layer)), "done")
    assert.deepStrictEqual(read(model), ["result: because"])
    assert.deepStrictEqual(
      inner.requests.map(({ isStreamed }) => isStreamed),
      [run.isStreamed]
    )
    assert.deepStrictEqual(
      wordsIn(log.all),
      run.isStreamed ? ["expert: beca", "expert: use", "outer: do", "outer: ne"] : []
    )
  })
)

it.run(
  "a sub-agent whose words broke off is asked again, unless it says otherwise: they are discarded [P1372 P502]",
  (run) =>
    Effect.gen(function* () {
      for (const onPartial of [undefined, "fail"] as const) {
        const broken = fails(LlmError.ServerError.make({ model: "m" }), { type: "text-delta", text: "bec" })
        const isStuck = run.isStreamed && onPartial === "fail"
        const inner = yield* make(broken, ...(isStuck ? [] : [text("because")]))
        const model = yield* make(askCall, done)
        const expert = Agent.make("expert", { model: inner.layer }).pipe(
          Agent.onLlmError(
            { ServerError: Recovery.retry({ retries: 1, initialBackoff: 0 }) },
            onPartial && { onPartial }
          )
        )
        const ask = Agent.asTool(expert, { name: "ask", description: "Asks." })
        const log = eventLog()
        const agent = Agent.make("outer", { tools: [ask] }).pipe(
          Agent.toolDefaults({ orElse: Recovery.tell() }),
          log.listen
        )
        assert.strictEqual(yield* run(agent, "go").pipe(Effect.provide(model.layer)), "done")
        assert.strictEqual(read(model)[0]?.split(":")[0], isStuck ? "told" : "result")
        assert.deepStrictEqual(
          log.of("attempt-discarded").map(({ agent, text }) => `${agent}: ${text}`),
          run.isStreamed && !isStuck ? ["expert: bec"] : []
        )
      }
    })
)

it.run(
  "the next of several models is asked after words of a sub-agent's first one: they are discarded [P1372]",
  (run) =>
    Effect.gen(function* () {
      const broken = fails(overloaded("a"), { type: "text-delta", text: "bec" })
      const [first, next] = [yield* namedModel("a", broken), yield* namedModel("b", text("because"))]
      const model = yield* make(askCall, done)
      const expert = Agent.make("expert", { model: Model.fallback(first.layer, next.layer) })
      const log = eventLog()
      const agent = Agent.make("outer", {
        tools: [Agent.asTool(expert, { name: "ask", description: "Asks." })]
      }).pipe(log.listen)
      assert.strictEqual(yield* run(agent, "go").pipe(Effect.provide(model.layer)), "done")
      assert.deepStrictEqual(read(model), ["result: because"])
      const ofExpert = log.all.flatMap((event) => {
        if (event.agent !== "expert") return []
        return event.type === "text-delta" || event.type === "attempt-discarded" ? [`${event.type} ${event.text}`] : []
      })
      const streamed = ["text-delta bec", "attempt-discarded bec", "text-delta beca", "text-delta use"]
      assert.deepStrictEqual(ofExpert, run.isStreamed ? streamed : [])
    })
)

it.effect("nothing of a sub-agent is streamed to a reader of partial outputs, whose output is another [P1372]", () =>
  Effect.gen(function* () {
    const inner = yield* make(text("because"))
    const model = yield* make(askCall, done)
    const expert = Agent.make("expert", { model: inner.layer })
    const agent = Agent.make("outer", { tools: [Agent.asTool(expert, { name: "ask", description: "Asks." })] })
    const seen = yield* Stream.runCollect(Agent.partials(agent)("go")).pipe(Effect.provide(model.layer))
    assert.strictEqual(seen.at(-1), "done")
    assert.isTrue(seen.every((value) => "done".startsWith(value)))
  })
)

it.effect("words of a sub-agent that was suspended with its parent reach the stream of the resumed run [P1372]", () =>
  Effect.gen(function* () {
    const { tool } = paying()
    const inner = yield* make(calls(call("pay", { cents: 5 })), text("paid"))
    const model = yield* make(askCall, done)
    const expert = Agent.make("expert", { model: inner.layer, tools: [tool] })
    const agent = Agent.make("outer", { tools: [Agent.asTool(expert, { name: "ask", description: "Asks." })] })
    const from = yield* snapshotOf(yield* outcomeOf(agent, "go", model))
    const handle = yield* Agent.resume(agent)
      .start(deciding(from))
      .pipe(Effect.provide(model.layer), Effect.provide(Approval.layer(() => Effect.die("no approver"))))
    yield* handle.outcome
    const words = wordsIn(yield* Stream.runCollect(handle.events))
    assert.deepStrictEqual(words, ["expert: pa", "expert: id", "outer: do", "outer: ne"])
  })
)
