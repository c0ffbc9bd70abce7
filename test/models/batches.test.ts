/** Batches of calls under Kani's table: what is counted from one to the next, and when tools are withheld or switched off. */
import { assert } from "@effect/vitest"
import { Agent, Message, Recovery, RunError, Skill, Tool } from "@kintsugi/core"
import * as Render from "@kintsugi/core/Render"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Cause, Effect, Exit, type Fiber, Schema, type Scope } from "effect"
import fc from "fast-check"
import { busy } from "../_support/dialogue.ts"
import { agrees, type Command } from "./_support/commands.ts"
import { quiet, type Talking, talking } from "./_support/talkingModel.ts"

interface Setup {
  readonly retryAttempts: number
  /** After how many equal failures in a row. */
  readonly repeatedFailures: { readonly hint: number; readonly withhold: number; readonly stop: number }
}

interface Model {
  readonly setup: Setup
  /** Batches with a failure, in a row. */
  failing: number
  areToolsOff: boolean
  /** Batches that were called all the same. */
  whileOff: number
  /** Of each tool how it failed, and how often in a row in that way. */
  readonly streaks: Map<string, { readonly word: string; readonly times: number }>
  /** Not to be called in the next batch. */
  withheld: ReadonlySet<string>
  end:
    | "answered"
    | { readonly reason: "repeatedFailure" | "toolsOff"; readonly limit: number; readonly spent: number }
    | undefined
}

interface Real {
  readonly talking: Talking
  readonly fiber: Fiber.Fiber<string, unknown>
  /** The counts that the words for failures were made with. */
  readonly seen: Array<number>
}

const never = "never again"

/** `ok`, or the word that the tool fails with. */
type Does = "ok" | "one way" | "another way" | typeof never

interface Call {
  readonly tool: "a" | "b" | "unknown"
  readonly does: Does
}

const failing = (calls: ReadonlyArray<Call>, tool: string): ReadonlyArray<string> =>
  calls.flatMap((call) =>
    call.tool !== tool ? [] : tool === "unknown" ? ["unknown"] : call.does === "ok" ? [] : [call.does]
  )

/** A batch that is not refused as a whole. */
const record = (model: Model, calls: ReadonlyArray<Call>): void => {
  const { setup, streaks } = model
  const run = calls.filter(({ tool }) => !model.withheld.has(tool))
  const failed = run.filter(({ does, tool }) => tool === "unknown" || does !== "ok")
  const isLast = ({ does, tool }: Call) =>
    model.failing >= setup.retryAttempts || (tool !== "unknown" && does === never)
  if (failed.length > 0 && failed.every(isLast)) model.areToolsOff = true
  model.failing = failed.length + (calls.length - run.length) > 0 ? model.failing + 1 : 0
  model.withheld = new Set()
  for (const tool of ["a", "b", "unknown"]) {
    if (run.some((call) => call.tool === tool && tool !== "unknown" && call.does === "ok")) {
      streaks.delete(tool)
      continue
    }
    const [first, ...others] = failing(run, tool)
    if (first === undefined) continue
    const before = streaks.get(tool)
    const isSame = before !== undefined && [first, ...others].includes(before.word)
    const streak = isSame ? { word: before.word, times: before.times + 1 } : { word: first, times: 1 }
    streaks.set(tool, streak)
    // what is no tool cannot be withheld
    const isWithheld = streak.times === thresholds(setup).withhold && tool !== "unknown"
    if (isWithheld) model.withheld = new Set([...model.withheld, tool])
    const limit = thresholds(setup).stop
    if (streak.times >= limit) model.end ??= { reason: "repeatedFailure", limit, spent: streak.times }
  }
}

/** The breaker waits for three failures more than the preset. */
const thresholds = ({ repeatedFailures: { hint, stop, withhold }, retryAttempts }: Setup) => {
  const least = (count: number) => Math.max(count, retryAttempts + 3)
  return { hint: least(hint), withhold: least(withhold), stop: least(stop) }
}

/** What the model reads of each call. */
const textsOf = ({ areToolsOff, setup, streaks, withheld }: Model, calls: ReadonlyArray<Call>): ReadonlyArray<string> =>
  calls.map(({ does, tool }) => {
    if (areToolsOff) return `denied: ${Render.toolsOff}`
    if (withheld.has(tool)) return `denied: ${Render.withheld(tool)}`
    if (tool === "unknown") return "told: The function 'unknown' is not defined. Only use the provided functions."
    if (does === "ok") return "result: ok"
    const streak = streaks.get(tool)
    const times = streak?.word === does ? streak.times + 1 : 1
    return `told: ${times >= thresholds(setup).hint ? Render.repeated(does) : does}`
  })

const read = ({ asked }: Talking): ReadonlyArray<string> => {
  const last = asked.at(-1)?.request.messages.at(-1)
  if (last?.role !== "assistant") return []
  return last.content.flatMap((part) =>
    part.type === "settled-call" ? [`${part.settlement.kind}: ${part.settlement.text}`] : []
  )
}

