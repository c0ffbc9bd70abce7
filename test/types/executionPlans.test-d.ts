/** Plans as models, and models as plans: what they need, how they fail, and which do not compile. */
import { type LlmError, Model } from "@kintsugi/core"
import * as ExecutionPlans from "@kintsugi/interop/ExecutionPlans"
import { Context, Effect, ExecutionPlan, type Layer, type Schedule } from "effect"
import { test } from "vitest"
import { sameType } from "./_support/Identity.ts"

declare const one: Layer.Layer<Model.Model, "no key", "client">
declare const two: Layer.Layer<Model.Model, "no region", "signer">
declare const service: Model.Service

test("a model of a plan has the errors and the services of its layers, conditions and schedules [P1722]", () => {
  const plan = ExecutionPlan.make(
    { provide: one, while: (error: LlmError.LlmError) => Effect.as(Quota, error.isRetryable) },
    { provide: two, schedule: {} as Schedule.Schedule<number, LlmError.LlmError, "late", "clock"> }
  )
  sameType<Layer.Layer<Model.Model, "no key" | "no region" | "late", "client" | "signer" | "clock" | Quota>>()(
    ExecutionPlans.toModel(plan)
  )
  sameType<Layer.Layer<Model.Model>>()(
    ExecutionPlans.toModel(ExecutionPlan.make({ provide: Context.make(Model.Model, service) }))
  )
})

class Quota extends Context.Service<Quota, number>()("Quota") {}

test("a plan of a fallback has the errors and the services of its layers [P1722]", () => {
  const plan = ExecutionPlans.fromFallback([one, two, service], { when: ({ isRetryable }) => isRetryable })
  sameType<
    ExecutionPlan.ExecutionPlan<{
      provides: Model.Model
      input: unknown
      error: "no key" | "no region"
      requirements: "client" | "signer"
    }>
  >()(plan)
  sameType<Layer.Layer<Model.Model, "no key" | "no region", "client" | "signer">>()(ExecutionPlans.toModel(plan))
})

test("a generic function keeps what is open [P1722]", () => {
  const twice = <E, R>(layer: Layer.Layer<Model.Model, E, R>) => ExecutionPlan.make({ provide: layer, attempts: 2 })
  sameType<Layer.Layer<Model.Model, "no key", "client">>()(ExecutionPlans.toModel(twice(one)))
})

test("plans that give no model do not compile [P1722]", () => {
  const quota = ExecutionPlan.make({ provide: Context.make(Quota, 1) })
  // @ts-expect-error it provides no model
  ExecutionPlans.toModel(quota)
  const some = ExecutionPlan.make({ provide: one }, { provide: Context.make(Quota, 1) })
  // @ts-expect-error its second step provides no model
  ExecutionPlans.toModel(some)
  const narrow = ExecutionPlan.make({ provide: one, while: (error: LlmError.ServerError) => error.isRetryable })
  // @ts-expect-error its condition takes one error of a model alone
  ExecutionPlans.toModel(narrow)
  // @ts-expect-error a plan has at least one model
  ExecutionPlans.fromFallback([])
  // @ts-expect-error `when` decides about errors of models
  ExecutionPlans.fromFallback([one], { when: (error: string) => error === "" })
  const guarded = Model.onError(service, {
    ServerError: (error: LlmError.ServerError) => Effect.fail("own" as const).pipe(Effect.tapError(() => error))
  })
  // @ts-expect-error a model with a failure of its own is no model of a fallback
  ExecutionPlans.fromFallback([guarded])
})
