/** Laws of the levels of tables around a tool, and of the runs around a run. */
import { assert } from "@effect/vitest"
import { Agent, type Budget, Recovery, RunError, Skill, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Cause, Effect, Exit, Schema } from "effect"
import fc from "fast-check"
import { busy, Busy, gone, type Gone, interruptedAt, overADay, read } from "../_support/dialogue.ts"
import { calling, lawOfRuns } from "./_support/runs.ts"

// --- of tables

/** What stands for what: the first key of a level that guards a failure is the one. */
const failures = {
  Busy: ["Busy", "ExecutionError", "orElse"],
  Gone: ["Gone", "ExecutionError", "orElse"],
  InvalidArgs: ["InvalidArgs", "orElse"],
  DeserializationError: ["DeserializationError", "InvalidArgs", "orElse"]
} as const

const keys = ["Busy", "Gone", "InvalidArgs", "DeserializationError", "ExecutionError", "orElse"] as const

type Key = (typeof keys)[number]
type Failure = keyof typeof failures

/** What a row says: an answer that names it, or that the failure leaves. */
type Level = Readonly<Partial<Record<Key, "answers" | "rethrows">>>

const level: fc.Arbitrary<Level> = fc
  .uniqueArray(fc.tuple(fc.constantFrom(...keys), fc.constantFrom("answers", "answers", "rethrows")), {
    selector: ([key]) => key,
    maxLength: 4
  })
  .map((rows): Level => Object.fromEntries(rows))

const levels = fc.tuple(level, level, level)

const names = ["tool", "agent", "defaults"] as const

const sent: Readonly<Record<Failure, string>> = {
  Busy: '{"n":1}',
  Gone: '{"n":1}',
  InvalidArgs: "{{",
  DeserializationError: '{"n":"many"}'
}

const rowOf = (does: "answers" | "rethrows", text: string) =>
  does === "answers" ? Recovery.respondWith(text) : Recovery.rethrow

/** Of rows that are computed, types know one. */
const rowsOf = (level: Level, name: string): { readonly orElse?: ReturnType<typeof rowOf> } =>
  Object.fromEntries(Object.entries(level).map(([key, does]) => [key, rowOf(does, `${name} ${key}`)]))

/** Looked up by hand: level by level, in each the exact tag, then what stands for it, then the rest. */
const lookedUp = (levels: ReadonlyArray<Level>, failure: Failure): string => {
  for (const [index, level] of levels.entries()) {
    const key = failures[failure].find((key) => level[key] !== undefined)
    if (key !== undefined) return level[key] === "answers" ? `result: ${names[index]} ${key}` : "it leaves"
  }
  return "it leaves"
}

/** Behind all of them stands what tells every failure. */
const lookedUpBehind = (levels: ReadonlyArray<Level>, failure: Failure): string => {
  const isSaid = levels.some((level) => failures[failure].some((key) => level[key] !== undefined))
  return isSaid ? lookedUp(levels, failure) : "told"
}

const answerOf = Effect.fnUntraced(function* (
  [own, byAgent, defaults]: readonly [Level, Level, Level],
  failure: Failure,
  resilience: "none" | "first" | "last",
  run: Parameters<Parameters<typeof lawOfRuns>[2]>[1]
) {
  const work = Tool.make("work", {
    description: "Works.",
    parameters: Schema.Struct({ n: Schema.Finite }),
    success: Schema.String,
    coercion: [],
    run: (): Effect.Effect<string, Busy | Gone> => Effect.fail(failure === "Gone" ? gone() : busy())
  }).pipe(Tool.onError(rowsOf(own, "tool")))
  const model = yield* calling([ScriptedModel.call("work", sent[failure], "c1")])
  const made = Agent.make("worker", { skills: [Skill.make("work", { description: "Works.", tools: [work] })] })
  const table = { work: rowsOf(byAgent, "agent") }
  const rest = rowsOf(defaults, "defaults")
  const guarded = made.pipe(Agent.onToolError(table), Agent.toolDefaults(rest))
  const running = {
    none: () => run(guarded, "go"),
    first: () => run(made.pipe(Agent.resilient(), Agent.onToolError(table), Agent.toolDefaults(rest)), "go"),
    last: () => run(guarded.pipe(Agent.resilient()), "go")
  }
  const exit = yield* Effect.exit(running[resilience]().pipe(Effect.provide(model.layer)))
  const said = Exit.isSuccess(exit) ? (read(model)[0] ?? "nothing") : "it leaves"
  return said.startsWith("told: ") ? "told" : said
})

lawOfRuns(
  "the row of a failure is looked up level by level: exact, then its group, then orElse [L609 P1343]",
  fc.record({
    levels,
    failure: fc.constantFrom<Failure>("Busy", "Gone", "InvalidArgs", "DeserializationError"),
    resilience: fc.constantFrom("none", "first", "last")
  }),
  Effect.fnUntraced(function* ({ failure, levels, resilience }, run) {
    const expected = resilience === "none" ? lookedUp(levels, failure) : lookedUpBehind(levels, failure)
    assert.strictEqual(yield* answerOf(levels, failure, resilience, run), expected)
    // a farther level changes nothing of a nearer one
    const [own, byAgent] = levels
    const nearer = lookedUp([own, byAgent], failure)
    const isSaid = [own, byAgent].some((level) => failures[failure].some((key) => level[key] !== undefined))
    const everything: Level = Object.fromEntries(keys.map((key) => [key, "answers"]))
    if (isSaid) assert.strictEqual(yield* answerOf([own, byAgent, everything], failure, resilience, run), nearer)
  })
)

