/** The arithmetic of the report. */
import { Eval } from "@kintsugi/core/testing"

/** A share with its interval. */
export type Share = ReturnType<typeof Eval.share>

export const { formatShare, share } = Eval

/** The mean; `undefined` of nothing. */
export const mean = (values: ReadonlyArray<number>): number | undefined =>
  values.length === 0 ? undefined : values.reduce((sum, value) => sum + value, 0) / values.length
