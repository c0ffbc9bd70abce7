/**
 * The idempotency keys of the calls of a run. A key is derived from the run id, the calls around the run, the tool, the arguments as the
 * model wrote them, and how many equal calls came before it: a second run with the same id derives the same keys for the same calls. It
 * is a digest, because arguments may hold secrets.
 */
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import { digestOf } from "../data/Digest.ts"
import type * as Message from "../data/Message.ts"
import * as Toolset from "../tool/Toolset.ts"
import type { Looping } from "./running.ts"

/** Goes on with the keys of these calls. The calls of a reply that was suspended have theirs. */
export const keysOf = <A, E>(
  { run, state, toolset }: Looping,
  calls: ReadonlyArray<Message.ToolCall>,
  next: (keys: ReadonlyArray<string>) => Effect.Effect<A, E>
): Effect.Effect<A, E> => {
  if (state.keys.length > 0) return next(state.keys)
  const digests = Effect.forEach(calls, (call) =>
    digestOf([run.seed, Toolset.nameOf(toolset, call), ...written(call.arguments)])
  )
  return Effect.flatMap(digests, (found) => next(state.count(found.map((digest) => digest.slice(0, length)))))
}

/** 128 bits: many servers take no longer keys. */
const length = 32

/** JSON may come as text or as a value. Text that is no JSON stays text. */
const written = (args: Schema.Json): [kind: string, args: Schema.Json] => {
  if (!Predicate.isString(args)) return ["json", args]
  // JSON.parse returns nothing but JSON
  const parsed = Result.try(() => JSON.parse(args) as Schema.Json)
  return Result.isSuccess(parsed) ? ["json", parsed.success] : ["text", args]
}
