/**
 * Builds the layers of agents, each once for all runs of a runtime. A layer is identified by its value, as in Effect, so agents with the
 * same layer share its services. The runtime is the innermost `ManagedRuntime` or `Effect.provide` of a layer around the run. Its memo map
 * shares the build, and its scope closes it.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Scope from "effect/Scope"
import * as Tracer from "effect/Tracer"
import * as ErrorCause from "../data/ErrorCause.ts"
import * as Room from "../event/Room.ts"
import * as RunContext from "../event/RunContext.ts"
import * as Interception from "./Interception.ts"
import { mayClose, type Runtime, runtimeOf } from "./runtimes.ts"

/** A layer whose missing services are in the type of its agent. */
type AnyLayer = Layer.Layer<never, unknown>

/** How long, in milliseconds, a layer without a runtime stays built after its last run. */
export const defaultIdle = 5 * 60_000

/** Converts the option `modelIdle` to milliseconds. Throws a `RangeError` for an invalid or negative duration. */
export const idleOf = (agent: string, input: Duration.Input): number => {
  const millis = Option.match(Duration.fromInput(input), { onNone: () => -1, onSome: Duration.toMillis })
  if (millis >= 0 && !Number.isNaN(input)) return millis
  throw new RangeError(`Agent '${agent}': modelIdle must be a duration of at least 0, got ${String(input)}`)
}

/**
 * Runs `use` with the services of a layer, and builds the layer unless another run has done so. `idle` is the time in milliseconds that the
 * layer stays built without a run. It counts only if no runtime closes the layer.
 */
export const within = <L, A, E>(
  layer: Layer.Layer<L, unknown>,
  idle: number,
  use: (services: Context.Context<L>) => Effect.Effect<A, E>
): Effect.Effect<A, unknown> =>
  Effect.uninterruptibleMask((restore) =>
    Effect.contextWith((context: Context.Context<never>) => {
      const memoMap = Context.getOrUndefined(context, Layer.CurrentMemoMap)
      const owner = memoMap && ownerOf(memoMap)
      const slot = owner === undefined ? alone(layer, memoMap) : slotIn(owner.layers, layer)
      const leased = () => {
        const [join, leave] = (slot.build ?? begin(slot, layer, owner, context)).lease(idle)
        // the build of a layer provides exactly the services of that layer
        return Effect.ensuring(restore(Effect.flatMap(join, use as (services: Services) => Effect.Effect<A, E>)), leave)
      }
      const retire = slot.last?.build?.retire
      slot.last = undefined
      return retire === undefined ? leased() : Effect.andThen(retire, Effect.suspend(leased))
    })
  )

type Services = Context.Context<never>

/** One build of a layer, from the first run that needs it until the layer is closed. */
interface Build {
  /** Registers one more run. `join` waits for the services; `leave` unregisters the run at its end. */
  readonly lease: (idle: number) => readonly [join: Effect.Effect<Services, unknown>, leave: Effect.Effect<void>]
  /** Accepts no further run, and closes the layer after the last one. */
  readonly retire: Effect.Effect<void>
}

/** The build of a layer in one runtime. If no runtime owns the layer, the slot belongs to the memo map of its last run. */
interface Slot {
  build?: Build | undefined
  readonly memoMap?: Layer.MemoMap | undefined
  /** The slot of the same layer under the previous memo map. Its build is closed before this slot is used. */
  last?: Slot | undefined
}

