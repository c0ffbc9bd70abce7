/** One call on its way to its settlement: decoded, admitted, run, recovered by the tables around it. */
import * as Cause from "effect/Cause"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Result from "effect/Result"
import type * as AgentEvent from "../event/AgentEvent.ts"
import * as Interception from "../model/Interception.ts"
import * as Message from "../data/Message.ts"
import type * as Recovery from "../recovery/Recovery.ts"
import * as RunContext from "../event/RunContext.ts"
import { ExecutionError, ToolDeniedError, ToolTimeoutError } from "../errors/ToolError.ts"
import type * as Approval from "../data/Approval.ts"
import { canonical } from "../data/Digest.ts"
import type * as Schema from "effect/Schema"
import * as Meter from "../budget/Meter.ts"
import { broken } from "./fixing.ts"
import * as Gates from "./gates.ts"
import { Endings } from "./endings.ts"
import type { Outcome } from "./outcome.ts"
import type * as Driver from "../recovery/Driver.ts"
import * as Call from "./call.ts"
import type { CallSite } from "./CallSite.ts"
import type { Entry } from "./entry.ts"
import type { Resumed } from "./Resumed.ts"
import type { ApprovalGate, CallAtGate, ToolContext, ToolDefinition } from "./ToolDefinition.ts"
import type { Nested, Standing } from "../event/Snapshot.ts"
import { rowIn } from "./levels.ts"
import * as Nesting from "./nesting.ts"
import * as ToolRun from "./run.ts"
import * as Standings from "./standing.ts"
import { keeping, standingOf } from "./standing.ts"
import type { Fix, Fixed, FixRound, Retry } from "../recovery/Node.ts"

/** A call that ends without its tables: no row gets its failure. */
interface Final {
  readonly error: unknown
  readonly outcome: () => Effect.Effect<Outcome>
}

/** Settles one call, within the time that it has. */
export const settle = (entry: Entry, gates: Gates.Gates, site: CallSite): Effect.Effect<Outcome> => {
  const standing = site.resumed?.stood(site.key)
  const settling = new Settling(entry, gates, site, standing)
  const { callTimeout } = entry.tool
  const driven = Standings.settle(settling, standing)
  return callTimeout === undefined
    ? driven
    : Effect.timeoutOrElse(driven, {
        duration: Standings.leftOf(callTimeout, standing),
        orElse: () => settling.late(callTimeout)
      })
}

/** One call as the driver's subject. It owns what changes during the call: arguments and parameters. */
class Settling implements Driver.Subject<unknown, Outcome, never, never> {
  readonly #entry: Entry
  readonly #tool: ToolDefinition
  readonly #call: Message.ToolCall
  readonly #gates: Gates.Gates
  readonly #site: CallSite
  readonly #run: RunContext.RunContext
  readonly #endings: Endings
  /** The request for approval of this call that suspended the run. */
  readonly #asked: ReturnType<Resumed["asked"]>
  /** The arguments as they are now: the model's, or those of the last repair. */
  #raw: Message.ToolCall["arguments"]
  #decoded: Call.Decoded | undefined
  /** The last answer of a fixer if it did not decode: what this very fixer reads next. The call's arguments stay. */
  #draft: { readonly rung: Fix; readonly text: string } | undefined
  /** How often the tool itself has run: arguments that do not decode are no attempt of it. */
  #runs = 0
  /** Whether the present arguments have passed the gates: they need not be asked again for a mere retry. */
  #isAdmitted = false
  /** Whether it was looked up, after the last run, that the tool has not taken effect. */
  // Mutant `true` survives: each run of an unsafe tool first sets it to false, and no code reads it before
  #isCleared = false
  /** The arguments that the approver has edited, as canonical JSON. */
  #written: string | undefined
  #final: Final | undefined
  /** The last run, if it was cut off before its end. */
  #cutOff: ToolContext | undefined
  /** Whether the call waits for a decision. */
  #isWaiting = false
  #progress: Driver.Progress | undefined
  /** Where its sub-agent was suspended, until it has gone on. */
  #nested: Nested | undefined
  /** Keeps the state of recovery in runs that can be suspended. */
  readonly keep: ReturnType<typeof keeping>
  readonly wait = Interception.wait

