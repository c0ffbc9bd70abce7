/** Laws of how calls end a run, or do not: escalations, exceptions, and failures that repeat themselves. */
import { assert } from "@effect/vitest"
import { Agent, Message, Recovery, RunError, Skill, Tool, ToolError } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Exit, Cause, Schema } from "effect"
import fc from "fast-check"
import { busy, type Busy, eventLog, gone, type Gone, lastTranscript, overADay } from "../_support/dialogue.ts"
import { calling, lawOfRuns } from "./_support/runs.ts"

/** How a call goes; the last two end the run. */
const kinds = [
  "is fine",
  "fails and is escalated",
  "has a fixer that escalates",
  "has a fixer that throws",
  "throws"
] as const
type Kind = (typeof kinds)[number]

interface Call {
  readonly kind: Kind
  readonly takes: number
}

const call: fc.Arbitrary<Call> = fc.record({
  kind: fc.oneof(
    { weight: 8, arbitrary: fc.constantFrom(...kinds.slice(0, 3)) },
    { weight: 1, arbitrary: fc.constantFrom(...kinds.slice(3)) }
  ),
  // a tool takes this time, and its fixer as long again: no tool ends when a fixer does
  takes: fc.nat(1_000).map((n) => 2 * n + 1)
})

/** How the calls of a turn are settled, as far as their texts tell, and whether the run ends there. */
const foretold = (calls: ReadonlyArray<Call>) => {
  const thrown = calls.findIndex(({ kind }) => kind === "throws")
  const over = Math.min(...calls.map(({ kind, takes }) => (kind === "has a fixer that throws" ? 2 * takes : Infinity)))
  /** What has failed after the end of the run gets no fixer. */
  const isFixed = ({ kind, takes }: Call) => kind.startsWith("has a fixer") && takes < over
  return {
    ends: thrown >= 0 || over !== Infinity,
    /** An exception of the model's own comes before all other calls. */
    runs: thrown >= 0 ? [] : calls,
    isFixed,
    settlements: calls.map((call, index) => {
      const { kind } = call
      if (thrown >= 0) return index === thrown ? "result The task" : "interrupted"
      if (kind === "is fine") return "result page"
      if (kind.startsWith("has a fixer") && !isFixed(call)) return "told"
      return kind === "has a fixer that throws" ? "told ERROR: hopeless" : "told ERROR: Tool 'work' failed"
    })
  }
}

