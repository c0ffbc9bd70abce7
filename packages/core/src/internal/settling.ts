/** One call on its way to its settlement: decoded, run, recovered by the tables around it. */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type * as AgentEvent from "../AgentEvent.ts"
import * as ErrorCause from "../ErrorCause.ts"
import type * as Message from "../Message.ts"
import type * as Recovery from "../Recovery.ts"
import * as Render from "../Render.ts"
import * as RunContext from "../RunContext.ts"
import { ExecutionError, ToolExecutionError } from "../ToolError.ts"
import * as Fixing from "./fixing.ts"
import type * as Driver from "./recoveryDriver.ts"
import * as Call from "./toolCall.ts"
import type { ToolDefinition } from "./toolDefinition.ts"
import type { Fix, Node, Retry } from "./verdict.ts"

/** A tool and its tables, nearest first: its own, the agent's for it, the agent's defaults. */
export interface Entry {
  readonly tool: ToolDefinition
  readonly levels: ReadonlyArray<Level>
}

export interface Level {
  readonly name: "tool" | "agent" | "defaults"
  readonly rows: Recovery.Rows
}

/** What ends a run. Our own final errors take its transcript along; a user's leaves as itself, the very same object. */
export interface Failure {
  readonly error: unknown
  readonly isOurs: boolean
}

/** What became of a call. `failure` is what ends the run with it; the call is settled all the same. */
export interface Outcome {
  readonly settlement: Message.Settlement
  readonly failure?: Failure
}

/** One call as the driver's subject. It owns what changes during the call: arguments and parameters. */
export class Settling implements Driver.Subject<unknown, Outcome, never, never> {
  readonly #entry: Entry
  readonly #tool: ToolDefinition
  readonly #call: Message.ToolCall
  readonly #idempotencyKey: string
  readonly #run: RunContext.RunContext
  /** The arguments as they are now: the model's, or those of the last repair. */
  #raw: Message.ToolCall["arguments"]
  #decoded: Call.Decoded | undefined
  /** The last answer of a fixer if it did not decode: what this very fixer reads next. The call's arguments stay. */
  #draft: { readonly rung: Fix; readonly text: string } | undefined
  /** How often the tool itself has run: arguments that do not decode are no attempt of it. */
  #runs = 0

  constructor(entry: Entry, call: Message.ToolCall, idempotencyKey: string, run: RunContext.RunContext) {
    this.#entry = entry
    this.#tool = entry.tool
    this.#call = call
    this.#idempotencyKey = idempotencyKey
    this.#run = run
    this.#raw = call.arguments
  }

