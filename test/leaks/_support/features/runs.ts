/** Features of a run that ends by itself. */
import { Agent, Backoff, Compaction, Model, Recovery, RetryBudget, Router, Skill, Tool } from "@kintsugi/core"
import * as Cursor from "@kintsugi/core/Cursor"
import { Resilience } from "@kintsugi/providers"
import { type Duration, Effect, Fiber, Layer, Schema, Scope, Stream } from "effect"
import type { Around, Feature } from "../measure.ts"
import { call, calling, layerOf, look, looking, overloaded, replyOf, serviceOf, using } from "./models.ts"

/** A tool that fails the first time of each call. */
const flaky = ({ resource }: Around) =>
  Tool.make("look", {
    description: "Looks.",
    parameters: Schema.Struct({}),
    success: Schema.String,
    run: (_, { attempt }) =>
      Effect.andThen(resource, attempt === 1 ? Effect.fail({ _tag: "Busy" as const }) : Effect.succeed("seen"))
  }).pipe(Tool.onError({ Busy: Recovery.retry({ retries: 1, initialBackoff: 1 }) }))

/** A tool that hangs. */
const hanging = (
  { resource }: Around,
  limits: { readonly timeout?: Duration.Input; readonly callTimeout?: Duration.Input }
) =>
  Tool.make("look", {
    description: "Looks.",
    parameters: Schema.Struct({}),
    success: Schema.String,
    run: () => Effect.andThen(resource, Effect.as(Effect.never, "seen")),
    ...limits
  }).pipe(Tool.onError({ orElse: Recovery.tell() }))

/** Every other call of a model fails. */
const failing = () => {
  let asked = 0
  return layerOf(() => (asked++ % 2 === 0 ? Effect.fail(overloaded) : Effect.succeed(replyOf([]))))
}

const recovering = Agent.onLlmError({ ModelOverloadedError: Recovery.retry({ retries: 2, initialBackoff: 1 }) })

const slow = layerOf(() => Effect.as(Effect.sleep(3_600_000), replyOf([])))

const racing = Agent.firstOf(
  Agent.deterministic("quick", (text: string) => Effect.succeed(text)),
  Agent.make("slow", { model: slow })
)

const guarded: Feature = {
  name: "a breaker, a limit of concurrency and of rate",
  prepare: () =>
    Effect.gen(function* () {
      const guard = yield* Resilience.make({
        breaker: {},
        concurrency: 2,
        limits: [{ requests: 1_000_000, per: "1 minute" }]
      })
      const agent = Agent.make("worker", { model: guard(failing()) }).pipe(recovering)
      return { use: agent("go") }
    })
}

const shared: Feature = {
  name: "a retry budget",
  prepare: () =>
    Effect.gen(function* () {
      const budget = yield* RetryBudget.make({ ratio: 1, reserve: 10, window: "5 millis" })
      const model = failing()
      const retry = Recovery.retry(RetryBudget.sharing(Backoff.make({ retries: 2, initialBackoff: 1 }), budget))
      const agent = Agent.make("worker", {}).pipe(Agent.onLlmError({ ModelOverloadedError: retry }))
      return { use: agent("go").pipe(Effect.provide(model)) }
    })
}

/** The listeners of an agent, and readers of a run. */
const listening: Feature = {
  name: "listeners",
  prepare: (around) =>
    Effect.sync(() => {
      const agent = looking(around).pipe(
        Agent.onEvent(() => Effect.void),
        Agent.onEvent(() => Effect.void, { scope: around.scope })
      )
      return { use: Effect.provide(agent("go"), calling(call("look"))) }
    })
}

/** Runs whose handles live in a scope that goes on. */
const started: Feature = {
  name: "runs that are started in one scope",
  prepare: (around) =>
    Effect.sync(() => {
      const run = Scope.provide(looking(around).start("go"), around.scope)
      return {
        use: Effect.provide(
          Effect.flatMap(run, ({ outcome }) => outcome),
          calling(call("look"))
        )
      }
    })
}

const replaying = (around: Around) =>
  Effect.gen(function* () {
    const run = yield* looking(around).start("go")
    const had = yield* Stream.runCollect(Stream.take(run.events, 3))
    const after = had.at(-1)?.cursor
    yield* run.outcome
    yield* Stream.runCollect(run.events({ after: Cursor.read(after ?? "") === undefined ? undefined : after }))
    // a reader that leaves
    yield* Stream.runHead(run.events({}))
  })

