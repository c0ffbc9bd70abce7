/**
 * Intercepts the steps of a durable run. Steps with an effect outside of the run are recorded, under names that say where in the run they
 * are.
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as Stream from "effect/Stream"
import { type Approval, type LlmError, Message, type Model, Usage } from "@kintsugi/core"
import type * as Interception from "@kintsugi/core/Interception"
import * as RunContext from "@kintsugi/core/RunContext"
import { decided } from "./approval.ts"
import { asksOf, type ModelCall } from "./asks.ts"
import { cancel, deferring, poll } from "./deferred.ts"
import type { Line } from "./lines.ts"
import { listening } from "./listening.ts"
import { isLeft } from "./losing.ts"
import { migratedCalls } from "./migrating.ts"
import type { AnyCodec } from "./outcomes.ts"
import { acted, outside, record, type Recorded, type Replay, Said, saying } from "./recording.ts"
import { replaced, restOf } from "./rest.ts"
import { reading } from "./saying.ts"
import { attempt, compensation } from "./tool.ts"
import { wait } from "./wait.ts"
import { collected, failing, inTime, ModelFailure, parts, type Words } from "./words.ts"

/** Announces a request for approval to the program. */
export type Tell = (request: Approval.ApprovalRequest) => Effect.Effect<void>

/** Makes the interceptor of a run, and the observer of its events. */
export const intercepting = (replay: Replay, tell: Tell) => {
  const { handle, watch } = listening(replay)
  const read = replay.hasInbox ? reading(replay) : undefined
  const intercept = (
    step: Interception.InterceptedStep,
    self: Effect.Effect<unknown, unknown>,
    run: RunContext.RunContext | undefined
  ): Effect.Effect<unknown, unknown> => {
    const line = replay.lines.of(run)
    switch (step.type) {
      case "model call":
        return step.isStreamed
          ? Effect.sync(() => streamed(replay, line, run, step, self))
          : whole(replay, line, run, step, self)
      case "tool attempt":
        return step.isAgent ? self : attempt(replay, line, run, step, self)
      case "look-up":
        return lookUp(replay, line, run, step, self)
      case "compensation":
        return compensation(replay, line, run, step, self)
      case "poll":
        return poll(replay, line, run, step, self)
      case "cancel":
        return cancel(replay, line, run, Effect.asVoid(self), Schema.Void)
      case "job cancel":
        return cancelJob(replay, line, run, self)
      case "policy":
      case "grant":
        return policy(replay, line, run, step.type, self)
      case "choice":
        return choice(replay, line, run, step, self)
      case "approval":
        return decided(replay, line, step.request, step.endsAt, tell(step.request))
      case "put aside":
        return putAside(replay, line, run, self)
      case "compaction":
        // an agent that compacts is not recorded as a whole, because its model calls are recorded
        return step.isAgent ? self : compaction(replay, line, run, self)
      case "token count":
        return tokenCount(replay, line, run, self)
      case "guardrail":
        return verdict(replay, line, run, step, self)
      case "pins":
        return pins(replay, line, run, step, self)
      case "listener":
        return handle(step.event, self)
      // these two steps are not recorded, because the calls inside of them are
      case "fixer run":
      case "stream part":
        return self
    }
  }
  const within = <A, E>(make: (run: RunContext.RunContext | undefined) => Effect.Effect<A, E>): Effect.Effect<A, E> =>
    Effect.flatMap(RunContext.Current, make)
  const interceptor: Interception.Interceptor = {
    isStreamed: replay.log !== undefined,
    intercept: (step, self) => within((run) => intercept(step, self, run)),
    wait: (delay) =>
      within((run) => wait(replay, replay.lines.of(run), named(replay.lines.of(run), run, "wait"), delay)),
    deferring: deferring(replay),
    ...(read && {
      said: (run: RunContext.RunContext) => {
        const line = replay.lines.of(run)
        return read(line, named(line, run, "said"), run)
      }
    }),
    ...(replay.migrations.length > 0 && { migrated: migratedCalls(replay) }),
    outside: (self) => replay.lines.busy(outside(replay, self)),
    unread: (run) => replay.stopping.unreadBy(run),
    isLeft: () => isLeft(replay),
    beforeCall: (key) => within((run) => (run === undefined ? Effect.void : begun(replay, key, run)))
  }
  return { interceptor, watch }
}

/**
 * The name of a step: its kind, and a number that counts the steps of this kind in their line (a run or a tool call). The steps of a line
 * follow each other, so a replay gives them the same names.
 */
const named = (line: Line, run: RunContext.RunContext | undefined, kind: string): string => {
  const scope = run === undefined || run.callKey !== undefined ? line.key : `${line.key}/${run.turn()}`
  return `${scope}/${kind}/${line.next(`${scope}/${kind}`)}`
}

/**
 * Records when a call begins that has waited for its turn. This instant depends on when other calls ended, which a replay cannot derive
 * from their results.
 */
