/**
 * Mends a model's arguments by the cheapest step that succeeds. This happens before a model or a fixer repairs them. The first steps work
 * on text that is no JSON: they take off its code fence, take its first balanced block, or repair its syntax. The other steps work on JSON,
 * at the places that do not fit the schema: JSON within a string, numbers as text or text as numbers, `null` and `""` for an absent
 * optional field, and keys that the schema does not know.
 */
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import type * as SchemaIssue from "effect/SchemaIssue"
import { isDeep } from "../data/Foreign.ts"
import { once } from "../data/Once.ts"
import { type Failing, failingIn, isExtra } from "./failing.ts"
import { isOf, mendText, parseJson, type Shape, type TextStep, textSteps } from "./jsonText.ts"
import * as Numbers from "./number.ts"

/** The steps on JSON that does not decode, in order. A step works on all failing places at once, so their number costs no decode. */
const valueSteps = ["unwrap-json", "convert-number", "drop-empty", "drop-undeclared"] as const

type ValueStep = (typeof valueSteps)[number]

/**
 * The name of one step, on text or on parsed JSON.
 *
 * @hidden
 */
export type CoercionStep = TextStep | ValueStep

/** All steps, in the order of their use. The order of a tool's own list does not count. */
export const steps: ReadonlyArray<CoercionStep> = [...textSteps, ...valueSteps]

/**
 * The steps for the answer of an agent, where an undeclared field is an error.
 *
 * @internal
 */
export const answerSteps: ReadonlyArray<CoercionStep> = steps.filter((step) => step !== "drop-undeclared")

/** One step that has changed something. */
type Change = {
  readonly step: CoercionStep
  /** From the arguments to the place; empty for a change of the whole. */
  readonly path: ReadonlyArray<string | number>
  readonly before: unknown
  /** `undefined` if the step has dropped the field. */
  readonly after: unknown
}

/** Parsed JSON, and the changes that it needed. */
type Parsed = {
  readonly value: Schema.Json
  /** The JSON from which the value was read; absent for arguments that came as an object. */
  readonly text?: string
  readonly changes: ReadonlyArray<Change>
}

/**
 * The JSON in a model's text, or why there is none. Any JSON passes unchanged, and so do arguments that came as an object. A value that
 * steps make of other text must have the shape `object` (the default) or `list`: prose is never read as a string.
 */
export const parse = (
  written: Schema.Json,
  ladder: ReadonlyArray<CoercionStep> = steps,
  shape: Shape = "object"
): Result.Result<Parsed, string> =>
  Predicate.isString(written) ? parseText(written, ladder, shape) : Result.succeed({ value: written, changes: [] })

const parseText = (text: string, ladder: ReadonlyArray<CoercionStep>, shape: Shape): Result.Result<Parsed, string> => {
  const first = parseJson(text)
  if (Result.isSuccess(first)) return Result.succeed({ value: first.success, text, changes: [] })
  const changes: Array<Change> = []
  let current = text
  for (const step of textSteps) {
    const after = ladder.includes(step) ? mendText[step](current, shape) : undefined
    if (after === undefined || after === current) continue
    changes.push({ step, path: [], before: current, after })
    current = after
    const parsed = parseJson(current)
    if (Result.isSuccess(parsed) && isOf[shape](parsed.success)) {
      return Result.succeed({ value: parsed.success, text: current, changes })
    }
  }
  return Result.fail(first.failure)
}

/** A value that fits its schema, and the changes that it needed. */
type Decoded<A> = {
  readonly decoded: A
  /** The JSON from which it was decoded. */
  readonly value: Schema.Json
  readonly changes: ReadonlyArray<Change>
}

/** Values are unwrapped down to three levels, a list within an object within the arguments; deeper ones are not. */
const passes: Record<ValueStep, number> = {
  "unwrap-json": 3,
  "convert-number": 1,
  "drop-empty": 1,
  "drop-undeclared": 1
}

/**
 * Decodes a parsed value. A value that decodes stays unchanged. A value that no step can mend fails with the issues of the value that was
 * given, never with those of a half-mended value. `decodeValue` is called a bounded number of times.
 */
