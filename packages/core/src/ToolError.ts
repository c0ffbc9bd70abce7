/** Everything that can go wrong with one tool call, as flat tags that name the tool and the call. */
import * as Duration from "effect/Duration"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as SchemaTransformation from "effect/SchemaTransformation"
import * as ErrorCause from "./ErrorCause.ts"
import * as Issue from "./Issue.ts"
import { LlmError } from "./LlmError.ts"
import * as Message from "./Message.ts"
import { advised, type Category, type RecoveryAdvice } from "./RecoveryAdvice.ts"
import { RunError } from "./RunError.ts"
import * as Usage from "./Usage.ts"

const known = () =>
  Schema.toCodecJson(
    Schema.Union([
      LlmError,
      RunError,
      InvalidArgs,
      DeserializationError,
      ExecutionError,
      EscalationError,
      UnknownToolError,
      ToolTimeoutError,
      ToolDeniedError,
      OutcomeUnknownError,
      ToolExecutionError
    ])
  )

let knownCodec: ReturnType<typeof known> | undefined

/** Errors of this library survive a wire with their class; foreign ones as name, message and code. */
const NestedCause = Schema.Json.pipe(
  Schema.decodeTo(
    Schema.Unknown,
    SchemaTransformation.transform({
      decode: (json): unknown => {
        const ours = Schema.decodeUnknownOption((knownCodec ??= known()))(json)
        if (ours._tag === "Some") return ours.value
        const foreign = Schema.decodeUnknownOption(ErrorCause.ErrorCause)(json)
        return foreign._tag === "Some" ? foreign.value : json
      },
      encode: (cause): Schema.Json => {
        const ours = Schema.encodeUnknownOption((knownCodec ??= known()))(cause)
        return ours._tag === "Some" ? ours.value : ErrorCause.summarise(cause)
      }
    })
  )
)

const ofCall = { message: Schema.String, tool: Schema.String, callId: Schema.String }

/** The arguments are no JSON. The tool did not run. */
export class InvalidArgs extends advised(
  "InvalidArgs",
  Schema.TaggedError<InvalidArgs, RecoveryAdvice>()("InvalidArgs", {
    ...ofCall,
    /** The model's text, unchanged. */
    rawArgs: Schema.String,
    parseError: Schema.String
  })
) {
  static of(tool: string, callId: string, rawArgs: string, parseError: string): InvalidArgs {
    return new InvalidArgs({
      tool,
      callId,
      rawArgs,
      parseError,
      message: `The arguments of tool '${tool}' are not valid JSON: ${parseError}`
    })
  }
}

/** The arguments are JSON that does not fit the tool's parameters. The tool did not run. */
export class DeserializationError extends advised(
  "DeserializationError",
  Schema.TaggedError<DeserializationError, RecoveryAdvice>()("DeserializationError", {
    ...ofCall,
    rawValue: Schema.Json,
    targetType: Schema.String,
    issues: Schema.Array(Issue.Issue)
  })
) {
  static of(
    tool: string,
    callId: string,
    rawValue: Schema.Json,
    targetType: string,
    issues: ReadonlyArray<Issue.Issue>
  ): DeserializationError {
    return new DeserializationError({
      tool,
      callId,
      rawValue,
      targetType,
      issues,
      message: `The arguments of tool '${tool}' do not fit its parameters: ${issues.map(Issue.format).join("; ")}`
    })
  }
}

/** Where a tool's work is done. */
export type Kind = typeof Kind.Type

export const Kind = Schema.Literals(["local", "web-service", "llm", "mcp-tool"])

const categories: ReadonlyArray<Category> = [
  "network",
  "parameter",
  "client",
  "server",
  "validation",
  "llm",
  "mcp",
  "invocation",
  "unknown"
]

