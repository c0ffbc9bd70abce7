/** Errors of recorded events, for a script. */
import * as RecoveryAdvice from "@kintsugi/core/RecoveryAdvice"
import { messageOf, tagOf } from "../recording/ErrorWords.ts"
import type { Failure } from "./parts.ts"

const ours: ReadonlySet<string> = new Set(RecoveryAdvice.tags)

/** The failure of an error in its JSON form. `tag` is that of its verdict, which knows errors without a name. */
export const failureOf = (error: unknown, tag = tagOf(error)): Failure => {
  return ours.has(tagOf(error))
    ? // cast: only an object has the tag of one of our errors, and any object can be read by key
      { tag: tagOf(error), message: messageOf(error), json: error as Readonly<Record<string, unknown>> }
    : { tag, message: messageOf(error) }
}

/** Whether two errors have the same tag and the same message. */
export const isSame = (one: Failure, other: Failure): boolean => one.tag === other.tag && one.message === other.message
