/** Makes tools of this library from a toolkit of `effect/ai`. The toolkit's handlers run them, and tables recover from their failures. */
import type * as Recovery from "@kintsugi/core/Recovery"
import { tell } from "@kintsugi/core/Recovery"
import * as Render from "@kintsugi/core/Render"
import * as RunContext from "@kintsugi/core/RunContext"
import * as Tool from "@kintsugi/core/Tool"
import { ExecutionError, type Kind, resultErrorOf } from "@kintsugi/core/ToolError"
import * as AiError from "effect/ai/AiError"
import type * as Prompt from "effect/ai/Prompt"
import * as AiTool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { fromAiError } from "./fromError.ts"
import { said } from "./schema.ts"
import { contentOf } from "./transcript.ts"
import type { AnyTools } from "./toolTypes.ts"

/** The options without their types, as `fromToolkit` reads them at run time. */
interface Given {
  readonly sideEffects?: { readonly [name: string]: Recovery.SideEffects | undefined }
  readonly approvals?: ReadonlyArray<PropertyKey>
}

type Codec = Schema.Codec<unknown, unknown>

export const fromToolkit = (
  tools: AnyTools,
  { approvals = [], sideEffects = {} }: Given
): Record<string, Tool.AnyTool> => {
  const handled = Object.values(tools).filter(hasHandler)
  const unnamed = handled.filter(
    ({ name, needsApproval = false }) => needsApproval !== false && !approvals.includes(name)
  )
  if (unnamed.length > 0) {
    const names = unnamed.map(({ name }) => `'${name}'`).join(", ")
    throw new TypeError(`EffectAi.fromToolkit: calls of ${names} need approval; name them in 'approvals'`)
  }
  // the tool of this library has decoded the parameters before it calls the handler, so the inner toolkit takes decoded values
  const inner = Toolkit.make(
    ...handled.map((tool): AiTool.Any => tool.setParameters(Schema.toType(tool.parametersSchema)))
  )
  const names = Tool.namesFor(handled.map(({ name }) => name))
  return Object.fromEntries(
    handled.map((tool, index) => {
      const name: string = tool.name
      const made = toolOf(names[index] ?? name, tool, sideEffects[name] ?? sideEffectsOf(tool), inner)
      // `ToolkitTools` computes the type of the remaining failures
      const recovered: Tool.AnyTool =
        tool.failureMode === "return" ? made.pipe(Tool.onError({ orElse: tell(encodedBy(tool)) })) : made
      return [
        name,
        approvals.includes(name) ? recovered.pipe(Tool.requireApproval({ when: predicateOf(tool) })) : recovered
      ]
    })
  )
}

/** Whether a handler runs the tool. A tool that the provider runs has none, and does not become a tool of an agent. */
const hasHandler = (tool: AiTool.Any): boolean => !AiTool.isProviderDefined(tool) || tool.requiresHandler

const toolOf = (
  name: string,
  tool: AiTool.Any,
  sideEffects: Recovery.SideEffects,
  toolkit: Toolkit.Toolkit<AnyTools>
) => {
  const foreignName: string = tool.name
  const kind = Context.getOrUndefined(tool.annotations, AiTool.OpenWorld) === true ? "web-service" : "local"
  // `SchemasMustNotNeedServices` ensures that the schemas of these tools need no services
  const failure = Schema.Union([tool.failureSchema as Codec, ExecutionError])
  const parameters = tool.parametersSchema as Codec
  const made = Tool.make(name, {
    foreignName,
    description:
      AiTool.getDescription(tool) ?? Option.getOrElse(Context.getOption(tool.annotations, AiTool.Title), () => ""),
    parameters: AiTool.isDynamic(tool) && tool.jsonSchema !== undefined ? said(tool.jsonSchema) : parameters,
    success: tool.successSchema as Codec,
    failure: failure as Codec,
    sideEffects,
    kind,
    run: (params, context) => {
      const handled = Effect.flatMap(toolkit, ({ handle }) => handle(foreignName, params, context.callId))
      const result = Effect.flatMap(handled, (results) => last(results, context.progress))
      return Effect.matchEffect(result, {
        onFailure: (error) => failing(name, tool, kind, error, context.callId),
        onSuccess: ({ isFailure, result }) =>
          isFailure ? failing(name, tool, kind, result, context.callId) : Effect.succeed(result)
      })
    }
  })
  const { toModelOutput } = tool
  return toModelOutput === undefined ? made : made.pipe(Tool.parts((result) => toModelOutput(result).map(contentOf)))
}

