/** Calls of models behind a guard, and how they fail. */
import { assert, it } from "@effect/vitest"
import { LlmError } from "@kintsugi/core"
import { Effect, type Exit, type Scope } from "effect"
import { played, ways } from "../../../_support/guard.ts"
import { failureOf } from "../../../_support/network.ts"

/** One test for whole calls and one for streamed ones. */
export const bothWays = (
  title: string,
  check: (modelCall: (typeof ways)["whole"]) => Effect.Effect<unknown, unknown, Scope.Scope>
): void => {
  for (const [way, modelCall] of Object.entries(ways)) it.effect(`${title} (${way})`, () => check(modelCall))
}

/** A model that fails with these, one call each, and replies afterwards; `calls` counts. */
export const failing = (...errors: ReadonlyArray<LlmError.LlmError>) => {
  const state = { calls: 0 }
  const act = () =>
    Effect.suspend((): Effect.Effect<void, LlmError.LlmError> => {
      const error = errors[state.calls++]
      return error === undefined ? Effect.void : Effect.fail(error)
    })
  return { state, act, layer: played(act) }
}

/** The error of a call that an open circuit refused. */
export const refused = (exit: Exit.Exit<unknown, unknown>): LlmError.ModelOverloadedError => {
  const error = failureOf(exit)
  assert(error instanceof LlmError.ModelOverloadedError)
  assert.match(error.detail ?? "", /the model was not called|it was not called again/)
  return error
}

export const instant = played(() => Effect.void)
