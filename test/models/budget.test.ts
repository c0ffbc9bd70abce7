/** Budgets of a tree of runs, where each level has limits of its own, and a handler that extends them for a while. */
import { assert } from "@effect/vitest"
import { Agent, Budget, Recovery, RunError, Skill, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Cause, Effect, Exit, type Fiber, Schema, type Scope } from "effect"
import fc from "fast-check"
import { agrees, type Command } from "./_support/commands.ts"
import { quiet, type Talking, talking } from "./_support/talkingModel.ts"

const reasons = ["maxTurns", "maxToolCalls", "maxTokens"] as const
type Reason = (typeof reasons)[number]

/** Of one level of the tree: its limits, and how often each is extended, by how much. */
interface Level {
  readonly limits: Readonly<Record<Reason, number>>
  readonly extensions: number
  readonly by: number
}

/** A run: what it and those below it have spent. */
interface Spender {
  readonly level: number
  readonly spent: Record<Reason, number>
  readonly limits: Record<Reason, number>
  extensions: number
  readonly by: number
}

interface Model {
  readonly levels: ReadonlyArray<Level>
  /** The runs that go on: each is within a call of the one before. */
  stack: Array<Spender>
  /** How often the tool `work` was run. */
  worked: number
  end: "answered" | { readonly agent: string; readonly reason: Reason; readonly limit: number } | undefined
}

interface Real {
  readonly talking: Talking
  readonly fiber: Fiber.Fiber<string, unknown>
  readonly work: { runs: number }
}

const nameOf = (level: number): string => `agent-${level}`

/** What a request and its reply cost. */
const tokens = 15

const begin = (model: Model): void => {
  const level = model.stack.length
  const { by, extensions, limits } = model.levels[level] ?? assert.fail("no such level")
  const spent = { maxTurns: 0, maxToolCalls: 0, maxTokens: 0 }
  model.stack.push({ level, by, extensions, limits: { ...limits }, spent })
  turn(model)
}

/** The limit that is extended, if the handler still does that; else it is reached. */
const isExtended = (run: Spender, reason: Reason): boolean => {
  if (run.extensions === 0) return false
  run.extensions--
  run.limits[reason] += run.by
  return true
}

/** The nearest run that may spend no more, after all extensions. */
const reached = (
  { stack }: Model,
  reason: Reason,
  isOver: (spent: number, limit: number) => boolean
): Spender | undefined => {
  while (true) {
    const run = stack.findLast(({ limits, spent }) => isOver(spent[reason], limits[reason]))
    if (run === undefined || !isExtended(run, reason)) return run
  }
}

const turn = (model: Model): void => {
  // what a run below has spent may have passed another limit than the one that has ended it
  const spent = reached(model, "maxTokens", (spent, limit) => spent > limit)
  if (spent !== undefined) return fail(model, spent, "maxTokens")
  const over = reached(model, "maxTurns", (spent, limit) => spent >= limit)
  if (over !== undefined) return fail(model, over, "maxTurns")
  for (const { spent } of model.stack) spent.maxTurns++
}

/** The run that a limit belongs to ends, with its child runs; its parent gets the failure, and goes on. */
const fail = (model: Model, run: Spender, reason: Reason): void => {
  model.stack = model.stack.slice(0, run.level)
  if (run.level > 0) return turn(model)
  model.end = { agent: nameOf(0), reason, limit: run.limits[reason] }
}

/** A reply came: whether the run may go on. */
const replied = (model: Model): boolean => {
  for (const { spent } of model.stack) spent.maxTokens += tokens
  const over = reached(model, "maxTokens", (spent, limit) => spent > limit)
  if (over !== undefined) fail(model, over, "maxTokens")
  return over === undefined
}

const check = (model: Model, { fiber, talking, work }: Real) =>
  Effect.sync(() => {
    assert.strictEqual(work.runs, model.worked, "runs of the tool")
    const exit = fiber.pollUnsafe()
    if (model.end === undefined) {
      assert.strictEqual(exit, undefined, "it goes on")
      assert.deepStrictEqual(
        talking.asked.map(({ name }) => name),
        [nameOf(model.stack.length - 1)]
      )
      return
    }
    assert.deepStrictEqual(talking.asked, [])
    assert(exit !== undefined, "it has ended")
    if (model.end === "answered") return assert.isTrue(Exit.isSuccess(exit))
    const error = Exit.isFailure(exit) ? Cause.squash(exit.cause) : undefined
    assert(error instanceof RunError.BudgetExceededError, String(error))
    assert.deepInclude(error, model.end)
    return undefined
  })

