/** core: errors, and the texts that models read of them. */
import { Duration, Schema } from "effect"
import { normalForm, signatureOf, signatureWith } from "../../../packages/core/src/budget/FailureHistory.ts"
import * as Issue from "../../../packages/core/src/data/Issue.ts"
import * as Usage from "../../../packages/core/src/data/Usage.ts"
import * as DoorError from "../../../packages/core/src/errors/DoorError.ts"
import * as ForeignFailure from "../../../packages/core/src/errors/ForeignFailure.ts"
import * as LlmError from "../../../packages/core/src/errors/LlmError.ts"
import * as KintsugiError from "../../../packages/core/src/errors/KintsugiError.ts"
import * as RecoveryAdvice from "../../../packages/core/src/errors/RecoveryAdvice.ts"
import * as RunError from "../../../packages/core/src/errors/RunError.ts"
import * as Thrown from "../../../packages/core/src/errors/Thrown.ts"
import * as ToolError from "../../../packages/core/src/errors/ToolError.ts"
import * as Facts from "../../../packages/core/src/errors/facts.ts"
import * as Factories from "../../../packages/core/src/errors/Factories.ts"
import { sentence } from "../../../packages/core/src/errors/sentence.ts"
import * as Render from "../../../packages/core/src/recovery/Render.ts"
import { misfits, texts, values } from "./data.ts"
import { each, effectOnly, fixed, grows, looksOnce, none, reached, type Table } from "./entry.ts"

type Made = Parameters<typeof KintsugiError.toProblem>[0]

/** The error is made of the text, and written down as it goes to a log, to a wire and to a client. */
const made = (make: (text: string) => Made) => grows(texts, (text) => writtenDown(make(text)))

const writtenDown = (error: Made) => [
  error.message,
  JSON.stringify(error),
  KintsugiError.toProblem(error),
  RecoveryAdvice.labelsOf(error)
]

const ofRun = { transcript: [], usage: Usage.empty }
const minute = Duration.minutes(1)