export const decode = <A>(
  { changes: before, text, value }: Parsed,
  decodeValue: (value: Schema.Json) => Result.Result<A, SchemaIssue.Issue>,
  ladder: ReadonlyArray<CoercionStep> = steps
): Result.Result<Decoded<A>, SchemaIssue.Issue> => {
  const first = decodeValue(value)
  if (Result.isSuccess(first)) return Result.succeed({ decoded: first.success, value, changes: before })
  // Mutant `["Stryker was here"]` survives: that text has no number
  const texts: Texts = { isWhole: text !== undefined, all: text === undefined ? [] : [text] }
  const changes = [...before]
  let current = value
  let failing = failingIn(first.failure)
  for (const step of valueSteps) {
    for (let pass = ladder.includes(step) ? passes[step] : 0; pass > 0; pass--) {
      const all = mend(step, texts, current, failing, undefined)
      if (all.changes.length === 0) break
      let taken = all
      let decoded = decodeValue(all.value)
      if (Result.isFailure(decoded)) {
        taken = mend(step, texts, current, failing, failingIn(decoded.failure))
        if (taken.changes.length === 0) break
        if (taken.changes.length < all.changes.length) decoded = decodeValue(taken.value)
      }
      for (const change of taken.changes) changes.push(change)
      if (Result.isSuccess(decoded)) {
        // the size limit was checked before this nested text was unwrapped
        const isUnwrapped = changes.some(({ step }) => step === "unwrap-json")
        if (isUnwrapped && isDeep(taken.value)) return Result.fail(first.failure)
        return Result.succeed({ decoded: decoded.success, value: taken.value, changes })
      }
      current = taken.value
      failing = failingIn(decoded.failure)
    }
  }
  return Result.fail(first.failure)
}

/**
 * The value of a JSON text in which some numbers are strings with their original spelling: numbers that JavaScript cannot hold exactly, and
 * numbers that were read as text. `undefined` if there are none. `textsOf` returns the latter; if it returns `undefined`, every number in an
 * unusual form becomes a string.
 *
 * @internal
 */
export const spelled = (text: string, textsOf: () => ReadonlyArray<unknown> | undefined): Schema.Json | undefined => {
  const texts = once(() => {
    const found = textsOf()
    return found && new Set(found)
  })
  const quoted = Numbers.quoted(
    text,
    (number) =>
      String(Number(number)) !== number && (Numbers.numberOf(number) === undefined || texts()?.has(number) !== false)
  )
  // replacing numbers by JSON keeps the text JSON
  return quoted === undefined ? undefined : (JSON.parse(quoted) as Schema.Json)
}

/** The texts from which a value was read, and whether the text of the whole value is one of them. */
interface Texts {
  readonly isWhole: boolean
  readonly all: Array<string>
}

const dropped: unique symbol = Symbol("dropped")

interface Mended {
  readonly value: Schema.Json
  readonly changes: ReadonlyArray<Change>
}

/** Takes one step at every failing position, except where `undone` says that the step did not help. */
const mend = (
  step: ValueStep,
  texts: Texts,
  root: Schema.Json,
  failing: Failing,
  undone: Failing | undefined
): Mended => {
  const changes: Array<Change> = []
  const path: Array<string | number> = []
  const spellings = once(() => Numbers.spellingsIn(texts.all))
  const visit = (value: unknown, at: Failing, undone: Failing | undefined, isUnknown: boolean): unknown => {
    const isDue = step === "drop-undeclared" ? isUnknown : at.isWrong
    if (isDue && undone?.isWrong !== true && undone?.isMissing !== true) {
      const after = change[step](value, at, texts, spellings)
      if (after !== value) {
        changes.push({ step, path: [...path], before: value, after: after === dropped ? undefined : after })
        return after
      }
    }
    if (at.keys.size === 0 || !Predicate.isObjectOrArray(value)) return value
    let copy: object | undefined
    for (const [key, child] of at.keys) {
      if (Predicate.isSymbol(key) || !Object.hasOwn(value, key)) continue
      const before: unknown = Reflect.get(value, key)
      path.push(key)
      const after = visit(before, child, undone?.keys.get(key), step === "drop-undeclared" && isExtra(at, value, key))
      path.pop()
      if (after === before) continue
      copy ??= Array.isArray(value) ? [...value] : { ...value }
      if (after === dropped) Reflect.deleteProperty(copy, key)
      else Reflect.set(copy, key, after)
    }
    return copy ?? value
  }
  // a step turns JSON into JSON, and the root cannot be dropped
  const value = visit(root, failing, undone, false) as Schema.Json
  return { value, changes }
}

/** The result of a step on a value that does not fit, or the value itself if the step does not apply. */
const change: Record<
  ValueStep,
  (value: unknown, at: Failing, texts: Texts, spellings: () => Numbers.Spellings) => unknown
> = {
  "unwrap-json": (value, _at, texts) => {
    if (!Predicate.isString(value) || !/^\s*[[{]/.test(value)) return value
    const parsed = parseJson(value)
    if (Result.isFailure(parsed) || isDeep(parsed.success)) return value
    texts.all.push(value)
    return parsed.success
  },
  "convert-number": (value, at, texts, spellings) => {
    if (Predicate.isString(value)) return Numbers.numberOf(value) ?? value
    if (!Predicate.isNumber(value) || !at.isPlain) return value
    return Numbers.textOf(value, spellings(), texts.isWhole) ?? value
  },
  "drop-empty": (value, at) => (at.isField && (value === null || value === "") ? dropped : value),
  "drop-undeclared": () => dropped
}
