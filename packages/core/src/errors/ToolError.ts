/** Everything that can go wrong with one tool call, as flat tags that name the tool and the call. */
import * as Duration from "effect/Duration"
import * as Schema from "effect/Schema"
import * as ErrorCause from "../data/ErrorCause.ts"
import * as Redaction from "../data/Redaction.ts"
import * as Issue from "../data/Issue.ts"
import {
  categories,
  categoryOf,
  categoryOfStatus,
  final,
  Lent,
  lentBy,
  ofCategory,
  sayingOf,
  statusOf
} from "./facts.ts"
import { stackless } from "./stackless.ts"
import { sentence } from "./sentence.ts"
import { InputTooLargeError } from "./DoorError.ts"
import { isLlmError, LlmError } from "./LlmError.ts"
import * as Message from "../data/Message.ts"
import { advised } from "./RecoveryAdvice.ts"
import { RunError } from "./RunError.ts"
import * as Trail from "./Trail.ts"
import * as Usage from "../data/Usage.ts"

const KeptJson = ErrorCause.kept(Schema.Json)
const nested = () => Schema.Union([LlmError, RunError, InputTooLargeError, ToolError, AroundToolError])
const NestedCause = ErrorCause.nested(nested)

const ofCall = {
  message: Schema.String,
  tool: Schema.String,
  /** Empty for an error that was made outside of a call. */
  callId: Schema.String
}

const whereOf = (callId: string): ReadonlyArray<string> => (callId === "" ? [] : [`call ${callId}`])

/** The arguments are no JSON. The tool did not run. It is made without a stack. */
export class InvalidArgs extends advised<InvalidArgs>()("InvalidArgs", {
  ...ofCall,
  /** The model's text, unchanged. */
  rawArgs: Schema.String,
  parseError: Schema.String
}) {
  static of(tool: string, callId: string, rawArgs: string, parseError: string): InvalidArgs {
    const what = `The arguments of tool '${tool}' are not valid JSON`
    const message = sentence("InvalidArgs", { what, where: whereOf(callId), words: parseError })
    return stackless(() => new InvalidArgs({ tool, callId, rawArgs, parseError, message }))
  }
}

const misfitting = { rawValue: KeptJson, targetType: Schema.String, issues: ErrorCause.kept(Schema.Array(Issue.Issue)) }

type Misfit = Schema.Struct.Type<Omit<typeof ofCall, "message"> & typeof misfitting>

/** The arguments are JSON that does not fit the tool's parameters. The tool did not run. It is made without a stack. */
export class DeserializationError extends advised<DeserializationError>()("DeserializationError", {
  ...ofCall,
  ...misfitting
}) {
  static of(
    tool: string,
    callId: string,
    rawValue: Schema.Json,
    targetType: string,
    issues: ReadonlyArray<Issue.Issue>
  ): DeserializationError {
    const what = `The arguments of tool '${tool}' do not fit its parameters`
    return DeserializationError.misfit(what, { tool, callId, rawValue, targetType, issues })
  }
  /** Of a value that is not the arguments themselves, as `what` says. */
  static misfit(what: string, fields: Misfit): DeserializationError {
    const words = Issue.formatAll(fields.issues)
    const message = sentence("DeserializationError", { what, where: whereOf(fields.callId), words })
    return stackless(() => new DeserializationError({ ...fields, message }))
  }
}

/** Where a tool's work is done. */
export type Kind = typeof Kind.Type

export const Kind = Schema.Literals(["local", "web-service", "llm", "mcp-tool"])

/** What kind of failure it is. */
export type Category = typeof Category.Type

export const Category = Schema.Literals(categories)

/** The call that an error was made for, where its maker knows it. */
export interface CallOf {
  readonly callId?: string
  readonly args?: Schema.Json
}

type Wrapping = { readonly tool: string; readonly kind: Kind; readonly category?: Category } & Required<CallOf>

/**
 * A tool's own failure, as rows for `ExecutionError` see it: the original is the cause. The category decides about its
 * advice, unless the original lends its own.
 */
