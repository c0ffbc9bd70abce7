/** The errors of one tool call, as flat tags with the names of the tool and the call. */
import * as Duration from "effect/Duration"
import * as Schema from "effect/Schema"
import * as CauseCodec from "../data/CauseCodec.ts"
import * as ErrorCause from "../data/ErrorCause.ts"
import * as Redaction from "../data/Redaction.ts"
import * as Issue from "../data/Issue.ts"
import { categories, categoryOf, final, Lent, lentBy, ofCategory, sayingOf, statusOf } from "./facts.ts"
import { stackless } from "./stackless.ts"
import { type Defaulted, type Made, sentence } from "./sentence.ts"
import { InputTooLargeError } from "./DoorError.ts"
import { isLlmError, LlmError } from "./LlmError.ts"
import { advised } from "./advised.ts"
import { RunError } from "./RunError.ts"
import { CarriedTranscript } from "./transcript.ts"
import * as Trail from "./Trail.ts"
import * as Usage from "../data/Usage.ts"
import { Kind, Severity } from "./Kinds.ts"

export { Kind, Severity } from "./Kinds.ts"

const CarriedJson = CauseCodec.carried(Schema.Json)
const nested = () => Schema.Union([LlmError, RunError, InputTooLargeError, ToolError, AroundToolError])
const NestedCause = CauseCodec.nested(nested)

const ofCall = {
  message: Schema.String,
  tool: Schema.String,
  /** Empty for an error that was made outside of a call. */
  callId: Schema.String
}

const whereOf = (callId: string): ReadonlyArray<string> => (callId === "" ? [] : [`call ${callId}`])

const ofText = {
  ...ofCall,
  /** The text of the model, unchanged. */
  rawArgs: Schema.String,
  parseError: Schema.String
}

/** The arguments are no JSON. The tool did not run. It is made without a stack. */
export class InvalidArgs extends advised<InvalidArgs>()("InvalidArgs", ofText) {
  static override make({ what, ...fields }: Made<typeof ofText>): InvalidArgs {
    const invalid = what ?? `The arguments of tool '${fields.tool}' are not valid JSON`
    const happened = { what: invalid, where: whereOf(fields.callId), words: fields.parseError }
    return stackless(() => new InvalidArgs({ message: sentence("InvalidArgs", happened), ...fields }))
  }
}

const ofMisfit = {
  ...ofCall,
  rawValue: CarriedJson,
  targetType: Schema.String,
  issues: CauseCodec.carried(Schema.Array(Issue.Issue))
}

/** The arguments are JSON that does not fit the tool's parameters. The tool did not run. It is made without a stack. */
export class DeserializationError extends advised<DeserializationError>()("DeserializationError", ofMisfit) {
  /** Makes the error. Set `what` if the value is not the arguments themselves. */
  static override make({ what, ...fields }: Made<typeof ofMisfit>): DeserializationError {
    const misfit = what ?? `The arguments of tool '${fields.tool}' do not fit its parameters`
    const happened = { what: misfit, where: whereOf(fields.callId), words: Issue.formatAll(fields.issues) }
    return stackless(() => new DeserializationError({ message: sentence("DeserializationError", happened), ...fields }))
  }
}

const Category = Schema.Literals(categories)

const ofExecution = {
  ...ofCall,
  /** The decoded parameters of the call, as JSON. */
  args: CarriedJson,
  kind: Kind,
  category: Category,
  status: Schema.optionalKey(Schema.Finite),
  /** The advice of the cause. It survives a wire that loses the class of the cause. */
  lent: Schema.optionalKey(Lent),
  cause: Schema.optionalKey(NestedCause)
}

/**
 * A failure of the tool itself. The original failure is its `cause`. The advice of the error is that of its cause; if the cause has none,
 * the category decides.
 */
