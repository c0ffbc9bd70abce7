/** Token counts that are told more than once. */
import type * as Usage from "@kintsugi/core/Usage"

/** What was told last; a zero takes no number back that was told before it. */
export const kept = (before: Usage.Usage | undefined, told: Usage.Usage): Usage.Usage =>
  before === undefined
    ? told
    : {
        inputTokens: told.inputTokens || before.inputTokens,
        outputTokens: told.outputTokens || before.outputTokens,
        cachedInputTokens: told.cachedInputTokens || before.cachedInputTokens,
        cacheWriteTokens: told.cacheWriteTokens || before.cacheWriteTokens,
        reasoningTokens: told.reasoningTokens || before.reasoningTokens
      }
