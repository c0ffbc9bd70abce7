/** One turn: a model is asked, and the calls of its reply are settled. It keeps no state. */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type * as AgentEvent from "./AgentEvent.ts"
import type * as Approval from "./Approval.ts"
import type * as FailureHistory from "./FailureHistory.ts"
import { nothing, rowOf } from "./internal/recoverEffect.ts"
import * as Driver from "./internal/recoveryDriver.ts"
import { ContentFilteredError, type LlmError, MalformedToolCallError, NetworkError } from "./LlmError.ts"
import type * as Ledger from "./Ledger.ts"
import * as Message from "./Message.ts"
import * as Model from "./Model.ts"
import type * as Recovery from "./Recovery.ts"
import * as RunContext from "./RunContext.ts"
import * as Toolset from "./Toolset.ts"
import * as Usage from "./Usage.ts"

/** A question to a model, and what guards it. */
export interface Asking {
  readonly model: Model.Service
  readonly request: Model.Request
  /** The table of `onLlmError`. */
  readonly rows: Recovery.Rows
  readonly onPartial: OnPartial
  readonly isStreamed: boolean
  readonly run: RunContext.RunContext
  /** Which part of the run asks, where it is not its loop. */
  readonly layer?: Ledger.Layer
}

/** A table for model calls; its answers stand in for what the call is asked for. */
export type LlmRows<Answer> = {
  readonly [K in LlmError["_tag"] | "orElse"]?: Recovery.Verdict<
    K extends "orElse" ? LlmError : Extract<LlmError, { readonly _tag: K }>,
    Answer,
    unknown,
    unknown,
    "exhausted" | "rethrow",
    "repeats"
  >
}

/** Whether a streamed attempt that broke off after its first text may be made again, or fails with what it has. */
export type OnPartial = "fail" | "restart"

/** A reply, or what the table answered in its place. */
export type Answer =
  | { readonly type: "reply"; readonly reply: Message.Reply }
  | { readonly type: "answered"; readonly value: unknown }

/** Asks, and recovers by the table; each attempt's usage is booked. */
export const ask = (asking: Asking): Effect.Effect<Answer, unknown> => Driver.drive(new AskingSubject(asking))

class AskingSubject implements Driver.Subject<Message.Reply, Answer, unknown, never> {
  readonly #asking: Asking
  /** The text of the present attempt that a reader has seen. */
  #partial = ""
  /** Whether a reader has seen anything of it, be it only thoughts. */
  #isShown = false
  /** The last failure that no row was for. */
  #unguarded: unknown

  constructor(asking: Asking) {
    this.#asking = asking
  }

