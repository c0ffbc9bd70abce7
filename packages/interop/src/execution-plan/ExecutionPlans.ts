/** Execution plans of Effect as models, and fallbacks as plans. */
import { LlmError, Model } from "@kintsugi/core"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as ExecutionPlan from "effect/ExecutionPlan"
import * as Layer from "effect/Layer"

/** What a plan says of itself in its type. */
interface PlanConfig {
  readonly provides: unknown
  readonly input: unknown
  readonly error: unknown
  readonly requirements: unknown
}

/** A plan whose steps provide a model, and whose `while` and `schedule` take the errors of models. */
type PlanOfModels<Config extends PlanConfig> = ExecutionPlan.ExecutionPlan<Config> &
  ([Model.Model] extends [Config["provides"]] ? unknown : "each step of the plan has to provide a Model.Model") &
  ([LlmError.LlmError] extends [Config["input"]] ? unknown : "while and schedule have to take each LlmError")

/** The model of the present step. */
// Mutant `""` survives: no other key is empty
class Rung extends Context.Service<Rung, Model.Service>()("@kintsugi/interop/ExecutionPlans/Rung") {}

/**
 * Makes a model of a plan. The steps are the models that each call tries, with their `attempts`, `schedule` and `while`, as
 * `Effect.withExecutionPlan` does. A run books each attempt under the name of its model. After the first text, thought or call of a stream
 * no other attempt is made.
 *
 * The layers of the steps are built once, with this layer. An error of a `while` or a `schedule` fails the call with an `UnknownLlmError`
 * that has it as its cause.
 *
 * @example
 * ```ts
 * import { Agent, LlmError } from "@kintsugi/core"
 * import { ScriptedModel } from "@kintsugi/core/testing"
 * import * as ExecutionPlans from "@kintsugi/interop/ExecutionPlans"
 * import { Effect, ExecutionPlan } from "effect"
 *
 * const program = Effect.gen(function* () {
 *   const busy = ScriptedModel.fails(LlmError.ModelOverloadedError.make({ model: "large" }))
 *   const large = yield* ScriptedModel.make(busy, busy)
 *   const small = yield* ScriptedModel.make(ScriptedModel.text("hello"))
 *   const plan = ExecutionPlan.make({ provide: large.layer, attempts: 2 }, { provide: small.layer })
 *   return yield* Agent.make("clerk", { model: ExecutionPlans.toModel(plan) })("hi")
 * })
 * await Effect.runPromise(Effect.scoped(program)) // => "hello"
 * ```
 */
export const toModel = <Config extends PlanConfig>(
  plan: PlanOfModels<Config>
): Layer.Layer<Model.Model, Config["error"], Config["requirements"]> => {
  const composed = Effect.gen(function* () {
    const { steps } = yield* plan.captureRequirements
    const rung = ({ provide }: (typeof steps)[number]) =>
      Effect.map(
        Layer.isLayer(provide) ? Layer.build(provide) : Effect.succeed(provide),
        // cast: the type of the plan demands a model of each step
        (services) => Context.get(services as Context.Context<Model.Model>, Model.Model)
      )
    const [first, ...others] = steps
    const models = [yield* rung(first), ...(yield* Effect.forEach(others, rung))] as const
    const step = ({ attempts, schedule, while: isFitting }: (typeof steps)[number], nth: number) => ({
      provide: Context.make(Rung, models[nth] ?? models[0]),
      attempts,
      schedule,
      while: isFitting
    })
    const ofRungs = ExecutionPlan.make(step(first, 0), ...others.map((other, nth) => step(other, nth + 1)))
    return Model.compose(models, (ask) => along(Effect.flatMap(Rung, ask), ofRungs, models[0]))
  })
  return Layer.effect(Model.Model, composed)
}

/** Runs a call along a plan, whose own errors become errors of the model. */
const along = <A, R>(
  call: Effect.Effect<A, LlmError.LlmError, R | Rung>,
  // oxlint-disable-next-line typescript/no-explicit-any -- the type of the plan given to `toModel` demands that it takes each error of a model
  plan: ExecutionPlan.ExecutionPlan<{ provides: Rung; input: any; error: unknown; requirements: never }>,
  { name, provider }: Model.Service
): Effect.Effect<A, LlmError.LlmError, R> =>
  Effect.mapError(
    // cast: the plan provides the rung, which the compiler cannot take out of an unknown `R`
    Effect.withExecutionPlan(call, plan) as Effect.Effect<A, unknown, R>,
    (error) =>
      LlmError.isLlmError(error) ? error : LlmError.UnknownLlmError.make({ model: name, provider, cause: error })
  )

/** The option of `fromFallback`, which is that of `Model.fallback`. */
interface FallbackOptions {
  readonly when?: (error: LlmError.LlmError) => boolean
}

type ModelOf = Model.Service | Layer.Layer<Model.Model, unknown, unknown>

/** The plan of some models: what their layers need and how they fail. */
type PlanOf<M extends ReadonlyArray<ModelOf>> = ExecutionPlan.ExecutionPlan<{
  provides: Model.Model
  input: unknown
  error: M[number] extends infer L ? (L extends Layer.Layer<Model.Model, infer E, infer _R> ? E : never) : never
  requirements: M[number] extends infer L ? (L extends Layer.Layer<Model.Model, infer _E, infer R> ? R : never) : never
}>

/**
 * Makes a plan of what `Model.fallback` takes. It has one step for each model, which begins after an error that `when` admits; by default, one
 * whose `recovery` is `fallback` or `resend`. Any other error ends the plan. `ExecutionPlans.toModel` of the plan calls the models as
 * `Model.fallback` does.
 *
 * A plan around a whole agent repeats the run, tools included, so put it around a model call or a program without side effects. A recovery
 * table around a `Model.fallback` has no step; one around a single model stays within its step.
 *
 * @example
 * ```ts
 * import { Model } from "@kintsugi/core"
 * import { ScriptedModel } from "@kintsugi/core/testing"
 * import * as ExecutionPlans from "@kintsugi/interop/ExecutionPlans"
 * import { Effect } from "effect"
 *
 * const large = ScriptedModel.answering(() => ScriptedModel.text("large"))
 * const small = ScriptedModel.answering(() => ScriptedModel.text("small"))
 * const plan = ExecutionPlans.fromFallback([large, small])
 * const called = Effect.map(Model.Model, ({ name }) => name).pipe(Effect.withExecutionPlan(plan))
 * await Effect.runPromise(called) // => "scripted"
 * ```
 */
export const fromFallback = <const M extends readonly [ModelOf, ...ReadonlyArray<ModelOf>]>(
  models: M,
  { when = byAdvice }: FallbackOptions = {}
): PlanOf<M> => {
  const isAdmitted = (error: unknown): boolean => LlmError.isLlmError(error) && when(error)
  const [first, ...later] = models.map((model) => ({
    provide: "generate" in model ? Context.make(Model.Model, model) : model
  }))
  // the type has at least one model
  if (first === undefined) throw new TypeError("ExecutionPlans.fromFallback: it needs a model")
  const plan = ExecutionPlan.make(first, ...later.map((step) => ({ ...step, attempts: 1, while: isAdmitted })))
  // cast: the steps are an array here, and the models of a known type outside
  return plan as unknown as PlanOf<M>
}

const byAdvice = ({ recovery }: LlmError.LlmError): boolean => recovery === "fallback" || recovery === "resend"
