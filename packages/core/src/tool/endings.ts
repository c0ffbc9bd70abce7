/** How a call ends: the settlement that the model reads, the event, and the failure that ends the run. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FailureHistory from "../budget/FailureHistory.ts"
import type { Exceeded } from "../budget/Meter.ts"
import * as ErrorCause from "../data/ErrorCause.ts"
import * as Message from "../data/Message.ts"
import type { CallCheckpoint } from "../event/Checkpoint.ts"
import * as Redaction from "../data/Redaction.ts"
import { asShortened } from "../data/Shortened.ts"
import type { InputTooLargeError } from "../errors/DoorError.ts"
import { limitOf } from "../errors/Limit.ts"
import {
  DeserializationError,
  EscalationError,
  InvalidArgs,
  ToolExecutionError,
  ToolTimeoutError,
  executionErrorOf,
  exhausted
} from "../errors/ToolError.ts"
import * as RunContext from "../event/RunContext.ts"
import { trailOf } from "../recovery/VerdictTrail.ts"
import {
  type Answered,
  attemptCap,
  type Ends,
  type Leaves,
  type Says,
  type Spoken,
  type Trace
} from "../recovery/Layer.ts"
import type { Afterwards } from "../recovery/Node.ts"
import * as Render from "../recovery/Render.ts"
import { cleared, decodedOf, type ToolCall, type Why } from "./callState.ts"
import * as Fate from "./fate.ts"
import type { Failure, How, Outcome } from "./outcome.ts"
import { rendered } from "./rendering.ts"
import * as ToolRun from "./run.ts"
import type { ToolDefinition } from "./ToolDefinition.ts"

/** Ends a tool call in the way that its tables have decided. */
export class ToolEnds implements Ends<unknown, Outcome, never, never>, Says<Outcome, never, never> {
  readonly call: ToolCall

  constructor(call: ToolCall) {
    this.call = call
  }

  succeeded(value: unknown, trace: Trace) {
    const attempts = attemptsOf(this.call, trace)
    return value instanceof ToolRun.Found || this.call.wasFound === true
      ? valued(this.call, ToolRun.resultOf(value), attempts, "verify")
      : valued(this.call, value, attempts, trace.trail.at(-1)?.verdict)
  }

  answered({ by, value }: Answered, { attempts }: Trace) {
    return valued(this.call, value, attempts, by)
  }

  left(ending: Leaves, trace: Trace) {
    const { state } = this.call
    if (state.type !== "Over") return left(this.call, ending, trace)
    return state.why.type === "capped"
      ? left(this.call, { ...ending, why: "exhausted", cap: attemptCap }, trace)
      : over(this.call, state.why)
  }

  toModel(ending: Spoken["toModel"], trace: Trace) {
    const context = { ...ending.context, ...fateOf(this.call, ending.error) }
    return Effect.flatMap(
      textFor({ ...ending, context }, this.call.site.run, ending.byDefault ?? Render.labelled),
      (text) => {
        const wantsToolsOff = wishOf(ending.afterwards)
        // Mutant `false` survives: `undefined` is left out once more
        const wish = wantsToolsOff === undefined ? {} : { wantsToolsOff }
        const said = ending.render && text
        return tell(this.call, ending.error, text, trace, { recoveredBy: "tell", said, ...wish })
      }
    )
  }

  escalated({ by, error, reason, severity }: Spoken["escalated"], trace: Trace) {
    const { kind, name } = this.call.entry.tool
    const said = typeof reason === "string" ? reason : undefined
    const own = reason instanceof EscalationError ? reason : undefined
    const why = said ?? own?.reason ?? Render.spoken(reason, kind)
    const isUncertain = this.call.state.isUncertain || ToolRun.isUncertain(error)
    const text = Render.escalation(name, why, severity ?? own?.severity, isUncertain)
    return tell(this.call, error, text, trace, { recoveredBy: by, said })
  }

