/** An exceeded budget ends the run, even if a program catches the defect that reports it. */
import { assert } from "@effect/vitest"
import { Agent, type Model, Skill, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Fiber, Schema, Stream } from "effect"
import { done, eventLog, settlements } from "../../_support/dialogue.ts"
import { it } from "../../_support/run.ts"

const { calls, call, make } = ScriptedModel

const child = Agent.make("child", {})

type Child = Effect.Effect<unknown, unknown, Model.Model>

/** What a tool may do with an agent that it calls. */
const combinators: Readonly<Record<string, (self: Child) => Child>> = {
  retry: (self) => Effect.retry(self, { times: 3 }),
  catch: (self) => self.pipe(Effect.catch(() => Effect.succeed("caught"))),
  orElseSucceed: (self) => Effect.orElseSucceed(self, () => "else"),
  ignore: (self) => Effect.ignore(self),
  exit: (self) => Effect.exit(self),
  catchCause: (self) => Effect.catchCause(self, () => Effect.succeed("caught")),
  catchDefect: (self) => Effect.catchDefect(self, () => Effect.succeed("caught")),
  "catchDefect and fail": (self) => Effect.catchDefect(self, () => Effect.fail("translated")),
  "catchDefect and die": (self) =>
    Effect.catchDefect(self, (defect) => Effect.die(new Error("wrapped", { cause: defect }))),
  matchCause: (self) => Effect.matchCause(self, { onFailure: () => "failed", onSuccess: (value) => value }),
  sandbox: (self) => Effect.sandbox(self).pipe(Effect.catch(() => Effect.succeed("caught"))),
  race: (self) => Effect.race(self, Effect.succeed("other")),
  raceFirst: (self) => Effect.raceFirst(Effect.exit(self), Effect.never),
  timeout: (self) => Effect.timeoutOption(Effect.exit(self), "1 second"),
  ensuring: (self) => Effect.ensuring(Effect.exit(self), Effect.void),
  "all at once": (self) => Effect.all([Effect.exit(self), Effect.exit(self)], { concurrency: 2 }),
  "exit, repeatedly": (self) => Effect.repeat(Effect.exit(self), { times: 3 }),
  "forkChild and await": (self) => Effect.flatMap(Effect.forkChild(self), Fiber.await),
  "forkChild and join": (self) => Effect.exit(Effect.flatMap(Effect.forkChild(self), Fiber.join)),
  uninterruptible: (self) => Effect.exit(Effect.uninterruptible(self)),
  "Stream.catchCause": () => Stream.runDrain(Stream.catchCause(child.stream("go"), () => Stream.empty))
}

const working = (run: (context: Tool.ToolContext) => Child, maxTurns = 1) => {
  const tool = Tool.make("work", {
    description: "Works.",
    parameters: Schema.Struct({}),
    success: Schema.String,
    run: (_, context) => Effect.as(run(context), "done")
  })
  const skills = [Skill.make("work", { description: "Works.", tools: [tool] })]
  return Agent.make("boss", { budget: { maxTurns }, skills })
}

for (const [name, combinator] of Object.entries(combinators)) {
  it.run(
    `an exceeded budget ends the run that owns the limit, even if the program handles it: ${name} [P1308]`,
    (run) =>
      Effect.gen(function* () {
        const log = eventLog()
        const agent = working(() => combinator(child("go"))).pipe(log.listen)
        const model = yield* make(calls(call("work", {})))
        const error: unknown = yield* Effect.flip(run(agent, "go").pipe(Effect.provide(model.layer)))
        assert.deepInclude(error, {
          _tag: "BudgetExceededError",
          agent: "boss",
          reason: "maxTurns",
          limit: 1,
          spent: 1
        })
        assert.strictEqual(model.requests.length, 1)
        const last = log.all.at(-1)
        assert(last?.type === "run-failed" && !last.isDefect)
        assert.strictEqual(last.error, error)
      })
  )
}

it.run("after the end of its budget, each further step of a run ends at once [P1308]", (run) =>
  Effect.gen(function* () {
    for (const step of ["progress", "call"] as const) {
      let isFurther = false
      const agent = working((context) =>
        Effect.exit(child("go")).pipe(
          Effect.andThen(step === "progress" ? context.progress("going on") : child("again")),
          Effect.andThen(
            Effect.sync(() => {
              isFurther = true
            })
          )
        )
      )
      const model = yield* make(calls(call("work", {})))
      const error: unknown = yield* Effect.flip(run(agent, "go").pipe(Effect.provide(model.layer)))
      assert.deepInclude(error, { _tag: "BudgetExceededError", agent: "boss" })
      assert.isFalse(isFurther)
      assert.strictEqual(model.requests.length, 1)
    }
  })
)

it.run("a limit of the child itself is a failure that its caller may recover from [P1308]", (run) =>
  Effect.gen(function* () {
    const small = Agent.make("small", {
      budget: { maxTurns: 1 },
      skills: [Skill.make("look", { description: "Looks.", tools: [looking] })]
    })
    const agent = working(
      () => Effect.catchTag(small("go"), "BudgetExceededError", ({ agent }) => Effect.succeed(agent)),
      9
    )
    const model = yield* make(calls(call("work", {})), calls(call("look", {})), done)
    assert.strictEqual(yield* run(agent, "go").pipe(Effect.provide(model.layer)), "done")
    assert.strictEqual(model.requests.length, 3)
  })
)

const looking = Tool.make("look", {
  description: "Looks.",
  parameters: Schema.Struct({}),
  success: Schema.String,
  run: () => Effect.succeed("seen")
})

it.run(
  "at the end of a budget the call that reached it is cut off, what is at work ends as it would have, and no other call begins [P1308 P605]",
  (run) =>
    Effect.gen(function* () {
      const log = eventLog()
      const asked = Tool.make("ask", {
        description: "Asks.",
        parameters: Schema.Struct({}),
        success: Schema.String,
        run: () => Effect.as(child("go"), "asked")
      })
      const slow = Tool.make("slow", {
        description: "Takes a while.",
        parameters: Schema.Struct({}),
        success: Schema.String,
        run: () => Effect.as(Effect.andThen(Effect.yieldNow, Effect.yieldNow), "seen")
      })
      const skills = [Skill.make("work", { description: "Works.", tools: [asked, slow] })]
      const agent = Agent.make("boss", { budget: { maxTurns: 1 }, skills }).pipe(log.listen)
      const model = yield* make(calls(call("slow", {}), call("ask", {}), call("slow", {})))
      yield* Effect.flip(run(agent, "go").pipe(Effect.provide(model.layer)))
      const turn = log.of("turn-end").find((event) => event.agent === "boss")
      assert(turn !== undefined)
      assert.deepStrictEqual(settlements([turn.message]), [
        "result: seen",
        "interrupted: ERROR: the call was stopped, for the run has reached its limit of 1 turns",
        "interrupted: The call was not run: the run stopped before it."
      ])
    })
)
