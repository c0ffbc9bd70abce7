/**
 * Mends the arguments that a model sent by the cheapest step that succeeds, before anybody is asked to repair them. First
 * text that is no JSON: without its code fence, its first balanced block, what a JSON repair library makes of it. Then
 * JSON that does not fit the schema, and only where it does not: JSON within a string, numbers as text or text as numbers,
 * `null` and `""` for an optional field that was meant to be absent.
 */
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import type * as SchemaIssue from "effect/SchemaIssue"
import { readText, type Shape, type TextStep, textSteps } from "./jsonText.ts"
import { fitValue, type ValueStep, valueSteps } from "./value.ts"

/** The name of one way to mend: of the text, or of a value that is read from it. */
export type Step = TextStep | ValueStep

/** All steps, in the order in which they are taken, whatever the order of a list that a tool gives. */
export const steps: ReadonlyArray<Step> = [...textSteps, ...valueSteps]

/** One step that changed something. */
export interface Change {
  readonly step: Step
  /** From the arguments to the place; empty for a change of the whole. */
  readonly path: ReadonlyArray<string | number>
  readonly before: unknown
  /** `undefined` where the field was dropped. */
  readonly after: unknown
}

/** JSON that could be read, and what had to be changed for that. */
export interface Parsed {
  readonly value: Schema.Json
  /** The JSON from which the value was read; absent for arguments that came as an object. */
  readonly text?: string
  readonly changes: ReadonlyArray<Change>
}

/** What is looked for in a text that is no JSON. */
export type { Shape } from "./jsonText.ts"

/** The value of a text, or why it is no JSON. Valid JSON passes as it is. */
export const parse = (
  text: string,
  ladder: ReadonlyArray<Step> = steps,
  shape: Shape = "object"
): Result.Result<Parsed, string> => readText(text, ladder, shape)

/** A value that fits its schema, and what had to be changed for that. */
export interface Decoded<A> {
  readonly decoded: A
  /** The JSON from which it was decoded. */
  readonly value: Schema.Json
  readonly changes: ReadonlyArray<Change>
}

/**
 * Decodes what was parsed. A value that decodes is not looked at; one that cannot be mended fails with the issue of the
 * value as it came, never of one that is mended by half. `decode` is called a bounded number of times.
 */
export const decode = <A>(
  { changes, text, value }: Parsed,
  decodeValue: (value: Schema.Json) => Result.Result<A, SchemaIssue.Issue>,
  ladder: ReadonlyArray<Step> = steps
): Result.Result<Decoded<A>, SchemaIssue.Issue> => {
  const first = decodeValue(value)
  if (Result.isSuccess(first)) return Result.succeed({ decoded: first.success, value, changes })
  const fitted = fitValue(value, text, first.failure, decodeValue, ladder)
  return Result.map(fitted, (fit) => (changes.length === 0 ? fit : { ...fit, changes: [...changes, ...fit.changes] }))
}
