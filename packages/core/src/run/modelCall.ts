/** One question to a model: asked until there is a reply, or until the table has given up. Every attempt is booked. */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Stream from "effect/Stream"
import type * as AgentEvent from "../event/AgentEvent.ts"
import * as Interception from "../model/Interception.ts"
import type * as Ledger from "../budget/Ledger.ts"
import { isLlmError, type LlmError, MalformedToolCallError } from "../errors/LlmError.ts"
import type * as Message from "../data/Message.ts"
import { approachable } from "../data/Foreign.ts"
import * as Model from "../model/Model.ts"
import type * as Recovery from "../recovery/Recovery.ts"
import { helping } from "../event/Helping.ts"
import * as RunContext from "../event/RunContext.ts"
import * as Usage from "../data/Usage.ts"
import { type Counted, sound } from "../model/Estimate.ts"
import {
  ask as asked,
  type Asker,
  cutOff,
  generate,
  isSingle,
  named,
  refused,
  stream,
  type Surrounding,
  withPartial
} from "../model/ModelCall.ts"
import * as Driver from "../recovery/Driver.ts"
import {
  type Bounds,
  type Compactions,
  type Layer,
  type Leaves,
  type Repairs,
  type Row,
  rowOf,
  untouchable
} from "../recovery/Layer.ts"
import type { Compact, Compacted, CompactEvent } from "../recovery/Node.ts"
import * as Limits from "./Limits.ts"
import type { OnPartial } from "./plan.ts"
import type { Looping } from "./running.ts"

/** A question to a model, and what guards it. */
export interface Asking {
  readonly model: Model.Service
  readonly request: Model.Request
  /** The table of `onLlmError`. */
  readonly rows: Recovery.Rows
  readonly onPartial: OnPartial
  readonly isStreamed: boolean
  readonly run: RunContext.RunContext
  /** What the run was asked, for those who shorten its conversation. */
  readonly input?: Message.User
  /** Hears what the model reads from here on, once the conversation was too long for it. */
  readonly compacted?: (messages: Message.Transcript) => void
  /** Which part of the run asks, where it is not its loop. */
  readonly layer?: Ledger.Layer
}

/** A reply, or what the table answered in its place. */
export type Answer =
  | { readonly type: "reply"; readonly reply: Message.Reply }
  | { readonly type: "answered"; readonly value: unknown }

/** The reply of the model that a run has called, with its tool calls; or the answer of a row. */
export type Asked = Replied | Extract<Answer, { readonly type: "answered" }>

export interface Replied extends Extract<Answer, { readonly type: "reply" }> {
  readonly calls: ReadonlyArray<Message.ToolCall>
}

/** Calls the model of a run. Its reply is open until its tool calls are settled. */
export const callModel = (running: Looping, request: Model.Request): Effect.Effect<Asked, unknown> => {
  const { beginning, mode, model, plan, run, state } = running
  const { onLlmError: rows, onPartial } = plan
  const { isStreamed } = mode
  const input = beginning.said.message
  const compacted = (messages: Message.Transcript) => state.compact(messages)
  const asking = ask({ model, request, rows, onPartial, isStreamed, run, input, compacted })
  return Effect.flatMap(asking, (answer): Effect.Effect<Asked, unknown> =>
    answer.type === "answered"
      ? Effect.succeed(answer)
      : Effect.as(Limits.spent(run), { ...answer, calls: state.open(answer.reply) })
  )
}

/** Asks, and recovers by the table; each attempt's usage is booked. */
export const ask = (asking: Asking): Effect.Effect<Answer, unknown> =>
  Effect.withFiber((fiber) => {
    // Mutant `true` survives: speed only. Each step of the model then looks for an interceptor, and finds none
    const isIntercepted = fiber.getRef(Interception.Current) !== undefined
    return Driver.drive(new AskingLayer(asking, isIntercepted))
  })

