/** Laws of presets that count failing batches, and failures of one tool in a row. */
import { assert } from "@effect/vitest"
import { Agent, type Message, Recovery, Skill } from "@kintsugi/core"
import { Cause, Effect, Exit } from "effect"
import * as Arbitrary from "effect/Arbitrary"
import fc from "fast-check"
import { type Busy, batch, busy, done, eventLog, lastTranscript, scripted } from "../_support/dialogue.ts"
import { ScriptedModel } from "@kintsugi/core/testing"
import { batches, constantFrom } from "../_support/laws.ts"
import { lawOfRuns } from "./_support/runs.ts"

/** Ten lines of Kani: when are tools switched off? */
const reference = (batches: ReadonlyArray<ReadonlyArray<boolean>>, retryAttempts: number): ReadonlyArray<boolean> => {
  let failing = 0
  let isOff = false
  return batches.map((batch) => {
    if (batch.includes(false)) {
      if (failing >= retryAttempts) isOff = true
      failing++
    } else failing = 0
    return isOff
  })
}

/** That a tool fails again and again ends nothing by itself. */
const budget = { repeatedFailures: { hint: Infinity, withhold: Infinity, stop: Infinity } }

const outcomeOf = (isFine: boolean, n: number): Effect.Effect<string, Busy> =>
  isFine ? Effect.succeed("ok") : Effect.fail(busy("x".repeat(n)))

lawOfRuns(
  "the count of failing batches equals its ten-line reference [L906 K3 K4 K5 K7 K9]",
  fc.record({
    batches: batches(constantFrom(true, false), { maxTurns: 6 }),
    retryAttempts: fc.integer({ min: 0, max: 3 })
  }),
  Effect.fnUntraced(function* ({ batches, retryAttempts }, run) {
    const expected = reference(batches, retryAttempts)
    const offAt = expected.indexOf(true)
    const played = offAt < 0 ? batches : batches.slice(0, offAt + 1)
    const { tool } = scripted("look", ...played.flat().map(outcomeOf))
    const model = yield* ScriptedModel.make(...played.map((calls) => batch(...calls.map(() => "look"))), done)
    const skills = [Skill.make("work", { description: "Works.", tools: [tool] })] as const
    const agent = Agent.make("worker", { skills, budget }).pipe(
      Agent.toolDefaults(Recovery.presets.tellThenToolsOff({ retryAttempts }))
    )
    yield* run(agent, "go").pipe(Effect.provide(model.layer))
    assert.deepStrictEqual(
      model.requests.slice(1).map(({ toolChoice }) => toolChoice === "none"),
      expected.slice(0, played.length)
    )
  })
)

const names = ["one", "two", "nope", "nada"] as const
type Name = (typeof names)[number]

interface Call {
  readonly name: Name
  readonly isFine: boolean
}

/** Names of no tool share one count. */
const countOf = (name: Name) => (name === "one" || name === "two" ? name : "unknown")

/** In how many batches in a row a tool has failed without a success, and in which it is once too often. */
const streaks = (turns: ReadonlyArray<ReadonlyArray<Call>>, retries: number) => {
  const inARow = { one: 0, two: 0, unknown: 0 }
  const texts: Array<ReadonlyArray<string>> = []
  for (const calls of turns) {
    const before = { ...inARow }
    const isFailing = ({ isFine, name }: Call) => countOf(name) === "unknown" || !isFine
    texts.push(calls.map((call) => (isFailing(call) ? `told, ${retries - before[countOf(call.name)]} left` : "result")))
    const ended = calls.findIndex((call) => isFailing(call) && before[countOf(call.name)] >= retries)
    if (ended >= 0) return { texts, isEnded: true }
    for (const count of ["one", "two", "unknown"] as const) {
      const mine = calls.filter(({ name }) => countOf(name) === count)
      if (mine.length > 0) inARow[count] = mine.every(isFailing) ? inARow[count] + 1 : 0
    }
  }
  return { texts, isEnded: false }
}

lawOfRuns(
  "the model reads a number of failures of a tool in a row, with any arguments; then the run ends with its failure [L907]",
  fc.record({
    turns: batches(
      Arbitrary.all({
        name: constantFrom("one", "one", "one", "two", "nope", "nada"),
        isFine: constantFrom(true, false)
      }),
      { maxTurns: 7 }
    ),
    retries: fc.integer({ min: 0, max: 3 })
  }),
  Effect.fnUntraced(function* ({ retries, turns }, run) {
    const { isEnded, texts } = streaks(turns, retries)
    const reached = turns.slice(0, texts.length)
    const outcomes = (name: Name) =>
      reached.flatMap((calls) =>
        calls.filter((call) => call.name === name).map(({ isFine }, n) => outcomeOf(isFine, n))
      )
    const tools = [scripted("one", ...outcomes("one")).tool, scripted("two", ...outcomes("two")).tool] as const
    const steps = reached.map((calls, turn) =>
      ScriptedModel.calls(...calls.map(({ name }, n) => ScriptedModel.call(name, {}, `c${turn}.${n}`)))
    )
    const model = yield* ScriptedModel.make(...steps, ...(isEnded ? [] : [done]))
    const log = eventLog()
    const skills = [Skill.make("work", { description: "Works.", tools })] as const
    const agent = Agent.make("worker", { skills, budget: { ...budget, maxTurns: 20 } }).pipe(
      Agent.toolDefaults(Recovery.presets.tellWithTries({ retries })),
      log.listen
    )
    const exit = yield* Effect.exit(run(agent, "go").pipe(Effect.provide(model.layer)))
    assert.strictEqual(Exit.isFailure(exit), isEnded, Exit.isFailure(exit) ? Cause.pretty(exit.cause) : "")
    const transcript = isEnded ? lastTranscript(log.end()) : (model.requests.at(-1)?.messages ?? [])
    const contents = transcript.flatMap((message) => (message.role === "assistant" ? [message.content] : []))
    assert.strictEqual(contents.length, texts.length)
    for (const [turn, content] of contents.entries()) {
      // after the last batch of a run that ends, no model call follows
      if (isEnded && turn === texts.length - 1) break
      assert.deepStrictEqual(
        content.flatMap((part) => (part.type === "settled-call" ? [linesOf(part.settlement)] : [])),
        texts[turn]
      )
    }
  })
)

const linesOf = ({ kind, text }: Message.Settlement): string => {
  const left = /(\d+) (?:try is|tries are) left/.exec(text)?.[1]
  return left === undefined ? kind : `${kind}, ${left} left`
}