  constructor(entry: Entry, gates: Gates.Gates, site: CallSite, standing: Standing | undefined) {
    this.#entry = entry
    this.#gates = gates
    this.#tool = entry.tool
    this.#call = site.call
    this.#site = site
    this.#run = site.run
    this.#asked = site.resumed?.asked(site.key)
    // what was decided on is what goes on, not what the model wrote before it was repaired
    this.#nested = site.place?.nested
    this.#raw = this.#asked?.request.arguments ?? this.#nested?.arguments ?? site.call.arguments
    this.#endings = new Endings(entry.tool, site.call, site.run, site.history, () => ({
      params: this.#decoded === undefined ? undefined : { value: this.#decoded.params() }
    }))
    // Mutant `true` survives: memory only. Where no run can be suspended, no code reads what is kept
    this.keep = keeping(site.place !== undefined)
    if (standing === undefined) return
    const { isOpen, runs } = standing
    this.#runs = runs
    this.#endings.isOpen = isOpen
    if (isOpen) site.slot.mark(Message.unknown)
  }

  attempt(attempt: number): Effect.Effect<unknown, unknown> {
    if (this.#isAdmitted) return this.#failing(attempt, this.#start())
    if (this.#nested !== undefined) return this.#goOn(attempt)
    const gates = this.#gates
    const isRepaired = this.#raw !== this.#call.arguments
    const oversized = Gates.oversized(gates, this.#tool.name, this.#call.id, this.#raw, isRepaired)
    if (oversized !== undefined) return this.#deny(oversized)
    const decoded = this.#decoded === undefined ? this.#decode(this.#raw) : Result.succeed(this.#decoded)
    if (Result.isFailure(decoded)) return this.#failing(attempt, Effect.fail(decoded.failure))
    const isFirst = this.#decoded === undefined
    const { success } = decoded
    this.#decoded = success
    const admitted = gates.policies.length === 0 ? this.#admitted(attempt, success) : this.#ask(attempt, success)
    // Mutants `true` for `success.changes.length > 0`, `success.changes.length >= 0` survive: speed only. Without changes,
    // nothing is emitted
    return isFirst && success.changes.length > 0 ? Effect.andThen(this.#emitChanges(success), admitted) : admitted
  }

  /** Once the failing path has begun, its trace can be had at any time. */
  recovering(progress: Driver.Progress): void {
    this.#progress = progress
  }

  row(error: unknown): Driver.Row | undefined {
    if (this.#final !== undefined) return undefined
    this.#site.place?.over()
    if (error instanceof Nesting.Waits) {
      this.#final = { error, outcome: () => this.#waiting(error) }
      return undefined
    }
    // a limit of this run, or of one above, was reached further down: that is no failure of this tool
    if (Meter.ownerAbove(error, this.#run.meter) !== undefined) {
      // Mutant `false` survives: only a ToolExecutionError makes a difference of `isOurs`, and a limit is none
      this.#final = { error, outcome: () => this.#endings.failed({ error, isOurs: true }) }
      return undefined
    }
    if (error instanceof ToolRun.Unverifiable) {
      this.#final = { error, outcome: () => this.#endings.unverifiable(error, this.#runs) }
      return undefined
    }
    for (const level of this.#entry.levels) {
      const row = rowIn(level.rows, error)
      if (row === undefined) continue
      const { key, verdict } = row
      return { key: `${level.name}.${key}`, verdict, seen: key === "ExecutionError" ? this.#execution(error) : error }
    }
    return undefined
  }

  about() {
    return {
      tool: this.#tool.name,
      callId: this.#call.id,
      arguments: this.#raw,
      sideEffects: this.#tool.sideEffects,
      kind: this.#tool.kind,
      runs: this.#runs,
      failingBatches: this.#site.history.failingBatches,
      failuresInARow: this.#site.history.failuresInARow(this.#tool.name),
      ...(this.#decoded === undefined ? {} : { params: this.#decoded.params() })
    }
  }

  readonly left = () => RunContext.left(this.#run)

  readonly deadline = () => RunContext.deadline(this.#run)

  /**
   * The same text cannot decode differently, and what is `unsafe` runs once unless its row acknowledges that, or a
   * lookup says that it did not take effect. An argument error out of `run`, from a tool further down, is a failed run
   * like any other. A fixer that answers in the place of the tool runs nothing.
   */
  admits(rung: Retry | Fix): boolean {
    if (this.#decoded === undefined) return rung.kind === "fix"
    if (this.#tool.sideEffects !== "unsafe" || rung.acknowledged) return true
    return this.#isCleared || (rung.kind === "fix" && rung.as === "result")
  }

  fix(rung: Fix, seen: unknown, round: FixRound): Effect.Effect<Fixed> {
    const call = {
      tool: this.#tool,
      callId: this.#call.id,
      raw: this.#draft?.rung === rung ? this.#draft.text : Call.rawText(this.#raw),
      run: this.#run,
      accept: (answer: string) => this.#accept(rung, answer)
    }
    return rung.run(rung, seen, round, broken(rung, seen, round, call))
  }

  observe(decision: Recovery.Decision): Effect.Effect<void> {
    return this.#emit(() => ({ type: "verdict", layer: "tool", ...decision }))
  }

  succeed(value: unknown, trace: Driver.Trace | undefined): Effect.Effect<Outcome> {
    const attempts = trace?.attempts ?? 1
    return value instanceof ToolRun.Found
      ? this.#endings.value(value.value, attempts, "verify")
      : this.#endings.value(value, attempts, trace?.trail.at(-1)?.verdict)
  }

  end(ending: Driver.Ending, trace: Driver.Trace): Effect.Effect<Outcome> {
    return this.#final === undefined ? this.#endings.end(ending, trace) : this.#final.outcome()
  }

  /** The whole call took too long: it ends hard, unless what was cut off turns out to have taken effect. */
  late(limit: Duration.Duration): Effect.Effect<Outcome> {
    const trace = this.#progress?.trace() ?? { attempts: 1, failures: [], trail: [] }
    // an attempt that waits for its approval is none yet
    const attempts = this.#isWaiting ? trace.attempts - 1 : trace.attempts
    return Effect.matchEffect(this.#stopped(limit), {
      onSuccess: (value) => this.succeed(value, { ...trace, attempts }),
      onFailure: (error) => this.#endings.late(error, this.#runs === 0 ? 0 : attempts, trace, limit)
    })
  }

  #stopped(limit: Duration.Duration): Effect.Effect<unknown, unknown> {
    if (this.#cutOff !== undefined) return ToolRun.cutOff(this.#tool, this.#cutOff, limit)
    const { sideEffects } = this.#tool
    if (this.#runs === 0) {
      const known = { callId: this.#call.id, sideEffects, isAsked: this.#isWaiting }
      return Effect.fail(ToolTimeoutError.notStarted(this.#tool.name, limit, known))
    }
    return Effect.fail(ToolTimeoutError.actionTimeout(this.#tool.name, limit, { callId: this.#call.id, sideEffects }))
  }

  #ask(attempt: number, decoded: Call.Decoded): Effect.Effect<unknown, unknown> {
    const { name: tool, sideEffects } = this.#tool
    const { agent, depth } = this.#run
    const call = { agent, tool, callId: this.#call.id, arguments: this.#raw, sideEffects, depth }
    return Effect.flatMap(Gates.denied(this.#gates, call, decoded), (denial) =>
      denial === undefined ? this.#admitted(attempt, decoded) : this.#deny(denial)
    )
  }

  #admitted(attempt: number, decoded: Call.Decoded): Effect.Effect<unknown, unknown> {
    const gate = this.#tool.approval ?? this.#asked?.gate
    return gate === undefined ? this.#enter(attempt) : this.#approved(attempt, gate, decoded)
  }

  #enter(attempt: number): Effect.Effect<unknown, unknown> {
    this.#isAdmitted = true
    return this.#failing(attempt, this.#start())
  }

  #approved(attempt: number, gate: ApprovalGate, decoded: Call.Decoded): Effect.Effect<unknown, unknown> {
    const { isSuspendable, key, resumed, run } = this.#site
    const { arguments: written, id: callId } = this.#call
    const params = () => decoded.params()
    const about = { tool: this.#tool, callId, key, written, json: decoded.json, params, run, isSuspendable }
    const call: CallAtGate = {
      ...about,
      edited: this.#written,
      asked: this.#asked?.request,
      decided: resumed?.decided,
      waiting: (decided) => this.#asking(decided)
    }
    return Effect.flatMap(gate.pass(call), (passed) => {
      if ("open" in passed) return this.#suspend(passed.open)
      const { decision } = passed
      // everything but an approval refuses, also a value of another type: JSON that was not decoded
      if (decision.type !== "approve") {
        return this.#deny(ToolDeniedError.of(this.#tool.name, callId, String(decision.reason)))
      }
      return decision.arguments === undefined ? this.#enter(attempt) : this.#edited(attempt, decision.arguments)
    })
  }

  /** Should the run end during the wait for a decision, it is known that nothing has run. */
  #asking<A>(decided: Effect.Effect<A>): Effect.Effect<A> {
    return Effect.suspend(() => {
      this.#isWaiting = true
      if (this.#runs === 0) this.#site.slot.mark(Message.unapproved)
      return Effect.map(decided, (decision) => {
        this.#isWaiting = false
        if (this.#runs === 0) this.#site.slot.mark(undefined)
        return decision
      })
    })
  }

  /** Arguments that the approver has edited pass every gate again, but for this one. */
  #edited(attempt: number, args: Schema.Json): Effect.Effect<unknown, unknown> {
    const decoded = this.#decode(args)
    this.#raw = args
    this.#decoded = Result.isSuccess(decoded) ? decoded.success : undefined
    if (Result.isFailure(decoded)) return this.#failing(attempt, Effect.fail(decoded.failure))
    this.#written = canonical(decoded.success.json)
    return this.attempt(attempt)
  }

  /** The run waits for a decision elsewhere: this call is neither settled nor failed. */
  #suspend(request: Approval.Request): Effect.Effect<never, Approval.Request> {
    const standing = this.#standing(this.#runs)
    this.#final = { error: request, outcome: () => this.#endings.pending({ requests: [request], standing }) }
    return Effect.fail(request)
  }

  /** Its sub-agent waits: the run that was begun is not over. */
  #waiting({ snapshot }: Nesting.Waits): Effect.Effect<Outcome> {
    const nested = { key: this.#site.key, arguments: this.#raw, snapshot }
    const requests = snapshot.open?.requests ?? []
    return this.#endings.pending({ requests, nested, standing: this.#standing(this.#runs - 1) })
  }

  #standing(runs: number): Standing | undefined {
    const kept = { key: this.#site.key, runs, isOpen: this.#endings.isOpen }
    return this.#progress === undefined ? undefined : standingOf(this.#progress, kept)
  }

  /** Its sub-agent goes on where it was suspended: it has passed every gate before. */
  #goOn(attempt: number): Effect.Effect<unknown, unknown> {
    this.#decoded = Result.getOrUndefined(this.#decode(this.#raw))
    return this.#enter(attempt)
  }

  #start(): Effect.Effect<unknown, unknown> {
    const context: ToolContext = {
      attempt: ++this.#runs,
      callId: this.#call.id,
      idempotencyKey: this.#site.key,
      agent: this.#run.agent,
      progress: (data) => this.#emit(() => ({ type: "tool-progress", data }))
    }
    const { place } = this.#site
    if (place !== undefined) Nesting.offer(context, place.nesting(this.#nested?.snapshot, this.#raw))
    this.#nested = undefined
    const onCleared = () => void (this.#isCleared = true)
    const running = () => ToolRun.run(this.#tool, this.#decoded, context, onCleared)
    return this.#tool.sideEffects === "unsafe" ? this.#watched(context, running) : running()
  }

  /** Once an unsafe tool has started, nothing but its own end, or a look at what it did, tells whether it took effect. */
  #watched(context: ToolContext, run: () => Effect.Effect<unknown, unknown>): Effect.Effect<unknown, unknown> {
    return Effect.suspend(() => {
      this.#site.slot.mark(Message.unknown)
      this.#isCleared = false
      return Effect.onExit(Effect.suspend(run), (exit) => {
        const isStopped = Exit.isFailure(exit) && (Cause.hasInterrupts(exit.cause) || Cause.hasDies(exit.cause))
        this.#cutOff = isStopped ? context : undefined
        const hasFailed = Exit.isFailure(exit) && !isStopped
        const failure = hasFailed ? Cause.squash(exit.cause) : undefined
        // looked up by the key of the call: what it says holds for all runs before
        if (this.#isCleared) this.#endings.isOpen = false
        this.#endings.isOpen ||= ToolRun.isOpen(failure)
        // a success took effect, also where its result never comes to be settled
        if (hasFailed && !this.#endings.isOpen) this.#site.slot.mark(undefined)
        return Effect.void
      })
    })
  }

  /** Denied is denied: no row is asked. */
  #deny(error: ToolDeniedError): Effect.Effect<never, ToolDeniedError> {
    this.#final = { error, outcome: () => this.#endings.denied(error) }
    return Effect.fail(error)
  }

  #decode(raw: Message.ToolCall["arguments"]) {
    return Call.decode(this.#tool, { ...this.#call, arguments: raw })
  }

  /** Takes a fixer's answer as the new arguments, if it decodes. */
  #accept(rung: Fix, answer: string): Effect.Effect<unknown> {
    const decoded = this.#decode(answer)
    if (Result.isFailure(decoded)) {
      this.#draft = { rung, text: answer }
      return Effect.succeed(decoded.failure)
    }
    this.#draft = undefined
    this.#raw = answer
    this.#decoded = decoded.success
    // the new arguments pass every gate again
    this.#isAdmitted = false
    return Effect.as(this.#emitChanges(decoded.success), undefined)
  }

  /** Rows for `ExecutionError` see every failure of `run` in one shape, around the original. */
  #execution(error: unknown): unknown {
    return ExecutionError.wrap(
      { tool: this.#tool.name, callId: this.#call.id, kind: this.#tool.kind, args: this.#decoded?.json ?? null },
      error
    )
  }

  #failing(attempt: number, running: Effect.Effect<unknown, unknown>): Effect.Effect<unknown, unknown> {
    // Mutant `false` survives: speed only. Without a listener, `RunContext.emit` does nothing
    return this.#run.emit === undefined
      ? running
      : Effect.tapError(running, (error) =>
          error instanceof Nesting.Waits ? Effect.void : this.#emit(() => ({ type: "tool-failed", attempt, error }))
        )
  }

  #emitChanges({ changes }: Call.Decoded): Effect.Effect<void> {
    const emit = (change: (typeof changes)[number]) => this.#emit(() => ({ type: "arguments-coerced", change }))
    // Mutants `{}`, `false` survive: all callers drop the value of the loop
    return Effect.forEach(changes, emit, { discard: true })
  }

  #emit(make: () => AgentEvent.OfOneCall): Effect.Effect<void> {
    return RunContext.emit(this.#run, () => ({ ...make(), callId: this.#call.id, tool: this.#tool.name }))
  }
}
