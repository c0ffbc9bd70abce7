/**
 * The layers of agents, each built once for the runs of a runtime. A layer is known by its value, as in Effect: agents with one layer share
 * what it builds. The runtime is the innermost one around the run, a `ManagedRuntime` or an `Effect.provide` of a layer. Its memo map
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
import * as RunContext from "../event/RunContext.ts"
import * as Interception from "./Interception.ts"
import { mayClose, type Runtime, runtimeOf } from "./runtimes.ts"

/** A layer whose needs are in the type of its agent. */
type AnyLayer = Layer.Layer<never, unknown>

/** How long a layer without a runtime stays built after its last run, in milliseconds. */
export const defaultIdle = 5 * 60_000

/** Milliseconds from the option of an agent. Throws a `RangeError` on a negative duration, and on what is none. */
export const idleOf = (agent: string, input: Duration.Input): number => {
  const millis = Option.match(Duration.fromInput(input), { onNone: () => -1, onSome: Duration.toMillis })
  if (millis >= 0 && !Number.isNaN(input)) return millis
  throw new RangeError(`Agent '${agent}': modelIdle must be a duration of at least 0, got ${String(input)}`)
}

/** Runs `use` with what the layer builds, or has built for another run. The idle time, in milliseconds, counts where no runtime closes the layer. */
export const within = <L, A, E>(
  layer: Layer.Layer<L, unknown>,
  idle: number,
  use: (services: Context.Context<L>) => Effect.Effect<A, E>
): Effect.Effect<A, unknown> =>
  Effect.contextWith((context: Context.Context<never>) => {
    const memoMap = Context.getOrUndefined(context, Layer.CurrentMemoMap)
    const runtime = memoMap && ownerOf(memoMap)
    // a build gives what its layer gives
    const body = use as (services: Services) => Effect.Effect<A, E>
    return runtime === undefined ? alone(layer, memoMap, idle, body) : runtime.of(layer).use(idle, body)
  })

type Services = Context.Context<never>

/** One build of a layer, from the first run that asks for it until it is closed. */
interface Build {
  readonly scope: Scope.Closeable
  fiber: Fiber.Fiber<Services, unknown> | undefined
  /** The runs that use it or wait for it. */
  runs: number
  /** No further run uses it: it is closed after the last one. */
  isRetired: boolean
  /** Without a runtime: the instant at which it is closed, and the clock of the fiber that waits for it. */
  idleUntil: number
  clock: Clock.Clock | undefined
}

/** A layer within one runtime, or without any. */
class Shared {
  private current: Build | undefined
  private readonly layer: AnyLayer
  private readonly runtime: Runtime | undefined

  constructor(layer: AnyLayer, runtime?: Runtime) {
    this.layer = layer
    this.runtime = runtime
  }

  use<A, E>(idle: number, body: (services: Services) => Effect.Effect<A, E>): Effect.Effect<A, unknown> {
    return Effect.uninterruptibleMask((restore) =>
      Effect.contextWith((context: Context.Context<never>) => {
        const build = this.current ?? this.begin(context)
        build.runs++
        return Effect.ensuring(restore(Effect.flatMap(built(build), body)), this.left(build, idle))
      })
    )
  }

  /** What is built now is for no further run. */
  readonly retire: Effect.Effect<void> = Effect.suspend(() =>
    this.current === undefined ? Effect.void : this.retired(this.current)
  )

  private retired(build: Build): Effect.Effect<void> {
    this.leave(build)
    return build.runs === 0 ? Effect.uninterruptible(Scope.close(build.scope, Exit.void)) : Effect.void
  }

  private leave(build: Build): void {
    build.isRetired = true
    if (this.current === build) this.current = undefined
  }

  /** A fiber of its own builds the layer: the interruption of one run does not end the build for others. */
  private begin(context: Context.Context<never>): Build {
    const { layer, runtime } = this
    const scope = Scope.makeUnsafe()
    const build: Build = { scope, fiber: undefined, runs: 0, isRetired: false, idleUntil: 0, clock: undefined }
    this.current = build
    const services = Layer.buildWithMemoMap(layer, runtime?.memoMap ?? Layer.makeMemoMapUnsafe(), scope)
    build.fiber = Effect.runForkWith(outsideRuns(context))(
      Effect.andThen(runtime === undefined ? Effect.void : this.bind(build, runtime.scope), services).pipe(
        // the memo map of a runtime is there already, perhaps with more layers
        Effect.map((built) => (runtime === undefined ? built : Context.omit(Layer.CurrentMemoMap)(built))),
        Effect.onExit((exit) => {
          if (Exit.isFailure(exit)) this.leave(build)
          return build.isRetired && (build.runs === 0 || Exit.isFailure(exit)) ? Scope.close(scope, exit) : Effect.void
        })
      )
    )
    return build
  }

