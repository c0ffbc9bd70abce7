/** The deferred calls of this process that wait for their settlements, by their tokens. */
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Predicate from "effect/Predicate"
import type * as Schema from "effect/Schema"
import * as Token from "../data/Token.ts"

/**
 * Whether a settlement counts. Only the first one for a token counts, and only while the call waits in this process.
 *
 * @hidden
 */
export type Receipt = Counted | NotCounted

/** The settlement is the one of the call. */
type Counted = {
  readonly _tag: "Counted"
}

/** The settlement changes nothing. */
type NotCounted = {
  readonly _tag: "NotCounted"
  /**
   * - `already-settled`: an earlier settlement counts, or the token is one of an earlier attempt.
   * - `late`: the deadline of the call has passed.
   * - `suspended`: the run waits in a snapshot. Resume it with this settlement.
   * - `run-over`: the run has ended, or the call was stopped.
   * - `bad-signature`: the signer of the program has not signed this token.
   * - `unknown-token`: this process knows no such call.
   */
  readonly reason: "already-settled" | "late" | "suspended" | "run-over" | "bad-signature" | "unknown-token"
}

/** Why a call no longer waits. */
export type Closed = Exclude<NotCounted["reason"], "bad-signature" | "unknown-token">

export type Decode = (
  exit: Exit.Exit<unknown, unknown>
) => Effect.Effect<Exit.Exit<unknown, unknown>, Schema.SchemaError>

/** A deferred call that waits or is about to begin. A settlement may come even before `start` has returned. */
export class Entry {
  readonly decode: Decode
  readonly arrived = Deferred.makeUnsafe<void>()
  settlement: Exit.Exit<unknown, unknown> | undefined
  closed: Closed | undefined
  /** Whether a message of the user has withdrawn the call, although its wait has not ended yet. */
  isWithdrawn: () => boolean = () => false
  /** The last instant at which a settlement counts, for a call that no timer closes then. */
  expiresAt = Infinity
  /** Called with the settlement that counts. */
  onTaken: ((exit: Exit.Exit<unknown, unknown>) => void) | undefined

  constructor(decode: Decode) {
    this.decode = decode
  }

  /** Whether the call has no settlement yet and may still get one. */
  get isUnsettled(): boolean {
    return this.closed === undefined && this.settlement === undefined
  }

  /** Takes a settlement, and returns whether it counts. */
  take(exit: Exit.Exit<unknown, unknown>): Receipt {
    if (!this.isUnsettled) return notCounted(this.closed ?? "already-settled")
    if (this.isWithdrawn()) return notCounted("run-over")
    this.settlement = exit
    this.onTaken?.(exit)
    Deferred.doneUnsafe(this.arrived, Exit.void)
    return counted
  }
}

const counted: Receipt = { _tag: "Counted" }

export const notCounted = (reason: NotCounted["reason"]): Receipt => ({ _tag: "NotCounted", reason })

/** For how many closed calls the reason is kept. The tokens of older calls count as unknown. */
const most = 10_000

const entries = new Map<string, Entry>()
const over = new Map<string, Closed>()

/** Registers a call: from now on a settlement with this token counts. */
export const enter = (token: string, decode: Decode): Entry => {
  const entry = new Entry(decode)
  // Mutant `;` survives: a call that waits is looked for first
  over.delete(token)
  entries.set(token, entry)
  return entry
}

/** Closes a call: from now on no settlement with this token counts. The first reason stays. */
export const close = (token: string, entry: Entry, why: Closed): void => {
  if (entry.closed !== undefined) return
  entry.closed = entry.settlement === undefined ? why : "already-settled"
  // a call that waits outside of this process was not registered, and a run that was resumed twice has registered another entry
  if (entries.get(token) !== entry) return
  entries.delete(token)
  for (const oldest of over.keys()) {
    if (over.size < most) break
    over.delete(oldest)
  }
  over.set(token, entry.closed)
}

/** By token: the effects that cancel the work of calls which wait to be suspended with their runs, or are suspended. */
const handedOver = new Map<string, Effect.Effect<boolean>>()

/** Hands a call over to its run: if the run ends without being suspended, the run cancels the work of the call. */
export const handOver = (token: string, cancel: Effect.Effect<boolean>): void => {
  handedOver.set(token, cancel)
}

/** Forgets how to cancel the work of a call, because the run goes on elsewhere or needs this no more. */
export const release = (token: string): Effect.Effect<void> => Effect.sync(() => void handedOver.delete(token))

/**
 * Cancels the work of a call that was handed over, at most once. Returns whether the tool has confirmed that. From now on the call is over.
 */
export const withdraw = (token: string): Effect.Effect<boolean> =>
  Effect.suspend(() => {
    const cancel = handedOver.get(token)
    handedOver.delete(token)
    if (over.get(token) === "suspended") over.set(token, "run-over")
    return cancel ?? Effect.succeed(false)
  })

/**
 * Settles a deferred call that waits in this process. The exit has the result or the failure of the call, as a value or as the JSON of
 * it: the `success` or `failure` schema of the tool decodes it. A misfit fails with a `SchemaError`, and the call keeps waiting.
 *
 * The token is all that this needs: keep it from clients. A settlement may come before `start` has returned.
 */
export const settle = (token: string, exit: Exit.Exit<unknown, unknown>): Effect.Effect<Receipt, Schema.SchemaError> =>
  Effect.gen(function* () {
    // the token comes from a webhook, and may be a value of any type
    if (!Predicate.isString(token)) return notCounted("unknown-token")
    if (!(yield* Token.isGenuine(token))) return notCounted("bad-signature")
    const entry = entries.get(token)
    if (entry === undefined) return notCounted(over.get(token) ?? "unknown-token")
    if ((yield* Clock.currentTimeMillis) > entry.expiresAt) return notCounted("late")
    return entry.take(yield* entry.decode(exit))
  })
