/** Intercepts the steps of a durable run: those with an effect outside are recorded, under names that say where in the run they are. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { type Approval, LlmError, Message, Model } from "@kintsugi/core"
import type * as Interception from "@kintsugi/core/Interception"
import * as RunContext from "@kintsugi/core/RunContext"
import { decided } from "./approval.ts"
import { cancel, deferring, poll } from "./deferred.ts"
import type { Line } from "./lines.ts"
import { listening } from "./listening.ts"
import { type AnyCodec, outside, record, type Recorded, type Replay, Said, saying } from "./recording.ts"
import { fingerprint } from "./random.ts"
import { reading } from "./saying.ts"
import { attempt, compensation } from "./tool.ts"
import { wait } from "./wait.ts"

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
          ? Effect.succeed(
              Stream.unwrap(Effect.map(modelCall(replay, line, run, step, collected(step.model, self)), parts))
            )
          : modelCall(replay, line, run, step, self)
      case "tool attempt":
        return step.isAgent ? self : attempt(replay, line, run, step, self)
      case "look-up":
        return lookUp(replay, line, run, step, self)
      case "compensation":
        return compensation(replay, line, run, step, self)
      case "poll":
        return poll(replay, line, run, step, self)
      case "cancel":
        return cancel(replay, line, run, self)
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

/** A model call was not made, or was cut short: the run has no time left for its waits. */
const OutOfTime = Schema.Struct({ _tag: Schema.tag("OutOfTime") })

const ModelFailure = Schema.Union([LlmError.LlmError, OutOfTime])

const modelCall = (
  replay: Replay,
  line: Line,
  run: RunContext.RunContext | undefined,
  { request }: Extract<Interception.InterceptedStep, { readonly type: "model call" }>,
  // by their step, models give replies and fail with their errors
  self: Effect.Effect<unknown, unknown>
): Effect.Effect<Message.Reply, unknown> => {
  const asked = Effect.catchDefect(self as Effect.Effect<Message.Reply, LlmError.LlmError>, (defect) =>
    RunContext.isLimit(defect) ? Effect.fail({ _tag: "OutOfTime" } as const) : Effect.die(defect)
  )
  const name = named(line, run, "model")
  const asks = requestDigest(run, request)
  const recorded = record(replay, { line, name, value: Message.Reply, error: ModelFailure, work: asked, asks })
  return recorded.pipe(
    Effect.catch((error): Effect.Effect<never, unknown> =>
      error._tag === "OutOfTime" && run !== undefined ? RunContext.endOfTime(run) : Effect.fail(error)
    )
  )
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

/** The whole of a reply that comes in parts. */
const collected = (model: string, self: Effect.Effect<unknown, unknown>): Effect.Effect<Message.Reply, unknown> =>
  // a streamed model call gives its parts
  Effect.flatMap(self as Effect.Effect<Stream.Stream<Model.Part, LlmError.LlmError>>, (stream) => {
    const collector = new Model.Collector()
    const whole = Stream.takeUntil(stream, (part) => part.type === "finish")
    const collecting = Stream.runForEach(whole, (part) => Effect.sync(() => collector.push(part)))
    return Effect.flatMap(collecting, () => {
      const reply = collector.reply()
      return reply === undefined ? Effect.fail(cutOff(model)) : Effect.succeed(reply)
    })
  })

const cutOff = (model: string) =>
  LlmError.NetworkError.make({ host: model, what: `The stream of model '${model}' ended before its end`, model })

const parts = (reply: Message.Reply): Stream.Stream<Model.Part> => Stream.fromArray(Model.partsOf(reply))

const reasons = Schema.NullOr(Schema.String)

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

/** A server may change its tools at any time: what the run saw is recorded. */
const pins = (
  replay: Replay,
  line: Line,
  run: RunContext.RunContext | undefined,
  { schema }: Extract<Interception.InterceptedStep, { readonly type: "pins" }>,
  self: Effect.Effect<unknown, unknown>
): Effect.Effect<unknown> =>
  record(replay, {
    line,
    name: named(line, run, "pins"),
    run,
    value: schema,
    error: Schema.Never,
    // by its step it does not fail
    work: self as Effect.Effect<unknown>
  })

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
