/** Which kinds of values the arbitraries draw: each of those that they are made of. */
import { assert, it } from "@effect/vitest"
import { LlmError, ToolError } from "@kintsugi/core"
import * as Arbitraries from "@kintsugi/core/testing/Arbitraries"
import * as FastCheck from "@kintsugi/core/testing/FastCheck"
import { Effect, Predicate } from "effect"
import * as Arbitrary from "effect/Arbitrary"

/** What is drawn in 300 runs, as these words. */
const drawn = <A>(arbitrary: Arbitrary.Arbitrary<A>, wordsOf: (value: A) => ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const seen = new Set<string>()
    const note = (value: A) => Effect.sync(() => wordsOf(value).forEach((word) => seen.add(word)))
    yield* FastCheck.check(arbitrary, note, { runs: 300, seed: 1 })
    return [...seen].toSorted()
  })

const kindOf = (cause: unknown): string => {
  if (cause === null || typeof cause !== "object") return cause === null ? "null" : typeof cause
  if (cause instanceof LlmError.RateLimitError) return "ours"
  if (cause instanceof ToolError.ToolExecutionError || Predicate.hasProperty(cause, "_tag")) return "nested"
  if (!(cause instanceof Error)) return "plain"
  return "code" in cause ? "coded" : "error"
}

it.effect("a cause is a value of any kind [P1105]", () =>
  Effect.gen(function* () {
    assert.deepStrictEqual(yield* drawn(Arbitraries.cause, (cause) => [kindOf(cause)]), [
      "coded",
      "error",
      "nested",
      "null",
      "number",
      "ours",
      "plain",
      "string"
    ])
  })
)

it.effect("turns of models come with and without words, cut or whole [P1105]", () =>
  Effect.gen(function* () {
    const turns = (options: Parameters<typeof Arbitraries.modelTurns<string>>[1]) =>
      drawn(Arbitraries.modelTurns(Arbitrary.Constant("look"), options), (all) =>
        all.flatMap(({ finish, partial, text }) => [finish, `partial ${partial}`, `text ${text}`])
      )
    const words = ["partial ", "partial Let me", "text ", "text Let me see."]
    assert.deepStrictEqual(yield* turns({}), ["filtered", "length", ...words, "tool-calls"].toSorted())
    assert.deepStrictEqual(
      yield* turns({ minCalls: 0 }),
      ["filtered", "length", "stop", ...words, "tool-calls"].toSorted()
    )
    assert.deepStrictEqual(yield* turns({ cuts: [] }), [...words, "tool-calls"].toSorted())
  })
)
