/** The closed unions of errors: exhaustive handling leaves nothing. */
import type { KintsugiError, LlmError, RunError, ToolError } from "@kintsugi/core"
import type * as RecoveryAdvice from "@kintsugi/core/RecoveryAdvice"
import { Effect } from "effect"
import { describe, it } from "vitest"
import { type Equal, type Expect, sameType } from "./_support/Identity.ts"

declare const model: Effect.Effect<string, LlmError.LlmError>
declare const tool: Effect.Effect<string, ToolError.ToolError>
declare const any: Effect.Effect<string, KintsugiError.KintsugiError>

const handled = () => Effect.succeed(0)

const forModel = {
  ModelNotFoundError: handled,
  AuthenticationError: handled,
  ContentFilteredError: handled,
  InvalidRequestError: handled,
  ModelOverloadedError: handled,
  ContextTooLongError: handled,
  ServerError: handled,
  MalformedToolCallError: handled,
  CapabilityMismatchError: handled,
  UnknownLlmError: handled,
  RateLimitError: handled,
  QuotaExhaustedError: handled,
  NetworkError: handled,
  RequestTimeoutError: handled,
  EmptyReplyError: handled,
  ReplyTooLargeError: handled
}

const forTool = {
  InvalidArgs: handled,
  DeserializationError: handled,
  ExecutionError: handled,
  EscalationError: handled
}

const aroundTools = {
  UnknownToolError: handled,
  ToolTimeoutError: handled,
  ToolDeniedError: handled,
  ApprovalExpiredError: handled,
  OutcomeUnknownError: handled,
  ToolExecutionError: handled
}

const forRuns = {
  BudgetExceededError: handled,
  InvalidOutputError: handled,
  RoutingError: handled,
  LoopExhaustedError: handled,
  GuardrailError: handled,
  UnknownPriceError: handled
}

const forDoors = {
  InputTooLargeError: handled,
  RunLostError: handled,
  SnapshotRefusedError: handled,
  RunOverError: handled,
  InboxFullError: handled,
  CursorExpiredError: handled
}

const forAll = { ...forModel, ...forTool, ...aroundTools, ...forRuns, ...forDoors }

describe("closed unions", () => {
  it("an exhaustive catchTags over LlmError leaves never [T7]", () => {
    sameType<Effect.Effect<string | number>>()(model.pipe(Effect.catchTags(forModel)))
    type _ = Expect<Equal<keyof typeof forModel, LlmError.LlmError["_tag"]>>
  })

  it("an exhaustive catchTags over ToolError leaves never [T7]", () => {
    sameType<Effect.Effect<string | number>>()(tool.pipe(Effect.catchTags(forTool)))
    type _ = Expect<Equal<keyof typeof forTool, ToolError.ToolError["_tag"]>>
  })

  it("a tag that is not handled is left [T7]", () => {
    const { NetworkError: _network, ...most } = forModel
    const { EscalationError: _escalation, ...some } = forTool
    sameType<Effect.Effect<string | number, LlmError.NetworkError>>()(model.pipe(Effect.catchTags(most)))
    sameType<Effect.Effect<string | number, ToolError.EscalationError>>()(tool.pipe(Effect.catchTags(some)))
  })

  it("a tag that does not occur does not compile [T7]", () => {
    // @ts-expect-error LlmError has no such tag
    model.pipe(Effect.catchTags({ InvalidArgs: handled }))
    // @ts-expect-error ToolError has no such tag: the one hard failure is around it
    tool.pipe(Effect.catchTags({ ToolExecutionError: handled }))
  })

  it("handlers see the class of their tag [T7]", () => {
    model.pipe(
      Effect.catchTag("RateLimitError", (error) => {
        sameType<LlmError.RateLimitError>()(error)
        return handled()
      })
    )
    tool.pipe(
      Effect.catchTag(["InvalidArgs", "DeserializationError"], (error) => {
        sameType<ToolError.InvalidArgs | ToolError.DeserializationError>()(error)
        return handled()
      })
    )
  })

  it("an exhaustive catchTags over KintsugiError leaves never [T36]", () => {
    sameType<Effect.Effect<string | number>>()(any.pipe(Effect.catchTags(forAll)))
    type _ = Expect<Equal<keyof typeof forAll, KintsugiError.KintsugiError["_tag"]>>
    type _tags = Expect<Equal<keyof typeof forAll, (typeof RecoveryAdvice.tags)[number]>>
  })

  it("what is left out of it is left in E [T36]", () => {
    const { LoopExhaustedError: _loop, ToolDeniedError: _denied, ...most } = forAll
    sameType<Effect.Effect<string | number, RunError.LoopExhaustedError | ToolError.ToolDeniedError>>()(
      any.pipe(Effect.catchTags(most))
    )
    // @ts-expect-error no error of the library has this tag
    any.pipe(Effect.catchTags({ CompletionError: handled }))
  })

  it("the code of a class is a literal type, so that a switch over codes is exhaustive [T2 T36]", () => {
    sameType<"KINTSUGI-RATE-LIMIT">()({} as LlmError.RateLimitError["code"])
    sameType<"KINTSUGI-INVALID-ARGS" | "KINTSUGI-DESERIALIZATION" | "KINTSUGI-ESCALATION">()(
      {} as Exclude<ToolError.ToolError, ToolError.ExecutionError>["code"]
    )
    // an ExecutionError may take over any code
    sameType<string>()({} as ToolError.ExecutionError["code"])
  })
})
