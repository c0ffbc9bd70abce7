/** One attempt of a tool: run once, unless its process dies; what must not run twice says first that it begins. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { KintsugiError, ToolError } from "@kintsugi/core"
import * as ErrorCause from "@kintsugi/core/ErrorCause"
import * as Interception from "@kintsugi/core/Interception"
import type * as RunContext from "@kintsugi/core/RunContext"
import type { Line } from "./lines.ts"
import { again, isNoted, lose, note } from "./losing.ts"
import { type AnyCodec, record, type Replay, Said, saying } from "./recording.ts"

type Attempt = Extract<Interception.Step, { readonly kind: "tool attempt" }>

export const attempt = (
  replay: Replay,
  line: Line,
  run: RunContext.RunContext | undefined,
  { attempt, idempotencyKey, isUnsafe, stored, tool }: Attempt,
  self: Effect.Effect<unknown, unknown>
): Effect.Effect<unknown, unknown> => {
  const place = `${idempotencyKey}/run/${attempt}`
  const count = line.next(place)
  // one that was lost, and has taken no effect, is attempted again
  const name = count === 1 ? place : `${place}/${count}`
  const value = stored.success
  const { error, isKnown } = failuresOf(stored)
  const work = Effect.matchEffect(self, {
    onSuccess: Effect.succeed,
    onFailure: (failure) => (isKnown(failure) ? Effect.fail(failure) : Effect.die(unstorable(tool, failure)))
  })
  return isUnsafe
    ? once(replay, line, name, work, (work) => record(replay, { line, name, run, value, error: orLost(error), work }))
    : record(replay, { line, name, run, value, error, work })
}

/** What a tool has done is undone at most once: one that had begun in another process is told of, and not begun again. */
export const compensation = (
  replay: Replay,
  line: Line,
  run: RunContext.RunContext | undefined,
  { callId, idempotencyKey, tool }: Extract<Interception.Step, { readonly kind: "compensation" }>,
  self: Effect.Effect<unknown, unknown>
): Effect.Effect<unknown, unknown> => {
  const name = `${idempotencyKey}/undo`
  const work = Effect.asVoid(Effect.mapError(self, saying))
  const undone = once(replay, line, name, work, (work) =>
    record(replay, { line, name, run, value: Schema.Void, error: orLost(Said), work })
  )
  return Effect.mapError(undone, (error) =>
    error instanceof Interception.Lost ? ToolError.OutcomeUnknownError.make({ tool, callId, idempotencyKey }) : error
  )
}

/**
 * Whatever must not run twice says that it is about to begin, and in which process. A process that reads this of another one, and
 * finds no end of it, does not begin again. Where a note tells that this was said, and nothing else does, the run is lost.
 */
const once = (
  replay: Replay,
  line: Line,
  name: string,
  self: Effect.Effect<unknown, unknown>,
  recorded: (work: Effect.Effect<unknown, unknown>) => Effect.Effect<unknown, unknown>
): Effect.Effect<unknown, unknown> => {
  const { atWork, executionId, incarnation, intents } = replay
  const key = `${executionId}/${name}`
  const step = `${name}/intent`
  const intend = Effect.sync(() => {
    intents.add(key)
    return incarnation
  })
  return Effect.gen(function* () {
    const wasNoted = yield* isNoted(replay, step)
    const work = wasNoted ? Effect.succeed(again.text) : intend
    const begunBy = yield* record(replay, { line, name: step, value: Schema.String, error: Schema.Never, work })
    if (begunBy === again.text) return yield* lose(replay, `that step '${name}' had begun`)
    if (!wasNoted) yield* note(replay, step)
    const begin = Effect.suspend(() => {
      const isOurs = begunBy === incarnation && intents.delete(key)
      return isOurs || atWork.has(key) ? self : Effect.fail(lost)
    })
    return yield* Effect.mapError(recorded(begin), (error) => (isLost(error) ? new Interception.Lost() : error))
  })
}

const Lost = Schema.Struct({ _tag: Schema.tag("@kintsugi/durable/Lost") })

const lost: typeof Lost.Type = { _tag: "@kintsugi/durable/Lost" }

const isLost = Schema.is(Lost)

const orLost = (error: AnyCodec): AnyCodec => memoised(losing, error, () => Schema.Union([Lost, error]))

/** The schema of all that a tool may fail with: its own failures, and those of this library. */
const failuresOf = ({ failure }: Interception.Stored) => {
  const error =
    failure === undefined
      ? ours
      : memoised(storing, failure, () => Schema.Union([failure, KintsugiError.KintsugiError]))
  return { error, isKnown: memoised(knowing, error, () => Schema.is(error)) }
}

const ours: AnyCodec = KintsugiError.KintsugiError

const unstorable = (tool: string, failure: unknown): TypeError =>
  new TypeError(
    `Durable: tool '${tool}' failed with '${ErrorCause.tagOf(failure)}', of which it has no schema: give it one as \`failure\``
  )

/** Schemas are compiled once. */
const memoised = <A>(known: WeakMap<object, A>, key: object, make: () => A): A => {
  const before = known.get(key)
  if (before !== undefined) return before
  const made = make()
  known.set(key, made)
  return made
}

const losing = new WeakMap<object, AnyCodec>()
const storing = new WeakMap<object, AnyCodec>()
const knowing = new WeakMap<object, (value: unknown) => boolean>()
