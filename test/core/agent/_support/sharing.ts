/** Models as layers that log when they are opened and closed, and programs around which there is no layer. */
import { Model } from "@kintsugi/core"
import { Context, Effect, Layer } from "effect"
import { played, service } from "../../../_support/guard.ts"

export { played }

/** A layer of a model; its log names what is opened and closed. `opening` is done in between. */
export const logged = <E = never, R = never>(
  log: Array<string>,
  name = "model",
  opening: (number: number) => Effect.Effect<unknown, E, R> = () => Effect.void
): Layer.Layer<Model.Model, E, R> => {
  let number = 0
  return Layer.effect(
    Model.Model,
    Effect.suspend(() => {
      const label = `${name} ${++number}`
      const opened = Effect.acquireRelease(
        Effect.sync(() => {
          log.push(`${label} opens`)
          return service(() => Effect.sync(() => void log.push(`${label} asked`)))
        }),
        () => Effect.sync(() => void log.push(`${label} closes`))
      )
      return Effect.tap(opened, () => opening(number))
    })
  )
}

/** How often the log says so. */
export const count = (log: ReadonlyArray<string>, what: RegExp): number => log.filter((line) => what.test(line)).length

/** As under `Effect.runPromise`: no layer is provided around it. Clock and scope stay those of the test. */
export const bare = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  // no effect needs the memo map by its type
  Effect.updateContext(
    effect,
    (context: Context.Context<R>) => Context.omit(Layer.CurrentMemoMap)(context) as typeof context
  )
