/**
 * Arbitraries for properties about policies and agents. They draw errors of every class of this library, transcripts, arguments of tools,
 * turns of models, limits of runs, faults, scripts of failures, policies and tables. `it.effect.prop` of `@effect/vitest` takes them, and so does `FastCheck.check`. They are made
 * of `effect/Arbitrary`, which is not stable in Effect yet, so this module stands apart from the rest of the kit.
 */
import * as Arbitrary from "effect/Arbitrary"
import * as Duration from "effect/Duration"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as DoorError from "../errors/DoorError.ts"
import * as Issue from "../data/Issue.ts"
import type * as KintsugiError from "../errors/KintsugiError.ts"
import * as LlmError from "../errors/LlmError.ts"
import * as Message from "../data/Message.ts"
import * as RecoveryAdvice from "../errors/RecoveryAdvice.ts"
import * as RunError from "../errors/RunError.ts"
import type * as Tool from "../tool/Tool.ts"
import { modelSchema } from "../tool/ToolSchema.ts"
import { constantFrom, oneOf } from "./policyArbitraries.ts"
import * as ToolError from "../errors/ToolError.ts"

export * from "./modelArbitraries.ts"
export * from "./policyArbitraries.ts"

// --- conversations

/** Any transcript in which every call has a settlement. */
export const transcript: Arbitrary.Arbitrary<Message.Transcript> = Arbitrary.schema(Message.Transcript)

const foreignId = Schema.Literals(["a", "b", "c"])

const foreignCall = Schema.Struct({
  type: Schema.tag("tool-call"),
  id: foreignId,
  name: Schema.Literal("look"),
  arguments: Schema.Literal("{}")
})

const foreignPart = Schema.Union([
  Schema.Struct({ type: Schema.tag("text"), text: Schema.String }),
  Schema.Struct({ type: Schema.tag("reasoning"), text: Schema.String }),
  foreignCall,
  Schema.Struct({
    type: Schema.tag("settled-call"),
    call: foreignCall,
    settlement: Schema.Struct({ kind: Message.Settlement.fields.kind, text: Schema.String })
  })
])

/**
 * A message of a foreign history, for `Message.repair`. The calls have few ids, so in a list of such messages some results are missing, and
 * some come twice or without their call.
 *
 * @internal
 */
export const foreignMessage: Arbitrary.Arbitrary<Message.Foreign> = Arbitrary.schema(
  Schema.Union([
    Schema.Struct({ role: Schema.tag("system"), text: Schema.String }),
    Schema.Struct({
      role: Schema.tag("user"),
      content: Schema.Tuple([Schema.Struct({ type: Schema.tag("text"), text: Schema.String })])
    }),
    Schema.Struct({
      role: Schema.tag("assistant"),
      content: Schema.Array(foreignPart).check(Schema.isMaxLength(5))
    }),
    Schema.Struct({ role: Schema.tag("tool"), callId: foreignId, text: Schema.String, isError: Schema.Boolean })
  ])
)

/** Arguments that fit a tool, as JSON text or an object. */
export const toolArguments = (tool: Tool.AnyTool): Arbitrary.Arbitrary<Message.ToolCall["arguments"]> => {
  const parameters = modelSchema(tool.definition.parameters)
  const encode = Schema.encodeUnknownSync(parameters)
  const encodes = Schema.encodeUnknownResult(parameters)
  // values that the schema cannot encode, such as an invalid date, are never sent to a tool
  const params = Arbitrary.filter(Arbitrary.schema(parameters), (value) => Result.isSuccess(encodes(value)))
  const drawn = Arbitrary.all({ params, isText: Arbitrary.schema(Schema.Boolean) })
  return Arbitrary.map(drawn, ({ isText, params }) => {
    const json = encode(params)
    // the parameters of a tool always encode to an object
    return isText ? JSON.stringify(json) : (json as Message.ToolCall["arguments"])
  })
}

/** The JSON text of a tool's arguments, cut off. The text may end at any point, as by the limit of a reply. */
export const brokenArguments = (tool: Tool.AnyTool): Arbitrary.Arbitrary<string> =>
  Arbitrary.map(
    Arbitrary.all({
      whole: toolArguments(tool),
      share: Arbitrary.schema(Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 1 })))
    }),
    ({ share, whole }) => {
      const text = typeof whole === "string" ? whole : JSON.stringify(whole)
      return text.slice(0, Math.floor(share * (text.length - 1)))
    }
  )

/** What a tool call says, without its id. */
type Said = Pick<Message.ToolCall, "name" | "arguments">

/**
 * Draws a call of one of these tools, for `modelTurns`. In one of nine cases its arguments are cut off, and in one of ten it calls a tool
 * that does not exist.
 */
export const toolCall = (
  ...tools: readonly [Tool.AnyTool, ...ReadonlyArray<Tool.AnyTool>]
): Arbitrary.Arbitrary<Said> => {
  const ofTool = (tool: Tool.AnyTool): Arbitrary.Arbitrary<Said> =>
    Arbitrary.map(oneOf([8, toolArguments(tool)], [1, brokenArguments(tool)]), (args) => ({
      name: tool.name,
      arguments: args
    }))
  const ofTools = tools.map((tool) => [1, ofTool(tool)] as const)
  return oneOf([9, oneOf(...ofTools)], [1, Arbitrary.Constant({ name: "nothing", arguments: {} })])
}