const child = (around: Around) =>
  Agent.asTool(Agent.make("child", { tools: [look(around)] }), { name: "child", description: "Works." })

/** The parent's and the child's model: each calls its own tool. */
const family = layerOf(({ messages, tools }) =>
  Effect.succeed(
    replyOf(
      messages.at(-1)?.role === "user"
        ? [tools[0]?.name === "child" ? call("child", { input: "go" }) : call("look")]
        : []
    )
  )
)

const routed = (around: Around) =>
  Agent.make("desk", {
    skills: [
      Skill.make("one", { description: "One.", tools: [look(around)] }),
      Skill.make("two", { description: "Two.", tools: [] })
    ]
  }).pipe(Agent.route(Router.byRule(() => "one")))

const long = "x".repeat(2_000)

const compacting = (around: Around) =>
  Agent.make("worker", {
    tools: [
      Tool.make("look", {
        description: "Looks.",
        parameters: Schema.Struct({}),
        success: Schema.String,
        run: () => Effect.as(around.resource, long)
      })
    ]
  }).pipe(Agent.compactAt({ window: 20, with: Compaction.shrinkLargestResult({ maxLength: 20 }) }))

export const runs: ReadonlyArray<Feature> = [
  using("a tool call", (around) => looking(around)("go")),
  using("a retry of a tool", (around) => Agent.make("worker", { tools: [flaky(around)] })("go")),
  using("a retry of a model", () => Agent.make("worker", {}).pipe(recovering)("go"), failing()),
  using("a limit of an attempt", (around) => Agent.make("worker", { tools: [hanging(around, { timeout: 1 })] })("go")),
  using("a limit of a call", (around) =>
    Effect.flip(Agent.make("worker", { tools: [hanging(around, { callTimeout: 1 })] })("go"))
  ),
  using("a deadline of a run", (around) =>
    Effect.flip(Agent.make("worker", { tools: [hanging(around, {})], budget: { maxDuration: 2 } })("go"))
  ),
  using("limits that are not reached", (around) =>
    Agent.make("worker", { tools: [look(around)], budget: { maxDuration: "1 hour" } })("go")
  ),
  using("a stream to its end", (around) => Stream.runDrain(looking(around).stream("go"))),
  using("a stream that is left", (around) => Stream.runDrain(Stream.take(looking(around).stream("go"), 4))),
  using("a stream that is interrupted", (around) =>
    Effect.gen(function* () {
      const agent = Agent.make("worker", { tools: [hanging(around, {})] })
      const fiber = yield* Effect.forkChild(
        Stream.runDrain(Stream.takeUntil(agent.stream("go"), ({ type }) => type === "run-completed")),
        { startImmediately: true }
      )
      yield* Effect.yieldNow
      yield* Fiber.interrupt(fiber)
    })
  ),
  using("a run that is interrupted", () => Effect.timeoutOption(Agent.make("worker", {})("go"), 1), slow),
  {
    name: "a fallback of models",
    prepare: () =>
      Effect.sync(() => {
        const broken = serviceOf(() => Effect.fail(overloaded), "broken")
        const both = Model.fallback(
          broken,
          serviceOf(() => Effect.succeed(replyOf([])))
        )
        return { use: Agent.make("worker", { model: Layer.succeed(Model.Model, both) })("go") }
      })
  },
  using("a race of agents", () => racing("go")),
  guarded,
  shared,
  listening,
  started,
  using("cursors and readers that leave", replaying),
  using("a sub-agent", (around) => Agent.make("parent", { tools: [child(around)] })("go"), family),
  using("a choice of skills", (around) => routed(around)("go")),
  using("a compaction", (around) => compacting(around)("go")),
  {
    name: "a layer of a model for each run",
    prepare: () =>
      Effect.sync(() => ({
        use: Agent.make("worker", {
          modelIdle: 0,
          model: Layer.effect(
            Model.Model,
            Effect.sync(() => serviceOf(() => Effect.succeed(replyOf([]))))
          )
        })("go")
      }))
  },
  using("a signal of a function", ({ emitter }) =>
    Agent.fromFunction("plain", async (text: string, { signal }: { readonly signal: AbortSignal }) => {
      const stop = () => {}
      emitter.on("data", stop)
      signal.addEventListener("abort", stop)
      await Promise.resolve()
      emitter.off("data", stop)
      return text
    })("go")
  )
]