  /** Ends the run with a hard failure that has exactly the message of the error. */
  raised({ error }: Spoken["raised"], { failures: attempts, trail }: Trace) {
    const message = ErrorCause.sayingOf(error)
    const fields = { ...callOf(this.call), message, attempts, cause: error, trail: trailOf(trail) }
    return hard(this.call, { error: new ToolExecutionError(fields), isOurs: true })
  }
}

/** Ends a call whose `callTimeout` has passed. It fails hard, unless a lookup finds that the stopped tool has taken effect. */
export const late = (self: ToolCall, limit: Duration.Duration): Effect.Effect<Outcome> => {
  const { state } = self
  const trace = self.progress?.trace() ?? { attempts: 1, failures: [], trail: [] }
  // an attempt that waits for its approval does not count yet
  const attempts = state.type === "Waiting" ? trace.attempts - 1 : trace.attempts
  return Effect.matchEffect(stopped(self, limit), {
    onSuccess: (value) => new ToolEnds(self).succeeded(value, { ...trace, attempts }),
    onFailure: (error) => {
      const cause = error instanceof ToolRun.Unverifiable ? error.error : error
      const why = `after ${Duration.format(limit)} for the whole call`
      // a tool that has not begun has not failed
      const failures = state.runs === 0 ? trace.failures : [...trace.failures, cause]
      const runs = state.runs === 0 ? 0 : attemptsOf(self, { ...trace, attempts })
      const all = { failures, cause, runs, trail: trailOf(trace.trail), why }
      const failure = { error: exhausted(callOf(self), all), isOurs: true }
      return hard(self, failure, ToolRun.isUncertain(error))
    }
  })
}

/** The number of attempts of a call. Before a table has decided anything, only a function of `Tool.around` can have made more than one. */
const attemptsOf = ({ progress, tries }: ToolCall, { attempts }: Trace): number =>
  progress === undefined ? attempts + (tries?.extra.made ?? 0) : attempts

/** What the stop of a call means in its current state: a lookup if the tool may have taken effect, otherwise the error of a timeout. */
const stopped = (self: ToolCall, limit: Duration.Duration) => {
  const { entry, site, state } = self
  const { tool } = entry
  const { name, sideEffects } = tool
  const callId = site.call.id
  if (state.type === "Running" && state.mayHaveActed) {
    const onCleared = () => {
      self.state = cleared(state)
    }
    return ToolRun.cutOff({ tool, context: state.context, onCleared, keep: self }, limit)
  }
  const late = { tool: name, timeout: limit, callId, sideEffects }
  return Effect.fail(
    state.runs === 0
      ? ToolTimeoutError.make({ ...late, tookEffect: false, what: notBegun(name, limit, state.type === "Waiting") })
      : ToolTimeoutError.make(state.type === "Running" ? { ...late, tookEffect: false } : late)
  )
}

const notBegun = (tool: string, limit: Duration.Duration, isWaiting: boolean): string =>
  `Tool '${tool}' did not begin within ${Duration.format(limit)}${isWaiting ? ", because its call had no approval" : ""}`

/** Settles a call that has ended without its tables. */
const over = (self: ToolCall, why: Exclude<Why, { readonly type: "capped" }>): Effect.Effect<Outcome> => {
  const { name } = self.entry.tool
  switch (why.type) {
    case "denied": {
      const settlement = denied(self, why)
      return RunContext.emitThen(
        self.site.run,
        () => ({ type: "tool-denied", settlement, ...callOf(self) }),
        () => Effect.succeed({ settlement, record: denialOf(name, signatureOf(why.error)) })
      )
    }
    case "waits":
      return Effect.succeed(waits(self, why.checkpoint))
    case "deferred": {
      const { checkpoint, late: call } = why
      const outcome = settle(self, call.settlement, self.state.runs, { isSuccess: true })
      return Effect.map(outcome, (found) => ({ ...found, late: { call, checkpoint } }))
    }
    case "unverifiable": {
      const { error, why: reason } = why.error
      const settlement: Message.Settlement = { kind: "unknown", text: Redaction.own(Render.unverifiable(name, reason)) }
      return settle(self, settlement, self.state.runs, { recoveredBy: "escalate", signature: signatureOf(error) })
    }
  }
}

