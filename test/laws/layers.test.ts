/** Laws of the layers: what the transport, a model's table, a tool's table and an order of models send together. */
import { assert } from "@effect/vitest"
import { Agent, LlmError, Message, Model, Recovery, Skill, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Transport } from "@kintsugi/providers"
import { Clock, Effect, Exit, Layer, Stream } from "effect"
import fc from "fast-check"
import { toParts } from "../../packages/core/src/testing/ScriptedModel.ts"
import { agentWith, batch, overADay, play } from "../_support/dialogue.ts"
import {
  done as doneEvent,
  failureOf,
  fakeNetwork,
  finished,
  finishChunk,
  ok,
  openAi,
  type Reaction,
  respond,
  textChunk
} from "../_support/network.ts"
import { lawOfRuns } from "./_support/runs.ts"

/** What one send meets: a success, a failure that passes, or one that does not. */
type Meets = "ok" | "busy" | "refused"

const meets = fc.constantFrom<Meets>("ok", "busy", "busy", "busy", "refused")

const streamedOk = respond(200, [textChunk("ok"), finishChunk(), doneEvent].join(""), {
  "content-type": "text/event-stream"
})

/** The answer to a send, in the form in which it was asked for. */
const reactionOf = (meets: Meets, isStreamed: boolean): Reaction =>
  meets === "busy" ? respond(503) : meets === "refused" ? respond(400) : isStreamed ? streamedOk : ok

interface Layers {
  /** How often the transport sends, the model is asked, the tool runs. */
  readonly sends: number
  readonly asks: number
  readonly runs: number
}

const layers: fc.Arbitrary<Layers> = fc.record({
  sends: fc.integer({ min: 1, max: 3 }),
  asks: fc.integer({ min: 1, max: 3 }),
  runs: fc.integer({ min: 1, max: 3 })
})

/** No wait: what is counted here are requests. */
const retryOf = (sends: number) => ({ maxAttempts: sends, initialBackoff: 0 })

const network = (script: ReadonlyArray<Meets>, rest: Meets, isStreamed: () => boolean) => {
  let next = 0
  return fakeNetwork(() => Effect.suspend(() => reactionOf(script[next++] ?? rest, isStreamed())()))
}

/** An agent that asks a model behind these layers; its table writes down what it sees. */
const setUp = ({ asks, sends }: Layers) => {
  const seen: Array<string> = []
  const retry = Recovery.retry({ maxAttempts: asks })
  const agent = Agent.make("asking", { budget: { maxTurns: 1 } }).pipe(
    Agent.onLlmError({
      orElse: Recovery.when(
        ({ _tag }) => {
          seen.push(_tag)
          return retry
        },
        { among: [retry] }
      )
    })
  )
  const options = { retry: retryOf(sends) }
  return { agent, seen, layer: openAi(options), transport: Transport.explain(options) }
}

interface Story {
  readonly layers: Layers
  readonly script: ReadonlyArray<Meets>
  readonly rest: Meets
}

const story: fc.Arbitrary<Story> = fc.record({
  layers,
  script: fc.array(meets, { maxLength: 12 }),
  rest: meets
})

/** What these layers do with a script, told without the library: how often was sent, and what the table saw. */
const foretold = ({ layers: { asks, sends }, rest, script }: Story) => {
  let sent = 0
  const seen: Array<string> = []
  for (let asked = 1; asked <= asks; asked++) {
    let last: Meets = "ok"
    for (let send = 1; send <= sends; send++) {
      last = script[sent++] ?? rest
      if (last !== "busy") break
    }
    if (last === "ok") break
    seen.push(last === "busy" ? "ModelOverloadedError" : "InvalidRequestError")
  }
  return { sent, seen }
}

lawOfRuns(
  "requests are at most those of all layers multiplied, and the table decides about what the transport leaves [L701 L702 L703]",
  story,
  Effect.fnUntraced(function* (story, run) {
    const { agent, layer, seen, transport } = setUp(story.layers)
    const net = network(story.script, story.rest, () => run.isStreamed)
    yield* finished(run(agent, "go").pipe(Effect.provide(layer), Effect.provide(net.layer)))
    const expected = foretold(story)
    assert.deepStrictEqual({ sent: net.sent.length, seen }, expected)
    const { asks, sends } = story.layers
    const { worst } = Agent.explain(agent, { transport })
    assert.strictEqual(worst.requests, asks * sends)
    assert.isAtMost(net.sent.length, worst.requests)
  })
)

/** A tool that asks a model by itself, and runs again as its own table says. */
const withTool = (layers: Layers) => {
  const { agent, layer, seen, transport } = setUp(layers)
  const tool = Agent.asTool(agent, { description: "Asks.", sideEffects: "none" }).pipe(
    Tool.onError({ orElse: Recovery.ladder(Recovery.retry({ maxAttempts: layers.runs }), Recovery.tell()) })
  )
  // each has its own model, so the parent's requests are none of those that are counted
  const parent = Agent.make("parent", {
    budget: { maxTurns: 50, maxToolCalls: 1 },
    skills: [Skill.make("ask", { description: "Asks.", tools: [tool] })]
  })
  return { parent, layer, seen, transport, tool }
}