const goesOn = (model: Model): boolean => model.end === undefined

/** The model of the run that is at work calls `work` so often, and then, perhaps, the agent below. */
const calling = ({ asks, works }: { readonly works: number; readonly asks: boolean }): Command<Model, Real> => ({
  says: `calls ${works} times work${asks ? ", then the agent below" : ""}`,
  can: (model) => goesOn(model) && (!asks || model.stack.length < model.levels.length) && works + (asks ? 1 : 0) > 0,
  does: (model, real) =>
    Effect.gen(function* () {
      const calls = Array.from({ length: works }, (_, index) => ScriptedModel.call("work", {}, `w${index}`))
      yield* real.talking.answer(asks ? [...calls, ScriptedModel.call("ask", { input: "go" }, "a")] : calls)
      if (replied(model)) called(model, works, asks)
      yield* check(model, real)
    })
})

const called = (model: Model, works: number, asks: boolean): void => {
  const count = works + (asks ? 1 : 0)
  for (const { spent } of model.stack) spent.maxToolCalls += count
  const over = reached(model, "maxToolCalls", (spent, limit) => spent > limit)
  const left = model.stack.map(({ limits, spent }) => limits.maxToolCalls - (spent.maxToolCalls - count))
  const admitted = Math.max(0, Math.min(count, ...left))
  model.worked += Math.min(works, admitted)
  if (over !== undefined) return fail(model, over, "maxToolCalls")
  return asks ? begin(model) : turn(model)
}

const answering: Command<Model, Real> = {
  says: "answers",
  can: goesOn,
  does: (model, real) =>
    Effect.gen(function* () {
      yield* real.talking.answer([{ type: "text", text: "done" }])
      if (replied(model)) {
        model.stack.pop()
        if (model.stack.length === 0) model.end = "answered"
        else turn(model)
      }
      yield* check(model, real)
    })
}

const never = { hint: Infinity, withhold: Infinity, stop: Infinity }

const running = (levels: ReadonlyArray<Level>): Effect.Effect<Real, never, Scope.Scope> =>
  Effect.gen(function* () {
    const talk = talking()
    const work = { runs: 0 }
    const tool = Tool.make("work", {
      description: "Works.",
      parameters: Schema.Struct({}),
      success: Schema.String,
      run: () => Effect.sync(() => `worked ${++work.runs}`)
    })
    const agentAt = (at: number): ((input: string) => Effect.Effect<string, unknown>) => {
      const { by, extensions, limits } = levels[at] ?? assert.fail("no such level")
      const child = Tool.make("ask", {
        description: "Asks.",
        parameters: Schema.Struct({ input: Schema.String }),
        success: Schema.String,
        run: ({ input }) => agentAt(at + 1)(input)
      }).pipe(Tool.onError({ orElse: Recovery.tell() }))
      let left = extensions
      return Agent.make(nameOf(at), {
        model: talk.layer(nameOf(at)),
        budget: { ...limits, warnAt: 1, repeatedFailures: never },
        skills: [Skill.make("work", { description: "Works.", tools: [tool, child] })]
      }).pipe(
        Agent.onBudgetExceeded(({ limit }) => {
          if (left === 0) return Budget.stop
          left--
          return Budget.extend(limit + by)
        })
      )
    }
    const fiber = yield* Effect.forkScoped(agentAt(0)("go"))
    yield* quiet
    return { fiber, talking: talk, work }
  })

const level: fc.Arbitrary<Level> = fc.record({
  limits: fc.record({
    maxTurns: fc.integer({ min: 1, max: 8 }),
    maxToolCalls: fc.integer({ min: 1, max: 10 }),
    maxTokens: fc.oneof(fc.constant(Infinity), fc.integer({ min: 15, max: 150 }))
  }),
  extensions: fc.nat(3),
  by: fc.integer({ min: 1, max: 20 })
})

agrees("budgets of runs within runs are as a stack of counters, extensions among them [A901 A902 A904 A909 L307]", {
  setup: fc.array(level, { minLength: 1, maxLength: 3 }),
  commands: [
    fc.record({ works: fc.nat(4), asks: fc.boolean() }).map(calling),
    fc.record({ works: fc.nat(1), asks: fc.constant(true) }).map(calling),
    fc.constant(answering)
  ],
  maxCommands: 20,
  model: (levels) => {
    const model: Model = { levels, stack: [], worked: 0, end: undefined }
    begin(model)
    return model
  },
  real: running
})