  /** Closes the build with the runtime. */
  private bind(build: Build, runtime: Scope.Scope): Effect.Effect<void> {
    return Effect.suspend(() => {
      const bound = Scope.forkUnsafe(runtime)
      const retiring = Effect.suspend(() => this.retired(build))
      const unbinding = Scope.addFinalizer(build.scope, Scope.close(bound, Exit.void))
      return Effect.andThen(unbinding, Scope.addFinalizer(bound, retiring))
    })
  }

  /** A run is over, or waits no longer. */
  private left(build: Build, idle: number): Effect.Effect<void> {
    return Effect.suspend(() => {
      build.runs--
      if (build.runs > 0 || build.fiber === undefined) return Effect.void
      const exit = build.fiber.pollUnsafe()
      if (exit === undefined) {
        // each run that waited was interrupted
        this.leave(build)
        return Fiber.interrupt(build.fiber)
      }
      if (Exit.isFailure(exit)) return Effect.void
      if (build.isRetired) return this.retired(build)
      if (this.runtime !== undefined) return Effect.void
      return idle > 0 ? this.rest(build, idle) : this.retired(build)
    })
  }

  /** One fiber waits for the end of the idle time, however many runs come in between. */
  private rest(build: Build, idle: number): Effect.Effect<void> {
    return Effect.contextWith((context: Context.Context<never>) => {
      const clock = Context.get(context, Clock.Clock)
      build.idleUntil = Math.max(build.idleUntil, clock.currentTimeMillisUnsafe() + idle)
      if (build.clock === clock || !Number.isFinite(build.idleUntil)) return Effect.void
      build.clock = clock
      Effect.runForkWith(outsideRuns(context))(this.expire(build, clock))
      return Effect.void
    })
  }

  private expire(build: Build, clock: Clock.Clock): Effect.Effect<void> {
    return Effect.suspend(() => {
      if (build.clock !== clock) return Effect.void
      if (build.runs > 0 || build.isRetired) {
        build.clock = undefined
        return Effect.void
      }
      const millis = build.idleUntil - clock.currentTimeMillisUnsafe()
      if (millis > 0) return Effect.andThen(pause(clock, millis), this.expire(build, clock))
      return Effect.catchCause(this.retired(build), (cause) =>
        Effect.logWarning("The layer of an agent failed while it was closed", ErrorCause.logged(cause))
      )
    })
  }
}

const built = (build: Build): Effect.Effect<Services, unknown> =>
  Effect.suspend(() => build.fiber!.pollUnsafe() ?? Fiber.join(build.fiber!))

/** What a layer captures of its context stays in later runs, so it must not be that of one run. */
const outsideRuns = Context.omit(RunContext.Current, Interception.Current, Tracer.ParentSpan)

/** The layers of agents in one runtime. */
class Owner {
  readonly scope: Scope.Scope
  private readonly runtime: Runtime
  private readonly layers = new WeakMap<AnyLayer, Shared>()

  constructor(runtime: Runtime) {
    this.runtime = runtime
    this.scope = runtime.scope
  }

  of(layer: AnyLayer): Shared {
    const found = this.layers.get(layer)
    if (found !== undefined) return found
    const shared = new Shared(layer, this.runtime)
    this.layers.set(layer, shared)
    return shared
  }
}

const owners = new WeakMap<Layer.MemoMap, Owner>()

const ownerOf = (memoMap: Layer.MemoMap): Owner | undefined => {
  const found = owners.get(memoMap)
  if (found !== undefined && mayClose(found.scope)) return found
  const runtime = runtimeOf(memoMap)
  if (runtime === undefined) return undefined
  const owner = new Owner(runtime)
  owners.set(memoMap, owner)
  return owner
}

/** A layer that no runtime owns, and the memo map around its last run. */
interface Unowned {
  readonly shared: Shared
  readonly memoMap: Layer.MemoMap | undefined
}

const unowned = new WeakMap<AnyLayer, Unowned>()

/** Under another memo map there are other services, so the layer is built anew; what was built under the last one is closed. */
const alone = <A, E>(
  layer: AnyLayer,
  memoMap: Layer.MemoMap | undefined,
  idle: number,
  body: (services: Services) => Effect.Effect<A, E>
): Effect.Effect<A, unknown> => {
  const last = unowned.get(layer)
  if (last !== undefined && last.memoMap === memoMap) return last.shared.use(idle, body)
  const shared = new Shared(layer)
  unowned.set(layer, { shared, memoMap })
  const using = shared.use(idle, body)
  return last === undefined ? using : Effect.andThen(last.shared.retire, using)
}

/** The clock of a program that sets none. */
const system = Context.get(Context.empty(), Clock.Clock)

const MAX_MILLIS = 2 ** 31 - 1

/** The timer of a signal does not keep a process alive, as that of `Effect.sleep` does. */
const pause = (clock: Clock.Clock, millis: number): Effect.Effect<void> =>
  clock === system
    ? Effect.callback((resume) => {
        const signal = AbortSignal.timeout(Math.min(millis, MAX_MILLIS))
        signal.addEventListener("abort", () => resume(Effect.void), { once: true })
      })
    : clock.sleep(Duration.millis(millis))
