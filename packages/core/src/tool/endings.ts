/** What becomes of a call once it is decided: the settlement that the model reads, the event, and what ends the run. */
import * as Redaction from "../data/Redaction.ts"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as FailureHistory from "../budget/FailureHistory.ts"
import * as ErrorCause from "../data/ErrorCause.ts"
import * as Message from "../data/Message.ts"
import * as Render from "../recovery/Render.ts"
import * as RunContext from "../event/RunContext.ts"
import type { InputTooLargeError } from "../errors/DoorError.ts"
import { ExecutionError, type ToolDeniedError, ToolExecutionError } from "../errors/ToolError.ts"
import { BudgetExceededError } from "../errors/RunError.ts"
import * as Meter from "../budget/Meter.ts"
import { Exceeded } from "../budget/Meter.ts"
import { limitOf } from "../errors/Limit.ts"
import { denialOf, type Failure, type How, type Outcome, type Pending, result, signatureOf, wishOf } from "./outcome.ts"
import type * as Driver from "../recovery/Driver.ts"
import type { ToolDefinition } from "./ToolDefinition.ts"
import { rendered } from "./rendering.ts"
import * as ToolRun from "./run.ts"
import { trailOf } from "../recovery/Decisions.ts"

type Exhausted = Extract<Driver.Ending, { readonly type: "exhausted" }>

/** What an ending has to know of the call as it is now. */
export interface Ended {
  readonly params: { readonly value: unknown } | undefined
}

export class Endings {
  /** An earlier run was cut off after its start: whatever is said of the call, it may have taken effect. */
  isOpen = false
  readonly #tool: ToolDefinition
  readonly #call: Message.ToolCall
  readonly #run: RunContext.RunContext
  readonly #history: FailureHistory.FailureHistory
  readonly #now: () => Ended

  constructor(
    tool: ToolDefinition,
    call: Message.ToolCall,
    run: RunContext.RunContext,
    history: FailureHistory.FailureHistory,
    now: () => Ended
  ) {
    this.#tool = tool
    this.#call = call
    this.#run = run
    this.#history = history
    this.#now = now
  }