/** The settlement of a denied call. If an earlier execution may have taken effect, the settlement says so. */
const denied = (
  { entry, state }: ToolCall,
  { error, text }: Extract<Why, { readonly type: "denied" }>
): Message.Settlement => {
  if (text === undefined) return { kind: "denied", text: Render.denied(entry.tool.name, error.reason) }
  return state.isUncertain ? failing(text, true, false) : { kind: "denied", text }
}

/** The outcome of a call that waits. Its settlement is used only if the run ends before the decision comes. */
const waits = (self: ToolCall, checkpoint: CallCheckpoint): Outcome => ({
  settlement: Fate.ended(self),
  record: { tool: self.entry.tool.name, isError: false },
  checkpoint
})

/** Ends the run with a failure that no row has handled, or after which a row has no attempt left. */
const left = (self: ToolCall, { cap, error, isHalted, isLate, why }: Leaves, trace: Trace): Effect.Effect<Outcome> => {
  if (why !== "exhausted") return hard(self, { error, isOurs: false })
  // the run is out of time, so its error is about the limit and not about the policy
  if (isLate === true) return RunContext.endOfTime(self.site.run, { cause: error, trail: trailOf(trace.trail) })
  const { failures, trail } = trace
  const stopped = cap === undefined ? {} : { why: `stopped by the cap of ${cap}` }
  const last = failures.at(-1)
  const ofFixer = last === error ? {} : { ofFixer: last }
  const all = { failures, cause: error, ...ofFixer, runs: self.state.runs, trail: trailOf(trail), ...stopped }
  const failure = { error: exhausted(callOf(self), all), isOurs: true }
  // another call has ended the run already
  return isHalted === true ? endedBeside(self, ended(self, failure, Fate.mayHaveActed(self))) : hard(self, failure)
}

/** Settles a call with a value: the result of the tool, or the answer of a row. */
const valued = (
  self: ToolCall,
  value: unknown,
  attempts: number,
  recoveredBy: string | undefined
): Effect.Effect<Outcome> => {
  const { tool } = self.entry
  const text = ToolRun.textOf(tool, value, self)
  if (Exit.isSuccess(text)) {
    const { putAside } = tool
    const settlement = result(tool, value, text.value)
    const how = { recoveredBy, isSuccess: true }
    return putAside === undefined || text.value.length <= putAside.above
      ? settle(self, settlement, attempts, how)
      : Effect.flatMap(putAside.shorten(settlement, self.site), settles(self, attempts, how))
  }
  return Effect.catchTag(Effect.failCause(text.cause), "InputTooLargeError", (error) => unshown(self, error, attempts))
}

const settles = (self: ToolCall, attempts: number, how: How) => (settlement: Message.Settlement) =>
  settle(self, settlement, attempts, how)

/** Settles a call whose result cannot be written as text. The tool has run, so no row repeats the call. */
const unshown = (self: ToolCall, tooLarge: InputTooLargeError, attempts: number): Effect.Effect<Outcome> => {
  const { call, run } = self.site
  const { kind, name } = self.entry.tool
  const where = { tool: name, kind, callId: call.id, args: call.arguments }
  const error = executionErrorOf({ ...where, category: "validation" }, tooLarge)
  return Effect.andThen(
    RunContext.emit(run, () => ({ type: "tool-failed", attempt: attempts, error, ...callOf(self) })),
    settle(self, { kind: "told", text: Render.unshown(name, tooLarge.limit) }, attempts, {
      signature: signatureOf(error)
    })
  )
}

