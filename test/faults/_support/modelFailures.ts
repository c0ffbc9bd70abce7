/** How a model fails: by itself, or at a limit of its transport. */
import { LlmError } from "@kintsugi/core"
import { Duration } from "effect"
import type { Fault } from "./steps.ts"

export const ways = ["failure", "too large", "silent"] as const

export const failing = (fault: Fault): LlmError.LlmError => {
  if (fault === "too large") return LlmError.ReplyTooLargeError.make({ model: "scripted", option: "maxReplyBytes" })
  if (fault !== "silent") return LlmError.ModelOverloadedError.make({ model: "scripted" })
  return LlmError.RequestTimeoutError.make({ operation: "POST", timeout: Duration.seconds(1), model: "scripted" })
}