lawOfRuns(
  "an escalation is told as an error and the run goes on; after an exception no call and no fixer is started [L905 P1350]",
  fc.array(fc.array(call, { minLength: 1, maxLength: 4 }), { maxLength: 5 }),
  Effect.fnUntraced(function* (turns, run) {
    const started: Array<string> = []
    const find = ({ index, turn }: { readonly index: number; readonly turn: number }): Call =>
      turns[turn]?.[index] ?? { kind: "is fine", takes: 0 }
    const tool = Tool.make("work", {
      description: "Works.",
      parameters: Schema.Struct({ turn: Schema.Finite, index: Schema.Finite }),
      success: Schema.String,
      run: (params) => {
        const { kind, takes } = find(params)
        started.push(`tool ${params.turn}.${params.index}`)
        const ending =
          kind === "is fine" ? Effect.succeed("page") : Effect.fail(kind === "fails and is escalated" ? busy() : gone())
        return Effect.andThen(Effect.sleep(takes), ending)
      }
    })
    const fixer = Agent.deterministic("fixer", (raw: string) => {
      const params = JSON.parse(raw)
      const { kind, takes } = find(params)
      started.push(`fixer ${params.turn}.${params.index}`)
      const error =
        kind === "has a fixer that throws"
          ? ToolError.ToolExecutionError.make({ tool: "fixer", message: "hopeless" })
          : ToolError.EscalationError.make({ source: "fixer", reason: "send other arguments", severity: "LOW" })
      return Effect.delay(Effect.fail(error), takes)
    })
    const guarded = tool.pipe(
      Tool.onError({
        Busy: Recovery.escalate(),
        Gone: Recovery.ladder(Recovery.fix(fixer, { retries: 3 }), Recovery.tell())
      })
    )
    const model = yield* calling(
      ...turns.map((calls, turn) =>
        calls.map(({ kind }, index) =>
          kind === "throws"
            ? ScriptedModel.call("throwException", { reason: "hopeless" }, `${turn}.${index}`)
            : ScriptedModel.call("work", { turn, index }, `${turn}.${index}`)
        )
      )
    )
    const heard = eventLog()
    const skills = [Skill.make("work", { description: "Works.", tools: [guarded, Tool.throwException] })] as const
    // that a tool fails again and again ends nothing here
    const budget = { repeatedFailures: { hint: Infinity, withhold: Infinity, stop: Infinity } }
    const agent = Agent.make("worker", { skills, budget }).pipe(heard.listen)
    const exit = yield* overADay(run(agent, "go").pipe(Effect.provide(model.layer)))

    const last = turns.findIndex((calls) => foretold(calls).ends)
    const reached = last < 0 ? turns : turns.slice(0, last + 1)
    assert.strictEqual(model.requests.length, last < 0 ? turns.length + 1 : reached.length)
    if (last < 0) assert.deepStrictEqual(exit, Exit.succeed("done"))
    else {
      const error = Exit.isFailure(exit) ? Cause.squash(exit.cause) : undefined
      assert.instanceOf(error, ToolError.ToolExecutionError)
      assert.include((error as ToolError.ToolExecutionError).message, "hopeless")
    }
    assert.deepStrictEqual(
      started.toSorted(),
      reached
        .flatMap((calls, turn) => {
          const { isFixed, runs } = foretold(calls)
          return runs.flatMap((call, index) => [
            `tool ${turn}.${index}`,
            ...(isFixed(call) ? [`fixer ${turn}.${index}`] : [])
          ])
        })
        .toSorted()
    )
    const end = heard.end()
    const transcript = end?.type === "run-completed" ? (model.requests.at(-1)?.messages ?? []) : lastTranscript(end)
    const settlements = transcript.flatMap((message) => (message.role === "assistant" ? message.content : []))
    const expected = reached.flatMap((calls) => foretold(calls).settlements)
    assert.strictEqual(settlements.length, expected.length)
    for (const [index, part] of settlements.entries()) {
      if (part.type !== "settled-call") return assert.fail(`a ${part.type} that no model has said`)
      const { kind, text } = part.settlement
      const [wanted = "", ...words] = (expected[index] ?? "").split(" ")
      assert.strictEqual(kind, wanted)
      assert.include(text, words.join(" "))
      assert.strictEqual(Message.isError(part.settlement), wanted !== "result")
    }
    return undefined
  })
)

/** What differs from one failure to the next although it is the same. */
interface Paraphrase {
  readonly number: number
  readonly name: string
  readonly isLoud: boolean
  readonly gap: string
  readonly note: string
}

const word = fc.stringMatching(/^[a-z0-9]{0,8}$/)

const paraphrase: fc.Arbitrary<Paraphrase> = fc.record({
  number: fc.nat(100_000),
  name: word,
  isLoud: fc.boolean(),
  gap: fc.constantFrom(" ", "  ", "\n", "\t "),
  note: word
})

/** Four failures: three in words, and one that has the words of the first under another tag. */
const signatures = ["no host", "locked", "too long", "no host, gone"] as const
type Signature = (typeof signatures)[number]

const failing = (signature: Signature, { gap, isLoud, name, number }: Paraphrase): Busy | Gone => {
  const words = {
    "no host": `no host '${name}'${gap}on port ${number}`,
    locked: `row ${number} of "${name}"${gap}is locked (call c${number})`,
    "too long": `\`${name}\` takes${gap}longer than ${number} ms`,
    "no host, gone": `no host '${name}'${gap}on port ${number}`
  }[signature]
  const message = isLoud ? words.toUpperCase() : words
  return signature === "no host, gone" ? gone(message) : busy(message)
}

interface Limits {
  readonly hint: number
  readonly withhold: number
  readonly stop: number
}

