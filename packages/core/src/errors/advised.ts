/** The base of every error class of this library. */
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { isDeep, property, quietly } from "../data/Foreign.ts"
import { type Facts, facts, type FactsTable, final, type Outlook } from "./facts.ts"
import { labelsOf, type RecoveryAdvice, textAt } from "./RecoveryAdvice.ts"

type Tag = keyof FactsTable

/** The literal code of a tag. An `ExecutionError` may take over the code of its cause. */
type CodeOf<T extends Tag> = FactsTable[T] extends { readonly lentCode: unknown } ? string : FactsTable[T]["code"]

/** The advice of one error class. */
export interface AdviceOf<T extends Tag> extends RecoveryAdvice<CodeOf<T>> {}

/**
 * A class of errors with their advice as getters, which read the table of facts. `toJSON` returns only the fields of the schema, so a log
 * shows the summary of a cause.
 */
export const advised =
  <Self>() =>
  <T extends Tag, const F extends Schema.Struct.Fields>(tag: T, fields: F & Fitting<T, F>) => {
    const base = Schema.TaggedError<Self, AdviceOf<T>>()(tag, fields as F)
    // the table is a union of functions here; the constraint on the fields ensures that this tag's function takes this class
    const row = facts[tag] as Facts<unknown>
    // the server's own word about a resend comes before the table
    const outlook = (self: unknown): Outlook =>
      property(self, "shouldRetry") === false && row.outlook(self).isRetryable ? forbidden : row.outlook(self)
    const getter = (get: (self: unknown) => unknown): PropertyDescriptor => ({
      get(this: unknown) {
        return get(this)
      }
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

/**
 * Encodes an error and never throws. An instance that its own schema refuses, because nothing checked it, becomes its tag, code and
 * message.
 */
const jsonOf = (base: unknown) => {
  let encode: ((error: unknown) => Result.Result<Schema.Json, unknown>) | undefined
  return function (this: unknown): object {
    // every base is a class made by `Schema.TaggedError`
    encode ??= Schema.encodeUnknownResult(Schema.toCodecJson(base as Schema.Codec<unknown, unknown>))
    const encoded = quietly<Result.Result<Schema.Json, unknown>>(() => encode!(this), Result.fail(undefined))
    const { code } = labelsOf(this)
    // Mutant `Result.isSuccess(encoded) || Predicate.isObject(encoded.success)` survives: a class is encoded as an object, and a failure
    // has no success
    if (Result.isSuccess(encoded) && Predicate.isObject(encoded.success) && !isDeep(encoded.success))
      return Object.assign({}, encoded.success, { code })
    return { _tag: textAt(this, "_tag") ?? "Error", message: textAt(this, "message") ?? "", code }
  }
}

/** The fields that the row of a tag reads have to be among those of its class. */
type Fitting<T extends Tag, F extends Schema.Struct.Fields> =
  FactsTable[T] extends Facts<infer Error> ? (Schema.Struct.Type<F> extends Error ? unknown : never) : never