export class ExecutionError extends advised<ExecutionError>()("ExecutionError", {
  ...ofCall,
  /** The decoded parameters that the tool ran with, as JSON. */
  args: KeptJson,
  kind: Kind,
  category: Category,
  status: Schema.optionalKey(Schema.Finite),
  /** What a failure of the tool's own carried: it keeps it here, also where its class is lost on a wire. */
  lent: Schema.optionalKey(Lent),
  cause: Schema.optionalKey(NestedCause)
}) {
  /**
   * Puts any failure of a tool into one shape; advice, code and category of its own, where it has them, are taken over. One
   * that has the shape already only learns which call it is about. A category that is given comes first.
   */
  static wrap({ category: given, kind, tool, ...call }: Wrapping & Required<CallOf>, cause: unknown): ExecutionError {
    if (cause instanceof ExecutionError) return cause.callId === "" ? cause.inCall(call) : cause
    const lent = lentBy(cause)
    const category = given ?? categoryOf(cause, isLlmError)
    const message = sayingOf(cause, category)
    const status = statusOf(cause)
    const known = { ...(lent === undefined ? {} : { lent }), ...(status === undefined ? {} : { status }) }
    return new ExecutionError({ tool, kind, category, message, ...call, ...known, cause })
  }
  static fromNetworkError(tool: string, kind: Kind, cause: unknown, call?: CallOf): ExecutionError {
    return ExecutionError.of(tool, kind, "network", "", cause, call)
  }
  static fromParameterError(tool: string, kind: Kind, message: string, cause?: unknown, call?: CallOf): ExecutionError {
    return ExecutionError.of(tool, kind, "parameter", message, cause, call)
  }
  /** Status 4xx is of category `client`, 5xx `server`; 408, 425 and 429 are retryable all the same. */
  static fromApiError(
    tool: string,
    kind: Kind,
    status: number,
    message: string,
    cause?: unknown,
    call?: CallOf
  ): ExecutionError {
    const said = message === "" ? `status ${status}` : `${message} (status ${status})`
    return ExecutionError.of(tool, kind, categoryOfStatus(status), said, cause, call, status)
  }
  static fromLlmError(tool: string, kind: Kind, cause: LlmError, call?: CallOf): ExecutionError {
    return ExecutionError.of(tool, kind, "llm", "", cause, call)
  }
  static fromMcpError(tool: string, cause: unknown, call?: CallOf): ExecutionError {
    return ExecutionError.of(tool, "mcp-tool", "mcp", "", cause, call)
  }
  static fromInvocationError(tool: string, kind: Kind, cause: unknown, call?: CallOf): ExecutionError {
    return ExecutionError.of(tool, kind, "invocation", "", cause, call)
  }
  /** The tool has run, and what it gave does not fit: other arguments do not help. */
  static ofResult(tool: string, kind: Kind, message: string, cause?: unknown, call?: CallOf): ExecutionError {
    const made = ExecutionError.of(tool, kind, "validation", message, cause, call)
    const beneath = cause === undefined ? {} : { cause }
    return new ExecutionError({ ...made, ...beneath, message: made.message, lent: { outlook: final("none") } })
  }
  /** Without a message, the cause speaks; without either, the category. */
  static of(
    tool: string,
    kind: Kind,
    category: Category,
    message: string,
    cause?: unknown,
    { args = null, callId = "" }: CallOf = {},
    status?: number
  ): ExecutionError {
    return new ExecutionError({
      tool,
      callId,
      args,
      kind,
      category,
      message: message === "" ? sayingOf(cause, category) : Redaction.foreign(message),
      ...(status === undefined || !Number.isFinite(status) ? {} : { status }),
      ...(cause === undefined ? {} : { cause })
    })
  }
  /** The same failure, of this call. */
  inCall(call: CallOf): ExecutionError {
    // message and cause of an error are not enumerable
    const beneath = "cause" in this ? { cause: this.cause } : {}
    return new ExecutionError({ ...this, ...beneath, message: this.message, ...call })
  }
  /** All of it in one line, for a log: no stack, and whatever looks like a credential masked. */
  get detailedMessage(): string {
    const parts = [
      `[${this.kind.toUpperCase().replaceAll("-", "_")}] Tool '${this.tool}' failed: ${this.message}`,
      `Category: ${ofCategory[this.category].label}`,
      `Retryable: ${this.isRetryable}`
    ]
    if (this.cause !== undefined) {
      const { message, name } = ErrorCause.summarise(this.cause)
      parts.push(message === "" ? `Cause: ${name}` : `Cause: ${name} (${message})`)
    }
    return parts.map((part) => Redaction.foreign(part).replaceAll(/[\s\p{Cc}]+/gu, " ")).join(" | ")
  }
}

