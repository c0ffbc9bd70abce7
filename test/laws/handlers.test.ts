/** Handlers decide anew about each failed attempt, and their decisions mean what a plain reference says they mean. */
import { assert } from "@effect/vitest"
import { Recovery } from "@kintsugi/core"
import { Effect } from "effect"
import fc from "fast-check"
import { failed, type Failure, law, type Script, script, allFailing, stepOf, type Tag } from "../_support/laws.ts"
import { draw, drawing, jittered, options, type Options, retriesOf, waitOf } from "./_support/policies.ts"

/** What a handler decides: a retry from its pool, an answer that takes a while, or that the failure leaves. */
type Choice =
  | { readonly does: "retry"; readonly nth: 0 | 1 | 2 }
  | { readonly does: "answer"; readonly after: number }
  | { readonly does: "rethrow" }

interface Handler {
  readonly pool: readonly [Options, Options, Options]
  /** The choices one after the other; then the last one for ever. */
  readonly choices: ReadonlyArray<Choice>
  /** Whether a retry is made anew for each decision. */
  readonly isAnew: boolean
}

const choice: fc.Arbitrary<Choice> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      does: fc.constant("retry" as const),
      nth: fc.constantFrom(0 as const, 1 as const, 2 as const)
    })
  },
  { weight: 1, arbitrary: fc.record({ does: fc.constant("answer" as const), after: fc.nat(5_000) }) },
  { weight: 1, arbitrary: fc.constant({ does: "rethrow" as const }) }
)

const offered = fc.oneof(options, jittered)

const handler: fc.Arbitrary<Handler> = fc.record({
  pool: fc.tuple(offered, offered, offered),
  choices: fc.array(choice, { minLength: 1, maxLength: 6 }),
  isAnew: fc.boolean()
})

const chosenOf = ({ choices, pool }: Handler, asked: number) => {
  const choice = choices[Math.min(asked, choices.length) - 1] ?? { does: "rethrow" }
  return choice.does === "retry" ? { does: choice.does, options: pool[choice.nth] } : choice
}

/** The handler as a row, which decides by the number of failures that it has been called for. */
const rowOf = (handler: Handler) => {
  const made = new Map(handler.pool.map((options) => [options, Recovery.retry<Failure>(options)]))
  let asked = 0
  return () => {
    const chosen = chosenOf(handler, ++asked)
    if (chosen.does === "answer") return Effect.delay(Effect.succeed("instead"), chosen.after)
    if (chosen.does === "rethrow") return Recovery.rethrow
    return handler.isAnew ? Recovery.retry<Failure>(chosen.options) : (made.get(chosen.options) ?? Recovery.rethrow)
  }
}

/** The instants of the attempts, and the exit: a retry counts the failures for which its handler was called. */
const foretold = (handlers: { readonly [T in Tag]?: Handler }, script: Script, draw: number) => {
  const asked = new Map<Tag, number>()
  const starts: Array<number> = []
  for (let attempt = 1, now = 0; ; attempt++) {
    const step = stepOf(script, attempt)
    starts.push(now)
    now += step.takes
    if (step.does !== "fail") return { starts, end: step.does === "never" ? undefined : now, exit: undefined }
    const left = { starts, end: now, exit: failed(step.tag, attempt) }
    const handler = handlers[step.tag]
    if (handler === undefined) return left
    const count = (asked.get(step.tag) ?? 0) + 1
    asked.set(step.tag, count)
    const chosen = chosenOf(handler, count)
    if (chosen.does === "rethrow") return left
    if (chosen.does === "answer") return { starts, end: now + chosen.after, exit: "success instead" }
    if (count > retriesOf(chosen.options)) return left
    const wait = waitOf(chosen.options, count, draw, step.hint)
    if (wait === "gave up") return left
    now += wait
  }
}

law(
  "a handler decides about each failed attempt: each retry that it chooses counts the failures that the handler was called for, and no others [L612 P1320 P1323]",
  fc.record({ A: handler, B: handler, script: fc.oneof(script, allFailing(["A", "B"]), allFailing()), draw }),
  ({ A, B, draw, script }, play) =>
    Effect.gen(function* () {
      const guard = Recovery.onError<Failure, { A: ReturnType<typeof rowOf>; B: ReturnType<typeof rowOf> }>({
        A: rowOf(A),
        B: rowOf(B)
      })
      const { attempts, end, exit } = yield* play(script, drawing(draw, guard))
      const expected = foretold({ A, B }, script, draw)
      assert.deepStrictEqual(
        attempts.map(({ start }) => start),
        expected.starts
      )
      assert.strictEqual(end, expected.end)
      if (expected.exit !== undefined) assert.strictEqual(exit, expected.exit)
    })
)
