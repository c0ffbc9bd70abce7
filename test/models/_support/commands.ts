/**
 * How models are tested: commands run against the real thing and a model of a few fields, on the virtual clock. A failing case is told
 * with its commands, shrunk, and the seed.
 */
import { it } from "@effect/vitest"
import * as FastCheck from "@kintsugi/core/testing/FastCheck"
import { Effect, type Scope } from "effect"
import { TestClock } from "effect/testing"
import fc from "fast-check"
import { runs, seed } from "../../_support/cases.ts"

/** One thing that may happen. It changes the model, and fails where the real thing is not as the model says. */
export interface Command<Model, Real> {
  /** How it is told. */
  readonly says: string
  /** Where it cannot happen, it is left out. */
  readonly can?: (model: Model) => boolean
  readonly does: (model: Model, real: Real) => Effect.Effect<void, unknown, Scope.Scope>
}

export interface Modelled<Setup, Model, Real> {
  readonly setup: fc.Arbitrary<Setup>
  readonly commands: ReadonlyArray<fc.Arbitrary<Command<Model, Real>>>
  readonly maxCommands: number
  readonly model: (setup: Setup) => Model
  readonly real: (setup: Setup) => Effect.Effect<Real, never, Scope.Scope>
}

type Run = (effect: Effect.Effect<void, unknown, Scope.Scope>) => Promise<void>

const asynchronous = <Model extends object, Real>({
  can = () => true,
  does,
  says
}: Command<Model, Real>): fc.AsyncCommand<Model, { readonly real: Real; readonly run: Run }> => ({
  check: (model) => can(model),
  run: (model, { real, run }) => run(Effect.suspend(() => does(model, real))),
  toString: () => says
})

/** Checks that the real thing is as its model says, after each command of many sequences. */
export const agrees = <Setup, Model extends object, Real>(
  title: string,
  { commands, maxCommands, model, real, setup }: Modelled<Setup, Model, Real>
): void => {
  const arbitrary = fc.record({
    setup,
    commands: fc.commands(
      commands.map((one) => one.map(asynchronous)),
      { maxCommands, size: "max" }
    )
  })
  it(title, { timeout: 20_000 + 50 * runs }, () =>
    Effect.runPromise(
      FastCheck.check(
        arbitrary,
        ({ commands, setup }) =>
          Effect.gen(function* () {
            const context = yield* Effect.context<Scope.Scope>()
            const run: Run = Effect.runPromiseWith(context)
            const made = yield* real(setup)
            const start = () => ({ model: model(setup), real: { real: made, run } })
            yield* Effect.tryPromise({ try: () => fc.asyncModelRun(start, commands), catch: (error) => error })
          }).pipe(Effect.scoped, Effect.provide(TestClock.layer())),
        { runs, seed }
      )
    )
  )
}