/** How badly an escalation wants attention. */
export type Severity = typeof Severity.Type

export const Severity = Schema.Literals(["LOW", "MEDIUM", "HIGH", "CRITICAL"])

/** Soft: an agent gave up on its task and says why. Around a tool call it is told to the model that made the call. */
export class EscalationError extends advised<EscalationError>()("EscalationError", {
  message: Schema.String,
  /** The agent that escalated. */
  source: Schema.String,
  reason: Schema.String,
  severity: Severity,
  originalError: Schema.optionalKey(NestedCause),
  attempts: Schema.optionalKey(Schema.Finite)
}) {
  static of(source: string, reason: string, severity: Severity = "HIGH"): EscalationError {
    const what = `Agent '${source}' gave up (severity ${severity})`
    const message = sentence("EscalationError", { what, words: reason })
    return new EscalationError({ source, reason, severity, message })
  }
  /** The same escalation, of a fixer that was at work on this failure. */
  about(repairing: { readonly error: unknown; readonly attempts: number } | undefined): EscalationError {
    if (repairing === undefined) return this
    const { message, reason, severity, source } = this
    const { attempts, error: originalError } = repairing
    return new EscalationError({ message, reason, severity, source, originalError, attempts })
  }
}

/** The model named a tool that its skill does not offer. */
export class UnknownToolError extends advised<UnknownToolError>()("UnknownToolError", {
  ...ofCall,
  known: Schema.Array(Schema.String)
}) {
  static of(tool: string, callId: string, known: ReadonlyArray<string>): UnknownToolError {
    const words = known.length === 0 ? "there are no tools" : `known are ${known.join(", ")}`
    const message = sentence("UnknownToolError", { what: `There is no tool '${tool}'`, where: whereOf(callId), words })
    return stackless(() => new UnknownToolError({ tool, callId, known, message }))
  }
}

/** The tool did not end within its time limit. */
export class ToolTimeoutError extends advised<ToolTimeoutError>()("ToolTimeoutError", {
  ...ofCall,
  timeout: Schema.Duration,
  sideEffects: Schema.Literals(["none", "idempotent", "unsafe", "undeclared"]),
  /** `false` where it was looked up that the tool did not take effect, and where it had not even begun. */
  tookEffect: Schema.optionalKey(Schema.Literal(false))
}) {
  /** Of a tool without side effects, unless they are given. */
  static actionTimeout(
    tool: string,
    limit: Duration.Input,
    known: Partial<Pick<ToolTimeoutError, "callId" | "sideEffects" | "tookEffect">> = {}
  ): ToolTimeoutError {
    return timedOut(tool, "end", limit, known.tookEffect === undefined ? "" : ", and took no effect", known)
  }
  /** The time of the call was over before the tool began; `isAsked`: while somebody was asked for approval. */
  static notStarted(
    tool: string,
    limit: Duration.Input,
    known: Partial<Pick<ToolTimeoutError, "callId" | "sideEffects">> & { readonly isAsked?: boolean } = {}
  ): ToolTimeoutError {
    const { isAsked = false, ...call } = known
    const why = isAsked ? ", as nobody had approved of the call" : ""
    return timedOut(tool, "begin", limit, why, { ...call, tookEffect: false })
  }
}

type TimedOut = Partial<Pick<ToolTimeoutError, "callId" | "sideEffects" | "tookEffect">>

const timedOut = (tool: string, missed: string, limit: Duration.Input, why: string, known: TimedOut) => {
  const { callId = "", sideEffects = "none", tookEffect } = known
  const timeout = Duration.fromInputUnsafe(limit)
  const what = `Tool '${tool}' did not ${missed} within ${Duration.format(timeout)}${why}`
  const message = sentence("ToolTimeoutError", { what, where: whereOf(callId) })
  const lookedUp = tookEffect === undefined ? {} : { tookEffect }
  return new ToolTimeoutError({ tool, callId, timeout, sideEffects, message, ...lookedUp })
}