  attempt(attempt: number): Effect.Effect<unknown, unknown> {
    const decoded = this.#decoded === undefined ? this.#decode(this.#raw) : Result.succeed(this.#decoded)
    if (Result.isFailure(decoded)) return this.#failing(attempt, Effect.fail(decoded.failure))
    const fresh = this.#decoded === undefined
    this.#decoded = decoded.success
    const context = {
      attempt: ++this.#runs,
      callId: this.#call.id,
      idempotencyKey: this.#idempotencyKey,
      agent: this.#run.agent
    }
    const running = this.#tool.run(decoded.success.params, context)
    const reported = this.#failing(attempt, running)
    return fresh && decoded.success.changes.length > 0
      ? Effect.andThen(this.#emitChanges(decoded.success), reported)
      : reported
  }

  row(error: unknown): Driver.Row | undefined {
    for (const level of this.#entry.levels) {
      const key = keyIn(level.rows, error)
      const verdict: Node | undefined = key === undefined ? undefined : level.rows.get(key)
      if (key === undefined || verdict === undefined) continue
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
      ...(this.#decoded === undefined ? {} : { params: this.#decoded.params })
    }
  }

  /**
   * The same text cannot decode differently, and what is `unsafe` runs once unless somebody took that on himself. An
   * argument error out of `run`, from a tool further down, is a failed run like any other.
   */
  admits(rung: Retry | Fix): boolean {
    if (this.#decoded === undefined) return rung.kind === "fix"
    return this.#tool.sideEffects !== "unsafe" || rung.acknowledged
  }

  fix(rung: Fix, seen: unknown, round: Driver.FixRound): Effect.Effect<Driver.Fixed> {
    return Fixing.run(rung, seen, round, {
      tool: this.#tool,
      callId: this.#call.id,
      raw: this.#draft?.rung === rung ? this.#draft.text : Call.rawText(this.#raw),
      run: this.#run,
      accept: (answer) => this.#accept(rung, answer)
    })
  }

  observe(decision: Recovery.Decision): Effect.Effect<void> {
    return this.#emit(() => ({ type: "verdict", layer: "tool", ...decision }))
  }

  succeed(value: unknown, trace: Driver.Trace | undefined): Effect.Effect<Outcome> {
    return Effect.flatMap(this.#tool.encode(value), (text) =>
      this.#settled({ kind: "result", text }, trace?.attempts ?? 1, trace?.trail.at(-1)?.verdict)
    )
  }

  end(ending: Driver.Ending, trace: Driver.Trace): Effect.Effect<Outcome> {
    switch (ending.type) {
      case "answered":
        return Effect.flatMap(this.#tool.encode(ending.value), (text) =>
          this.#settled({ kind: "result", text }, trace.attempts, ending.by)
        )
      case "told":
        return Effect.suspend(() => {
          const rendered = ending.render?.(ending.seen, ending.context) ?? ""
          // a model never reads an empty error
          const text = rendered.trim() === "" ? Render.labelled(ending.seen, ending.context) : rendered
          return this.#settled({ kind: "told", text: Render.capped(text) }, trace.attempts, "tell")
        })
      case "escalated": {
        const reason = typeof ending.reason === "string" ? ending.reason : Render.messageOf(ending.reason)
        const text = Render.escalation(this.#tool.name, reason, ending.severity)
        return this.#settled({ kind: "told", text }, trace.attempts, ending.by)
      }
      case "exhausted":
        return this.#failed({ error: this.#exhausted(trace, ending.cap), isOurs: true })
      case "raised":
        return this.#failed({ error: this.#raised(ErrorCause.sayingOf(ending.error), trace), isOurs: true })
      case "rethrown":
      case "failed":
        return this.#failed({ error: ending.error, isOurs: false })
    }
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
    return Effect.as(this.#emitChanges(decoded.success), undefined)
  }

  /** Rows for `ExecutionError` see every failure of `run` in one shape, around the original. */
  #execution(error: unknown): unknown {
    return ExecutionError.wrap(
      { tool: this.#tool.name, callId: this.#call.id, kind: this.#tool.kind, args: this.#decoded?.json ?? null },
      error
    )
  }

  #exhausted(trace: Driver.Trace, cap: string | undefined): ToolExecutionError {
    const why = cap === undefined ? {} : { why: `stopped by the cap of ${cap}` }
    return ToolExecutionError.exhausted(this.#callOf(), { failures: trace.failures, runs: trace.attempts, ...why })
  }

  /** A hard failure by decision: the message of the error is kept exactly. */
  #raised(message: string, trace: Driver.Trace): ToolExecutionError {
    const { failures } = trace
    return new ToolExecutionError({ ...this.#callOf(), message, attempts: failures, cause: failures.at(-1) })
  }

  #callOf() {
    return { tool: this.#tool.name, callId: this.#call.id }
  }

  #settled(settlement: Message.Settlement, attempts: number, recoveredBy: string | undefined): Effect.Effect<Outcome> {
    return Effect.as(
      this.#emit(() => ({
        type: "tool-end",
        use: {
          arguments: this.#call.arguments,
          settlement,
          attempts,
          ...(this.#decoded === undefined ? {} : { params: this.#decoded.params }),
          ...(recoveredBy === undefined ? {} : { recoveredBy })
        }
      })),
      { settlement }
    )
  }

  #failed(failure: Failure): Effect.Effect<Outcome> {
    return Effect.succeed({
      settlement: { kind: "told", text: Render.capped(`ERROR: ${Render.messageOf(failure.error)}`) },
      failure
    })
  }

  #failing(attempt: number, running: Effect.Effect<unknown, unknown>): Effect.Effect<unknown, unknown> {
    return this.#run.emit === undefined
      ? running
      : Effect.tapError(running, (error) => this.#emit(() => ({ type: "tool-failed", attempt, error })))
  }

  #emitChanges(decoded: Call.Decoded): Effect.Effect<void> {
    return Effect.forEach(decoded.changes, (change) => this.#emit(() => ({ type: "arguments-coerced", change })), {
      discard: true
    })
  }

  #emit(make: () => AgentEvent.OfOneCall): Effect.Effect<void> {
    return RunContext.emit(this.#run, () => ({ ...make(), callId: this.#call.id, tool: this.#tool.name }))
  }
}

/** The row of a level that guards an error: exact, then what stands for it, then `orElse`. */
const keyIn = (rows: Recovery.Rows, error: unknown): string | undefined => {
  const tag = ErrorCause.tagOf(error)
  if (rows.has(tag)) return tag
  const standIn = Call.isArgumentError(error) ? "InvalidArgs" : "ExecutionError"
  if (rows.has(standIn)) return standIn
  return rows.has("orElse") ? "orElse" : undefined
}