/** Settles a call with a text about its failure, which the model reads. */
const tell = (self: ToolCall, error: unknown, text: string, trace: Trace, how: How): Effect.Effect<Outcome> => {
  const { isRepeated } = fateOf(self, error)
  const said = how.recoveredBy === "tell" && isRepeated ? Render.repeated(text) : text
  // Mutant `""` survives: the text of a fixer says at most once that the outcome is unknown
  const isSaid = how.recoveredBy !== "fix" && ToolRun.isUncertain(error)
  const settlement = failing(said, self.state.isUncertain || ToolRun.isUncertain(error), isSaid)
  return settle(self, settlement, trace.attempts, {
    ...how,
    signature: fullSignature(error, how.said),
    trail: trace.trail
  })
}

/** What the model has to know besides the failure. An error about an unknown outcome says that in its own text. */
const fateOf = (self: ToolCall, error: unknown) => ({
  isRepeated: self.site.history.isRepeated(self.entry.tool.name, signatureOf(error)),
  isUncertain: self.state.isUncertain && !ToolRun.isUncertain(error)
})

/** Ends the run with a failure of this call. */
const hard = (self: ToolCall, failure: Failure, isLeftUncertain = false): Effect.Effect<Outcome> =>
  RunContext.halt(self.site.run, () => Effect.succeed({ ...ended(self, failure, isLeftUncertain), failure }))

const ended = (self: ToolCall, { error }: Failure, isLeftUncertain = false): Outcome => {
  const { kind, name } = self.entry.tool
  const isUncertain = self.state.isUncertain || isLeftUncertain || ToolRun.isUncertain(error)
  const settlement = failing(`ERROR: ${Render.spoken(error, kind)}`, isUncertain, ToolRun.isUncertain(error))
  return { settlement, record: { tool: name, isError: true } }
}

/** Settles a call that was cut off: by a limit of the run or of an ancestor (`exceeded`), or because another call has ended the run. */
export const cut = (self: ToolCall, exceeded?: Exceeded): Effect.Effect<Outcome> => {
  const why = exceeded === undefined ? "another call has ended the run" : `the run has reached ${limitOf(exceeded)}`
  const isUnapproved = exceeded === undefined && Fate.isUnapproved(self)
  const settlement = isUnapproved ? Fate.ended(self) : Fate.cutOff(self, why)
  const outcome: Outcome = {
    settlement,
    ...(exceeded === undefined ? {} : { failure: { error: exceeded, isOurs: true } }),
    record: { tool: self.entry.tool.name, isError: true }
  }
  return endedBeside(self, outcome)
}

/** The outcome of a call that a limit or another call has ended. Its end is emitted only if the run still makes an answer. */
const endedBeside = (self: ToolCall, outcome: Outcome): Effect.Effect<Outcome> =>
  self.site.run.meter.isAnswering ? Effect.as(stop(self, outcome.settlement), outcome) : Effect.succeed(outcome)

/** Settles a call that a message of the user has interrupted. */
export const interrupted = (self: ToolCall): Effect.Effect<Outcome> => stop(self, Fate.ended(self, "interrupt"))

/** Settles a call in a run that goes on, although neither the tool nor a table has ended the call. */
const stop = (self: ToolCall, settlement: Message.Settlement): Effect.Effect<Outcome> =>
  settle(self, settlement, self.state.runs, { isSuccess: true })

const settle = (
  self: ToolCall,
  settlement: Message.Settlement,
  attempts: number,
  { isSuccess = false, recoveredBy, signature, trail, wantsToolsOff }: How
): Effect.Effect<Outcome> => {
  const { site, state } = self
  const tool = self.entry.tool.name
  const record: FailureHistory.CallOutcome = isSuccess
    ? { tool, isError: false }
    : {
        tool,
        isError: Message.isError(settlement),
        ...(signature === undefined ? {} : { signature }),
        ...(wantsToolsOff === undefined ? {} : { wantsToolsOff })
      }
  const outcome: Outcome = trail === undefined ? { settlement, record } : { settlement, record, trail }
  // the call was settled as `deferred` before, and the model reads this settlement in a later message
  if (site.late !== undefined) return Effect.succeed(outcome)
  return RunContext.emitThen(
    site.run,
    () => {
      const decoded = decodedOf(state)
      const use = {
        arguments: site.call.arguments,
        settlement,
        attempts,
        ...(decoded === undefined ? {} : { params: decoded.params() }),
        ...(recoveredBy === undefined ? {} : { recoveredBy })
      }
      return { type: "tool-end", use, ...callOf(self) }
    },
    () => {
      // an interruption from now on finds the call settled
      site.slot.settlement = settlement
      return Effect.succeed(outcome)
    }
  )
}

