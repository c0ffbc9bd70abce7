/** Deferred calls whose run goes on. Each call is settled as `deferred`, and its result reaches the run later, at a safe point. */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Approval from "../data/Approval.ts"
import { isDeep } from "../data/Foreign.ts"
import * as Message from "../data/Message.ts"
import * as Redaction from "../data/Redaction.ts"
import type { InputTooLargeError } from "../errors/DoorError.ts"
import type { Ended, LateCheckpoint } from "../event/Checkpoint.ts"
import * as RunContext from "../event/RunContext.ts"
import type * as Interception from "../model/Interception.ts"
import { untouchable } from "../recovery/Layer.ts"
import * as Render from "../recovery/Render.ts"
import type { DeferredCall } from "./awaiting.ts"
import * as LateTexts from "./lateTexts.ts"
import type { LateCall, LateCalls, LeftCall, Rows, Answered } from "./Late.ts"
import type * as Polling from "./polling.ts"
import type { ToolDefinition } from "./ToolDefinition.ts"
import type { Entry } from "./waiting.ts"

/** A call whose work has begun, and the functions that end it. */
export interface Begun {
  readonly call: DeferredCall
  readonly run: RunContext.RunContext
  readonly checkpoint: Omit<LateCheckpoint, "arguments" | "progress" | "failure">
  readonly entry: Entry
  /** Whether a run that has its answer ends without waiting for this call. */
  readonly detaches: boolean
  /** How the call waits outside of this process; absent if it waits in memory. */
  readonly elsewhere: Outside | undefined
  /** Closes the call because its deadline has passed. No settlement counts any more. */
  readonly expire: () => void
  /** Stops the work of the call. No settlement counts any more. */
  readonly stop: Effect.Effect<void>
  /** Leaves the work of the call running. No settlement counts any more. */
  readonly release: Effect.Effect<void>
  /** Closes the call while its run is suspended. No settlement counts until the run is resumed. */
  readonly suspend: () => void
}

type Elsewhere = NonNullable<Interception.Interceptor["deferring"]>

interface Outside extends Pick<Elsewhere, "look" | "wait"> {
  readonly asked: Parameters<Elsewhere["wait"]>[0]
  readonly poll: Polling.InPassing | undefined
}

export const make = (begun: Begun): LateCall => {
  const { checkpoint } = begun
  return {
    settlement: { kind: "deferred", text: LateTexts.deferred(checkpoint.handle) },
    join: (others, from) => {
      const late = others ?? new Late()
      const { progress } = from
      // Mutant `false` survives: this is for the types only. A call whose work has begun waits for no decision
      const args = from.type === "decision" ? null : from.arguments
      const whole = { ...checkpoint, arguments: args, ...(progress === undefined ? {} : { progress }) }
      if (late instanceof Late) late.add({ ...begun, checkpoint: whole })
      return late
    }
  }
}

interface Joined extends Begun {
  readonly checkpoint: LateCheckpoint
}

/** The calls of one run, in the order in which they have begun. */
class Late implements LateCalls {
  #calls: Array<Joined> = []
  /** The calls that have expired outside of this process. */
  readonly #expired = new Set<Joined>()

  add(begun: Joined): void {
    this.#calls.push(begun)
  }

  get isEmpty(): boolean {
    return this.#calls.length === 0
  }

  get mayBeLeft(): boolean {
    return this.#calls.every(({ detaches }) => detaches)
  }

