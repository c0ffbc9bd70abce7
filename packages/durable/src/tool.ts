/**
 * Records an attempt of a tool: it runs once, unless its process dies. An unsafe tool first records that it begins, so that it never runs
 * twice.
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { KintsugiError, ToolError } from "@kintsugi/core"
import * as Interception from "@kintsugi/core/Interception"
import type * as RunContext from "@kintsugi/core/RunContext"
import type { Line } from "./lines.ts"
import { repeated, isNoted, lose, note } from "./losing.ts"
import type { AnyCodec } from "./outcomes.ts"
import { record, type Replay, Said, saying } from "./recording.ts"

type Attempt = Extract<Interception.InterceptedStep, { readonly type: "tool attempt" }>

export const attempt = (
  replay: Replay,
  line: Line,
  run: RunContext.RunContext | undefined,
  { attempt, callId, idempotencyKey, isUnsafe, stored, tool }: Attempt,
  self: Effect.Effect<unknown, unknown>
): Effect.Effect<unknown, unknown> => {
  const base = `${run?.callKey ?? idempotencyKey}/run/${attempt}`
  const count = line.next(base)
  // an attempt that was lost without an effect runs again, under another name
  const name = count === 1 ? base : `${base}/${count}`
  const value = stored.success
  const { error, isDeclared } = failuresOf(stored)
  const work = Effect.matchEffect(self, {
    onSuccess: Effect.succeed,
    onFailure: (failure) => (isDeclared(failure) ? Effect.fail(failure) : Effect.die(unstorable(tool, failure)))
  })
  const runOnce = once(replay, line, name, work, (work) =>
    record(replay, { line, name, run, value, error: orLost(error), work })
  )
  if (isUnsafe) return runOnce
  const repeatable = record(replay, { line, name, run, value, error, work })
  if (replay.migrations.length === 0) return repeatable
  // the tool that an earlier version of the agent has begun may have been unsafe
  return Effect.flatMap(isNoted(replay, intentOf(name)), (wasUnsafe) =>
    wasUnsafe ? orUnknown(runOnce, { tool, callId, idempotencyKey }) : repeatable
  )
}

/**
 * Records the compensation of a tool call. It runs at most once: if another process has begun it and left no end, it fails with
 * `OutcomeUnknownError` and does not run again.
 */
export const compensation = (
  replay: Replay,
  line: Line,
  run: RunContext.RunContext | undefined,
  { callId, callKey, idempotencyKey, tool }: Extract<Interception.InterceptedStep, { readonly type: "compensation" }>,
  self: Effect.Effect<unknown, unknown>
): Effect.Effect<unknown, unknown> => {
  const base = `${callKey ?? idempotencyKey}/undo`
  const count = line.next(base)
  // the caller may give two runs of one execution the same id, so a count tells them apart
  const name = count === 1 ? base : `${base}/${count}`
  const work = Effect.asVoid(Effect.mapError(self, saying))
  const undone = once(replay, line, name, work, (work) =>
    record(replay, { line, name, run, value: Schema.Void, error: orLost(Said), work })
  )
  return orUnknown(undone, { tool, callId, idempotencyKey })
}

/** Fails with an `OutcomeUnknownError` if the outcome of the work is lost. */
const orUnknown = (
  self: Effect.Effect<unknown, unknown>,
  about: Pick<Attempt, "tool" | "callId" | "idempotencyKey">
): Effect.Effect<unknown, unknown> =>
  Effect.mapError(self, (error) =>
    error instanceof Interception.Lost ? ToolError.OutcomeUnknownError.make(about) : error
  )

/** The name of the step that says that work which must not run twice begins. */
const intentOf = (name: string): string => `${name}/intent`

/**
 * Runs work that must not run twice. It first records that the work begins, and in which process. Another process that reads this, and
 * finds no end of the work, fails and does not run it. A second row notes that the first was stored: if only the note is left, rows are
 * missing and the run fails.
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
  const step = intentOf(name)
  const intend = Effect.sync(() => {
    intents.add(key)
    return incarnation
  })
  return Effect.gen(function* () {
    const wasNoted = yield* isNoted(replay, step)
    const work = wasNoted ? Effect.succeed(repeated.text) : intend
    const begunBy = yield* record(replay, { line, name: step, value: Schema.String, error: Schema.Never, work })
    if (begunBy === repeated.text) return yield* lose(replay, `that step '${name}' had begun`)
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

/** The schema of everything that a tool may fail with: its own failures, and the errors of this library. */
export const failuresOf = ({ failure }: Pick<Attempt["stored"], "failure">) => {
  const error =
    failure === undefined
      ? ours
      : memoised(storing, failure, () => Schema.Union([failure, KintsugiError.KintsugiError]))
  return { error, isDeclared: memoised(knowing, error, () => Schema.is(error)) }
}

const ours: AnyCodec = KintsugiError.KintsugiError

const isTagged = Schema.is(Schema.Struct({ _tag: Schema.String }))

const tagOf = (failure: unknown): string => (isTagged(failure) ? failure._tag : typeof failure)

const unstorable = (tool: string, failure: unknown): TypeError =>
  new TypeError(
    `Durable: tool '${tool}' failed with '${tagOf(failure)}', of which it has no schema: give it one as \`failure\``
  )

/** Makes a schema once for each key, because compiling it takes long. */
const memoised = <A>(cache: WeakMap<object, A>, key: object, make: () => A): A => {
  const before = cache.get(key)
  if (before !== undefined) return before
  const made = make()
  cache.set(key, made)
  return made
}

const losing = new WeakMap<object, AnyCodec>()
const storing = new WeakMap<object, AnyCodec>()
const knowing = new WeakMap<object, (value: unknown) => boolean>()