/** A settlement with the text of an error. An uncertain outcome makes it `unknown`, and adds a sentence unless `isSaid`. */
const failing = (text: string, isUncertain: boolean, isSaid: boolean): Message.Settlement => ({
  kind: isUncertain ? "unknown" : "told",
  text: Redaction.own(isUncertain && !isSaid ? Render.withCutOff(text) : text)
})

/** The signature of a failure, and of the text that a row or a fixer added to it, without numbers, quotations and instructions. */
const fullSignature = (error: unknown, said: string | undefined): string => {
  const failure = signatureOf(error)
  if (said === undefined) return FailureHistory.signatureWith(failure, "")
  const besides = Render.saidBesides(said.slice(0, maxCompared), ErrorCause.messageOf(error))
  return FailureHistory.signatureWith(failure, FailureHistory.normalForm(besides))
}

/** How many characters of such a text are compared: more than any text of this library has. */
const maxCompared = 10_000

const callOf = ({ entry, site }: ToolCall) => ({ tool: entry.tool.name, callId: site.call.id })

/** The settlement of a success, cut to `maxResultChars`. The tool's `isError` may have the model read it as an error. */
const result = (tool: ToolDefinition, value: unknown, text: string): Message.Settlement => {
  const read = tool.maxResultChars === undefined ? text : Render.truncated(text, tool.maxResultChars)
  if (tool.isError?.(value) === true) return { kind: "told", text: read }
  const settlement: Message.Settlement = { kind: "result", text: read, ...tool.parts?.of(value, tool.maxResultChars) }
  return read === text ? settlement : asShortened(settlement)
}

/** The text of a failure: by the renderer of its row, or by default. */
export const textFor = (
  { context, render, seen }: Pick<Spoken["toModel"], "context" | "render" | "seen">,
  run: RunContext.RunContext,
  byDefault: NonNullable<Spoken["toModel"]["byDefault"]>
): Effect.Effect<string> =>
  render === undefined
    ? Effect.sync(() => byDefault(seen, context))
    : rendered({ context, render, seen }, run, byDefault)

/** Whether the row that told a failure wants the tools to be switched off; `undefined` if the row does not say. */
export const wishOf = (afterwards: Afterwards | undefined): boolean | undefined =>
  afterwards === undefined ? undefined : afterwards === "tools-off"

/** The signature of a failure, without what the model wrote. For arguments that do not fit, it has only the expected values. */
const signatureOf = (error: unknown): string => {
  const tag = ErrorCause.tagOf(error)
  // Mutant `"Stryker was here!"` survives: it is compared with itself only
  if (error instanceof InvalidArgs) return FailureHistory.signatureOf(tag, "")
  if (error instanceof DeserializationError) {
    const expected = error.issues.slice(0, 20).map((issue) => `${issue.path.join(".")} ${issue.expected}`)
    return FailureHistory.signatureOf(tag, expected.join("; "))
  }
  return FailureHistory.signatureOf(tag, ErrorCause.messageOf(error))
}

/** The history entry of a refused call. The tool has not failed, but a model that insists is going round in circles. */
export const denialOf = (tool: string, signature?: string): FailureHistory.CallOutcome => ({
  tool,
  isError: true,
  isDenied: true,
  ...(signature === undefined ? {} : { signature })
})