export class ExecutionError extends advised<ExecutionError>()("ExecutionError", ofExecution) {
  /** An absent message is that of the cause, or else the label of the category. A status that is not finite is left out. */
  static override make(fields: Omit<Defaulted<Made<typeof ofExecution>, "callId" | "args">, "what">): ExecutionError {
    const { args = null, callId = "", category, cause, message = "", status, ...rest } = fields
    return new ExecutionError({
      ...rest,
      callId,
      args,
      category,
      message: message === "" ? sayingOf(cause, category) : Redaction.foreign(message),
      ...(status === undefined || !Number.isFinite(status) ? {} : { status }),
      ...(cause === undefined ? {} : { cause })
    })
  }
  /** The same failure, of this call. */
  inCall(call: { readonly callId?: string; readonly args?: Schema.Json }): ExecutionError {
    // message and cause of an error are not enumerable
    const beneath = "cause" in this ? { cause: this.cause } : {}
    return new ExecutionError({ ...this, ...beneath, message: this.message, ...call })
  }
  /** The whole error in one line, for a log: without a stack, and redacted. */
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

/**
 * Makes an `ExecutionError` of any failure of a tool. It takes the failure's own advice, code and category, if it has them. A given
 * category comes first. A failure that is an `ExecutionError` already gets only the fields of its call.
 */
export const executionErrorOf = (
  { category: given, kind, tool, ...call }: Wrapping,
  cause: unknown
): ExecutionError => {
  if (cause instanceof ExecutionError) return cause.callId === "" ? cause.inCall(call) : cause
  const lent = lentBy(cause)
  const category = given ?? categoryOf(cause, isLlmError)
  const message = sayingOf(cause, category)
  const status = statusOf(cause)
  const carried = { ...(lent === undefined ? {} : { lent }), ...(status === undefined ? {} : { status }) }
  return new ExecutionError({ tool, kind, category, message, ...call, ...carried, cause })
}

/** The error for a tool result that does not fit. It is not retryable: other arguments do not help. */
export const resultErrorOf = (
  fields: Omit<Parameters<typeof ExecutionError.make>[0], "category" | "lent">
): ExecutionError => ExecutionError.make({ ...fields, category: "validation", lent: { outlook: final("none") } })

/** The tool and the call of a failure; the failure itself may decide about the category. */
type Wrapping = Pick<ExecutionError, "tool" | "kind" | "callId" | "args"> & {
  readonly category?: ExecutionError["category"]
}

const ofEscalation = {
  message: Schema.String,
  /** The agent that escalated. */
  source: Schema.String,
  reason: Schema.String,
  severity: Severity,
  originalError: Schema.optionalKey(NestedCause),
  attempts: Schema.optionalKey(Schema.Finite)
}

/** Soft: an agent gave up on its task. It says why. If the agent runs within a tool, the model that made the call reads it. */
export class EscalationError extends advised<EscalationError>()("EscalationError", ofEscalation) {
  /** `severity` is `HIGH` unless it is given. */
  static override make({ what, ...fields }: Defaulted<Made<typeof ofEscalation>, "severity">): EscalationError {
    const { reason, severity = "HIGH", source } = fields
    const gaveUp = what ?? `Agent '${source}' gave up (severity ${severity})`
    const message = sentence("EscalationError", { what: gaveUp, words: reason })
    return new EscalationError({ message, ...fields, severity })
  }
  /** The same escalation, by a fixer that was repairing this failure. */
  about(repairing: { readonly error: unknown; readonly attempts: number } | undefined): EscalationError {
    if (repairing === undefined) return this
    const { message, reason, severity, source } = this
    const { attempts, error: originalError } = repairing
    return new EscalationError({ message, reason, severity, source, originalError, attempts })
  }
}

const ofUnknownTool = { ...ofCall, available: Schema.Array(Schema.String) }

/** The model named a tool that its skill does not offer. */
export class UnknownToolError extends advised<UnknownToolError>()("UnknownToolError", ofUnknownTool) {
  static override make({ what, ...fields }: Made<typeof ofUnknownTool>): UnknownToolError {
    const { callId, available, tool } = fields
    const words = available.length === 0 ? "there are no tools" : `available tools are ${available.join(", ")}`
    const happened = { what: what ?? `There is no tool '${tool}'`, where: whereOf(callId), words }
    return stackless(() => new UnknownToolError({ message: sentence("UnknownToolError", happened), ...fields }))
  }
}

const ofToolTimeout = {
  ...ofCall,
  timeout: Schema.Duration,
  sideEffects: Schema.Literals(["none", "idempotent", "unsafe", "undeclared"]),
  /** Whether the tool may have taken effect. `false` if `verify` found no effect, or the tool had not begun. */
  tookEffect: Schema.optionalKey(Schema.Literal(false))
}

/** The tool did not end within its time limit. */
export class ToolTimeoutError extends advised<ToolTimeoutError>()("ToolTimeoutError", ofToolTimeout) {
  /** Makes the error; `sideEffects` is `none` unless given. */
  static override make({
    what,
    ...given
  }: Defaulted<Made<typeof ofToolTimeout>, "callId" | "sideEffects">): ToolTimeoutError {
    const fields = { callId: "", sideEffects: "none" as const, ...given }
    const why = fields.tookEffect === undefined ? "" : ", and took no effect"
    const late = what ?? `Tool '${fields.tool}' did not end within ${Duration.format(fields.timeout)}${why}`
    const message = sentence("ToolTimeoutError", { what: late, where: whereOf(fields.callId) })
    return new ToolTimeoutError({ message, ...fields })
  }
}

const ofDenial = { ...ofCall, reason: Schema.String }

/** The call was refused, by a policy or by a person. */
export class ToolDeniedError extends advised<ToolDeniedError>()("ToolDeniedError", ofDenial) {
  static override make({ what, ...fields }: Made<typeof ofDenial>): ToolDeniedError {
    const denied = what ?? `The call of tool '${fields.tool}' was denied`
    const happened = { what: denied, where: whereOf(fields.callId), words: fields.reason }
    return new ToolDeniedError({ message: sentence("ToolDeniedError", happened), ...fields })
  }
}

/** No decision about the call came in time. `onExpiry` is `"fail"`, so the call did not run. No person has refused it. */
export class ApprovalExpiredError extends advised<ApprovalExpiredError>()("ApprovalExpiredError", ofCall) {
  static override make({ what, ...fields }: Made<typeof ofCall>): ApprovalExpiredError {
    const expired = what ?? `No decision about the call of tool '${fields.tool}' came in time`
    const happened = { what: expired, where: whereOf(fields.callId) }
    return new ApprovalExpiredError({ message: sentence("ApprovalExpiredError", happened), ...fields })
  }
}

const ofOutcome = { ...ofCall, idempotencyKey: Schema.String }

/** A tool with side effects was cut off. No record tells whether its side effects took place. */
export class OutcomeUnknownError extends advised<OutcomeUnknownError>()("OutcomeUnknownError", ofOutcome) {
  static override make({ what, ...fields }: Made<typeof ofOutcome>): OutcomeUnknownError {
    const cut = what ?? `Tool '${fields.tool}' was cut off after its start, and may have taken effect`
    const where = [...whereOf(fields.callId), `key ${fields.idempotencyKey}`]
    return new OutcomeUnknownError({ message: sentence("OutcomeUnknownError", { what: cut, where }), ...fields })
  }
}

const ofGivenUp = {
  ...ofCall,
  /** Every error on the way, those of fixers included, oldest first. */
  attempts: Schema.Array(NestedCause),
  /** The last failure of the tool itself, or of its arguments. */
  cause: Schema.optionalKey(NestedCause),
  /** The decisions about the failures. */
  trail: Schema.optionalKey(Trail.Trail),
  transcript: Schema.optionalKey(CarriedTranscript),
  usage: Schema.optionalKey(Usage.Usage)
}

/** Hard: recovery of a tool call gave up. A tool, a fixer or a policy may also raise it. */
export class ToolExecutionError extends advised<ToolExecutionError>()("ToolExecutionError", ofGivenUp) {
  /** The message is kept exactly. Outside of a call, `tool` is the agent that gives up. */
  static override make(
    fields: Defaulted<Schema.Struct.Type<typeof ofGivenUp>, "callId" | "attempts">
  ): ToolExecutionError {
    return new ToolExecutionError({ callId: "", attempts: [], ...fields })
  }
}

interface GivenUp {
  readonly failures: ReadonlyArray<unknown>
  readonly cause?: unknown
  readonly ofFixer?: unknown
  readonly runs: number
  readonly trail?: Trail.Trail
  readonly why?: string
}

/**
 * Makes the error for a call whose recovery gave up or came too late. `runs` counts runs of the tool: 0 before it began, or while its
 * arguments did not fit. `failures` are all failures of the call, oldest first; `cause` is the tool's last one. A failure of the fixer is
 * beside it.
 *
 * @internal
 */
export const exhausted = (
  { callId, tool }: { readonly tool: string; readonly callId: string },
  { failures, cause = failures.at(-1), ofFixer, runs, trail, why }: GivenUp
): ToolExecutionError => {
  const failed = `failed after ${runs} ${runs === 1 ? "attempt" : "attempts"}`
  const what = `Tool '${tool}' ${runs === 0 ? "was never run" : failed}`
  const where = [...whereOf(callId), why]
  const beside = ofFixer === undefined ? "" : `; its fixer failed: ${ErrorCause.sayingOf(ofFixer)}`
  const words = `${ErrorCause.sayingOf(cause)}${beside}`
  const message = sentence("ToolExecutionError", { what, where, words })
  const decided = trail === undefined ? {} : { trail }
  return new ToolExecutionError({ tool, callId, message, attempts: failures, cause, ...decided })
}

/**
 * The failures of a plain function: see `Agent.fromFunction`.
 *
 * @hidden
 */
export type FunctionError = EscalationError | ToolExecutionError | ExecutionError

/** The failures of a tool and of its arguments. */
export type ToolError = InvalidArgs | DeserializationError | ExecutionError | EscalationError

/** The schema of all tool errors. It decodes each error to its own class. */
export const ToolError: Schema.Codec<ToolError, unknown> = Schema.Union([
  InvalidArgs,
  DeserializationError,
  ExecutionError,
  EscalationError
])

/** The errors around a tool call: it was not admitted, did not finish, or recovery gave up. */
export type AroundToolError =
  | UnknownToolError
  | ToolTimeoutError
  | ToolDeniedError
  | ApprovalExpiredError
  | OutcomeUnknownError
  | ToolExecutionError

/** The schema of the errors around a tool call. It decodes each error to its own class. */
export const AroundToolError: Schema.Codec<AroundToolError, unknown> = Schema.Union([
  UnknownToolError,
  ToolTimeoutError,
  ToolDeniedError,
  ApprovalExpiredError,
  OutcomeUnknownError,
  ToolExecutionError
])

/**
 * Whether a value is an error of a tool call.
 *
 * @internal
 */
export const isToolError: (value: unknown) => value is ToolError = Schema.is(ToolError)
