/** Many runs at once, as `bench/src/rows/concurrent.ts` has them, on the clock of the tests. */
import { assert } from "@effect/vitest"
import { Agent, AgentEvent, Message, Model, Skill, Tool, Usage } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Exit, Fiber, Layer, Metric, Schema, Stream } from "effect"
import { toParts } from "../../../packages/core/src/testing/ScriptedModel.ts"
import { it } from "../../_support/run.ts"
import { calm, overADay } from "../../_support/dialogue.ts"

const runs = 500
const turns = 3

const usage = Usage.make({ inputTokens: 10, outputTokens: 5 })

const replyTo = ({ messages }: Model.Request): Message.Reply =>
  messages.filter(({ role }) => role === "assistant").length < turns - 1
    ? { content: [ScriptedModel.call("nap", {})], finish: "tool-calls", usage }
    : { content: [Message.text("rested")], finish: "stop", usage }

/** Calls the tool in every turn but the last. */
const model = Layer.succeed(Model.Model, {
  name: "fixed",
  provider: "here",
  generate: (request) => Effect.succeed(replyTo(request)),
  stream: (request) => Stream.fromIterable(toParts(replyTo(request)))
})

const nap = Tool.make("nap", {
  description: "Sleeps.",
  parameters: Schema.Struct({}),
  success: Schema.String,
  run: () => Effect.as(Effect.sleep("10 millis"), "ok")
})

it.run("five hundred concurrent runs all end, for their listeners too, and leave no fiber [A1205 A1202]", (run) =>
  Effect.gen(function* () {
    let fibers = 0
    const metrics: Metric.FiberRuntimeMetricsService = {
      recordFiberStart: () => void fibers++,
      recordFiberEnd: () => void fibers--
    }
    const ended = new Map<string, number>()
    const listening = new Set<Fiber.Fiber<unknown, unknown>>()
    const agent = Agent.make("sleeper", { skills: [Skill.make("rest", { description: "d", tools: [nap] })] }).pipe(
      Agent.onEvent((event) =>
        Effect.withFiber((fiber) => {
          listening.add(fiber)
          if (AgentEvent.isTerminal(event)) ended.set(event.runId, (ended.get(event.runId) ?? 0) + 1)
          return Effect.void
        })
      )
    )
    const all = Effect.forEach(Array.from({ length: runs }), () => run(agent, "Have a rest."), {
      concurrency: "unbounded"
    }).pipe(Effect.provide(model))
    const exit = yield* overADay(
      Effect.forkChild(all).pipe(Effect.flatMap(Fiber.join), Effect.provideService(Metric.FiberRuntimeMetrics, metrics))
    )
    assert.deepStrictEqual(exit, Exit.succeed(Array.from({ length: runs }, () => "rested")))
    yield* calm
    assert.strictEqual(ended.size, runs)
    assert.isTrue([...ended.values()].every((times) => times === 1))
    assert.isAtLeast(listening.size, runs)
    assert.isTrue([...listening].every((fiber) => fiber.pollUnsafe() !== undefined))
    assert.strictEqual(fibers, 0)
  })
)