const begun = (replay: Replay, key: string, run: RunContext.RunContext): Effect.Effect<void> => {
  const work = Effect.sync(() => replay.clock.currentTimeMillisUnsafe())
  const { root } = replay.lines
  const at = record(replay, { line: replay.lines.of(run), name: `${key}/begin`, ...Instant, work })
  return Effect.map(at, (at) => void replay.lines.call(key, run, Math.max(at, root.time)))
}

/** The schemas of a step whose result is an instant, in milliseconds since the epoch. */
const Instant = { value: Schema.Finite, error: Schema.Never }

const modelCall = (
  replay: Replay,
  line: Line,
  run: RunContext.RunContext | undefined,
  step: ModelCall,
  work: Effect.Effect<Message.Reply, ModelFailure>,
  name = named(line, run, "model"),
  words?: Words
): Effect.Effect<Message.Reply, ModelFailure> =>
  record(replay, {
    line,
    name,
    value: Message.Reply,
    error: ModelFailure,
    work,
    asks: {
      ...asksOf(replay.format.number, run, step),
      recorded: (step, revision) => replied(replay, run, step, revision)
    },
    ...(words && { words })
  })

/** Notes that a step has the latest reply of a run, if that was recorded before some migration. */
const replied = (
  { migrations, replies }: Replay,
  run: RunContext.RunContext | undefined,
  step: string,
  revision: number
): void => {
  if (run === undefined) return
  if (revision < migrations.length) replies.set(run.runId, { step, revision })
  else replies.delete(run.runId)
}

const whole = (
  replay: Replay,
  line: Line,
  run: RunContext.RunContext | undefined,
  step: ModelCall,
  self: Effect.Effect<unknown, unknown>
): Effect.Effect<Message.Reply, LlmError.LlmError> => {
  // cast: a step of the type `model call` gives a reply, or fails with an `LlmError`
  const work = inTime(self as Effect.Effect<Message.Reply, LlmError.LlmError>)
  return modelCall(replay, line, run, step, work).pipe(Effect.catch((error) => failing(run, error)))
}

/** Records a model call whose text reaches the run while the model writes it. */
const streamed = (
  replay: Replay,
  line: Line,
  run: RunContext.RunContext | undefined,
  step: ModelCall,
  self: Effect.Effect<unknown, unknown>
): Stream.Stream<Model.Part, LlmError.LlmError> => {
  const name = named(line, run, "model")
  const runId = run?.runId ?? ""
  const words = replay.words.of(runId, name)
  replay.log?.continues(runId, step.goOn !== undefined)
  const work = collected(step.model, words, () => restOf(replay, runId, step, self))
  return parts(words, run, modelCall(replay, line, run, step, work, name, words), () => replaced(replay, runId))
}

const reasons = Schema.NullOr(Schema.String)

const Reported = Schema.NullOr(Usage.Usage)

/** Cancels a background reply, and records the usage that the provider reports then, because it is booked. */
const cancelJob = (
  replay: Replay,
  line: Line,
  run: RunContext.RunContext | undefined,
  self: Effect.Effect<unknown, unknown>
): Effect.Effect<unknown, unknown> => {
  // cast: a step of the type `job cancel` gives a usage or `undefined`
  const reported = Effect.map(self as Effect.Effect<Usage.Usage | undefined>, (usage) => usage ?? null)
  return Effect.map(cancel(replay, line, run, reported, Reported), (usage) => usage ?? undefined)
}

/**
 * Records the answer of a tool policy, or of a look-up of a grant. A policy may ask a person, and grants change with time, so a replay does
 * not ask again.
 */
const policy = (
  replay: Replay,
  line: Line,
  run: RunContext.RunContext | undefined,
  kind: "policy" | "grant",
  self: Effect.Effect<unknown, unknown>
): Effect.Effect<unknown> => {
  const name = `${line.key}/${kind}/${line.next(kind)}`
  // cast: a policy gives a reason or `undefined`, a look-up gives the id of a grant or `undefined`, and both do not fail
  const work = Effect.map(self as Effect.Effect<string | undefined>, (reason) => reason ?? null)
  const recorded = record(replay, { line, name, run, value: reasons, error: Schema.Never, work })
  return Effect.map(recorded, (reason) => reason ?? undefined)
}

/** Records what the function of a compaction gives, because a replay could get another result. Of a failure only the message is stored. */
const compaction = (
  replay: Replay,
  line: Line,
  run: RunContext.RunContext | undefined,
  self: Effect.Effect<unknown, unknown>
): Effect.Effect<unknown, unknown> =>
  record(replay, {
    line,
    name: named(line, run, "compaction"),
    run,
    value: Message.Transcript,
    error: Said,
    // cast: a step of the type `compaction` gives a transcript
    work: Effect.mapError(self as Effect.Effect<Message.Transcript, unknown>, saying)
  })

/**
 * Records how many tokens a provider has counted. In a replay it may count otherwise, or not at all, and the count decides whether the
 * conversation is compacted.
 */