  /** What the table, or the lack of one, has made of the last failure. */
  end(ending: Driver.Ending, trace: Driver.Trace): Effect.Effect<Outcome> {
    switch (ending.type) {
      case "answered":
        return this.value(ending.value, trace.attempts, ending.by)
      case "told":
        return Effect.flatMap(rendered(ending, this.#run, Render.labelled), (text) => {
          const wantsToolsOff = wishOf(ending.afterwards)
          const wish = wantsToolsOff === undefined ? {} : { wantsToolsOff }
          return this.told(ending.error, text, trace, { recoveredBy: "tell", ...wish })
        })
      case "escalated": {
        const { reason } = ending
        const said = typeof reason === "string" ? reason : Render.spoken(reason, this.#tool.kind)
        const text = Render.escalation(this.#tool.name, said, ending.severity)
        return this.told(ending.error, text, trace, { recoveredBy: ending.by })
      }
      case "exhausted":
        return this.exhausted(trace, ending)
      case "raised":
        return this.raised(ErrorCause.sayingOf(ending.error), trace)
      case "rethrown":
      case "failed":
        return this.failed({ error: ending.error, isOurs: false })
    }
  }

  /** A value of the tool, or what stands in for one. */
  value(value: unknown, attempts: number, recoveredBy: string | undefined): Effect.Effect<Outcome> {
    const text = this.#tool.encode(value)
    return Exit.isSuccess(text)
      ? this.settled(result(this.#tool, value, text.value), attempts, { recoveredBy, isSuccess: true })
      : Effect.catchTag(Effect.failCause(text.cause), "InputTooLargeError", (error) => this.#unshown(error, attempts))
  }

  /** It has run, and nothing of its result can be written down: no row repeats that. */
  #unshown(tooLarge: InputTooLargeError, attempts: number): Effect.Effect<Outcome> {
    const { kind, name } = this.#tool
    const call = { tool: name, kind, callId: this.#call.id, args: this.#call.arguments }
    const error = ExecutionError.wrap({ ...call, category: "validation" }, tooLarge)
    return Effect.andThen(
      RunContext.emit(this.#run, () => ({ type: "tool-failed", attempt: attempts, error, ...this.#callOf() })),
      this.settled({ kind: "told", text: Render.unshown(name, tooLarge.limit) }, attempts, {
        signature: signatureOf(error)
      })
    )
  }

  /** A failure that the model reads. */
  told(error: unknown, text: string, trace: Driver.Trace, how: How): Effect.Effect<Outcome> {
    const signature = signatureOf(error)
    const isRepeated = this.#history.isRepeated(this.#tool.name, signature)
    const said = how.recoveredBy === "tell" && isRepeated ? `${text}\n${Render.repeated}` : text
    // a fixer speaks for itself
    const settlement = this.#error(said, error, how.recoveredBy !== "fix")
    return this.settled(settlement, trace.attempts, { ...how, signature, trail: trace.trail })
  }

  /** It was cut off, and could not be looked up. */
  unverifiable({ error, why }: ToolRun.Unverifiable, attempts: number): Effect.Effect<Outcome> {
    const settlement: Message.Settlement = {
      kind: "unknown",
      text: Redaction.own(Render.unverifiable(this.#tool.name, why))
    }
    return this.settled(settlement, attempts, { recoveredBy: "escalate", signature: signatureOf(error) })
  }

  /** Denied before it ran. */
  denied(error: ToolDeniedError): Effect.Effect<Outcome> {
    const settlement: Message.Settlement = { kind: "denied", text: Render.denied(this.#tool.name, error.reason) }
    const settled = denialOf(this.#tool.name, signatureOf(error))
    return Effect.as(
      RunContext.emit(this.#run, () => ({ type: "tool-refused", settlement, ...this.#callOf() })),
      { settlement, settled }
    )
  }

  /** It waits for a decision, or its sub-agent does: there is nothing to settle yet, unless its run ends before. */
  pending(pending: Pending): Effect.Effect<Outcome> {
    const { nested, standing } = pending
    const hasRun = nested !== undefined || (standing !== undefined && standing.runs > 0)
    const cutOff = hasRun ? Message.interrupted : Message.unapproved
    return Effect.succeed({
      settlement: standing?.isOpen === true ? Message.unknown : cutOff,
      settled: { tool: this.#tool.name, isError: false },
      pending
    })
  }

  /** The whole call took too long. `runs` are its attempts, none where the tool has not even begun. */
  late(error: unknown, runs: number, trace: Pick<Driver.Trace, "failures" | "trail">, limit: Duration.Duration) {
    const cause = error instanceof ToolRun.Unverifiable ? error.error : error
    this.isOpen ||= ToolRun.isOpen(error)
    const why = `after ${Duration.format(limit)} for the whole call`
    // what has not begun has not failed
    const failures = runs === 0 ? trace.failures : [...trace.failures, cause]
    const all = { failures, cause, runs, trail: trailOf(trace.trail), why }
    return this.failed({ error: ToolExecutionError.exhausted(this.#callOf(), all), isOurs: true })
  }

  /** The call ends the run. */
  failed(failure: Failure): Effect.Effect<Outcome> {
    const { error } = failure
    // below this call a limit of this run was reached, or of one above: the call has not failed, it was cut off
    const isCut = error instanceof BudgetExceededError && Meter.ownerAbove(error, this.#run.meter) !== undefined
    this.isOpen ||= isCut && this.#tool.sideEffects === "unsafe"
    // what may be done about it is nothing for the model
    const text =
      isCut || error instanceof Exceeded
        ? `ERROR: the call was stopped, for the run has reached ${limitOf(error)}`
        : `ERROR: ${Render.spoken(error, this.#tool.kind)}`
    const settlement = this.#error(text, error)
    return Effect.succeed({
      settlement: isCut && settlement.kind === "told" ? { ...settlement, kind: "interrupted" } : settlement,
      failure,
      settled: { tool: this.#tool.name, isError: true }
    })
  }

  exhausted(trace: Driver.Trace, { cap, isLate = false }: Exhausted): Effect.Effect<Outcome> {
    const { attempts: runs, failures, trail } = trace
    const { deadline } = this.#run.meter
    // not the policy has given up, the run is over
    if (isLate && deadline !== undefined) {
      return this.failed({ error: deadline.late(deadline.ownDeadline), isOurs: true })
    }
    const why = cap === undefined ? {} : { why: `stopped by the cap of ${cap}` }
    const all = { failures, runs, trail: trailOf(trail), ...why }
    return this.failed({ error: ToolExecutionError.exhausted(this.#callOf(), all), isOurs: true })
  }

  /** A hard failure by decision: the message of the error is kept exactly. */
  raised(message: string, { failures: attempts, trail }: Driver.Trace): Effect.Effect<Outcome> {
    const fields = { ...this.#callOf(), message, attempts, cause: attempts.at(-1), trail: trailOf(trail) }
    return this.failed({ error: new ToolExecutionError(fields), isOurs: true })
  }

  settled(settlement: Message.Settlement, attempts: number, how: How): Effect.Effect<Outcome> {
    const { isSuccess = false, recoveredBy, signature, trail, wantsToolsOff } = how
    const tool = this.#tool.name
    const settled: FailureHistory.Settled = isSuccess
      ? { tool, isError: false }
      : {
          tool,
          isError: Message.isError(settlement),
          ...(signature === undefined ? {} : { signature }),
          ...(wantsToolsOff === undefined ? {} : { wantsToolsOff })
        }
    const outcome: Outcome = trail === undefined ? { settlement, settled } : { settlement, settled, trail }
    return RunContext.emitThen(
      this.#run,
      () => {
        const { params } = this.#now()
        const use = {
          arguments: this.#call.arguments,
          settlement,
          attempts,
          ...(params === undefined ? {} : { params: params.value }),
          ...(recoveredBy === undefined ? {} : { recoveredBy })
        }
        return { type: "tool-end", use, ...this.#callOf() }
      },
      () => Effect.succeed(outcome)
    )
  }

  /** As an error; as one of unknown outcome while that is open, which the text then says. */
  #error(text: string, error: unknown, isOfError = true): Message.Settlement {
    const isOpen = this.isOpen || ToolRun.isOpen(error)
    const isSaid = isOfError && ToolRun.isOpen(error)
    const said = isOpen && !isSaid ? `${text}\n${Render.stillOpen}` : text
    return { kind: isOpen ? "unknown" : "told", text: Redaction.own(said) }
  }

  #callOf() {
    return { tool: this.#tool.name, callId: this.#call.id }
  }
}
