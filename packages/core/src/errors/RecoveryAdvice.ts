/**
 * The advice of an error about recovering from it. One table (`facts.ts`) has the facts: classes, documentation
 * and tests read it.
 *
 * The questions come from TnsAI's error hierarchy (`isRetryable`, code, delay, attempts); `recovery` is ours.
 */
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Redaction from "../data/Redaction.ts"
import { type Facts, facts, type FactsTable, final, generous, type Outlook, outlookOf, wording } from "./facts.ts"
import { isDeep, property, quietly } from "../data/Foreign.ts"

export type { Outlook, RecoveryKind } from "./facts.ts"
/** @internal */
export { hintBeneath, outlookOf } from "./facts.ts"

/** @internal */
export { withoutHelp } from "./facts.ts"

/** The tag of every error of this library. */
export type Tag = keyof FactsTable

/** The literal code of a tag. An `ExecutionError` may take over the code of its cause. */
export type CodeOf<T extends Tag> = FactsTable[T] extends { readonly lentCode: unknown }
  ? string
  : FactsTable[T]["code"]

/** Carried by every error of this library. */
export interface RecoveryAdvice<out Code extends string = string> extends Outlook {
  /** Stable over releases: made for alerts and metrics. */
  readonly code: Code
  /** The status with which a backend may answer its own client. */
  readonly httpStatus: number
}

/** The advice of one class. */
export interface AdviceOf<T extends Tag> extends RecoveryAdvice<CodeOf<T>> {}

/** All tags, in the order of the table. */
// Object.keys widens to string; the table's own keys are the tags
export const tags = Object.keys(facts) as ReadonlyArray<Tag>

/** What every error of a tag has in common: its code, its status, a title, and what a caller can do. */
export const describe = (
  tag: Tag
): { readonly code: string; readonly httpStatus: number; readonly title: string; readonly help: string } => {
  const { code, httpStatus } = facts[tag]
  const [title, help] = wording[tag]
  return { code, httpStatus, title, help }
}

/**
 * The most generous advice that an error with this tag gives; of tags that are not ours, the most generous of all.
 *
 * @internal
 */
export const mostFor = (tag: string): Outlook => (isTag(tag) ? facts[tag].most : generous)

const isTag = (tag: string): tag is Tag => Object.hasOwn(facts, tag)

/** Labels for metrics and logs, of any failure: its code, else its tag, else `UNKNOWN`; and whether it is retryable. */
export const labelsOf = (error: unknown): { readonly code: string; readonly retryable: boolean } => ({
  code: textAt(error, "code") ?? textAt(error, "_tag") ?? "UNKNOWN",
  retryable: outlookOf(error)?.isRetryable ?? false
})

const textAt = (value: unknown, key: string): string | undefined => {
  const text = property(value, key)
  return Predicate.isString(text) && text !== "" ? Redaction.foreign(text, longestLabel) : undefined
}

const longestLabel = 100

/**
 * A class of errors whose instances carry their advice, as getters that read the table, and have a `toJSON` with the fields of
 * their schema only: a log shows the summary of a cause. Every error class of this library extends one.
 *
 * @internal
 */
export const advised =
  <Self>() =>
  <T extends Tag, const F extends Schema.Struct.Fields>(tag: T, fields: F & Fitting<T, F>) => {
    const base = Schema.TaggedError<Self, AdviceOf<T>>()(tag, fields as F)
    // the table is a union of functions here; the constraint on the fields has matched this tag's function to this class
    const row = facts[tag] as Facts<unknown>
    // a server that forbids to send the request again knows better than the table
    const outlook = (self: unknown): Outlook =>
      property(self, "shouldRetry") === false && row.outlook(self).isRetryable ? forbidden : row.outlook(self)
    const getter = (get: (self: unknown) => unknown): PropertyDescriptor => ({
      get(this: unknown) {
        return get(this)
      },
      configurable: true
    })
    // a class of its own type has a prototype
    Object.defineProperties((base as { readonly prototype: object }).prototype, {
      code: getter((self) => row.lentCode?.(self) ?? row.code),
      httpStatus: getter(() => row.httpStatus),
      isRetryable: getter((self) => outlook(self).isRetryable),
      recovery: getter((self) => outlook(self).recovery),
      suggestedDelay: getter((self) => outlook(self).suggestedDelay),
      maxAttempts: getter((self) => outlook(self).maxAttempts),
      toJSON: { value: jsonOf(base), configurable: true, writable: true }
    })
    return base
  }

const forbidden = final("fallback")

/** Total: an instance that its own schema refuses, because nothing checked it, is its tag, code and message. */
const jsonOf = (base: unknown) => {
  let encode: ((error: unknown) => Result.Result<Schema.Json, unknown>) | undefined
  return function (this: unknown): object {
    // every base is a class made by `Schema.TaggedError`
    encode ??= Schema.encodeUnknownResult(Schema.toCodecJson(base as Schema.Codec<unknown, unknown>))
    const encoded = quietly<Result.Result<Schema.Json, unknown>>(() => encode!(this), Result.fail(undefined))
    const { code } = labelsOf(this)
    if (Result.isSuccess(encoded) && Predicate.isObject(encoded.success) && !isDeep(encoded.success))
      return Object.assign({}, encoded.success, { code })
    return { _tag: textAt(this, "_tag") ?? "Error", message: textAt(this, "message") ?? "", code }
  }
}

/** The fields that the row of a tag reads have to be among those of its class. */
type Fitting<T extends Tag, F extends Schema.Struct.Fields> =
  FactsTable[T] extends Facts<infer Error> ? (Schema.Struct.Type<F> extends Error ? unknown : never) : never