/** The call was refused, by a policy or by a person. */
export class ToolDeniedError extends advised<ToolDeniedError>()("ToolDeniedError", {
  ...ofCall,
  reason: Schema.String
}) {
  static of(tool: string, callId: string, reason: string): ToolDeniedError {
    const happened = { what: `The call of tool '${tool}' was denied`, where: whereOf(callId), words: reason }
    return new ToolDeniedError({ tool, callId, reason, message: sentence("ToolDeniedError", happened) })
  }
}

/** A tool with side effects was cut off after its start: nobody knows whether they took place. */
export class OutcomeUnknownError extends advised<OutcomeUnknownError>()("OutcomeUnknownError", {
  ...ofCall,
  idempotencyKey: Schema.String
}) {
  static of(tool: string, callId: string, idempotencyKey: string): OutcomeUnknownError {
    const what = `Tool '${tool}' was cut off after its start, and may have taken effect`
    const where = [...whereOf(callId), `key ${idempotencyKey}`]
    const message = sentence("OutcomeUnknownError", { what, where })
    return new OutcomeUnknownError({ tool, callId, idempotencyKey, message })
  }
}

/** Hard: recovery of a tool call ended without success, or somebody raised it. */
export class ToolExecutionError extends advised<ToolExecutionError>()("ToolExecutionError", {
  ...ofCall,
  /** Every error on the way, those of fixers included, oldest first. */
  attempts: Schema.Array(NestedCause),
  /** The last failure of the tool itself, or of its arguments. */
  cause: Schema.optionalKey(NestedCause),
  /** What was decided on the way. */
  trail: Schema.optionalKey(Trail.Trail),
  transcript: Schema.optionalKey(Message.KeptTranscript),
  usage: Schema.optionalKey(Usage.Usage)
}) {
  /**
   * Recovery gave up, or it was too late. `runs` are those of the tool itself: 0 before it began, or while its arguments did not fit.
   * `failures` are all on the way, oldest first; `cause` is what is left of the tool, and a failure of its fixer stands beside it.
   */
  static exhausted(
    { callId, tool }: { readonly tool: string; readonly callId: string },
    {
      failures,
      cause = failures.at(-1),
      ofFixer,
      runs,
      trail,
      why
    }: {
      readonly failures: ReadonlyArray<unknown>
      readonly cause?: unknown
      readonly ofFixer?: unknown
      readonly runs: number
      readonly trail?: Trail.Trail
      readonly why?: string
    }
  ): ToolExecutionError {
    const failed = `failed after ${runs} ${runs === 1 ? "attempt" : "attempts"}`
    const what = `Tool '${tool}' ${runs === 0 ? "was never run" : failed}`
    const where = [...whereOf(callId), why]
    const beside = ofFixer === undefined ? "" : `; its fixer failed: ${ErrorCause.sayingOf(ofFixer)}`
    const words = `${ErrorCause.sayingOf(cause)}${beside}`
    const message = sentence("ToolExecutionError", { what, where, words })
    const decided = trail === undefined ? {} : { trail }
    return new ToolExecutionError({ tool, callId, message, attempts: failures, cause, ...decided })
  }
  /** A hard failure by decision: what `throwException` and deterministic agents fail with; the message is kept exactly. */
  static raised(source: string, message: string): ToolExecutionError {
    return new ToolExecutionError({ tool: source, callId: "", attempts: [], message })
  }
}

/** What a plain function fails with: see `Agent.fromFunction`. */
export type FunctionError = EscalationError | ToolExecutionError | ExecutionError

export type ToolError = InvalidArgs | DeserializationError | ExecutionError | EscalationError

/** The closed union, as a schema: decodes each error to its own class. */
export const ToolError: Schema.Codec<ToolError, unknown> = Schema.Union([
  InvalidArgs,
  DeserializationError,
  ExecutionError,
  EscalationError
])

/** What can happen around a tool call: it was not admitted, not finished, or given up. */
export type AroundToolError =
  | UnknownToolError
  | ToolTimeoutError
  | ToolDeniedError
  | OutcomeUnknownError
  | ToolExecutionError

/** The closed union, as a schema: decodes each error to its own class. */
export const AroundToolError: Schema.Codec<AroundToolError, unknown> = Schema.Union([
  UnknownToolError,
  ToolTimeoutError,
  ToolDeniedError,
  OutcomeUnknownError,
  ToolExecutionError
])

/** Whether a value is an error of a tool call. */
export const isToolError: (value: unknown) => value is ToolError = Schema.is(ToolError)