/** What an attempt has used up: its reply, or what is known of it. */
type Spent = Counted & { readonly content?: Message.Reply["content"] }

const nothingMore = () => Effect.void

const nothingSpent: Spent = { usage: Usage.empty }

class AskingLayer implements Layer<Message.Reply, Answer, unknown, never>, Asker<Message.Reply, never> {
  readonly #asking: Asking
  /** Whether somebody may stand in the place of each model that is asked. */
  readonly #isIntercepted: boolean
  /** With what the model reads of the conversation by now. */
  #request: Model.Request
  /** The model that is asked at present, and how many attempts there were so far, of all that it is made of. */
  #model: Model.Service
  #attempt = 0
  /** The text of the present attempt that a reader has seen. */
  #partial = ""
  /** Whether a reader has seen anything of it, be it only thoughts. */
  #isShown = false
  /** What the provider is known to have counted for it so far. */
  #spent: Spent = nothingSpent
  /** Whether it has begun and is not booked yet. */
  // Mutant `true` survives: every attempt sets it before any code reads it
  #isOpen = false
  readonly compactions: Compactions = { made: 0 }
  readonly bounds: Bounds
  readonly repairs: Repairs<never> = {
    compactions: this.compactions,
    compact: (rung, error) => this.#compact(rung, error)
  }
  readonly end: Layer<Message.Reply, Answer, unknown, never>["end"] = {
    succeeded: (reply) => Effect.succeed({ type: "reply", reply }),
    answered: ({ value }) => Effect.as(this.#discard(), { type: "answered", value }),
    left: (ending) => this.#left(ending)
  }
  /** The last failure that no row was for. */
  #unguarded: unknown

  constructor(asking: Asking, isIntercepted: boolean) {
    this.#asking = asking
    this.#isIntercepted = isIntercepted
    this.#request = asking.request
    this.#model = asking.model
    this.bounds = { ...RunContext.bounds(asking.run), wait: Interception.wait }
  }

  attempt(): Effect.Effect<Message.Reply, LlmError> {
    const { model } = this.#asking
    return isSingle(model) ? this.#ask(model, this.#request) : asked(model, this.#request, this)
  }

  /** One attempt of one of the models of which that of the run is made, whenever its turn comes. */
  ask(model: Model.Service, request: Model.Request): Effect.Effect<Message.Reply, LlmError> {
    return Effect.suspend(() => this.#ask(model, request))
  }

  given(reply: Message.Reply): Message.Reply {
    return reply
  }

  isShown(): boolean {
    return this.#isShown
  }

  within(
    model: Model.Service,
    asking: Effect.Effect<Message.Reply, LlmError>,
    { generate }: Surrounding,
    request: Model.Request
  ): Effect.Effect<Message.Reply, LlmError> {
    return generate(asking, request, model)
  }

  #ask(model: Model.Service, request: Model.Request): Effect.Effect<Message.Reply, LlmError> {
    const { isStreamed, run } = this.#asking
    const { ended } = run.meter
    if (ended !== undefined) return Effect.die(ended)
    const attempt = ++this.#attempt
    this.#model = model
    this.#spent = nothingSpent
    const within = this.#isIntercepted ? Interception.model(model) : model
    const whole = isStreamed ? this.#stream(within, request) : Effect.suspend(() => generate(within, request))
    const replied = Effect.flatMap(whole, (came) => {
      const put = isStreamed ? came : Model.collected(came)
      const counted = sound(put, request, put.content)
      const reply = model === this.#asking.model ? counted : named(model, counted)
      this.#spent = reply
      const refusal = refused(model, reply)
      if (refusal !== undefined) {
        return this.#failed(refusal, attempt, "failed", () => Effect.fail(refusal))
      }
      return this.#replied(reply, attempt)
    })
    // Mutant `true` survives: with a listener, the next step sets it to true. Only an interruption between the two
    // steps could tell, and these do not yield
    this.#isOpen = run.emit === undefined
    // Mutant `false` survives: speed only. Without a listener, `RunContext.begin` returns its body, and the condition
    // saves a closure for each attempt
    return Effect.onExitPrimitive(run.emit === undefined ? replied : this.#begun(model, attempt, replied), (exit) =>
      Exit.isFailure(exit) ? this.#broken(exit.cause, attempt) : undefined
    )
  }

  #begun<A>(
    { name, provider }: Model.Service,
    attempt: number,
    body: Effect.Effect<A, LlmError>
  ): Effect.Effect<A, LlmError> {
    const make = (): AgentEvent.Happening => {
      this.#isOpen = true
      return { type: "model-start", model: name, provider, attempt }
    }
    return RunContext.begin(this.#asking.run, make, body)
  }

  row(error: unknown): Row | undefined {
    const row = rowOf(this.#asking.rows, error, () => this.#admits())
    if (row === undefined) this.#unguarded = error
    return row
  }

  #admits(): boolean {
    return this.#partial === "" || this.#asking.onPartial === "restart"
  }

  #compact({ compaction, run: compact }: Compact, error: unknown): Effect.Effect<Compacted> {
    const { compacted, input, run } = this.#asking
    if (!this.#admits()) return Effect.succeed({ type: "gave up" })
    const { messages: transcript } = this.#request
    // rows see nothing but failures of models
    // Mutant `false` survives: the compaction reads `input: undefined` and a missing key alike
    const overflow = { transcript, error: error as LlmError, ...(input === undefined ? {} : { input }) }
    const within = helping<CompactEvent>(compaction, run, { isCompacting: true }, (event) => event)
    return compact(compaction, overflow, within, (messages) => {
      this.#request = { ...this.#request, messages }
      compacted?.(messages)
    })
  }

  observe(decision: Recovery.Decision): Effect.Effect<void> {
    const { run } = this.#asking
    const decided = RunContext.emit(run, () => ({ type: "verdict", layer: "model", ...decision }))
    const isAgain = !decision.gaveUp && (decision.verdict === "retry" || decision.verdict === "compact")
    return isAgain ? Effect.andThen(decided, this.#discard()) : decided
  }

  #left({ error, isLate, why }: Leaves): Effect.Effect<Answer, unknown> {
    // not the policy has given up, the run is over
    if (isLate === true) return RunContext.endOfTime(this.#asking.run)
    const call = why === "rethrown" && error === this.#unguarded ? rejectedCall(error, this.#asking) : undefined
    if (call === undefined) return Effect.fail(error)
    const reply: Message.Reply = { content: [call], finish: "tool-calls", usage: Usage.empty }
    return Effect.as(this.#discard(), { type: "reply", reply })
  }

  /** Says of what was shown of an attempt that it does not count: something else stands in for it. */
  #discard(): Effect.Effect<void> {
    if (!this.#isShown) return Effect.void
    const text = this.#partial
    const attempt = this.#attempt
    this.#partial = ""
    this.#isShown = false
    return RunContext.emit(this.#asking.run, () => ({ type: "attempt-discarded", attempt, text }))
  }

  #replied(reply: Message.Reply, attempt: number): Effect.Effect<Message.Reply> {
    const make = (asked: AgentEvent.Asked): AgentEvent.Happening => ({ type: "model-end", reply, ...asked })
    return this.#booked(attempt, "used", make, () => Effect.succeed(reply))
  }

  #failed<A, E>(error: unknown, attempt: number, outcome: Ledger.Outcome, next: () => Effect.Effect<A, E>) {
    return this.#booked(attempt, outcome, (asked) => ({ type: "model-failed", error, ...asked }), next)
  }

  /** However an attempt breaks off before it is booked, it is booked and told of. */
  #broken(cause: Cause.Cause<LlmError>, attempt: number): Effect.Effect<void> {
    if (!this.#isOpen) return Effect.void
    // a wait that the run has no time for ends the attempt as the end of its time would
    if (Cause.hasInterrupts(cause) || RunContext.isLimit(Cause.squash(cause))) {
      const make = (asked: AgentEvent.Asked): AgentEvent.Happening => ({ type: "model-interrupted", ...asked })
      return this.#booked(attempt, "interrupted", make, nothingMore)
    }
    const isDefect = Cause.hasDies(cause)
    const error = approachable(Cause.squash(untouchable(cause) ?? cause))
    if (isLlmError(error) && error.usage !== undefined) this.#spent = { usage: error.usage }
    const outcome = !isDefect && this.#isShown && this.#admits() ? "discarded" : "failed"
    return this.#failed(error, attempt, outcome, nothingMore)
  }

  /** Booked and told of at once, here: an interruption in between would leave one without the other. Goes on with `next`. */
  #booked<A, E>(
    attempt: number,
    outcome: Ledger.Outcome,
    make: (asked: AgentEvent.Asked) => AgentEvent.Happening,
    next: () => Effect.Effect<A, E>
  ): Effect.Effect<A, E> {
    const { run } = this.#asking
    if (run.emit === undefined) {
      this.#book(attempt, outcome)
      return next()
    }
    const model = this.#model.name
    return RunContext.emitThen(run, () => make({ model, attempt, spent: this.#book(attempt, outcome) }), next)
  }

  #book(attempt: number, outcome: Ledger.Outcome): Ledger.Entry {
    const { layer, run } = this.#asking
    const model = this.#model
    const { content = [] } = this.#spent
    // what came of an attempt that broke off may be counted wrongly as well
    const { cost: told, isEstimated, usage } = sound(this.#spent, this.#request, content)
    const cost = run.meter.costOf(model.name, usage, content) ?? told
    const booked: Ledger.Entry = {
      runId: run.runId,
      agent: run.agent,
      turn: run.turn(),
      attempt,
      model: model.name,
      provider: model.provider,
      layer: layer ?? (run.isCompacting === true ? "compaction" : run.fixers.length > 0 ? "fixer" : "agent"),
      outcome,
      usage
    }
    const counted: Ledger.Entry = isEstimated === undefined ? booked : { ...booked, isEstimated }
    const entry = cost === undefined ? counted : { ...counted, cost }
    this.#isOpen = false
    run.ledger.record(entry)
    return entry
  }

  #stream(model: Model.Service, request: Model.Request): Effect.Effect<Message.Reply, LlmError> {
    return Effect.suspend(() => {
      const collector = new Model.Collector()
      // a reply is whole with its last part: nothing that comes after can fail it
      const whole = Stream.takeUntil(stream(model, request), (part) => part.type === "finish")
      const collecting = Stream.runForEachArray(whole, (parts) =>
        Effect.suspend(() => {
          for (const part of parts) collector.push(part)
          this.#partial = collector.partial
          this.#spent = collector.spent ?? this.#spent
          this.#isShown ||= parts.some(isShown)
          // Mutant `false` survives: speed only. Without a listener, `RunContext.tell` does nothing, and the condition
          // saves a look at each part of a stream
          return this.#asking.run.emit === undefined ? Effect.void : this.#shown(parts)
        })
      )
      const collected = Effect.flatMap(collecting, () => {
        const reply = collector.reply()
        return reply === undefined ? Effect.fail(cutOff(model)) : Effect.succeed(reply)
      })
      return Effect.mapError(collected, (error) => withPartial(error, collector.partial))
    })
  }

  #shown(parts: ReadonlyArray<Model.Part>): Effect.Effect<void> {
    const { run } = this.#asking
    return Effect.withFiber((fiber) => {
      for (const part of parts) {
        if (isShown(part)) RunContext.tell(run, fiber, () => ({ type: part.type, text: part.text }))
      }
      return Effect.void
    })
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