// --- errors

type AnyClass = Schema.Codec<unknown, unknown> & {
  new (fields: object): KintsugiError.KintsugiError
  readonly fields: Schema.Struct.Fields
}

// the modules export each error class under its tag, so the tag finds the class
const classes = { ...LlmError, ...ToolError, ...RunError, ...DoorError } as unknown as Readonly<
  Record<string, AnyClass>
>

/**
 * The cause of an error. It may be a foreign value of any kind, an error of this library, or errors around errors, up to three levels deep.
 */
export const cause: Arbitrary.Arbitrary<unknown> = causes([
  "error",
  "coded",
  "plain",
  "text",
  "number",
  "null",
  "ours",
  "nested"
])

function causes(kinds: ReadonlyArray<string>): Arbitrary.Arbitrary<unknown> {
  return Arbitrary.map(
    Arbitrary.schema(
      Schema.Struct({ kind: Schema.Literals(kinds), text: Schema.String, depth: Schema.Literals([0, 1, 2]) })
    ),
    ({ depth, kind, text }): unknown => causeOf(kind, text, depth)
  )
}

/** Causes of model failures: foreign values, and model failures of this library. */
const modelCause = causes(["error", "coded", "plain", "text", "number", "null", "ours"])

/** Causes of run errors: foreign values only, because a decoded run error never has an error of this library as its cause. */
const foreignCause = causes(["error", "coded", "plain", "text", "number", "null"])

function causeOf(kind: string, text: string, depth: number): unknown {
  switch (kind) {
    case "error":
      return new TypeError(text)
    case "coded":
      return Object.assign(new Error(text, { cause: new Error("beneath") }), { code: "E1", headers: { secret: text } })
    case "plain":
      return { message: text, status: 500 }
    case "text":
      return text
    case "number":
      return text.length
    case "null":
      return null
    case "ours":
      return LlmError.RateLimitError.make({ service: text, retryAfter: Duration.millis(text.length) })
    default: {
      const beneath = depth === 0 ? new Error(text) : causeOf("nested", text, depth - 1)
      return ToolError.executionErrorOf({ tool: text, callId: "c", kind: "local", args: { n: depth } }, beneath)
    }
  }
}

/**
 * Arbitraries for the fields that a schema cannot generate: foreign causes, and fields that are checked only when they are decoded from a
 * wire.
 */
const special: Readonly<Record<string, Arbitrary.Arbitrary<unknown>>> = {
  cause,
  originalError: cause,
  earlier: Arbitrary.array(modelCause, { maxLength: 3 }),
  attempts: Arbitrary.array(cause, { maxLength: 3 }),
  transcript,
  args: Arbitrary.schema(Schema.Json),
  rawValue: Arbitrary.schema(Schema.Json),
  issues: Arbitrary.schema(Schema.Array(Issue.Issue))
}

/** Errors of the class with this tag. Their fields are drawn from its schema, with and without the optional ones. An unknown tag throws. */
export const errorOf = <const Tag extends KintsugiError.KintsugiError["_tag"]>(
  tag: Tag
): Arbitrary.Arbitrary<Extract<KintsugiError.KintsugiError, { readonly _tag: Tag }>> => {
  const made = classes[tag]
  if (made === undefined) throw new TypeError(`Arbitraries: there is no error '${tag}'`)
  const isSpecial = (name: string) => name in special && !(name === "attempts" && tag === "EscalationError")
  const arbitraryOf = (name: string) => {
    if (name !== "cause") return special[name] ?? cause
    return tag in LlmError ? modelCause : tag in RunError ? foreignCause : cause
  }
  const names = Object.keys(made.fields).filter(isSpecial)
  const plain = Object.fromEntries(Object.entries(made.fields).filter(([name]) => !isSpecial(name)))
  const drawn = Arbitrary.all({
    fields: Arbitrary.schema(Schema.Struct(plain)),
    special: Arbitrary.all(Object.fromEntries(names.map((name) => [name, arbitraryOf(name)]))),
    isGiven: Arbitrary.schema(Schema.Boolean)
  })
  return Arbitrary.map(drawn, ({ fields, isGiven, special }) => {
    const optional = new Set([
      "cause",
      "originalError",
      "earlier",
      ...(tag === "ToolExecutionError" ? ["transcript"] : [])
    ])
    const chosen = Object.entries(special).filter(([name]) => isGiven || !optional.has(name))
    // `classes` has the class of each tag under that tag
    return new made({ ...fields, ...Object.fromEntries(chosen) }) as Extract<
      KintsugiError.KintsugiError,
      { readonly _tag: Tag }
    >
  })
}

/** Errors of every class of this library. */
export const error: Arbitrary.Arbitrary<KintsugiError.KintsugiError> = Arbitrary.flatMap(
  Arbitrary.schema(Schema.Literals(RecoveryAdvice.tags)),
  errorOf
)

/** Errors of a model, of every class, for `modelTurns`. */
export const modelError: Arbitrary.Arbitrary<LlmError.LlmError> = Arbitrary.flatMap(
  constantFrom(...RecoveryAdvice.tags.filter((tag): tag is LlmError.LlmError["_tag"] => tag in LlmError)),
  errorOf
)