type HandlerResult = AiTool.HandlerResult<AiTool.Any>

/** Returns the last result of a handler, and reports the preliminary results before it as progress. */
const last = <E, R>(
  results: Stream.Stream<HandlerResult, E, R>,
  progress: (data: unknown) => Effect.Effect<void>
): Effect.Effect<HandlerResult, E, R> => {
  let final: HandlerResult | undefined
  const listened = Stream.runForEach(results, (result) => {
    if (result.preliminary) return progress(result.result)
    final = result
    return Effect.void
  })
  return Effect.flatMap(listened, () =>
    final === undefined ? Effect.die(new Error("a handler ended without a result")) : Effect.succeed(final)
  )
}

/** Fails with the tool's own failure if it fits the tool's failure schema, else with an `ExecutionError`. */
const failing = (
  name: string,
  tool: AiTool.Any,
  kind: Kind,
  error: unknown,
  callId: string
): Effect.Effect<never, unknown> => {
  const isOwn: (error: unknown) => boolean = Schema.is(tool.failureSchema)
  if (!AiError.isAiError(error) || isOwn(error)) return Effect.fail(error)
  const { message } = error.reason
  if (ofResults.has(error.reason._tag))
    return Effect.fail(resultErrorOf({ tool: name, kind, message, cause: error, callId }))
  return Effect.flatMap(Clock.currentTimeMillis, (now) => {
    const category = categories[error.reason._tag]
    return Effect.fail(
      category === undefined
        ? ExecutionError.make({ tool: name, kind, category: "llm", cause: fromAiError(error, { now }), callId })
        : ExecutionError.make({ tool: name, kind, category, message, cause: error, callId })
    )
  })
}

/** The tags of failures that mean: the tool has run, but its result does not fit its schema. */
const ofResults: ReadonlySet<string> = new Set(["InvalidToolResultError", "ToolResultEncodingError"])

/** The category of an `ExecutionError`, by the reason of `effect/ai`. Reasons that are not here are model failures. */
const categories: { readonly [tag: string]: ExecutionError["category"] | undefined } = {
  ToolParameterValidationError: "parameter",
  ToolNotFoundError: "invocation",
  ToolConfigurationError: "invocation",
  ToolkitRequiredError: "invocation"
}

/** The side effects that a tool's annotations declare. `Readonly` overrides the others; a tool without annotations is `"undeclared"`. */
const sideEffectsOf = ({ annotations }: AiTool.Any): Recovery.SideEffects => {
  if (Context.getOrUndefined(annotations, AiTool.Readonly) === true) return "none"
  const isIdempotent = Context.getOrUndefined(annotations, AiTool.Idempotent)
  if (isIdempotent === true) return "idempotent"
  const isDestructive = Context.getOrUndefined(annotations, AiTool.Destructive)
  return isIdempotent === undefined && isDestructive === undefined ? "undeclared" : "unsafe"
}

/**
 * Makes the text that the model reads about a failure: the failure encoded by its schema, as in `effect/ai`. A failure that the schema
 * cannot encode gets this library's text.
 */
const encodedBy = (tool: AiTool.Any) => {
  const encode = Schema.encodeUnknownOption(Schema.toCodecJson(tool.failureSchema as Codec))
  return (error: unknown, { kind }: Recovery.FailureContext): string => {
    const encoded = Option.getOrElse(encode(error), () => "")
    const text = Predicate.isString(encoded) ? encoded : JSON.stringify(encoded)
    return kind === "web-service" && text !== "" ? Render.asData(text) : text
  }
}

/**
 * Makes the predicate that says whether a call needs approval. A predicate that throws, or reads data that is unavailable here, means that
 * the call needs approval.
 */
const predicateOf =
  ({ needsApproval = true }: AiTool.Any) =>
  (params: unknown): Effect.Effect<boolean> => {
    if (!Predicate.isFunction(needsApproval)) return Effect.succeed(needsApproval)
    return Effect.flatMap(RunContext.Current, (run) => {
      const answer = Result.try((): boolean | Effect.Effect<boolean> => needsApproval(params, contextOf(run?.callId)))
      if (Result.isFailure(answer)) return Effect.succeed(true)
      if (!Effect.isEffect(answer.success)) return Effect.succeed(answer.success)
      return answer.success.pipe(Effect.catchDefect(() => Effect.succeed(true)))
    })
  }

const contextOf = (toolCallId = ""): AiTool.NeedsApprovalContext => ({
  toolCallId,
  get messages(): ReadonlyArray<Prompt.Message> {
    throw new Error("a predicate has no messages here")
  }
})