  attempt(attempt: number): Effect.Effect<Message.Reply, LlmError> {
    const { isStreamed, model, request, run } = this.#asking
    const whole = isStreamed ? this.#stream(model, request) : Effect.map(model.generate(request), Model.collected)
    const replied = Effect.flatMap(
      Effect.tapError(whole, (error) =>
        this.#failed(error, attempt, Usage.empty, this.#isShown && this.admits() ? "discarded" : "failed")
      ),
      (reply) => {
        const refusal = refused(model, reply)
        if (refusal !== undefined) {
          return Effect.andThen(this.#failed(refusal, attempt, reply.usage, "failed"), Effect.fail(refusal))
        }
        if (run.emit !== undefined) return Effect.as(this.#replied(reply, attempt), reply)
        this.#book(attempt, reply.usage, "used")
        return Effect.succeed(reply)
      }
    )
    const { name, provider } = model
    return RunContext.begin(run, () => ({ type: "model-start", model: name, provider, attempt }), replied)
  }

  row(error: unknown): Driver.Row | undefined {
    const row = rowOf(this.#asking.rows, error)
    if (row === undefined) this.#unguarded = error
    return row
  }

  about() {
    return nothing
  }

  left() {
    return RunContext.left(this.#asking.run)
  }

  deadline() {
    return RunContext.deadline(this.#asking.run)
  }

  admits(): boolean {
    return this.#partial === "" || this.#asking.onPartial === "restart"
  }

  fix(): Effect.Effect<never> {
    return Effect.die(new TypeError("Turn: fix has no meaning in a table for model calls"))
  }

  observe(decision: Recovery.Decision): Effect.Effect<void> {
    const { run } = this.#asking
    const decided = RunContext.emit(run, () => ({ type: "verdict", layer: "model", ...decision }))
    const text = this.#partial
    if (decision.verdict !== "retry" || !this.#isShown) return decided
    this.#partial = ""
    this.#isShown = false
    const discarded = RunContext.emit(run, () => ({ type: "attempt-discarded", attempt: decision.attempt, text }))
    return Effect.andThen(decided, discarded)
  }

  succeed(reply: Message.Reply): Effect.Effect<Answer> {
    return Effect.succeed({ type: "reply", reply })
  }

  end(ending: Driver.Ending): Effect.Effect<Answer, unknown> {
    switch (ending.type) {
      case "answered":
        return Effect.succeed({ type: "answered", value: ending.value })
      case "rethrown": {
        const call = ending.error === this.#unguarded ? rejectedCall(ending.error, this.#asking) : undefined
        if (call === undefined) return Effect.fail(ending.error)
        const reply: Message.Reply = { content: [call], finish: "tool-calls", usage: Usage.empty }
        return Effect.succeed({ type: "reply", reply })
      }
      case "exhausted": {
        const { deadline } = this.#asking.run.meter
        // not the policy has given up, the run is over
        return Effect.fail(
          ending.isLate === true && deadline !== undefined ? deadline.late(deadline.ownDeadline) : ending.error
        )
      }
      case "failed":
      case "raised":
        return Effect.fail(ending.error)
      case "told":
      case "escalated":
        return Effect.die(new TypeError(`Turn: a verdict that ends as ${ending.type} has no meaning for a model call`))
    }
  }

  #replied(reply: Message.Reply, attempt: number): Effect.Effect<void> {
    return this.#booked(attempt, reply.usage, "used", (asked) => ({ type: "model-end", reply, ...asked }))
  }

  #failed(error: LlmError, attempt: number, usage: Usage.Usage, outcome: Ledger.Outcome): Effect.Effect<void> {
    return this.#booked(attempt, usage, outcome, (asked) => ({ type: "model-failed", error, ...asked }))
  }

  /** Booked and told of at once: an interruption in between would leave one without the other. */
  #booked(
    attempt: number,
    usage: Usage.Usage,
    outcome: Ledger.Outcome,
    make: (asked: AgentEvent.Asked) => AgentEvent.Happening
  ): Effect.Effect<void> {
    const { model, run } = this.#asking
    const book = () => this.#book(attempt, usage, outcome)
    return run.emit === undefined
      ? Effect.sync(book)
      : RunContext.emit(run, () => make({ model: model.name, attempt, spent: book() }))
  }

  #book(attempt: number, usage: Usage.Usage, outcome: Ledger.Outcome): Ledger.Entry {
    const { layer, model, run } = this.#asking
    const cost = run.meter.costOf(model.name, usage)
    const entry: Ledger.Entry = {
      runId: run.runId,
      agent: run.agent,
      turn: run.turn(),
      attempt,
      model: model.name,
      provider: model.provider,
      layer: layer ?? (run.fixers.length > 0 ? "fixer" : "agent"),
      outcome,
      usage,
      ...(cost === undefined ? {} : { cost })
    }
    run.ledger.record(entry)
    return entry
  }

  #stream(model: Model.Service, request: Model.Request): Effect.Effect<Message.Reply, LlmError> {
    return Effect.suspend(() => {
      const collector = new Model.Collector()
      // a reply is whole with its last part: nothing that comes after can fail it
      const whole = Stream.takeUntil(model.stream(request), (part) => part.type === "finish")
      const collecting = Stream.runForEachArray(whole, (parts) =>
        Effect.suspend(() => {
          for (const part of parts) collector.push(part)
          this.#partial = collector.partial
          this.#isShown ||= parts.some(isShown)
          return Effect.forEach(parts, (part) => this.#show(part), { discard: true })
        })
      )
      return Effect.flatMap(collecting, () => {
        const reply = collector.reply()
        return reply === undefined ? Effect.fail(cutOff(model)) : Effect.succeed(reply)
      })
    })
  }

  #show(part: Model.Part): Effect.Effect<void> {
    return isShown(part)
      ? RunContext.emit(this.#asking.run, (): AgentEvent.Happening => ({ type: part.type, text: part.text }))
      : Effect.void
  }
}

/**
 * A call that the provider itself rejected, as the model wrote it: without a row for that it is settled like any other bad
 * call, by the rows of its tool.
 */
const rejectedCall = (error: unknown, { request, run }: Asking): Message.ToolCall | undefined => {
  if (!(error instanceof MalformedToolCallError) || error.rawArgs === undefined) return undefined
  const { rawArgs, tool: name } = error
  if (!request.tools.some((tool) => tool.name === name)) return undefined
  return { type: "tool-call", id: `rejected-${run.turn()}`, name, arguments: rawArgs }
}

const isShown = (part: Model.Part) => part.type === "text-delta" || part.type === "reasoning-delta"

/** A filtered reply that calls nothing has nothing to say. */
const refused = (model: Model.Service, reply: Message.Reply): LlmError | undefined =>
  reply.finish === "filtered" && Message.callsOf(reply).length === 0
    ? ContentFilteredError.contentFiltered(model.name, "the reply was cut off by a content filter", {
        provider: model.provider
      })
    : undefined

const cutOff = (model: Model.Service): NetworkError =>
  NetworkError.connectionFailed({ host: model.provider }, `The stream of model '${model.name}' ended before its end`, {
    provider: model.provider,
    model: model.name
  })

/** The calls of a reply, all settled, in the model's order. `failure` ends the run, and so does `output`. */
export interface Batch {
  readonly message: Message.Assistant
  readonly outcomes: ReadonlyArray<Toolset.Outcome>
  /** What waits for a decision: the batch is not over. */
  readonly pending: ReadonlyArray<Approval.ApprovalRequest>
  readonly failure?: Toolset.Failure
  readonly output?: Toolset.Output
}

/** What happens to the other calls of a batch when one of them ends the run. */
export type Siblings = "settleAll" | "interrupt"

/** A batch, and how it is to be settled. */
export interface Settling {
  readonly toolset: Toolset.Toolset
  readonly reply: Message.Reply
  /** Calls beyond these are not run. */
  readonly admitted: number
  /** How many run at once. */
  readonly concurrency: number
  readonly siblings: Siblings
  /** Where settlements are written down as they come, so that none is lost when the batch is cut short. */
  readonly settlements: Array<Message.Settlement | undefined>
  readonly history: FailureHistory.FailureHistory
  readonly run: RunContext.RunContext
  /** Decides about calls that need approval. */
  readonly decide: Toolset.Surroundings["decide"]
  readonly asked: Toolset.Surroundings["asked"]
  /** What is known of the calls that were settled before the run was suspended. */
  readonly known: ReadonlyArray<FailureHistory.Settled | undefined>
}

/**
 * Settles the calls of a reply: concurrently, recorded in request order. When one ends the run, the others still end as
 * they would have, or are interrupted, as `siblings` says; a defect interrupts them.
 */
export const settle = (settling: Settling): Effect.Effect<Batch> => {
  const {
    admitted,
    concurrency,
    decide,
    history,
    asked,
    known: before,
    reply,
    run,
    settlements,
    siblings,
    toolset
  } = settling
  const calls = Message.callsOf(reply)
  const over = (): Batch => ({ message: Message.settle(reply, settlements), outcomes: [], pending: [] })
  if (calls.length === 0) return Effect.succeed(over())
  if (reply.finish === "length" || reply.finish === "filtered") {
    for (let i = 0; i < calls.length; i++) settlements[i] = Message.truncated
    return Effect.succeed(over())
  }
  const ending = calls.findIndex((call) => Toolset.isBuiltIn(toolset, call))
  const from = Math.max(ending, 0)
  const started = calls.slice(from, ending < 0 ? admitted : from + 1)
  const isHasty = siblings === "interrupt" && started.length > 1
  const settleOne = (call: Message.ToolCall, offset: number): Effect.Effect<Toolset.Outcome, Ended> => {
    const index = from + offset
    const known = settlements[index]
    // it was settled before the run was suspended
    if (known !== undefined)
      return Effect.succeed({ settlement: known, settled: before[index] ?? Toolset.settledAs(call, known) })
    const around: Toolset.Surroundings = {
      // call ids repeat over turns, and with some models within one
      idempotencyKey: `${run.runId}/${run.turn()}/${index}`,
      run,
      history,
      decide,
      asked,
      mark: (settlement) => {
        settlements[index] = settlement
      }
    }
    return Effect.flatMap(Toolset.settle(toolset, call, around), (outcome) => {
      // what waits is not settled, whatever was written down of an earlier run of it
      settlements[index] = outcome.pending === undefined ? outcome.settlement : undefined
      return isHasty && outcome.failure !== undefined
        ? Effect.fail({ failure: outcome.failure })
        : Effect.succeed(outcome)
    })
  }
  const all = Effect.forEach(started, settleOne, { concurrency: started.length > 1 ? concurrency : 1 })
  return Effect.match(all, {
    onSuccess: (outcomes) => {
      const failed = outcomes.find((outcome) => outcome.failure !== undefined)
      const pending = outcomes.flatMap((outcome) => outcome.pending ?? [])
      const batch = { message: Message.settle(reply, settlements), outcomes, pending }
      if (failed?.failure !== undefined) return { ...batch, failure: failed.failure }
      // a built-in tool is settled alone
      const output = ending < 0 ? undefined : outcomes[0]?.output
      return output === undefined ? batch : { ...batch, output }
    },
    onFailure: ({ failure }) => ({ ...over(), failure })
  })
}

/** A batch that is over before all of its calls are. */
interface Ended {
  readonly failure: Toolset.Failure
}