const check = (model: Model, { fiber, talking }: Real): void => {
  const exit = fiber.pollUnsafe()
  const request = talking.asked.at(-1)?.request
  if (model.end === undefined) {
    assert(request !== undefined && exit === undefined, "it goes on")
    assert.strictEqual(request.toolChoice, model.areToolsOff ? "none" : "auto")
    const offered = ["a", "b"].filter((name) => model.areToolsOff || !model.withheld.has(name))
    assert.deepStrictEqual(
      request.tools.map(({ name }) => name),
      offered
    )
    return
  }
  assert(request === undefined && exit !== undefined, "it has ended")
  if (model.end === "answered") return assert.isTrue(Exit.isSuccess(exit))
  const error = Exit.isFailure(exit) ? Cause.squash(exit.cause) : undefined
  assert(error instanceof RunError.BudgetExceededError, String(error))
  return assert.deepInclude(error, model.end)
}

const goesOn = ({ end }: Model): boolean => end === undefined

const calling = (calls: ReadonlyArray<Call>): Command<Model, Real> => ({
  says: `calls ${calls.map(({ does, tool }) => (tool === "unknown" ? tool : `${tool}: ${does}`)).join(" and ")}`,
  can: goesOn,
  does: (model, real) =>
    Effect.gen(function* () {
      const texts = textsOf(model, calls)
      const { failing } = model
      real.seen.length = 0
      yield* real.talking.answer(calls.map(({ does, tool }, index) => ScriptedModel.call(tool, { does }, `c${index}`)))
      const failureTexts = texts.filter((text) => text.startsWith("told:")).length
      assert.deepStrictEqual(
        real.seen,
        Array.from({ length: failureTexts }, () => failing)
      )
      if (!model.areToolsOff) record(model, calls)
      else if (++model.whileOff > 1) model.end = { reason: "toolsOff", limit: 1, spent: model.whileOff }
      if (model.end === undefined) assert.deepStrictEqual(read(real.talking), texts)
      check(model, real)
    })
})

const answering: Command<Model, Real> = {
  says: "answers",
  can: goesOn,
  does: (model, real) =>
    Effect.gen(function* () {
      yield* real.talking.answer([Message.text("done")])
      model.end = "answered"
      check(model, real)
    })
}

const running = ({ repeatedFailures, retryAttempts }: Setup): Effect.Effect<Real, never, Scope.Scope> =>
  Effect.gen(function* () {
    const talk = talking()
    const seen: Array<number> = []
    const tool = (name: string) =>
      Tool.make(name, {
        description: "Does what it is told.",
        parameters: Schema.Struct({ does: Schema.String }),
        success: Schema.String,
        run: ({ does }) => (does === "ok" ? Effect.succeed("ok") : Effect.fail(busy(does)))
      })
    const agent = Agent.make("worker", {
      model: talk.layer("worker"),
      budget: { maxTurns: 99, maxToolCalls: 999, repeatedFailures },
      skills: [Skill.make("work", { description: "Works.", tools: [tool("a"), tool("b")] })]
    }).pipe(
      Agent.toolDefaults(
        Recovery.presets.tellThenToolsOff({
          retryAttempts,
          shouldRetry: (_call, error) => !String(error).includes(never),
          message: (_call, _error, attempt, byDefault) => {
            seen.push(attempt)
            return byDefault
          }
        })
      )
    )
    const fiber = yield* Effect.forkScoped(agent("go"))
    yield* quiet
    return { talking: talk, fiber, seen }
  })

const call: fc.Arbitrary<Call> = fc.record({
  tool: fc.constantFrom<Call["tool"]>("a", "a", "b", "unknown"),
  does: fc.constantFrom<Does>("ok", "one way", "one way", "another way", never)
})

const limit = fc.oneof(fc.integer({ min: 1, max: 7 }), fc.constant(Infinity))

agrees("what a run remembers of failing batches is a count, a switch and a streak for each tool [K2-K12 P701 P702]", {
  setup: fc.record({
    retryAttempts: fc.nat(3),
    repeatedFailures: fc.record({ hint: limit, withhold: limit, stop: limit })
  }),
  commands: [
    fc.array(call, { minLength: 1, maxLength: 3 }).map(calling),
    fc.array(call, { minLength: 1, maxLength: 1 }).map(calling),
    fc.constantFrom("a", "b").map((tool) => calling([{ tool: tool === "a" ? "a" : "b", does: "ok" }])),
    fc.constant(answering)
  ],
  maxCommands: 16,
  model: (setup): Model => ({
    setup,
    failing: 0,
    areToolsOff: false,
    whileOff: 0,
    streaks: new Map(),
    withheld: new Set(),
    end: undefined
  }),
  real: running
})
