/**
 * Bridges `effect/ai` and this library, both ways. It has models, toolkits with recovery, and failures. All of `effect/ai` is unstable in
 * Effect, and only this folder imports it.
 */
import type * as LlmError from "@kintsugi/core/LlmError"
import * as Model from "@kintsugi/core/Model"
import type * as Tool from "@kintsugi/core/Tool"
import type * as AiError from "effect/ai/AiError"
import * as LanguageModel from "effect/ai/LanguageModel"
import * as AiModel from "effect/ai/Model"
import type * as AiTool from "effect/ai/Tool"
import type * as Toolkit from "effect/ai/Toolkit"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as FromError from "./fromError.ts"
import * as ToLanguageModel from "./languageModel.ts"
import * as FromLanguageModel from "./model.ts"
import * as ToError from "./toError.ts"
import * as ToToolkit from "./toolkit.ts"
import type * as ToolkitTypes from "./toolkitTypes.ts"
import * as FromToolkit from "./tools.ts"
import type * as ToolTypes from "./toolTypes.ts"

export { TextResult } from "./textResult.ts"
export type { ToolkitTools } from "./toolTypes.ts"
export type { ToolsAsToolkit } from "./toolkitTypes.ts"

/**
 * Makes a `Model` of a model of `effect/ai`. Calls are passed on as the model made them, including undeclared names; `effect/ai` runs none.
 * Provider metadata, such as signatures, is sent back to its provider. A request with an `output` and without tools asks for an object, and
 * gets it whole even if it is streamed.
 */
export const fromLanguageModel: (
  languageModel: LanguageModel.LanguageModel,
  info: FromLanguageModel.ModelInfo
) => Model.Service = FromLanguageModel.fromLanguageModel

/**
 * The `Model` for the `LanguageModel` in the context. By default it has the name and the provider that a model of
 * `effect/ai` provides, else `unknown` and `effect/ai`.
 */
export const model = (
  options: Partial<FromLanguageModel.ModelInfo> = {}
): Layer.Layer<Model.Model, never, LanguageModel.LanguageModel> =>
  Layer.effect(
    Model.Model,
    Effect.gen(function* () {
      const languageModel = yield* LanguageModel.LanguageModel
      const name = Option.getOrElse(yield* Effect.serviceOption(AiModel.ModelName), () => "unknown")
      const provider = Option.getOrElse(yield* Effect.serviceOption(AiModel.ProviderName), () => "effect/ai")
      return fromLanguageModel(languageModel, { name, provider, ...options })
    })
  )

/**
 * Makes a `LanguageModel` of a `Model`. It is for `generateText`, `streamText`, `generateObject` and `Chat` of `effect/ai`. It runs the
 * toolkits of its callers itself. The steps of `Coercion` first mend arguments, and texts that have to be objects. A stream that breaks off
 * is an error. Provider tools are options of our models: those in a toolkit are refused.
 */
export const toLanguageModel: (model: Model.Service) => Effect.Effect<LanguageModel.LanguageModel> =
  ToLanguageModel.toLanguageModel

/** The `LanguageModel` for the `Model` in the context. It also has the `ModelName` and the `ProviderName` of `effect/ai`. */
export const languageModel: Layer.Layer<
  LanguageModel.LanguageModel | AiModel.ModelName | AiModel.ProviderName,
  never,
  Model.Model
> = Layer.effectContext(
  Effect.flatMap(Model.Model, (model) =>
    Effect.map(toLanguageModel(model), (service) =>
      Context.make(LanguageModel.LanguageModel, service).pipe(
        Context.add(AiModel.ModelName, model.name),
        Context.add(AiModel.ProviderName, model.provider)
      )
    )
  )
)

/**
 * Makes tools of a toolkit of `effect/ai`, by name. Its handlers run them and stand in `R` until its `toLayer` is provided. A failure of a
 * tool's `failure` schema leaves the call as itself, and any other failure of its handler as an `ExecutionError`. With `failureMode:
 * "return"` the model reads failures, unless `Tool.onError` overrides this.
 *
 * `Readonly` means `sideEffects: "none"`, else `Idempotent` means `"idempotent"`; a tool with other hints is
 * `"unsafe"`, and one without hints `"undeclared"`. `OpenWorld` tools are web services, whose texts are marked as
 * data. Tools that a provider runs itself are left out: see `providerTools` of `fromLanguageModel`.
 *
 * Throws a `TypeError` if a tool needs approval and is not among `approvals`.
 */
export const fromToolkit = <Tools extends Record<string, AiTool.Any>, const O extends ToolTypes.Options<Tools> = {}>(
  toolkit: Toolkit.Toolkit<Tools>,
  options?: O & ToolTypes.DeclaredNames<O, Tools>
): ToolTypes.ToolkitTools<Tools, O> =>
  // TypeScript cannot compute the type of each tool from the untyped result
  FromToolkit.fromToolkit(toolkit.tools, options ?? {}) as ToolTypes.ToolkitTools<Tools, O>

/**
 * Makes a toolkit of tools, with the layer of its handlers. Each call is a run with this one tool: it mends arguments and applies the
 * tool's table, with fixers, time limits and events. The remaining failures are those of the toolkit's tool.
 *
 * `effect/ai` has one mode for all failures of a tool. With `"error"`, the default, a typed failure fails the caller
 * of the model, and a text for the model in place of a result is a `TextResult` among the results. With `"return"` both are
 * failed results that the model reads.
 *
 * A tool that needs approval asks for it in the way of `effect/ai`; arguments that are repaired after the approval
 * are refused. Throws a `TypeError` for two tools of one name.
 */
export const toToolkit = <const Tools extends ReadonlyArray<Tool.AnyTool>, Mode extends AiTool.FailureMode = "error">(
  tools: Tools & { readonly [I in keyof Tools]: ToolkitTypes.Callable<Tools[I]> },
  options?: { readonly failureMode?: Mode }
): ToolkitTypes.ToolsAsToolkit<Tools[number], Mode> =>
  // TypeScript cannot compute the type of each tool from the untyped result
  ToToolkit.toToolkit(tools, options?.failureMode ?? "error") as unknown as ToolkitTypes.ToolsAsToolkit<
    Tools[number],
    Mode
  >

/**
 * Makes an error of this library of a model failure of `effect/ai`. The original is its cause; the function is total. Both errors agree on
 * whether a retry is allowed, and on the wait. Failures without a reason of their own in `effect/ai` (an overload, a context that is too
 * long, a missing model) are classified by the provider's message and status. An error that `toAiError` made becomes its original again,
 * even after serialisation.
 */
export const fromAiError: (error: AiError.AiError, failed: FromError.Failed) => LlmError.LlmError =
  FromError.fromAiError

/**
 * Makes an `AiError` of an error of this library. The original is the cause of its reason; the function is total. Both errors agree on
 * whether a retry is allowed, and on the wait. An error that `fromAiError` made becomes its original again.
 */
export const toAiError: (error: LlmError.LlmError, at: ToError.At) => AiError.AiError = ToError.toAiError
