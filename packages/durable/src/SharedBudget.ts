/**
 * A budget of tokens or US dollars for several runs and processes. It is that of a tenant, a day, or a whole program. Each model call
 * reserves an amount before it begins, and settles what it has used at its end.
 */
import * as Redaction from "@kintsugi/core/Redaction"
import * as LlmError from "@kintsugi/core/LlmError"
import * as Model from "@kintsugi/core/Model"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import type { SqlClient } from "effect/sql/SqlClient"
import type { BudgetReservation, BudgetStore } from "./limits/BudgetStore.ts"
import { memoryStore } from "./limits/memory.ts"
import { sqlStore } from "./limits/sql.ts"
import {
  amountAfter,
  amountBefore,
  type Counted,
  nothing,
  type SharedLimit,
  sinceOf,
  type Terms,
  termsOf
} from "./limits/terms.ts"

export type { BudgetPeriod, BudgetReservation, BudgetSpending, BudgetStore } from "./limits/BudgetStore.ts"
export type { SharedLimit } from "./limits/terms.ts"

const exceededFields = {
  key: Schema.String,
  unit: Schema.Literals(["tokens", "cost"]),
  /** The limit, what was spent, and what other calls have reserved: in tokens or US dollars. */
  limit: Schema.Finite,
  spent: Schema.Finite,
  reserved: Schema.Finite,
  /** What the refused call would have reserved. */
  asked: Schema.Finite
}

/** A call did not fit. It is the `cause` of the `QuotaExhaustedError` with which the call fails. */
export class SharedBudgetExceededError extends Schema.TaggedError<SharedBudgetExceededError>()(
  "SharedBudgetExceededError",
  { message: Schema.String, ...exceededFields }
) {
  readonly code = "KINTSUGI-SHARED-BUDGET-EXCEEDED"
  readonly isRetryable = false
}

/** The storage of shared budgets. */
export class SharedBudgets extends Context.Service<SharedBudgets, BudgetStore>()("@kintsugi/durable/SharedBudgets") {}

/** Shared budgets in memory, for tests. */
export const layerMemory: Layer.Layer<SharedBudgets> = Layer.sync(SharedBudgets, memoryStore)

/**
 * Shared budgets in a table of SQL. It is on PostgreSQL, PGlite or SQLite. The layer makes its table, or brings that of an older release up to date; it
 * dies if it cannot. To reserve and to settle are one statement each. Do not call a model within a transaction of this client: the
 * transaction would hold the budget until its end.
 */
export const layerSql: Layer.Layer<SharedBudgets, never, SqlClient> = Layer.effect(
  SharedBudgets,
  Effect.orDie(sqlStore)
)

/**
 * Puts a shared budget before a model. A call that does not fit fails with a `QuotaExhaustedError` whose cause is a
 * `SharedBudgetExceededError`, before any request. `Model.fallback` then goes on to the next model, so put the budget around each model of a
 * fallback rather than the whole. A call that reserves more than the whole limit fails with an `InvalidRequestError`: no period has room for
 * it.
 *
 * At its end a call replaces its reservation by what it has used: by the usage of its reply or of its error. Without a reported usage a call
 * that was interrupted, or broke off, counts as what it has reserved; so does a stream that fails after it gave parts of a reply. A call that
 * is interrupted before its model is asked counts as 0, and so does any other call that fails without a reported usage. So calls that report
 * what they use exceed the budget at most by what calls in flight use beyond their reservations. A reply of a cache, and of a durable run's
 * replay, uses nothing.
 *
 * A limit of cost needs the price of the model. Without it, and without a number in `reserve` for a price that replies report, a call fails
 * with an `InvalidRequestError` before any request. If the storage fails before a call, the call fails with an `UnknownLlmError`; if it fails
 * after the call, that is logged, and the reservation counts until it expires. The clock is that of the process. Every 100th call of a layer
 * removes periods that ended two leases ago.
 *
 * Throws a `RangeError` for invalid limits.
 *
 * @example
 * ```ts
 * import { Agent, LlmError } from "@kintsugi/core"
 * import { ScriptedModel } from "@kintsugi/core/testing"
 * import { SharedBudget } from "@kintsugi/durable"
 * import { Effect } from "effect"
 *
 * const program = Effect.gen(function* () {
 *   const scripted = yield* ScriptedModel.make(ScriptedModel.text("Oslo"))
 *   const model = SharedBudget.layer(scripted.layer, { key: "acme", tokens: 100, per: "1 day", reserve: 90 })
 *   const clerk = Agent.make("clerk", { model })
 *   const answer = yield* clerk("The capital of Norway?")
 *   const refused = yield* Effect.flip(clerk("The capital of Denmark?"))
 *   return [answer, refused._tag]
 * })
 * await Effect.runPromise(Effect.scoped(Effect.provide(program, SharedBudget.layerMemory))) // => ["Oslo", "QuotaExhaustedError"]
 * ```
 */