/** Builds a layer in a separate fiber, so that the interruption of one run does not end the build for others. */
const begin = (slot: Slot, layer: AnyLayer, owner: Runtime | undefined, context: Context.Context<never>): Build => {
  const scope = Scope.makeUnsafe()
  // the number of runs that use the layer or wait for it
  let runs = 0
  let isRetired = false
  // without a runtime: the instant at which the layer is closed, and the clock of the fiber that waits for that instant
  let idleUntil = 0
  let clock: Clock.Clock | undefined
  let resting: Fiber.Fiber<void> | undefined
  const drop = () => {
    isRetired = true
    // it waits for an instant at which nothing is left to close
    resting?.interruptUnsafe()
    resting = undefined
    if (slot.build === build) slot.build = undefined
  }
  const retire = Effect.suspend(() => {
    drop()
    return runs === 0 ? Effect.uninterruptible(Scope.close(scope, Exit.void)) : Effect.void
  })
  /** Waits for the end of the idle time, then closes the layer. One fiber does this, however many runs come in between. */
  const expire = (own: Clock.Clock): Effect.Effect<void> =>
    Effect.suspend(() => {
      if (clock !== own) return Effect.void
      if (runs > 0 || isRetired) {
        clock = undefined
        return Effect.void
      }
      const millis = idleUntil - own.currentTimeMillisUnsafe()
      if (millis > 0) return Effect.andThen(pause(own, millis), expire(own))
      // this fiber closes the layer itself
      resting = undefined
      return Effect.catchCause(retire, (cause) =>
        Effect.logWarning("The layer of an agent failed while it was closed", ErrorCause.logged(cause))
      )
    })
  const rest = (idle: number) =>
    Effect.contextWith((context: Context.Context<never>) => {
      const own = Context.get(context, Clock.Clock)
      idleUntil = Math.max(idleUntil, own.currentTimeMillisUnsafe() + idle)
      if (clock === own || idleUntil === Infinity) return Effect.void
      clock = own
      resting = Effect.runForkWith(outsideRuns(context))(expire(own))
      return Effect.void
    })
  /** Closes the layer together with the runtime. */
  const bind = (runtime: Scope.Scope) => {
    const bound = Scope.forkUnsafe(runtime)
    return Effect.andThen(Scope.addFinalizer(scope, Scope.close(bound, Exit.void)), Scope.addFinalizer(bound, retire))
  }
  const build: Build = {
    lease: (idle) => {
      runs++
      const leave = Effect.suspend(() => {
        runs--
        if (runs > 0) return Effect.void
        const exit = fiber.pollUnsafe()
        if (exit === undefined) {
          // every run that waited for the build was interrupted
          drop()
          return Fiber.interrupt(fiber)
        }
        if (Exit.isFailure(exit)) return Effect.void
        if (isRetired) return retire
        if (owner !== undefined) return Effect.void
        return idle > 0 ? rest(idle) : retire
      })
      return [Effect.suspend(() => fiber.pollUnsafe() ?? Fiber.join(fiber)), leave]
    },
    retire
  }
  slot.build = build
  const memoMap = owner === undefined ? Layer.makeMemoMapUnsafe() : owner.memoMap
  const services = Layer.buildWithMemoMap(layer, memoMap, scope)
  const fiber: Fiber.Fiber<Services, unknown> = Effect.runForkWith(outsideRuns(context))(
    (owner === undefined
      ? services
      : // the run already has the runtime's memo map, and that of this build must not replace it
        Effect.map(Effect.andThen(bind(owner.scope), services), Context.omit(Layer.CurrentMemoMap))
    ).pipe(
      Effect.onExit((exit) => {
        const isFailure = Exit.isFailure(exit)
        if (isFailure) drop()
        return isRetired && (runs === 0 || isFailure) ? Scope.close(scope, exit) : Effect.void
      })
    )
  )
  return build
}

/** Removes the services of a single run from the context: a layer keeps its context for later runs. */
const outsideRuns = Context.omit(RunContext.Current, Interception.Current, Room.Current, Tracer.ParentSpan)

/** A runtime, with the layers of agents that it owns. */
interface Owner extends Runtime {
  readonly layers: WeakMap<AnyLayer, Slot>
}

const owners = new WeakMap<Layer.MemoMap, Owner>()

const ownerOf = (memoMap: Layer.MemoMap): Owner | undefined => {
  const found = owners.get(memoMap)
  if (found !== undefined && mayClose(found.scope)) return found
  const runtime = runtimeOf(memoMap)
  if (runtime === undefined) return undefined
  const owner = { ...runtime, layers: new WeakMap<AnyLayer, Slot>() }
  owners.set(memoMap, owner)
  return owner
}

/** The slots of layers that no runtime owns. */
const unowned = new WeakMap<AnyLayer, Slot>()

const slotIn = (layers: WeakMap<AnyLayer, Slot>, layer: AnyLayer, fresh: Slot = {}): Slot => {
  const slot = layers.get(layer) ?? fresh
  layers.set(layer, slot)
  return slot
}

/** The slot of a layer without a runtime. Under another memo map the services differ, so the layer is built again. */
const alone = (layer: AnyLayer, memoMap: Layer.MemoMap | undefined): Slot => {
  // Mutant `{}` survives: a slot without a build comes before that of the first run, and has nothing to close
  const last = slotIn(unowned, layer, { memoMap })
  if (last.memoMap === memoMap) return last
  const slot = { memoMap, last }
  unowned.set(layer, slot)
  return slot
}

/** The default clock of Effect, for a program that provides none. */
const system = Context.get(Context.empty(), Clock.Clock)

const MAX_MILLIS = 2 ** 31 - 1

/** Sleeps without keeping the process alive: the timer of an `AbortSignal` does not, while that of `Effect.sleep` does. */
const pause = (clock: Clock.Clock, millis: number): Effect.Effect<void> =>
  clock === system
    ? Effect.callback((resume) => {
        const signal = AbortSignal.timeout(Math.min(millis, MAX_MILLIS))
        const listener = () => resume(Effect.void)
        signal.addEventListener("abort", listener, { once: true })
        return Effect.sync(() => signal.removeEventListener("abort", listener))
      })
    : clock.sleep(Duration.millis(millis))