/** A tool's own failure, as rows for `ExecutionError` see it: the original is the cause. */
export class ExecutionError extends advised(
  "ExecutionError",
  Schema.TaggedError<ExecutionError, RecoveryAdvice>()("ExecutionError", {
    ...ofCall,
    /** The decoded parameters that the tool ran with, as JSON. */
    args: Schema.Json,
    kind: Kind,
    category: Schema.Literals(categories),
    status: Schema.optionalKey(Schema.Finite),
    cause: NestedCause
  })
) {
  /** Puts any failure of a tool into one shape; its own category, where it has one, is taken over. */
  static wrap(
    of: { readonly tool: string; readonly callId: string; readonly kind: Kind; readonly args: Schema.Json },
    cause: unknown
  ): ExecutionError {
    const lent = Predicate.hasProperty(cause, "category") ? cause.category : undefined
    const message = ErrorCause.summarise(cause).message
    return new ExecutionError({
      ...of,
      cause,
      category: categories.find((category) => category === lent) ?? "unknown",
      message: message === "" ? ErrorCause.summarise(cause).name : message
    })
  }
}

/** How badly an escalation wants attention. */
export type Severity = typeof Severity.Type

export const Severity = Schema.Literals(["LOW", "MEDIUM", "HIGH", "CRITICAL"])

/** Soft: an agent gave up on its task and says why. Around a tool call it is told to the model that made the call. */
export class EscalationError extends advised(
  "EscalationError",
  Schema.TaggedError<EscalationError, RecoveryAdvice>()("EscalationError", {
    message: Schema.String,
    /** The agent that escalated. */
    source: Schema.String,
    reason: Schema.String,
    severity: Severity,
    originalError: Schema.optionalKey(NestedCause),
    attempts: Schema.optionalKey(Schema.Finite)
  })
) {
  static of(source: string, reason: string, severity: Severity = "HIGH"): EscalationError {
    return new EscalationError({ source, reason, severity, message: `'${source}' escalated (${severity}): ${reason}` })
  }
}

/** The model named a tool that its skill does not offer. */
export class UnknownToolError extends advised(
  "UnknownToolError",
  Schema.TaggedError<UnknownToolError, RecoveryAdvice>()("UnknownToolError", {
    ...ofCall,
    known: Schema.Array(Schema.String)
  })
) {}

/** The tool did not end within its time limit. */
export class ToolTimeoutError extends advised(
  "ToolTimeoutError",
  Schema.TaggedError<ToolTimeoutError, RecoveryAdvice>()("ToolTimeoutError", {
    ...ofCall,
    timeout: Schema.Duration,
    sideEffects: Schema.Literals(["none", "idempotent", "unsafe", "undeclared"])
  })
) {
  static actionTimeout(tool: string, limit: Duration.Input): ToolTimeoutError {
    const timeout = Duration.fromInputUnsafe(limit)
    return new ToolTimeoutError({
      tool,
      callId: "",
      timeout,
      sideEffects: "none",
      message: `Tool '${tool}' did not end within ${Duration.format(timeout)}`
    })
  }
}

/** The call was refused, by a policy or by a person. */
export class ToolDeniedError extends advised(
  "ToolDeniedError",
  Schema.TaggedError<ToolDeniedError, RecoveryAdvice>()("ToolDeniedError", { ...ofCall, reason: Schema.String })
) {}

/** A tool with side effects was cut off after its start: nobody knows whether they took place. */
export class OutcomeUnknownError extends advised(
  "OutcomeUnknownError",
  Schema.TaggedError<OutcomeUnknownError, RecoveryAdvice>()("OutcomeUnknownError", {
    ...ofCall,
    idempotencyKey: Schema.String
  })
) {}

/** Hard: recovery of a tool call ended without success, or somebody raised it. */
export class ToolExecutionError extends advised(
  "ToolExecutionError",
  Schema.TaggedError<ToolExecutionError, RecoveryAdvice>()("ToolExecutionError", {
    ...ofCall,
    /** Every error on the way, those of fixers included, oldest first. */
    attempts: Schema.Array(NestedCause),
    /** The last of them. */
    cause: Schema.optionalKey(NestedCause),
    transcript: Schema.optionalKey(Message.Transcript),
    usage: Schema.optionalKey(Usage.Usage)
  })
) {
  /** A hard failure by decision: what `throwException` and deterministic agents fail with. */
  static raised(source: string, message: string): ToolExecutionError {
    return new ToolExecutionError({ tool: source, callId: "", attempts: [], message })
  }
}

export type ToolError = InvalidArgs | DeserializationError | ExecutionError | EscalationError

export const ToolError = Schema.Union([InvalidArgs, DeserializationError, ExecutionError, EscalationError])

export const isToolError: (value: unknown) => value is ToolError = Schema.is(ToolError)