export const layer = <E, R>(
  model: Layer.Layer<Model.Model, E, R>,
  limit: SharedLimit
): Layer.Layer<Model.Model, E, R | SharedBudgets> => {
  const terms = termsOf(limit)
  const shared = Effect.gen(function* () {
    return Model.around(yield* Model.Model, surrounding(yield* SharedBudgets, terms))
  })
  return Layer.provide(Layer.effect(Model.Model, shared), model)
}

/**
 * What a budget has spent and reserved. The amounts are those of the present period, in tokens or US dollars.
 *
 * @example
 * ```ts
 * import { SharedBudget } from "@kintsugi/durable"
 * import { Effect } from "effect"
 *
 * const left = SharedBudget.spending({ key: "acme", tokens: 1_000_000, per: "1 day" })
 * await Effect.runPromise(Effect.provide(left, SharedBudget.layerMemory)) // => { spent: 0, reserved: 0 }
 * ```
 */
export const spending = (
  limit: SharedLimit
): Effect.Effect<{ readonly spent: number; readonly reserved: number }, unknown, SharedBudgets> => {
  const { key, lease, per, scale, unit } = termsOf(limit)
  return Effect.gen(function* () {
    const store = yield* SharedBudgets
    const at = yield* Clock.currentTimeMillis
    const found = yield* store.read({ key: yield* key, unit, per, since: sinceOf(at, per) }, at, lease)
    return { spent: found.spent / scale, reserved: found.reserved / scale }
  })
}

/** How many calls of a layer reserve between two removals of periods that have ended. */
const between = 100

type Surrounding = Exclude<Parameters<typeof Model.around>[1], (...given: ReadonlyArray<never>) => unknown>

/** Settles the reservation of a call, once. `undefined` is an unknown usage: then the reservation counts. */
type Settle = (counted: Counted | undefined) => Effect.Effect<void>

const surrounding = (store: BudgetStore, terms: Terms): Surrounding => {
  let calls = 0
  /** Removes periods that have ended, so that the table of many tenants does not grow. A late settlement finds the period two leases long. */
  const tidied = (at: number): Effect.Effect<void> =>
    ++calls % between === 0
      ? Effect.matchEffect(store.removeOlder(at - 2 * terms.lease), {
          onSuccess: () => Effect.void,
          onFailure: (error) =>
            Effect.logDebug("The shared budget has not removed old periods", {
              error: Redaction.foreign(String(error))
            })
        })
      : Effect.void

  /** Reserves before a call. It is not interrupted: an interruption within it would leave a reservation without a call. */
  const reserve = (request: Model.Request, model: Model.Service): Effect.Effect<Settle, LlmError.LlmError> =>
    Effect.gen(function* () {
      const { lease, limit, per, scale, unit } = terms
      const key = yield* terms.key
      const amount = amountBefore(terms, request, model)
      if (amount === undefined) return yield* Effect.fail(unpriced(key, model))
      if (amount > limit) return yield* Effect.fail(tooLarge(key, unit, amount / scale, limit / scale, model))
      const at = yield* Clock.currentTimeMillis
      yield* tidied(at)
      const asked = { key, unit, per, since: sinceOf(at, per), amount, limit, at, lease }
      const held = yield* Effect.mapError(store.reserve(asked), (cause) =>
        LlmError.UnknownLlmError.make({ ...named(model), cause, detail: "the storage of its shared budget failed" })
      )
      if ("spent" in held) {
        const { reserved, spent } = held
        const fields = { limit: limit / scale, spent: spent / scale, reserved: reserved / scale, asked: amount / scale }
        const resets = per === 0 ? {} : { resetAfter: Duration.millis(asked.since + per - at) }
        return yield* Effect.fail(refused(model, { key, unit, ...fields }, resets))
      }
      return settleOnce(store, terms, held, model)
    })
  return {
    generate: (reply, request, model) =>
      Effect.uninterruptibleMask((restore) =>
        Effect.flatMap(reserve(request, model), (settle) => {
          let isAsked = false
          const begun = Effect.suspend(() => {
            isAsked = true
            return reply
          })
          return Effect.onExit(restore(begun), (exit) =>
            settle(Exit.isSuccess(exit) ? exit.value : isAsked ? failedWith(exit.cause) : nothing)
          )
        })
      ),
    stream: (parts, request, model) =>
      Stream.unwrap(
        Effect.gen(function* () {
          const collector = new Model.Collector()
          let isAsked = false
          let hasBegun = false
          const settle = yield* Effect.acquireRelease(
            reserve(request, model),
            // the reader has left, or the stream broke off
            (settle) => settle(isAsked ? collector.spent : nothing)
          )
          const begun = Stream.suspend(() => {
            isAsked = true
            return parts
          })
          return begun.pipe(
            Stream.tap((part) => {
              collector.push(part)
              hasBegun ||= part.type !== "usage"
              // later parts are not read
              return part.type === "finish" ? settle(collector.reply()) : Effect.void
            }),
            Stream.tapCause((cause) => settle(collector.spent ?? failedWith(cause, hasBegun)))
          )
        })
      )
  }
}

