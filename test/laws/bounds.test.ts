/** What is said of compositions before they run, against what they do. */
import { assert } from "@effect/vitest"
import { Agent, LlmError, Message, Model, Recovery, type RunError, Usage } from "@kintsugi/core"
import { Transport } from "@kintsugi/providers"
import { Duration, Effect, Layer, Stream } from "effect"
import fc from "fast-check"
import { eventLog, overADay } from "../_support/dialogue.ts"
import { it } from "../_support/run.ts"
import { lawOfRuns } from "./_support/runs.ts"

type Failure = LlmError.LlmError | RunError.BudgetExceededError | RunError.LoopExhaustedError
type Any = Agent.Agent<string, string, Failure, never>
type Ends = "answers" | "fails" | "is refused"

/** Errors with which an order goes on, and with which it stops. */
const errors = {
  fails: LlmError.ModelOverloadedError.make({ model: "m" }),
  "is refused": LlmError.ContentFilteredError.make({ model: "m", detail: "no" })
}

const reply: Message.Reply = { content: [Message.text("hi")], finish: "stop", usage: Usage.empty }

/** An agent whose model does as the script says, at once, and its last step ever after. */
const agentOf = (script: ReadonlyArray<Ends>, retries: number): Any => {
  let step = 0
  const act = Effect.suspend(() => {
    const ends = script[Math.min(step++, script.length - 1)] ?? "answers"
    return ends === "answers" ? Effect.succeed(reply) : Effect.fail(errors[ends])
  })
  const model: Model.Service = {
    name: "m",
    provider: "p",
    generate: () => act,
    stream: () => Stream.unwrap(Effect.map(act, (came) => Stream.fromIterable(Model.partsOf(came))))
  }
  const agent = Agent.make("a", { model: Layer.succeed(Model.Model, model), budget: { maxTurns: 1 } }).pipe(
    Agent.onLlmError({ orElse: Recovery.retry<LlmError.LlmError>({ retries, initialBackoff: 10, factor: 1 }) })
  )
  return Agent.map(agent, (said) => said)
}

const joined = (parts: { readonly [K in "a" | "b"]: Any }): Any => Agent.map(Agent.parallel(parts), ({ a, b }) => a + b)

const { tree } = fc.letrec<{ leaf: Any; tree: Any }>((tie) => {
  const two = fc.tuple(tie("tree"), tie("tree"))
  const times = fc.integer({ min: 1, max: 3 })
  return {
    leaf: fc
      .tuple(
        fc.array(fc.constantFrom<Ends>("answers", "fails", "fails", "is refused"), { minLength: 1, maxLength: 4 }),
        fc.nat(2)
      )
      .map(([script, retries]) => agentOf(script, retries)),
    tree: fc.oneof(
      { depthSize: "small", maxDepth: 3 },
      tie("leaf"),
      two.map(([a, b]): Any => Agent.andThen(a, b)),
      two.map(([a, b]): Any => Agent.fallback(a, b)),
      two.map(([a, b]): Any => Agent.firstOf(a, b)),
      two.map(([a, b]) => joined({ a, b })),
      fc
        .tuple(tie("tree"), times, fc.nat(20))
        .map(([a, n, hedgeAfter]): Any => Agent.speculative(a, n, { hedgeAfter })),
      fc
        .tuple(tie("tree"), times)
        .map(([a, maxIterations]): Any =>
          Agent.loopUntil(a, (said) => said.length > 3, { maxIterations, feedback: (said) => said })
        ),
      fc.tuple(tie("tree"), times).map(([a, maxTurns]): Any => a.pipe(Agent.withBudget({ maxTurns })))
    )
  }
})

lawOfRuns("no composition makes more model calls, or waits longer, than its bounds [L701 A1101]", tree, (agent, run) =>
  Effect.gen(function* () {
    const { modelCalls, requests, time } = Agent.bounds(agent)
    assert.strictEqual(requests, modelCalls)
    const log = eventLog()
    yield* overADay(run(agent.pipe(log.listen), "go"))
    const asked = log.all.filter(({ type }) => type === "model-start").length
    assert.isAtMost(asked, modelCalls)
    assert.isAtMost((log.end()?.at ?? Infinity) - (log.all[0]?.at ?? 0), Duration.toMillis(time))
  })
)

const sick = () => agentOf(["fails"], 2)
const well = () => agentOf(["answers"], 0)

const worst: ReadonlyArray<readonly [string, make: () => Any, calls: number]> = [
  ["an agent", () => sick(), 3],
  ["an order", () => Agent.fallback(sick(), sick(), sick()), 9],
  ["a race", () => Agent.firstOf(sick(), sick()), 6],
  ["copies", () => Agent.speculative(sick(), 3, { hedgeAfter: 5 }), 9],
  [
    "an order of races",
    () => Agent.fallback(Agent.firstOf(sick(), sick()), Agent.speculative(sick(), 2, { hedgeAfter: 0 })),
    12
  ],
  ["parts at once", () => joined({ a: agentOf(["fails", "fails", "answers"], 2), b: sick() }), 6],
  ["a loop", () => Agent.loopUntil(well(), () => false, { maxIterations: 4, feedback: () => "" }), 4],
  ["a shared limit", () => Agent.fallback(sick(), sick(), sick()).pipe(Agent.withBudget({ maxTurns: 2 })), 6]
]

for (const [what, make, calls] of worst) {
  it.run(`${what}: the bound is what happens at worst [L701]`, (run) =>
    Effect.gen(function* () {
      const agent = make()
      const transport = Transport.explain({ requestTimeout: "1 second" })
      const { time } = Agent.bounds(agent)
      assert.deepStrictEqual(Agent.bounds(agent, { transport }), {
        modelCalls: calls,
        requests: 3 * calls,
        time: Duration.sum(time, Duration.times(transport.worst.time, calls))
      })
      const log = eventLog()
      yield* overADay(run(agent.pipe(log.listen), "go"))
      assert.strictEqual(log.all.filter(({ type }) => type === "model-start").length, calls)
    })
  )
}

it.effect("Agent.bounds counts nothing for a plain function", () =>
  Effect.sync(() => {
    const plain = Agent.deterministic("plain", (said: string) => Effect.succeed(said))
    assert.deepStrictEqual(Agent.bounds(plain), { modelCalls: 0, requests: 0, time: Duration.zero })
    assert.strictEqual(
      Agent.bounds(Agent.fallback(plain, sick()).pipe(Agent.withBudget({ maxTurns: 9 }))).modelCalls,
      3
    )
  })
)
