/** The steps on JSON that does not decode. Each is taken at all failing places at once, so their number costs no decode. */
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import type * as SchemaIssue from "effect/SchemaIssue"
import { isDeep } from "../data/Foreign.ts"
import { type Failing, failingIn } from "./failing.ts"
import * as Numbers from "./number.ts"
import { parseJson } from "./jsonText.ts"

/** In order. */
export const valueSteps = ["unwrap-json", "convert-number", "drop-empty"] as const

export type ValueStep = (typeof valueSteps)[number]

export interface ValueChange {
  readonly step: ValueStep
  readonly path: ReadonlyArray<string | number>
  readonly before: unknown
  readonly after: unknown
}

export type Decode<A> = (value: Schema.Json) => Result.Result<A, SchemaIssue.Issue>

export interface Fitted<A> {
  readonly decoded: A
  readonly value: Schema.Json
  readonly changes: ReadonlyArray<ValueChange>
}

/** A list within an object within the arguments is unwrapped three times; further down nothing is. */
const rounds: Record<ValueStep, number> = { "unwrap-json": 3, "convert-number": 1, "drop-empty": 1 }

/** Takes a value that failed with `first` up the steps. All of them or none: what does not decode at the end, fails so. */
export const fitValue = <A>(
  value: Schema.Json,
  text: string | undefined,
  first: SchemaIssue.Issue,
  decode: Decode<A>,
  ladder: ReadonlyArray<string>
): Result.Result<Fitted<A>, SchemaIssue.Issue> => {
  const texts = new Texts(text)
  const changes: Array<ValueChange> = []
  let current = value
  let failing = failingIn(first)
  for (const step of valueSteps) {
    for (let round = ladder.includes(step) ? rounds[step] : 0; round > 0; round--) {
      const all = mend(step, texts, current, failing, undefined)
      if (all.changes.length === 0) break
      let taken = all
      let decoded = decode(all.value)
      if (Result.isFailure(decoded)) {
        taken = mend(step, texts, current, failing, failingIn(decoded.failure))
        if (taken.changes.length === 0) break
        if (taken.changes.length < all.changes.length) decoded = decode(taken.value)
      }
      for (const change of taken.changes) changes.push(change)
      if (Result.isSuccess(decoded)) {
        // the gate has measured the arguments before a text in them was unwrapped
        const isUnwrapped = changes.some(({ step }) => step === "unwrap-json")
        if (isUnwrapped && isDeep(taken.value)) return Result.fail(first)
        return Result.succeed({ decoded: decoded.success, value: taken.value, changes })
      }
      current = taken.value
      failing = failingIn(decoded.failure)
    }
  }
  return Result.fail(first)
}

/** The texts from which the value was read. */
class Texts {
  readonly isWhole: boolean
  readonly #texts: Array<string>
  #spellings: Numbers.Spellings | undefined

  constructor(text: string | undefined) {
    this.isWhole = text !== undefined
    this.#texts = text === undefined ? [] : [text]
  }

  add(text: string): void {
    this.#texts.push(text)
    this.#spellings = undefined
  }

  get spellings(): Numbers.Spellings {
    return (this.#spellings ??= Numbers.spellingsIn(this.#texts))
  }
}

const dropped: unique symbol = Symbol("dropped")

interface Mended {
  readonly value: Schema.Json
  readonly changes: ReadonlyArray<ValueChange>
}

/** Takes one step at every failing place, but not where `undone` says that the value did not fit after it either. */
const mend = (
  step: ValueStep,
  texts: Texts,
  root: Schema.Json,
  failing: Failing,
  undone: Failing | undefined
): Mended => {
  const changes: Array<ValueChange> = []
  const path: Array<string | number> = []
  const visit = (value: unknown, at: Failing, undone: Failing | undefined): unknown => {
    if (at.isWrong && undone?.isWrong !== true && undone?.isMissing !== true) {
      const after = change[step](value, at, texts)
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
      const after = visit(before, child, undone?.keys.get(key))
      path.pop()
      if (after === before) continue
      copy ??= Array.isArray(value) ? [...value] : { ...value }
      if (after === dropped) Reflect.deleteProperty(copy, key)
      else Reflect.set(copy, key, after)
    }
    return copy ?? value
  }
  // steps make JSON of JSON, and the root is no field to be dropped
  const value = visit(root, failing, undone) as Schema.Json
  return { value, changes }
}

/** What a step makes of a value that does not fit; the value itself if that is nothing. */
const change: Record<ValueStep, (value: unknown, at: Failing, texts: Texts) => unknown> = {
  "unwrap-json": (value, _at, texts) => {
    if (!Predicate.isString(value) || !/^\s*[[{]/.test(value)) return value
    const parsed = parseJson(value)
    if (Result.isFailure(parsed) || isDeep(parsed.success)) return value
    texts.add(value)
    return parsed.success
  },
  "convert-number": (value, at, texts) => {
    if (Predicate.isString(value)) return Numbers.numberOf(value) ?? value
    if (!Predicate.isNumber(value) || !at.isPlain) return value
    return Numbers.textOf(value, texts.spellings, texts.isWhole) ?? value
  },
  "drop-empty": (value, at) => (at.isField && (value === null || value === "") ? dropped : value)
}