/** What a call without a reply has used; `undefined` if it is unknown, because the call was interrupted or its reply had begun. */
const failedWith = (cause: Cause.Cause<LlmError.LlmError>, hasBegun = false): Counted | undefined => {
  const error = Option.getOrUndefined(Cause.findErrorOption(cause))
  if (error?.usage !== undefined) return { usage: error.usage }
  return error === undefined || hasBegun ? undefined : nothing
}

const settleOnce = (store: BudgetStore, terms: Terms, held: BudgetReservation, model: Model.Service): Settle => {
  let isOver = false
  return (counted) =>
    Effect.suspend(() => {
      if (isOver) return Effect.void
      isOver = true
      const used = counted === undefined ? undefined : amountAfter(terms, counted, model)
      return Effect.matchEffect(Effect.uninterruptible(store.settle(held, used ?? held.amount)), {
        onSuccess: () => Effect.void,
        onFailure: (error) =>
          Effect.logWarning("The shared budget has not counted a call", {
            key: held.key,
            model: model.name,
            error: Redaction.foreign(String(error))
          })
      })
    })
}

const named = ({ name, provider }: Model.Service) => ({ model: name, provider })

const unpriced = (key: string, model: Model.Service): LlmError.LlmError =>
  LlmError.InvalidRequestError.make({
    ...named(model),
    what: `The shared budget '${key}' limits the cost, and the price of model '${model.name}' is unknown`,
    detail: "give `prices`, or a number in `reserve` if its replies report their cost"
  })

const tooLarge = (
  key: string,
  unit: Terms["unit"],
  asked: number,
  limit: number,
  model: Model.Service
): LlmError.LlmError =>
  LlmError.InvalidRequestError.make({
    ...named(model),
    what: `The call of model '${model.name}' reserves ${asked} of the shared budget '${key}', whose whole limit is ${limit} ${worded(unit)}`,
    detail: "shorten the request, reserve less, or raise the limit"
  })

const worded = (unit: Terms["unit"]): string => (unit === "tokens" ? "tokens" : "US dollars")

const refused = (
  model: Model.Service,
  fields: Schema.Struct.Type<typeof exceededFields>,
  resets: { readonly resetAfter?: Duration.Duration }
): LlmError.LlmError => {
  const { asked, key, limit, reserved, spent, unit } = fields
  const message =
    `The shared budget '${key}' has ${spent} of ${limit} ${worded(unit)} spent and ` +
    `${reserved} reserved, so a call that reserves ${asked} does not fit`
  return LlmError.QuotaExhaustedError.make({
    ...named(model),
    ...resets,
    message: `${message}. Raise its limit, or wait for the end of its period`,
    cause: new SharedBudgetExceededError({ message, ...fields })
  })
}
