/** Intercepts the steps of a durable run: those with an effect outside are recorded, under names that say where in the run they are. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as Stream from "effect/Stream"
import { type Approval, type LlmError, Message, type Model, Usage } from "@kintsugi/core"
import type * as Interception from "@kintsugi/core/Interception"
import * as RunContext from "@kintsugi/core/RunContext"
import { decided } from "./approval.ts"
import { cancel, deferring, poll } from "./deferred.ts"
import type { Line } from "./lines.ts"
import { listening } from "./listening.ts"
import { isLeft } from "./losing.ts"
import { acted, type AnyCodec, outside, record, type Recorded, type Replay, Said, saying } from "./recording.ts"
import { fingerprint } from "./random.ts"
import { replaced, restOf } from "./rest.ts"
import { reading } from "./saying.ts"
import { attempt, compensation } from "./tool.ts"
import { wait } from "./wait.ts"
import { collected, failing, inTime, ModelFailure, parts, type Words } from "./words.ts"

/** Announces a request for approval. */
export type Tell = (request: Approval.ApprovalRequest) => Effect.Effect<void>

/** The interceptor of a run, and the observer of its events. */
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
        // the model calls of an agent are recorded
        return step.isAgent ? self : compaction(replay, line, run, self)
      case "token count":
        return tokenCount(replay, line, run, self)
      case "guardrail":
        return verdict(replay, line, run, step, self)
      case "pins":
        return pins(replay, line, run, step, self)
      case "listener":
        return handle(step.event, self)
      // what it calls is recorded
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
    outside: (self) => replay.lines.busy(outside(replay, self)),
    unread: (run) => replay.stopping.unreadBy(run),
    isLeft: () => isLeft(replay),
    beforeCall: (key) => within((run) => (run === undefined ? Effect.void : begun(replay, key, run)))
  }
  return { interceptor, watch }
}

/** The n-th of its kind in its line: within a line one thing comes after the other. */
const named = (line: Line, run: RunContext.RunContext | undefined, kind: string): string => {
  const scope = run === undefined || run.callKey !== undefined ? line.key : `${line.key}/${run.turn()}`
  return `${scope}/${kind}/${line.next(`${scope}/${kind}`)}`
}

/** When a call that waited for its turn begins. It depends on the ends of others, which a replay cannot derive from their results. */
const begun = (replay: Replay, key: string, run: RunContext.RunContext): Effect.Effect<void> => {
  const work = Effect.sync(() => replay.clock.currentTimeMillisUnsafe())
  const { root } = replay.lines
  const at = record(replay, { line: replay.lines.of(run), name: `${key}/begin`, ...Instant, work })
  return Effect.map(at, (at) => void replay.lines.call(key, run, Math.max(at, root.time)))
}

/** An instant, in milliseconds. */
export const Instant = { value: Schema.Finite, error: Schema.Never }

type ModelCall = Extract<Interception.InterceptedStep, { readonly type: "model call" }>

const modelCall = (
  replay: Replay,
  line: Line,
  run: RunContext.RunContext | undefined,
  { request }: ModelCall,
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
    asks: requestDigest(run, request),
    ...(words && { words })
  })

const whole = (
  replay: Replay,
  line: Line,
  run: RunContext.RunContext | undefined,
  step: ModelCall,
  self: Effect.Effect<unknown, unknown>
): Effect.Effect<Message.Reply, LlmError.LlmError> => {
  // by their step, models give replies and fail with their errors
  const work = inTime(self as Effect.Effect<Message.Reply, LlmError.LlmError>)
  return modelCall(replay, line, run, step, work).pipe(Effect.catch((error) => failing(run, error)))
}

/** A model call whose words reach the run while they are written. */
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

/**
 * Tells the requests of a run apart: the agent, its tools, the length of the conversation, and the messages since the last reply.
 * Instructions may change while the run goes on.
 */
const requestDigest = (
  run: RunContext.RunContext | undefined,
  { messages, toolChoice, tools }: Model.Request
): string => {
  const said = messages.filter(({ role }) => role !== "system")
  const last = said.findLastIndex(({ role }) => role === "assistant")
  return fingerprint(
    JSON.stringify([
      run?.agent ?? "",
      tools.map(({ name }) => name),
      toolChoice,
      said.length,
      said.slice(Math.max(0, last))
    ])
  )
}

const reasons = Schema.NullOr(Schema.String)

const Reported = Schema.NullOr(Usage.Usage)

/** What a provider reports of a background reply is recorded: it is booked. */
const cancelJob = (
  replay: Replay,
  line: Line,
  run: RunContext.RunContext | undefined,
  self: Effect.Effect<unknown, unknown>
): Effect.Effect<unknown, unknown> => {
  // by its step it gives a usage, or nothing
  const reported = Effect.map(self as Effect.Effect<Usage.Usage | undefined>, (usage) => usage ?? null)
  return Effect.map(cancel(replay, line, run, reported, Reported), (usage) => usage ?? undefined)
}

/** A policy may ask a person, and grants come and go: the answers are recorded. */
const policy = (
  replay: Replay,
  line: Line,
  run: RunContext.RunContext | undefined,
  kind: "policy" | "grant",
  self: Effect.Effect<unknown, unknown>
): Effect.Effect<unknown> => {
  const name = `${line.key}/${kind}/${line.next(kind)}`
  // by their step, policies give a reason or none, and grants an id or none; both do not fail
  const work = Effect.map(self as Effect.Effect<string | undefined>, (reason) => reason ?? null)
  const recorded = record(replay, { line, name, run, value: reasons, error: Schema.Never, work })
  return Effect.map(recorded, (reason) => reason ?? undefined)
}

/** The function of a compaction may do anything: what it gave is recorded. Its failure is only reported. */
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
    // by its step it gives a transcript
    work: Effect.mapError(self as Effect.Effect<Message.Transcript, unknown>, saying)
  })

/** A provider may count otherwise in a replay, or not at all: by what it said, the conversation was shortened or not. */
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
    // by its step it gives a number or nothing, and does not fail
    work: self as Effect.Effect<number | null>
  })

/** A store may fail in one replay and not in another: what the model reads is decided once. */
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

/** A server may change its tools at any time, and a check may call a model: what the run saw is recorded. */
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
    // by its step it does not fail
    work: self as Effect.Effect<unknown>
  })

/** A verdict may interrupt a model call whose reply was there before it: in a replay, which finds both, the reply comes first as well. */
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
  // `Number`, not `Finite`: `Infinity` takes a limit away
  Schema.Struct({ type: Schema.tag("extend"), limit: Schema.Number })
])

/** The function that chooses may ask a person: what it chose is recorded. */
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
  // by their step, they give what happens at the limit, or the name of a skill
  if (about === "limit") return record(replay, { ...at, value: Limit, work: work as Effect.Effect<typeof Limit.Type> })
  const skill = Effect.map(work as Effect.Effect<string | undefined>, (said) => said ?? null)
  return Effect.map(record(replay, { ...at, value: reasons, work: skill }), (said) => said ?? undefined)
}

/** What was chosen for a turn is recorded. The layer of a model is no data: a replay runs the functions again for it, and for nothing else. */
const prepared = (replay: Replay, at: Recorded<unknown, unknown>): Effect.Effect<unknown, unknown> => {
  let hasRun = false
  const work = Effect.suspend(() => {
    hasRun = true
    return at.work
  })
  return Effect.tap(record(replay, { ...at, work }), (found) =>
    // by its step, a choice says so
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
  // the failure is only reported
  return record(replay, { line, name, run, value, error: Said, work: Effect.mapError(self, saying) })
}
