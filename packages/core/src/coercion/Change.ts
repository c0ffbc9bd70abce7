/** The steps that mend what a model wrote, and what one of them has changed. */
import type { TextStep } from "./jsonText.ts"

/** The steps on JSON that does not decode, in order. A step works on all failing places at once, so their number costs no decode. */
export const valueSteps = ["unwrap-json", "convert-number", "drop-empty", "drop-undeclared"] as const

export type ValueStep = (typeof valueSteps)[number]

/** The name of one way to mend: of the text, or of a value that is read from it. */
export type CoercionStep = TextStep | ValueStep

/** One step that has changed something. */
export interface Change {
  readonly step: CoercionStep
  /** From the arguments to the place; empty for a change of the whole. */
  readonly path: ReadonlyArray<string | number>
  readonly before: unknown
  /** `undefined` if the step has dropped the field. */
  readonly after: unknown
}
