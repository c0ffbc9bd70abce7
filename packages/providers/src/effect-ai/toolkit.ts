/**
 * Makes a toolkit of `effect/ai` from tools of this library. Each call is a run of an agent with this one tool, with all of its recovery.
 */
import * as Agent from "@kintsugi/core/Agent"
import * as Approval from "@kintsugi/core/Approval"
import { Approver } from "@kintsugi/core/Approval"
import * as Coercion from "@kintsugi/core/Coercion"
import * as ErrorCause from "@kintsugi/core/ErrorCause"
import { KintsugiError } from "@kintsugi/core/KintsugiError"
import * as Message from "@kintsugi/core/Message"
import * as Model from "@kintsugi/core/Model"
import * as Skill from "@kintsugi/core/Skill"
import type * as Tool from "@kintsugi/core/Tool"
import * as Usage from "@kintsugi/core/Usage"
import * as AiTool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SchemaTransformation from "effect/SchemaTransformation"
import * as Stream from "effect/Stream"
import { jsonOf } from "./prompt.ts"
import { TextResult } from "./textResult.ts"
import * as Json from "../transport/Json.ts"

export const toToolkit = (tools: ReadonlyArray<Tool.AnyTool>, failureMode: AiTool.FailureMode) => {
  const names = tools.map(({ name }) => name)
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice !== undefined) throw new TypeError(`EffectAi.toToolkit: there are two tools named '${twice}'`)
  const toolkit = Toolkit.make(...tools.map((tool) => declared(tool, failureMode)))
  return {
    toolkit,
    layer: toolkit.toLayer(Object.fromEntries(tools.map((tool) => [tool.name, handler(tool, failureMode)])))
  }
}

/** Declares a tool to `effect/ai`. Its parameters are JSON Schema, because the tool itself decodes, mends and repairs arguments. */
const declared = ({ definition }: Tool.AnyTool, failureMode: AiTool.FailureMode): AiTool.Any => {
  const { approval, description, kind, name, sideEffects } = definition
  const tool = AiTool.dynamic(name, {
    description,
    parameters: { ...definition.spec().parameters },
    success: results(definition),
    failure: failures(definition),
    failureMode,
    ...(approval === undefined
      ? {}
      : { needsApproval: (params: unknown) => approvalNeeded(definition, approval, params) })
  }).annotate(AiTool.Strict, false)
  const local = kind === "local" ? tool : tool.annotate(AiTool.OpenWorld, true)
  switch (sideEffects) {
    case "none":
      return local.annotate(AiTool.Readonly, true)
    case "idempotent":
      return local.annotate(AiTool.Idempotent, true)
    case "unsafe":
      return local.annotate(AiTool.Destructive, true)
    case "undeclared":
      return local
  }
}

type Definition = Tool.AnyTool["definition"]

/**
 * Whether a call needs approval. Arguments that do not fit need it, because they may fit after a repair; so do calls whose predicate fails.
 */
const approvalNeeded = (definition: Definition, { when }: NonNullable<Definition["approval"]>, params: unknown) => {
  if (mended(definition, params) === undefined) return Effect.succeed(true)
  return Effect.suspend(() => when(() => mended(definition, params)?.decoded)).pipe(
    Effect.orElseSucceed(() => true),
    Effect.catchDefect(() => Effect.succeed(true))
  )
}

/** The arguments as the tool will get them; `undefined` if they do not fit, or if their schema is asynchronous. */
const mended = ({ coercion, decode }: Definition, params: unknown) => {
  let waits = false
  const decodeNow = (json: Schema.Json) => {
    const read = decode(json)
    waits ||= !Result.isResult(read)
    return Result.isResult(read) ? read : Result.succeed(undefined)
  }
  const decoded = Result.flatMap(Coercion.parse(jsonOf(params), coercion), (parsed) =>
    Coercion.decode(parsed, decodeNow, coercion)
  )
  return waits ? undefined : Result.getOrUndefined(decoded)
}

const handler = (tool: Tool.AnyTool, failureMode: AiTool.FailureMode) => {
  const { definition } = tool
  const agent = Agent.make(tool.name, {
    model: calling(tool.name),
    skills: [Skill.make(tool.name, { description: definition.description, tools: [tool] })]
  })
  return (params: unknown, { toolCallId }: { readonly toolCallId?: string | undefined }): Effect.Effect<unknown> => {
    const run = agent(JSON.stringify({ id: toolCallId, arguments: jsonOf(params) }))
    const result = Effect.map(run, (text) => valueOf(definition, JSON.parse(text)))
    const answered = Effect.flatMap(result, (value) =>
      value instanceof TextResult && failureMode === "return" ? Effect.fail(value) : Effect.succeed(value)
    )
    // the declared types of the toolkit and of its layer have these failures and requirements
    return Effect.provideService(answered, Approver, approving(definition, params)) as Effect.Effect<unknown>
  }
}