export const coreErrors: Table = {
  "core/src/errors/DoorError.ts": {
    InputTooLargeError: made((text) => DoorError.InputTooLargeError.make({ what: text, bound: "depth", limit: 1 })),
    RunLostError: made((text) => DoorError.RunLostError.make({ executionId: text, what: text })),
    SnapshotRefusedError: made((text) => DoorError.SnapshotRefusedError.make({ reason: "other-agent", what: text })),
    RunOverError: made((text) => DoorError.RunOverError.make({ runId: text })),
    InboxFullError: made((text) => DoorError.InboxFullError.make({ runId: text, limit: 64 })),
    CursorExpiredError: made((text) => DoorError.CursorExpiredError.make({ oldest: text }))
  },
  "core/src/errors/Limit.ts": each(fixed, "limitOf"),
  "core/src/errors/LlmError.ts": {
    ModelNotFoundError: made((text) => LlmError.ModelNotFoundError.make({ model: text, detail: text })),
    AuthenticationError: made((text) => LlmError.AuthenticationError.make({ model: "m", detail: text })),
    ContentFilteredError: made((text) => LlmError.ContentFilteredError.make({ model: "m", detail: text })),
    InvalidRequestError: made((text) =>
      LlmError.InvalidRequestError.make({ model: "m", detail: text, requestId: text })
    ),
    ModelOverloadedError: made((text) => LlmError.ModelOverloadedError.make({ model: "m", detail: text })),
    ContextTooLongError: made((text) =>
      LlmError.ContextTooLongError.make({ model: "m", limit: 1, actual: 2, detail: text })
    ),
    ServerError: made((text) => LlmError.ServerError.make({ model: "m", cause: new Error(text), detail: text })),
    MalformedToolCallError: made((text) =>
      LlmError.MalformedToolCallError.make({ model: "m", tool: text, detail: text, rawArgs: text })
    ),
    CapabilityMismatchError: made((text) =>
      LlmError.CapabilityMismatchError.make({ model: "m", provider: "p", capability: "tools", detail: text })
    ),
    UnknownLlmError: made((text) => LlmError.UnknownLlmError.make({ model: "m", cause: new Error(text) })),
    RateLimitError: made((text) => LlmError.RateLimitError.make({ service: "p", detail: text })),
    QuotaExhaustedError: made((text) => LlmError.QuotaExhaustedError.make({ model: "m", detail: text })),
    NetworkError: made((text) => LlmError.NetworkError.make({ host: text, what: text, cause: new Error(text) })),
    RequestTimeoutError: made((text) =>
      LlmError.RequestTimeoutError.make({ operation: text, timeout: minute, detail: text })
    ),
    EmptyReplyError: made((text) => LlmError.EmptyReplyError.make({ model: text, finishReason: "stop", detail: text })),
    ReplyTooLargeError: made((text) => LlmError.ReplyTooLargeError.make({ model: text, option: text, detail: text })),
    isLlmError: grows(values, LlmError.isLlmError),
    ...each(looksOnce, "reasonsOf")
  },
  "core/src/errors/ForeignFailure.ts": {
    of: grows(values, ForeignFailure.of),
    connectionOf: grows(texts, (text) => ForeignFailure.connectionOf(new Error(text, { cause: text }))),
    chainOf: grows(values, ForeignFailure.chainOf)
  },
  "core/src/errors/KintsugiError.ts": {
    isKintsugiError: grows(values, KintsugiError.isKintsugiError),
    toProblem: reached
  },
  "core/src/errors/RecoveryAdvice.ts": {
    ...each(fixed, "describe", "mostFor"),
    ...each(reached, "labelsOf", "textAt")
  },
  "core/src/errors/RunError.ts": {
    BudgetExceededError: made((text) =>
      RunError.BudgetExceededError.make({
        agent: text,
        reason: "maxTurns",
        limit: 1,
        spent: 1,
        partial: text,
        ...ofRun
      })
    ),
    InvalidOutputError: grows(misfits, ({ input, issue }) => {
      const issues = Issue.fromSchema(issue, input)
      return JSON.stringify(
        RunError.InvalidOutputError.make({ agent: "a", text: JSON.stringify(input), issues, ...ofRun })
      )
    }),
    RoutingError: made((text) =>
      RunError.RoutingError.make({ agent: "a", candidates: [text], answer: text, ...ofRun })
    ),
    GuardrailError: made((text) =>
      RunError.GuardrailError.make({ agent: "a", guard: text, side: "output", reason: text, ...ofRun })
    ),
    UnknownPriceError: made((text) =>
      RunError.UnknownPriceError.make({ agent: "a", model: text, option: "maxCost", ...ofRun })
    ),
    LoopExhaustedError: grows(values, (value) =>
      JSON.stringify(RunError.LoopExhaustedError.make({ iterations: 1, last: value }))
    )
  },
  "core/src/errors/ToolError.ts": {
    InvalidArgs: made((text) =>
      ToolError.InvalidArgs.make({ tool: "look", callId: "c1", rawArgs: text, parseError: text })
    ),
    DeserializationError: grows(misfits, ({ input, issue }) =>
      JSON.stringify(
        ToolError.DeserializationError.make({
          tool: "look",
          callId: "c1",
          rawValue: input,
          targetType: "{ a: number }",
          issues: Issue.fromSchema(issue, input)
        })
      )
    ),
    ExecutionError: grows(texts, (text) => {
      const call = { tool: "look", kind: "mcp-tool", callId: "c1", args: text } as const
      const error = ToolError.executionErrorOf(call, new Error(text, { cause: text }))
      return [writtenDown(error), error.detailedMessage]
    }),
    EscalationError: made((text) => ToolError.EscalationError.make({ source: "fixer", reason: text })),
    UnknownToolError: made((text) =>
      ToolError.UnknownToolError.make({ tool: text, callId: "c1", available: ["look", text.slice(1)] })
    ),
    ToolTimeoutError: made((text) => ToolError.ToolTimeoutError.make({ tool: text, timeout: minute })),
    ApprovalExpiredError: made((text) => ToolError.ApprovalExpiredError.make({ tool: text, callId: "c1" })),
    ToolDeniedError: made((text) => ToolError.ToolDeniedError.make({ tool: "look", callId: "c1", reason: text })),
    OutcomeUnknownError: made((text) =>
      ToolError.OutcomeUnknownError.make({ tool: text, callId: "c1", idempotencyKey: text })
    ),
    ToolExecutionError: made((text) => ToolError.ToolExecutionError.make({ tool: "fixer", message: text })),
    ...each(reached, "executionErrorOf"),
    resultErrorOf: made((text) => ToolError.resultErrorOf({ tool: "look", kind: "local", message: text })),
    exhausted: made((text) =>
      ToolError.exhausted({ tool: text, callId: "c1" }, { failures: [new Error(text)], runs: 1, why: text })
    ),
    isToolError: grows(values, ToolError.isToolError)
  },
  "core/src/errors/Factories.ts": {
    ...each(
      none("puts its arguments into the fields of `make`, which is measured"),
      "modelNotFound",
      "authenticationFailed",
      "contentFiltered",
      "modelOverloaded",
      "contextTooLong",
      "serverError",
      "malformedToolCall",
      "llmQuotaExceeded",
      "connectionRefused",
      "dnsResolutionFailed",
      "connectionTimeout",
      "llmTimeout",
      "streamingNotSupported",
      "visionNotSupported",
      "structuredOutputNotSupported",
      "toolCallNotSupported",
      "actionTimeout",
      "fromNetworkError",
      "fromParameterError",
      "fromApiError",
      "fromLlmError",
      "fromMcpError",
      "fromInvocationError"
    ),
    fromHttp429: grows(texts, (text) => Factories.fromHttp429("p", text, { now: 0 })),
    apiRateLimit: grows(texts, (text) => Factories.apiRateLimit(text, minute)),
    httpTimeout: grows(texts, (text) => Factories.httpTimeout(text, minute))
  },
  "core/src/errors/llmOrigin.ts": each(reached, "worded"),
  "core/src/errors/advised.ts": each(effectOnly, "advised"),
  "core/src/errors/facts.ts": {
    ...each(fixed, "categoryOfStatus", "final"),
    outlookOf: grows(values, Facts.outlookOf),
    statusOf: grows(values, Facts.statusOf),
    hintBeneath: grows(values, Facts.hintBeneath),
    withoutHelp: grows(texts, Facts.withoutHelp),
    ...each(reached, "sayingOf"),
    categoryOf: grows(texts, (text) => Facts.categoryOf({ category: text, _tag: text }, Schema.is(Schema.String))),
    lentBy: grows(texts, (text) => Facts.lentBy({ code: text }))
  },
  "core/src/errors/sentence.ts": {
    sentence: grows(texts, (text) => sentence("ServerError", { what: text, where: [text], words: text }))
  },
  "core/src/errors/Thrown.ts": {
    thrownBy: grows(texts, (text) => Thrown.thrownBy("look", "local", { callId: "c1", args: text }, new Error(text))),
    ...each(effectOnly, "lifted", "effect")
  },
  "core/src/errors/stackless.ts": each(effectOnly, "stackless"),
  "core/src/budget/FailureHistory.ts": {
    ...each(none("counts the signatures that signatureOf makes"), "FailureHistory"),
    signatureOf: grows(texts, (text) => signatureOf("Tag", text), 500),
    normalForm: grows(texts, normalForm, 500),
    signatureWith: grows(texts, (text) => signatureWith(text, text))
  },
  "core/src/recovery/Render.ts": {
    labelled: grows(texts, (text) =>
      Render.labelled(new Error(text), {
        tool: text,
        attempt: 2,
        callId: "c1",
        sideEffects: "none",
        kind: "mcp-tool"
        // what else is known of a failure is not said
      } as never)
    ),
    ...each(reached, "spoken", "messageOf"),
    asData: grows(texts, Render.asData, 2000),
    framed: grows(texts, Render.framed),
    plainly: grows(texts, (text) => Render.plainly(new Error(text))),
    escalation: grows(texts, (text) => Render.escalation("look", text, "HIGH")),
    unverifiable: grows(texts, (text) => Render.unverifiable("look", text)),
    denied: grows(texts, (text) => Render.denied("look", text)),
    ...each(fixed, "capped", "triesLeft", "withheld", "leftOut"),
    mayBeDone: grows(texts, (text) => Render.mayBeDone({ kind: "told", text })),
    unchecked: grows(texts, (text) => Render.unchecked("look", text)),
    withCutOff: grows(texts, Render.withCutOff),
    repeated: grows(texts, Render.repeated),
    saidBesides: grows(texts, (text) => Render.saidBesides(text, text.slice(0, 5))),
    unshown: grows(texts, (text) => Render.unshown(text, 1)),
    invalidOutput: grows(misfits, ({ input, issue }) => Render.invalidOutput(Issue.fromSchema(issue, input), "json")),
    unknownTool: grows(texts, (text) => Render.unknownTool(text, ["look", text.slice(1), `${text}a`]))
  }
}
