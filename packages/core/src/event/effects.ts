/** The undoable effects of a run's tool calls, and the scopes of the run and its tools. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import * as ErrorCause from "../data/ErrorCause.ts"
import type { Grant } from "../data/Grants.ts"

/** An effect of a tool call that can be undone. */
export type Effected = {
  readonly tool: string
  readonly callId: string
  /** The idempotency key of the call. */
  readonly key: string
  /** The place of the call, as in `RunContext`. */
  readonly callKey: string | undefined
  /** The time of the effect, in milliseconds: calls run concurrently. */
  readonly at: number
  /** Undoes it in the current run, which has failed. */
  readonly undo: Effect.Effect<void>
  /** Whether its compensation has begun: it runs once. */
  isUndone: boolean
}

/** A result that was put aside; without text if the text was removed since. */
export type AsideResult = { readonly handle: string; readonly text?: string }

/** The effects of one run. An effect of a run is added to its ancestors too. */
export type Effects = {
  readonly add: (effected: Effected) => void
  /** The latest effect that is not undone yet; it counts as undone from now on. */
  readonly take: () => Effected | undefined
  /** The scope of the run. */
  readonly scope: Scope.Scope
  /** Whether the run is over: from its last event on. */
  isOver: boolean
  readonly agent: string
  readonly runId: string
  readonly parent: Effects | undefined
  /** The long results that were put aside, the oldest first; absent if there are none. */
  aside: ReadonlyArray<AsideResult> | undefined
  /** What a person has approved for the whole run; absent until then. */
  granted: ReadonlyArray<Grant> | undefined
  /** Closes that scope; `undefined` if there is nothing to release. */
  readonly close: (exit: Exit.Exit<unknown, unknown>, whose: string) => Effect.Effect<void> | undefined
}

/**
 * The effects of one run, in memory, and its scope.
 *
 * @internal
 */
export class Done implements Effects {
  readonly agent: string
  readonly runId: string
  readonly parent: Effects | undefined
  aside: ReadonlyArray<AsideResult> | undefined
  granted: ReadonlyArray<Grant> | undefined
  #effects: Array<Effected> | undefined
  #scope: Scope.Closeable | undefined
  isOver = false

  // Mutants `"Stryker was here!"` #1, `"Stryker was here!"` #2 survive: a call outside of a run leaves them out, and uses the scope alone
  constructor(parent: Effects | undefined, agent = "", runId = "") {
    this.parent = parent
    this.agent = agent
    this.runId = runId
  }

  add(effected: Effected): void {
    this.#effects ??= []
    this.#effects.push(effected)
    this.parent?.add(effected)
  }

  take(): Effected | undefined {
    let last: Effected | undefined
    for (const one of this.#effects ?? []) if (!one.isUndone && (last === undefined || one.at >= last.at)) last = one
    if (last !== undefined) last.isUndone = true
    return last
  }

  /** Made when it is first asked for. */
  get scope(): Scope.Scope {
    return (this.#scope ??= Scope.makeUnsafe())
  }

  close(exit: Exit.Exit<unknown, unknown>, whose: string): Effect.Effect<void> | undefined {
    const scope = this.#scope
    this.#scope ??= closedScope
    return scope && closed(scope, exit, whose)
  }
}

/** The scope of a run that has ended: a finalizer that is added to it runs at once. */
const closedScope: Scope.Closeable = { ...Scope.makeUnsafe(), state: { _tag: "Closed", exit: Exit.void } }

/**
 * Runs a function of a tool in a scope of its own, which is closed when it has ended. If there is anything to release, `before` gets the
 * exit of the function first: its value may still need that. The scope is made at once, so the result is an effect for one execution.
 *
 * @internal
 */
export const scoped = <A, E, R>(
  self: Effect.Effect<A, E, R>,
  tool: string,
  callId: string,
  before?: (exit: Exit.Exit<A, E>) => void
): Effect.Effect<A, E, Exclude<R, Scope.Scope>> => {
  const scope = Scope.makeUnsafe()
  const inScope = Effect.updateContext(
    self,
    // `R` without a scope, and a scope
    (context: Context.Context<Exclude<R, Scope.Scope>>) =>
      Context.add(context, Scope.Scope, scope) as Context.Context<R>
  )
  return Effect.onExitPrimitive(inScope, (exit) => {
    if (scope.state._tag === "Empty") return Scope.closeUnsafe(scope, exit)
    before?.(exit)
    return closed(scope, exit, `tool '${tool}'`, callId)
  })
}

/** Closes a scope. A finalizer that fails is logged, and changes no outcome. */
const closed = (
  scope: Scope.Closeable,
  exit: Exit.Exit<unknown, unknown>,
  whose: string,
  callId?: string
): Effect.Effect<void> | undefined => {
  const closing = Scope.closeUnsafe(scope, exit)
  return (
    closing &&
    Effect.catchCause(closing, (cause) => {
      const call = callId === undefined ? "" : `, call '${ErrorCause.inLog(callId)}'`
      return Effect.logWarning(`A finalizer failed: ${whose}${call}`, ErrorCause.logged(cause))
    })
  )
}
