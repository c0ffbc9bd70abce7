/** A leak of each kind: the measure has to find it. */
import { Effect, Fiber, Scope } from "effect"
import type { Feature } from "./measure.ts"

const filled = new Map<number, number>()
const forgotten: Array<object> = []

/** How many elements each forgotten list has. Below 2,000 uses of smaller things the engine's own caches hide the growth now and then. */
const forgottenSize = 64

export const planted: ReadonlyArray<Feature & { readonly finds: RegExp }> = [
  {
    name: "a fiber",
    finds: /^fibers: /,
    prepare: () => Effect.succeed({ use: Effect.forkDetach(Effect.never, { startImmediately: true }) })
  },
  {
    name: "a timer",
    finds: /^Timeout: /,
    prepare: ({ scope }) => {
      const sleeping: Array<Fiber.Fiber<void>> = []
      const stop = Effect.suspend(() => Fiber.interruptAll(sleeping))
      // outside of what counts fibers: its timer alone is seen
      const use = Effect.sync(() => sleeping.push(Effect.runFork(Effect.sleep("1 hour"))))
      return Effect.as(Scope.addFinalizer(scope, stop), { use })
    }
  },
  {
    name: "a listener of a signal",
    finds: /^listeners of the signal: /,
    prepare: ({ signal }) => Effect.succeed({ use: Effect.sync(() => signal.addEventListener("abort", () => {})) })
  },
  {
    name: "a listener of an emitter",
    finds: /^listeners of the emitter: /,
    prepare: ({ emitter }) => Effect.succeed({ use: Effect.sync(() => emitter.on("event", () => {})) })
  },
  {
    name: "a finalizer",
    finds: /^finalizers: /,
    prepare: ({ scope }) => Effect.succeed({ use: Scope.addFinalizer(scope, Effect.void) })
  },
  {
    name: "a resource",
    finds: /^resources of tools: /,
    prepare: ({ resource, scope }) => Effect.succeed({ use: Scope.provide(resource, scope) })
  },
  {
    name: "an entry",
    finds: /^entries: /,
    prepare: () =>
      Effect.succeed({
        use: Effect.sync(() => filled.set(filled.size, 1)),
        entries: Effect.sync(() => ({ entries: filled.size }))
      })
  },
  {
    name: "memory",
    finds: /^heap: /,
    prepare: () =>
      Effect.succeed({ use: Effect.sync(() => forgotten.push(Array.from({ length: forgottenSize }, (_, nth) => nth))) })
  }
]

/** What leaves nothing. */
export const clean: Feature = {
  name: "nothing",
  prepare: ({ resource }) => Effect.succeed({ use: Effect.andThen(resource, Effect.sleep(1)) })
}