/** An approver that approves a call with the arguments that `effect/ai` has already approved, and refuses other arguments. */
const approving = (definition: Definition, params: unknown): Approver["Service"] => ({
  decide: (request) => {
    const approved = mended(definition, params)
    const isSame = approved !== undefined && JSON.stringify(approved.value) === JSON.stringify(request.arguments)
    return Effect.succeed(
      isSame ? Approval.approve : Approval.refuse("its arguments were repaired after the call was approved")
    )
  }
})

/** A model that makes the one tool call described by its input, and then returns the settlement of that call as JSON. */
const calling = (name: string): Layer.Layer<Model.Model> => {
  const generate = ({ messages }: Model.Request): Effect.Effect<Message.Reply> =>
    Effect.sync(() => {
      const last = messages.at(-1)
      // Mutant `last.role` survives: a run begins with the message of its user
      if (last?.role === "assistant") {
        const call = last.content.find((part) => part.type === "settled-call")
        return { content: [Message.text(JSON.stringify(call?.settlement))], finish: "stop", usage: Usage.empty }
      }
      // Mutant `last.role` survives: a run begins with the message of its user
      const given: Schema.Json = JSON.parse(last?.role === "user" ? Message.textOf(last) : "{}")
      const id = Json.text(Json.field(given, "id")) ?? name
      const args = Json.field(given, "arguments") ?? null
      return { content: [{ type: "tool-call", id, name, arguments: args }], finish: "tool-calls", usage: Usage.empty }
    })
  return Layer.succeed(Model.Model, {
    name: "effect/ai",
    provider: "effect/ai",
    generate,
    stream: (request) => Stream.unwrap(Effect.map(generate(request), (reply) => Stream.fromArray(Model.partsOf(reply))))
  })
}

/** The value of a tool's result. A text that does not encode a whole result, because it was truncated or told, becomes a `TextResult`. */
const valueOf = (definition: Definition, { kind, text }: Message.Settlement): unknown => {
  const message = new TextResult({ kind, text })
  if (kind !== "result") return message
  const read = definition.decodeResult(text)
  const candidates = [...(Result.isSuccess(read) ? [read.success] : []), text]
  const found = candidates.filter((value) => Option.getOrUndefined(Exit.getSuccess(definition.encode(value))) === text)
  return found.length === 0 ? message : found[0]
}

/** The codec of a tool's results, by the tool's own schema. */
const results = ({ decodeResult, encode }: Definition): Schema.Codec<unknown, unknown> =>
  written(
    (value) =>
      value instanceof TextResult
        ? Effect.succeed(value.text)
        : // a value that is too deep for JSON is a text
          Effect.map(Effect.orDie(encode(value)), (text) =>
            Predicate.isString(value) ? text : (parsed(text) ?? text)
          ),
    (json) => Result.getOrElse(decodeResult(Predicate.isString(json) ? json : JSON.stringify(json)), () => json)
  )

/** The codec of a tool's failures. A failure without a schema is encoded as its name and message. */
const failures = ({ failure }: Definition): Schema.Codec<unknown, unknown> => {
  const codec = Schema.toCodecJson(failure === undefined ? KintsugiError : Schema.Union([failure, KintsugiError]))
  const encode = Schema.encodeUnknownOption(codec)
  const decode = Schema.decodeUnknownOption(codec)
  return written(
    (error) =>
      // the codec is one to JSON, so its result is JSON
      Effect.sync(() =>
        error instanceof TextResult
          ? error.text
          : (Option.getOrElse(encode(error), () => ErrorCause.summarise(error)) as Schema.Json)
      ),
    (json) => Option.getOrElse(decode(json), () => json)
  )
}

const written = (
  encode: (value: unknown) => Effect.Effect<Schema.Json>,
  decode: (json: Schema.Json) => unknown
): Schema.Codec<unknown, unknown> =>
  Schema.Json.pipe(
    Schema.decodeTo(
      Schema.Unknown,
      SchemaTransformation.transformEffect({ decode: (json: Schema.Json) => Effect.sync(() => decode(json)), encode })
    )
  )

const parsed = (text: string): Schema.Json | undefined => Result.getOrUndefined(Json.parse(text))