const tokenCount = (
  replay: Replay,
  line: Line,
  run: RunContext.RunContext | undefined,
  self: Effect.Effect<unknown, unknown>
): Effect.Effect<unknown> =>
  record(replay, {
    line,
    name: named(line, run, "token-count"),
    run,
    value: Schema.NullOr(Schema.Finite),
    error: Schema.Never,
    // cast: a step of the type `token count` gives a number or `null`, and does not fail
    work: self as Effect.Effect<number | null>
  })

/**
 * Records whether a store has taken a long result. The store may fail in one replay and not in another, but the model must read the same in
 * both.
 */
const putAside = (
  replay: Replay,
  line: Line,
  run: RunContext.RunContext | undefined,
  self: Effect.Effect<unknown, unknown>
): Effect.Effect<unknown, unknown> =>
  record(replay, {
    line,
    name: named(line, run, "put-aside"),
    value: Schema.Null,
    error: Said,
    work: Effect.mapError(Effect.as(self, null), saying)
  })

/** Records the result of a check: of a server's tools, which may change at any time (`pins`), or of a guardrail, which may call a model. */
const pins = (
  replay: Replay,
  line: Line,
  run: RunContext.RunContext | undefined,
  { type, schema }: Extract<Interception.InterceptedStep, { readonly type: "guardrail" | "pins" }>,
  self: Effect.Effect<unknown, unknown>
): Effect.Effect<unknown> =>
  record(replay, {
    line,
    name: named(line, run, type),
    run,
    value: schema,
    error: Schema.Never,
    // cast: steps of these types do not fail
    work: self as Effect.Effect<unknown>
  })

/**
 * Records the verdict of a guardrail. The verdict may interrupt a model call whose reply came before it. A replay finds both at once, so it
 * yields here, and the reply comes first again.
 */
const verdict = (
  replay: Replay,
  line: Line,
  run: RunContext.RunContext | undefined,
  step: Extract<Interception.InterceptedStep, { readonly type: "guardrail" }>,
  self: Effect.Effect<unknown, unknown>
): Effect.Effect<unknown> =>
  Effect.tap(pins(replay, line, run, step, self), () => (line.isLive ? Effect.void : Effect.andThen(acted, acted)))

const Limit = Schema.Union([
  Schema.Struct({ type: Schema.Literals(["stop", "checkpoint", "answer"]) }),
  // `Number`, not `Finite`, because the limit may be extended to `Infinity`
  Schema.Struct({ type: Schema.tag("extend"), limit: Schema.Number })
])

/** Records what a function chooses for a turn, as a skill, or at a limit: it may ask a person, so a replay does not call it again. */
const choice = (
  replay: Replay,
  line: Line,
  run: RunContext.RunContext | undefined,
  step: Extract<Interception.InterceptedStep, { readonly type: "choice" }>,
  self: Effect.Effect<unknown, unknown>
): Effect.Effect<unknown, unknown> => {
  const { about } = step
  const name = named(line, run, about)
  const at = { line, name, run, error: replay.failures.schema }
  const work = Effect.matchEffect(self, {
    onSuccess: Effect.succeed,
    onFailure: (error) => (replay.failures.isDeclared(error) ? Effect.fail(error) : Effect.die(error))
  })
  if (step.about === "turn") return prepared(replay, { ...at, value: step.schema, work })
  // cast: a choice at a limit says what happens there, and a choice of a skill gives its name or `undefined`
  if (about === "limit") return record(replay, { ...at, value: Limit, work: work as Effect.Effect<typeof Limit.Type> })
  const skill = Effect.map(work as Effect.Effect<string | undefined>, (said) => said ?? null)
  return Effect.map(record(replay, { ...at, value: reasons, work: skill }), (said) => said ?? undefined)
}

/**
 * Records what the functions of `Agent.prepareTurn` chose. A model cannot be stored, so if they chose one, a replay runs them again to get
 * it.
 */
const prepared = (replay: Replay, at: Recorded<unknown, unknown>): Effect.Effect<unknown, unknown> => {
  let hasRun = false
  const work = Effect.suspend(() => {
    hasRun = true
    return at.work
  })
  return Effect.tap(record(replay, { ...at, work }), (found) =>
    // cast: the stored choice for a turn says whether it has a model
    hasRun || !(found as { readonly hasModel: boolean }).hasModel
      ? Effect.void
      : replay.lines.busy(outside(replay, at.work))
  )
}

const found = new WeakMap<AnyCodec, AnyCodec>()

const lookUp = (
  replay: Replay,
  line: Line,
  run: RunContext.RunContext | undefined,
  { idempotencyKey, stored: { success } }: Extract<Interception.InterceptedStep, { readonly type: "look-up" }>,
  self: Effect.Effect<unknown, unknown>
): Effect.Effect<unknown, unknown> => {
  const base = `${run?.callKey ?? idempotencyKey}/look-up`
  const name = `${base}/${line.next(base)}`
  const value: AnyCodec = found.get(success) ?? Schema.Option(success)
  found.set(success, value)
  // of a failed look-up only the message is stored
  return record(replay, { line, name, run, value, error: Said, work: Effect.mapError(self, saying) })
}