lawOfRuns(
  "a tool that calls a model multiplies once more; if all failures are retryable, the bound is reached [L701]",
  fc.record({ layers, script: fc.array(meets, { maxLength: 30 }), rest: meets, isAllBusy: fc.boolean() }),
  Effect.fnUntraced(function* ({ isAllBusy, layers, rest, script }, run) {
    const { layer, parent, transport } = withTool(layers)
    const net = network(isAllBusy ? [] : script, isAllBusy ? "busy" : rest, () => run.isStreamed)
    const asks = { ask: 0 }
    // the first model asked is the parent's, from then on the network speaks
    const speaking = Effect.gen(function* () {
      const real = yield* Effect.service(Model.Model)
      const call = ScriptedModel.reply({ content: [ScriptedModel.call("asking", { input: "go" }, "c1")] })
      const said = ScriptedModel.reply({ content: [Message.text("said")] })
      const isParent = ({ tools }: Model.Request) => tools.length > 0
      const next = () => (asks.ask++ === 0 ? call : said)
      const both: Model.Service = {
        ...real,
        generate: (request) => (isParent(request) ? Effect.sync(next) : real.generate(request)),
        stream: (request) =>
          isParent(request) ? Stream.suspend(() => Stream.fromIterable(toParts(next()))) : real.stream(request)
      }
      return both
    })
    const model = Layer.effect(Model.Model, speaking).pipe(Layer.provide(layer), Layer.provide(net.layer))
    yield* finished(run(parent, "go").pipe(Effect.provide(model)))
    const most = layers.sends * layers.asks * layers.runs
    assert.isAtMost(net.sent.length, most)
    if (isAllBusy) assert.strictEqual(net.sent.length, most)
    const explained = Agent.explain(parent, { transport }).tools.get("asking")
    assert.isDefined(explained)
    assert.strictEqual((explained?.worst.modelCalls ?? 0) * transport.worst.requests, most)
  })
)

const overloaded = () => LlmError.ModelOverloadedError.make({ model: "scripted" })

lawOfRuns(
  "the table decides once about each failure that is left, and counts afresh in each turn [L704]",
  fc.record({
    asks: fc.integer({ min: 1, max: 4 }),
    failures: fc.array(fc.integer({ min: 0, max: 4 }), { minLength: 1, maxLength: 4 })
  }),
  Effect.fnUntraced(function* ({ asks, failures }, run) {
    const reached = failures.findIndex((count) => count >= asks)
    const turns = reached < 0 ? failures : failures.slice(0, reached + 1)
    const steps = turns.flatMap((count, turn) => [
      ...Array.from({ length: Math.min(count, asks) }, () => ScriptedModel.fails(overloaded())),
      ...(count >= asks ? [] : [turn === failures.length - 1 ? ScriptedModel.text("done") : batch("look")])
    ])
    const model = yield* ScriptedModel.make(...steps)
    let asked = 0
    const agent = agentWith(
      play(
        "look",
        {},
        failures.map(() => Effect.succeed("seen"))
      ).tool
    ).pipe(
      Agent.onLlmError({
        orElse: Recovery.when(() => {
          asked++
          return Recovery.retry({ maxAttempts: asks })
        })
      })
    )
    const exit = yield* Effect.exit(run(agent, "go").pipe(Effect.provide(model.layer)))
    assert.strictEqual(Exit.isSuccess(exit), reached < 0)
    assert.strictEqual(
      asked,
      turns.reduce((sum, count) => sum + Math.min(count, asks), 0)
    )
    assert.strictEqual(model.requests.length, steps.length)
  })
)

lawOfRuns(
  "a layer that is switched off is the identity: same requests, same instants, the very same error [L706]",
  fc.record({ failing: fc.integer({ min: 0, max: 3 }), retries: fc.integer({ min: 0, max: 2 }), wait: fc.nat(2_000) }),
  Effect.fnUntraced(function* ({ failing, retries, wait }, run) {
    const once = { orElse: Recovery.retry<LlmError.LlmError>({ maxAttempts: 1, initialBackoff: "1 minute" }) }
    const table = { orElse: Recovery.retry<LlmError.LlmError>({ retries, initialBackoff: wait }) }
    const off: ReadonlyArray<(model: Model.Service) => Model.Service> = [
      (model) => model,
      (model) => Model.onError(model, {}),
      (model) => Model.onError(model, once),
      (model) => Model.fallback(model),
      (model) => Model.fallback(Model.onError(model, {}))
    ]
    const traces = yield* Effect.forEach(off, (layered) =>
      Effect.gen(function* () {
        const error = overloaded()
        const instants: Array<number> = []
        const start = yield* Clock.currentTimeMillis
        const asked = Effect.flatMap(Clock.currentTimeMillis, (at) => {
          instants.push(at - start)
          return instants.length <= failing
            ? Effect.fail(error)
            : Effect.succeed(ScriptedModel.reply({ content: [Message.text("ok")] }))
        })
        const service: Model.Service = {
          name: "m",
          provider: "p",
          generate: () => asked,
          stream: () => Stream.unwrap(Effect.map(asked, (reply) => Stream.fromIterable(toParts(reply))))
        }
        const agent = Agent.make("a", {}).pipe(Agent.onLlmError(table))
        const layer = Layer.succeed(Model.Model, layered(service))
        const exit = yield* overADay(run(agent, "go").pipe(Effect.provide(layer)))
        return { instants, ended: Exit.isSuccess(exit) ? exit.value : failureOf(exit) === error }
      })
    )
    for (const trace of traces) assert.deepStrictEqual(trace, traces[0])
    assert.strictEqual(traces[0]?.ended, failing > retries ? true : "ok")
  })
)