  /** The checkpoints of all calls. A call whose settlement has come meanwhile has it in its checkpoint. */
  checkpoints(): ReadonlyArray<LateCheckpoint> {
    return this.#calls.map(({ call: { tool }, checkpoint, entry: { settlement } }) => {
      if (settlement === undefined) return checkpoint
      const ended = endedAs(tool, settlement)
      return { ...checkpoint, ...(ended === undefined ? { result: shown(tool, settlement) } : { ended }) }
    })
  }

  suspend(): void {
    for (const one of this.#calls) one.suspend()
  }

  /** Whether a call has its result, or has passed its deadline. */
  readonly isDue: Effect.Effect<boolean> = Effect.suspend(() => Effect.map(this.#over, (over) => over.length > 0))

  /** The calls that are over now: first the expired calls, then those with a result. */
  get #over(): Effect.Effect<ReadonlyArray<Joined>> {
    return Effect.flatMap(this.#looked, () =>
      Effect.map(Clock.currentTimeMillis, (now) => {
        const isExpired = (one: Joined) =>
          !hasArrived(one) && (one.elsewhere === undefined ? now >= one.checkpoint.expiresAt : this.#expired.has(one))
        return [...this.#calls.filter(isExpired), ...this.#calls.filter(hasArrived)]
      })
    )
  }

  /** Takes the settlements that have come outside of this process. */
  get #looked(): Effect.Effect<void> {
    const unread = this.#calls.flatMap((one) => {
      const { elsewhere } = one
      return elsewhere === undefined || hasArrived(one) || this.#expired.has(one) ? [] : [{ one, elsewhere }]
    })
    const [first] = unread
    if (first === undefined) return Effect.void
    // the clock is read outside of `within`, because in a replay a call reads the time of its beginning
    const polled = Effect.flatMap(Clock.currentTimeMillis, (now) =>
      Effect.forEach(unread, ({ elsewhere: { asked, poll }, one: { run } }) =>
        Effect.map(RunContext.within(run, poll?.(now) ?? Effect.undefined), (found) => ({ ...asked, run, found }))
      )
    )
    return Effect.map(Effect.flatMap(polled, first.elsewhere.look), (endings) => {
      for (const [index, { one }] of unread.entries()) this.#take(one, endings[index])
    })
  }

  #take(one: Joined, ending: Exit.Exit<unknown, unknown> | "late" | undefined): void {
    if (ending === "late") this.#expired.add(one)
    else if (ending !== undefined) one.entry.take(ending)
  }

  /** Waits for the first result, or for a message to the run. Outside of this process, it waits for all results. */
  wait(run: RunContext.RunContext): Effect.Effect<void> {
    return Effect.flatMap(Clock.currentTimeMillis, (now) => {
      const waited = this.#calls.filter(({ detaches }) => !detaches)
      if (waited.some(({ elsewhere }) => elsewhere !== undefined)) {
        // Mutant `false` survives: all callers drop the value of the loop
        return Effect.forEach(waited, (one) => this.#waitOutside(one, now), { concurrency: "unbounded", discard: true })
      }
      const nearest = Math.min(...waited.map(({ checkpoint }) => checkpoint.expiresAt))
      const arrivals = this.#calls.map(({ entry }) => Deferred.await(entry.arrived))
      const first = Effect.timeoutOption(Effect.raceAllFirst(arrivals), Duration.millis(Math.max(0, nearest - now)))
      const waiting = RunContext.untilHalted(run, Effect.asVoid(first), Effect.die)
      const { inbox } = run.tree
      return inbox === undefined ? waiting : Effect.asVoid(inbox.during(run, "wait", waiting))
    })
  }

  #waitOutside(one: Joined, since: number): Effect.Effect<void> {
    const { elsewhere, run } = one
    if (elsewhere === undefined) return Effect.void
    return Effect.map(RunContext.within(run, elsewhere.wait({ ...elsewhere.asked, since })), (exit) => {
      // a message of the user withdraws no late call
      if (exit !== "withdrawn") this.#take(one, exit ?? "late")
    })
  }

  read(run: RunContext.RunContext, take: (message: Message.User) => void, rows: Rows): Effect.Effect<void, unknown> {
    const readOne = (one: Joined): Effect.Effect<void, unknown> =>
      Effect.flatMap(endOf(one, rows), ({ late, settlement }) => {
        this.#calls = this.#calls.filter((other) => other !== one)
        // the work of the call has begun anew
        if (late !== undefined) return Effect.sync(() => void late.call.join(this, late.checkpoint))
        const { callId, handle, tool } = one.checkpoint
        const textOf = (read: Message.Settlement) => LateTexts.lateResult({ tool, callId, handle }, read)
        const message =
          one.call.tool.parts?.late({ callId, tool }, settlement, textOf) ?? Message.user(textOf(settlement))
        return RunContext.record(
          run,
          () => take(message),
          () => ({ type: "tool-result", callId, tool, handle, settlement, message }),
          () => Effect.void
        )
      })
    return Effect.flatMap(
      Effect.suspend(() => this.#over),
      // Mutants `{}`, `false` survive: all callers drop the value of the loop
      (over) => Effect.forEach(over, readOne, { discard: true })
    )
  }

  /** Stops the work of the calls that have no result yet. */
  readonly withdraw: Effect.Effect<void> = Effect.flatMap(
    Effect.suspend(() => this.#looked),
    () => {
      const unfinished = this.#calls.filter((one) => !hasArrived(one))
      this.#calls = this.#calls.filter(hasArrived)
      return Effect.forEach(unfinished, ({ stop }) => stop, { discard: true })
    }
  )

  readonly detach: Effect.Effect<ReadonlyArray<LeftCall>> = Effect.suspend(() => {
    const left = this.#calls
    // Mutant `["Stryker was here"]` survives: the run is over, and nothing asks for its calls
    this.#calls = []
    return Effect.forEach(left, ({ checkpoint: { callId, expiresAt, handle, tool }, release, run: { agent, runId } }) =>
      Effect.as(release, { type: "deferred", runId, agent, callId, tool, handle, expiresAt })
    )
  })
}

const hasArrived = ({ checkpoint, entry }: Joined): boolean =>
  entry.settlement !== undefined || checkpoint.result !== undefined

/** How a late call ends. Its rows decide about an end without a usable result. */
const endOf = ({ call, checkpoint, entry, expire }: Joined, rows: Rows): Effect.Effect<Answered, unknown> => {
  const { settlement: exit } = entry
  const { result } = checkpoint
  // Mutant `true` for `exit === undefined` survives: a call whose result was in the snapshot takes no settlement
  if (exit === undefined && result !== undefined) return Effect.succeed({ settlement: result })
  // a check of the poll has died with a defect
  // Mutant `false` for `exit !== undefined && Exit.isFailure(exit) && untouchable(exit.cause) !== undefined` survives: the rows
  // let a defect pass, too
  if (exit !== undefined && Exit.isFailure(exit) && untouchable(exit.cause) !== undefined) {
    return Effect.failCause(exit.cause)
  }
  expire()
  const answered = rows(checkpoint, exit)
  return call.tool.approval === undefined ? answered : approved(answered)
}

/**
 * Refuses an approval that a row of a late call needs, if there is no `Approver`. The run would have to be suspended for it, but it has
 * gone on.
 */
const approved = <A, E>(self: Effect.Effect<A, E>): Effect.Effect<A, E> =>
  Effect.flatMap(Effect.serviceOption(Approval.Approver), (approver) =>
    Option.isSome(approver) ? self : Effect.provideService(self, Approval.Approver, absent)
  )

const absent: Approval.Approver["Service"] = {
  decide: () => Effect.succeed(Approval.refuse("no approver can be asked about a call whose run has gone on"))
}

/** The exit of a call as JSON; `undefined` if a snapshot cannot hold it. */
export const endedAs = ({ failure, success }: ToolDefinition, exit: Exit.Exit<unknown, unknown>): Ended | undefined => {
  if (Exit.isSuccess(exit)) {
    const value = written(success, exit.value)
    return value === undefined ? undefined : { _tag: "Success", value }
  }
  const error = failure === undefined ? undefined : written(failure, Cause.squash(exit.cause))
  return error === undefined ? undefined : { _tag: "Failure", error }
}

/** A value as JSON; `undefined` if the schema cannot encode it at once, or if it is nested too deeply for a snapshot. */
const written = (schema: Schema.Codec<unknown, unknown>, value: unknown): Schema.Json | undefined => {
  const encode = Schema.encodeUnknownSync(Schema.toCodecJson(schema))
  // what the JSON codec of a schema encodes is JSON. The stack may overflow for a value that is nested deeply
  const encoded = Result.try(() => encode(value) as Schema.Json)
  return Result.isSuccess(encoded) && !isDeep(encoded.success, deepest) ? encoded.success : undefined
}

/** The most levels of a value in a snapshot. The whole snapshot may have 1000 levels, and there are some around the value. */
const deepest = 900

/** The settlement that the model reads for an exit that cannot be stored as JSON. No row is asked about it. */
const shown = (tool: ToolDefinition, exit: Exit.Exit<unknown, unknown>): Message.Settlement => {
  if (Exit.isFailure(exit)) {
    const text = `ERROR: ${Render.spoken(Cause.squash(exit.cause), tool.kind)}`
    return { kind: "told", text: Redaction.own(text) }
  }
  const text = tool.encode(exit.value)
  if (Exit.isSuccess(text)) {
    const cut = tool.maxResultChars === undefined ? text.value : Render.truncated(text.value, tool.maxResultChars)
    if (tool.isError?.(exit.value) === true) return { kind: "told", text: cut }
    return { kind: "result", text: cut, ...tool.parts?.of(exit.value, tool.maxResultChars) }
  }
  // the schema of the tool has read the value, so the value can only be nested too deeply
  const { limit } = Cause.squash(text.cause) as InputTooLargeError
  return { kind: "told", text: Render.unshown(tool.name, limit) }
}
