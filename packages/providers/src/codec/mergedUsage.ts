/** Merges the token counts of several reports about one reply. */
import type * as Usage from "@kintsugi/core/Usage"

/** The usage by the last report. A count of zero in it does not override an earlier count. */
export const merged = (before: Usage.Usage | undefined, reported: Usage.Usage): Usage.Usage =>
  before === undefined
    ? reported
    : {
        inputTokens: reported.inputTokens || before.inputTokens,
        outputTokens: reported.outputTokens || before.outputTokens,
        cachedInputTokens: reported.cachedInputTokens || before.cachedInputTokens,
        cacheWriteTokens: reported.cacheWriteTokens || before.cacheWriteTokens,
        reasoningTokens: reported.reasoningTokens || before.reasoningTokens
      }