// --- of runs within runs

interface Nested {
  /** From the outermost run inwards: how many turns each may make, and how often it calls its tool. */
  readonly runs: ReadonlyArray<{ readonly maxTurns: number; readonly maxToolCalls: number; readonly calls: number }>
  readonly verdict: "tell" | "retry" | "fix" | "answer"
  /** What the tool of the innermost run does. */
  readonly does: "fails" | "interrupts itself"
  readonly maxDuration: number | undefined
  readonly interruptAt: number | undefined
}

const nested: fc.Arbitrary<Nested> = fc.record({
  runs: fc.array(
    fc.record({
      maxTurns: fc.integer({ min: 1, max: 6 }),
      maxToolCalls: fc.integer({ min: 1, max: 6 }),
      calls: fc.integer({ min: 1, max: 3 })
    }),
    { minLength: 1, maxLength: 4 }
  ),
  verdict: fc.constantFrom("tell", "retry", "fix", "answer"),
  does: fc.constantFrom("fails", "fails", "fails", "interrupts itself"),
  maxDuration: fc.option(fc.integer({ min: 1, max: 60 }), { nil: undefined }),
  interruptAt: fc.option(fc.integer({ min: 0, max: 60 }), { nil: undefined })
})

const rungs = {
  tell: Recovery.tell(),
  retry: Recovery.ladder(Recovery.retry({ retries: 1, initialBackoff: 3 }), Recovery.tell()),
  fix: Recovery.ladder(
    Recovery.fix(() => Effect.delay(Effect.succeed("{}"), 2), { retries: 2 }),
    Recovery.tell()
  ),
  answer: Recovery.respondWith("instead")
}

const nameOf = (depth: number): string => `run ${depth}`

lawOfRuns(
  "an exceeded budget of an ancestor, and an interruption, reach no table, at any depth and in any rung [L705]",
  nested,
  Effect.fnUntraced(function* ({ does, interruptAt, maxDuration, runs, verdict }, run) {
    let isOver = false
    const asked: Array<{ readonly depth: number; readonly error: unknown }> = []
    const watching = (depth: number) =>
      Recovery.when(
        (error: unknown) => {
          assert.isFalse(isOver)
          asked.push({ depth, error })
          return rungs[verdict]
        },
        { among: [rungs[verdict]] }
      )
    const innermost = does === "fails" ? Effect.fail(busy()) : Effect.interrupt
    /** The run at this depth, whose tool is the run below it; that of the innermost is busy. */
    const agentAt = (depth: number): Effect.Effect<Agent.Agent<string, string, unknown, never>> =>
      Effect.gen(function* () {
        const { calls, maxToolCalls, maxTurns } = runs[depth] ?? { calls: 0, maxToolCalls: 1, maxTurns: 1 }
        const child = depth + 1 < runs.length ? yield* agentAt(depth + 1) : undefined
        const work = Tool.make("work", {
          description: "Works.",
          parameters: Schema.Struct({}),
          success: Schema.String,
          run: (): Effect.Effect<string, unknown> =>
            Effect.andThen(Effect.sleep(5), child === undefined ? innermost : child("go"))
        }).pipe(Tool.onError({ orElse: watching(depth) }))
        const model = yield* calling(
          ...Array.from({ length: 8 }, (_, turn) =>
            Array.from({ length: calls }, (_, n) => ScriptedModel.call("work", {}, `${depth}.${turn}.${n}`))
          )
        )
        const budget: Budget.Limits = {
          maxTurns,
          maxToolCalls,
          ...(depth === 0 && maxDuration !== undefined ? { maxDuration } : {})
        }
        return Agent.make(nameOf(depth), {
          budget,
          model: model.layer,
          skills: [Skill.make("work", { description: "Works.", tools: [work as Tool.AnyTool] })]
        }) as unknown as Agent.Agent<string, string, unknown, never>
      })
    const running = Effect.onExit(run(yield* agentAt(0), "go"), () =>
      Effect.sync(() => {
        isOver = true
      })
    )
    const exit = yield* interruptAt === undefined ? overADay(running) : interruptedAt(interruptAt, running)
    for (const { depth, error } of asked) {
      if (error instanceof Busy) continue
      assert(error instanceof RunError.BudgetExceededError)
      // only of the run just below, whose own it is
      assert.strictEqual(error.agent, nameOf(depth + 1))
    }
    const error = Exit.isFailure(exit) && !Exit.hasInterrupts(exit) ? Cause.squash(exit.cause) : undefined
    if (error !== undefined) assert.deepInclude(error, { _tag: "BudgetExceededError", agent: nameOf(0) })
  })
)
