/** Merges token counts that a provider reports several times. */
import type * as Usage from "@kintsugi/core/Usage"

/** The last reported counts. A reported zero does not override an earlier count. */
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