/** How each call is settled, and at which the run ends, told without the library. */
const streaks = (outcomes: ReadonlyArray<Signature | "fine">, { hint, stop, withhold }: Limits) => {
  const settlements: Array<string> = []
  let [last, repeats, isWithheld]: [string | undefined, number, boolean] = [undefined, 0, false]
  for (const outcome of outcomes) {
    if (isWithheld) {
      settlements.push("denied")
      isWithheld = false
      continue
    }
    if (outcome === "fine") last = undefined
    repeats = outcome === last ? repeats + 1 : 1
    last = outcome
    const isFailing = outcome !== "fine"
    settlements.push(isFailing ? (repeats >= hint ? "told with a hint" : "told") : "result")
    isWithheld = isFailing && repeats === withhold
    if (isFailing && repeats >= stop) return { settlements, isStopped: true }
  }
  return { settlements, isStopped: false }
}

const threshold = fc.oneof(
  { weight: 5, arbitrary: fc.integer({ min: 1, max: 6 }) },
  { weight: 1, arbitrary: fc.constant(Infinity) }
)

const outcome = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom(...signatures.slice(0, 1), ...signatures) },
  { weight: 1, arbitrary: fc.constant("fine" as const) }
)

/** Mostly the same again, so that something repeats itself. */
const outcomes = fc
  .array(fc.record({ outcome, times: fc.integer({ min: 1, max: 5 }) }), { maxLength: 6 })
  .map((stretches) => stretches.flatMap(({ outcome, times }) => Array.from({ length: times }, () => outcome)))

const hint = "repeating the call will not help"

lawOfRuns(
  "paraphrased failures with one signature trip the loop breaker, distinct ones do not [L908]",
  fc.record({
    calls: outcomes.chain((outcomes) =>
      fc.tuple(...outcomes.map((outcome) => paraphrase.map((paraphrase) => ({ outcome, paraphrase }))))
    ),
    limits: fc.record({ hint: threshold, withhold: threshold, stop: threshold })
  }),
  Effect.fnUntraced(function* ({ calls, limits }, run) {
    const tool = Tool.make("fetch", {
      description: "Fetches.",
      parameters: Schema.Struct({ turn: Schema.Finite, note: Schema.String }),
      success: Schema.String,
      run: ({ turn }): Effect.Effect<string, Busy | Gone> => {
        const { outcome = "fine", paraphrase } = calls[turn] ?? {}
        return outcome === "fine" || paraphrase === undefined
          ? Effect.succeed("page")
          : Effect.fail(failing(outcome, paraphrase))
      }
    }).pipe(Tool.onError({ orElse: Recovery.tell((error) => error.message) }))
    const model = yield* calling(
      ...calls.map(({ paraphrase }, turn) => [ScriptedModel.call("fetch", { turn, note: paraphrase.note }, `c${turn}`)])
    )
    const heard = eventLog()
    const skills = [Skill.make("fetch", { description: "Fetches.", tools: [tool] })] as const
    const budget = { maxTurns: 64, maxToolCalls: 64, repeatedFailures: limits }
    const agent = Agent.make("worker", { skills, budget }).pipe(heard.listen)
    const exit = yield* Effect.exit(run(agent, "go").pipe(Effect.provide(model.layer)))

    const { isStopped, settlements } = streaks(
      calls.map(({ outcome }) => outcome),
      limits
    )
    const end = heard.end()
    const transcript = isStopped ? lastTranscript(end) : (model.requests.at(-1)?.messages ?? [])
    const seen = transcript.flatMap((message) => (message.role === "assistant" ? message.content : []))
    assert.deepStrictEqual(
      seen.map((part) => {
        if (part.type !== "settled-call") return part.type
        const { kind, text } = part.settlement
        return text.includes(hint) ? `${kind} with a hint` : kind
      }),
      settlements
    )
    if (!isStopped) return assert.deepStrictEqual(exit, Exit.succeed("done"))
    const error = Exit.isFailure(exit) ? Cause.squash(exit.cause) : undefined
    if (!(error instanceof RunError.BudgetExceededError)) return assert.fail(`ended with ${String(error)}`)
    assert.deepInclude(error, { reason: "repeatedFailure", limit: limits.stop, spent: limits.stop })
    return undefined
  })
)
