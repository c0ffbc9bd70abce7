/**
 * `effect/ai` and this library, both ways: its models are models here, its toolkits tools with recovery, its failures ours; and the
 * other way round. All of `effect/ai` is unstable in Effect, and enters here only.
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

export type { Failed } from "./fromError.ts"
export type { Known } from "./model.ts"
export { Told } from "./told.ts"
export type { At } from "./toError.ts"

/**
 * A model of `effect/ai` as a `Model`, whole and streamed. Calls are handed over as the model made them, undeclared names
 * included; `effect/ai` runs none. What its provider wrote down for itself, signatures and the like, goes back to it. A request with
 * an `output` and without tools is asked for as an object, and comes whole then also where it is streamed.
 */
export const fromLanguageModel: (
  languageModel: LanguageModel.LanguageModel,
  known: FromLanguageModel.Known
) => Model.Service = FromLanguageModel.fromLanguageModel

/** The `Model` behind the `LanguageModel` of the context. Its names are those of `effect/ai`'s `Model.make`, unless given. */
export const model = (
  options: Partial<FromLanguageModel.Known> = {}
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
 * A model as a `LanguageModel` of `effect/ai`, for its `generateText`, `streamText`, `generateObject` and its `Chat`. It runs the
 * toolkits of its callers by itself. Arguments, and texts that are to be objects, are mended by the steps of `Coercion` first; a
 * stream that breaks off is an error. Tools of providers are options of our models: those of a toolkit are refused.
 */
export const toLanguageModel: (model: Model.Service) => Effect.Effect<LanguageModel.LanguageModel> =
  ToLanguageModel.toLanguageModel

/** The `LanguageModel` behind the `Model` of the context, with its names for `effect/ai`. */
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
 * The tools of a toolkit, by name, for skills and tables of ours. Its handlers run them: they stand in `R` until its `toLayer` is
 * provided. A failure that a tool's `failure` schema knows leaves the call as itself, and any other of its handler's as an
 * `ExecutionError`; with `failureMode: "return"` the model reads them, until `Tool.onError` says something else.
 *
 * `Readonly` is read as `sideEffects: "none"`, else `Idempotent` as `"idempotent"`; one that is neither but says something of
 * itself is `"unsafe"`, and the rest is `"undeclared"`. `OpenWorld` tools are web services, whose words are told as data.
 * Tools that a provider runs on its own side are left out: see `providerTools` of `fromLanguageModel`.
 *
 * Throws a `TypeError` where a tool needs approval and is not among `approvals`.
 */
export const fromToolkit = <Tools extends Record<string, AiTool.Any>, const O extends ToolTypes.Options<Tools> = {}>(
  toolkit: Toolkit.Toolkit<Tools>,
  options?: O & ToolTypes.Known<O, Tools>
): ToolTypes.ToolsOf<Tools, O> =>
  // what is made of each tool is computed from its type
  FromToolkit.fromToolkit(toolkit.tools, options ?? {}) as ToolTypes.ToolsOf<Tools, O>

/**
 * Tools of ours as a toolkit, and the layer of its handlers. Each call is a run with that one tool: its arguments are mended, its
 * table is at work, with fixers, time limits and events. What is left of its failures are those of the toolkit's tool.
 *
 * `effect/ai` has one bit for all failures of a tool. With `"error"`, the default, a typed failure is a failure of whoever asked
 * the model, and what the model is told in the place of a result is a `Told` among the results. With `"return"` both are failed
 * results that the model reads.
 *
 * A tool that needs approval asks for it the way of `effect/ai`; arguments that are repaired after that are refused. Throws a
 * `TypeError` for two tools of one name.
 */
export const toToolkit = <const Tools extends ReadonlyArray<Tool.AnyTool>, Mode extends AiTool.FailureMode = "error">(
  tools: Tools & { readonly [I in keyof Tools]: ToolkitTypes.Callable<Tools[I]> },
  options?: { readonly failureMode?: Mode }
): ToolkitTypes.Made<Tools[number], Mode> =>
  // what is made of each tool is computed from its type
  ToToolkit.toToolkit(tools, options?.failureMode ?? "error") as unknown as ToolkitTypes.Made<Tools[number], Mode>

/**
 * The failure of a model as one of ours, with the original as its cause; total. It may be sent again exactly if that one may, after
 * the wait that that one asks for. What has no reason of its own there (an overload, a conversation that is too long, a model
 * that is not there) is read off the words and the status of the provider. One that `toAiError` made is the error that it was
 * made of, also behind a wire.
 */
export const fromAiError: (error: AiError.AiError, failed: FromError.Failed) => LlmError.LlmError =
  FromError.fromAiError

/**
 * One of our failures as an `AiError`, whose reason has the original as its cause; total. It may be sent again exactly if ours may,
 * after the wait that ours asks for. One that `fromAiError` made is the error that it was made of.
 */
export const toAiError: (error: LlmError.LlmError, at: ToError.At) => AiError.AiError = ToError.toAiError
