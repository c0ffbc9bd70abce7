/** One invocation of an agent: ask, settle the calls, ask again, until the model answers or a limit is reached. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Budget from "./Budget.ts"
import * as FailureHistory from "./FailureHistory.ts"
import * as Frame from "./internal/runFrame.ts"
import { trailOf } from "./internal/trail.ts"
import * as Message from "./Message.ts"
import * as Model from "./Model.ts"
import type * as Recovery from "./Recovery.ts"
import * as RunContext from "./RunContext.ts"
import { BudgetExceededError, type BudgetReason } from "./RunError.ts"
import { ToolExecutionError } from "./ToolError.ts"
import type * as Toolset from "./Toolset.ts"
import type { Left, Trail } from "./Trail.ts"
import * as Turn from "./Turn.ts"

/** All that the loop has to know of an agent. */
export interface Plan {
  readonly agent: string
  readonly prompt: string
  readonly budget: Budget.Budget
  /** The agent's own model. It is for this run's loop alone: what the tools need, they get from outside. */
  readonly model: Layer.Layer<Model.Model, unknown> | undefined
  readonly toolset: Toolset.Toolset
  readonly onLlmError: Recovery.Rows
  readonly onPartial: Turn.OnPartial
  readonly siblings: Turn.Siblings
  readonly listeners: ReadonlyArray<Frame.Listener>
}

/** Runs a plan. With a sink, replies are asked for in parts and every event goes there. */
export const run = (
  plan: Plan,
  input: string,
  sink: Frame.Sink | undefined
): Effect.Effect<unknown, unknown, Model.Model> =>
  Effect.suspend(() => {
    const state = new State(plan, input)
    return Frame.within({ ...plan, maxDepth: plan.budget.maxDepth, input, sink, state }, (context) =>
      withModel(plan, (model) => loop(plan, model, state, context, sink !== undefined))
    )
  })

const withModel = <A, E>(
  { model }: Plan,
  use: (model: Model.Service) => Effect.Effect<A, E>
): Effect.Effect<A, unknown, Model.Model> =>
  model === undefined
    ? Effect.flatMap(Effect.service(Model.Model), use)
    : Effect.scopedWith((scope) =>
        Effect.flatMap(Layer.buildWithScope(model, scope), (built) => use(Context.get(built, Model.Model)))
      )

const loop = Effect.fnUntraced(function* (
  plan: Plan,
  model: Model.Service,
  state: State,
  run: RunContext.RunContext,
  isStreamed: boolean
): Effect.fn.Return<unknown, unknown> {
  const { budget, onLlmError: rows, onPartial, siblings, toolset } = plan
  const { history } = state
  const usual: Model.Request = { messages: state.messages, tools: toolset.specs, toolChoice: "auto" }
  if (run.depth > run.deepest) return yield* state.exceeded("maxDepth", run.deepest, run)
  while (true) {
    if (state.turn >= budget.maxTurns) return yield* state.exceeded("maxTurns", budget.maxTurns, run)
    state.turn++
    yield* RunContext.emit(run, () => ({ type: "turn-start" }))
    const request = history.isCalm ? usual : restricted(usual, history)
    const answer = yield* Turn.ask({ model, request, rows, onPartial, isStreamed, run })
    if (answer.type === "answered") return answer.value
    const calls = state.open(answer.reply)
    const wasOff = history.isToolsOff
    const admitted = budget.maxToolCalls - state.toolCalls
    state.toolCalls += calls
    const concurrency = budget.toolConcurrency
    const { reply } = answer
    const { settlements } = state
    const batch = yield* Turn.settle({ toolset, reply, admitted, concurrency, siblings, settlements, history, run })
    state.close(batch.message)
    if (batch.failure !== undefined) return yield* Effect.fail(state.attach(batch.failure, run))
    if (calls === 0) return state.partial
    if (calls > admitted) return yield* state.exceeded("maxToolCalls", budget.maxToolCalls, run)
    // a model that calls tools although there are none is asked once more
    if (wasOff && ++state.callsWhileOff > 1) return yield* state.exceeded("toolsOff", 1, run)
    const repeated = history.record(batch.outcomes.map(({ settled }) => settled))
    if (repeated !== undefined) return yield* state.repeated(budget.repeatedFailures.stop, repeated, batch, run)
  }
})

/** A request without the tools that are withheld, or with the demand to call none. */
const restricted = (usual: Model.Request, { isToolsOff, withheld }: FailureHistory.FailureHistory): Model.Request =>
  isToolsOff
    ? { ...usual, toolChoice: "none" }
    : { ...usual, tools: usual.tools.filter(({ name }) => !withheld.has(name)) }

/** What a run has said and counted so far. It belongs to one run and lives as long as it. */
class State implements Frame.State {
  readonly #agent: string
  readonly #budget: Budget.Budget
  readonly history: FailureHistory.FailureHistory
  /** Grows in place: requests lend it to the model. */
  readonly messages: Array<Message.Message>
  settlements: Array<Message.Settlement | undefined> = []
  #reply: Message.Reply | undefined
  /** The text of the last reply. */
  partial = ""
  turn = 0
  toolCalls = 0
  /** Batches that were called with tools switched off. */
  callsWhileOff = 0

  constructor(plan: Plan, input: string) {
    this.#agent = plan.agent
    this.#budget = plan.budget
    this.history = new FailureHistory.FailureHistory(plan.budget.repeatedFailures)
    this.messages = plan.prompt === "" ? [Message.user(input)] : [Message.system(plan.prompt), Message.user(input)]
  }

  /** Takes a reply in; gives the number of its calls. */
  open(reply: Message.Reply): number {
    this.#reply = reply
    this.settlements = []
    this.partial = Message.textOf(reply)
    return Message.callsOf(reply).length
  }

  close(message: Message.Assistant): void {
    this.#reply = undefined
    this.messages.push(message)
  }

  left = (): Left => ({
    turns: this.#budget.maxTurns - this.turn,
    toolCalls: Math.max(0, this.#budget.maxToolCalls - this.toolCalls)
  })

  /** A copy, with whatever is still open settled as interrupted. */
  transcript(): Message.Transcript {
    return this.#reply === undefined
      ? [...this.messages]
      : [...this.messages, Message.settle(this.#reply, this.settlements)]
  }

  exceeded(reason: BudgetReason, limit: number, run: RunContext.RunContext): Effect.Effect<never, BudgetExceededError> {
    return this.#exceeded(reason, limit, this.#spent(reason, run), run)
  }

  /** One tool failed too often in the same way: what was decided about its last failures comes along. */
  repeated(
    limit: number,
    { repeats, tool }: { readonly tool: string; readonly repeats: number },
    { outcomes }: Turn.Batch,
    run: RunContext.RunContext
  ): Effect.Effect<never, BudgetExceededError> {
    const last = outcomes.filter(({ settled }) => settled.tool === tool).flatMap(({ trail }) => trail ?? [])
    return this.#exceeded("repeatedFailure", limit, repeats, run, trailOf(last))
  }

  #spent(reason: BudgetReason, run: RunContext.RunContext): number {
    if (reason === "maxTurns") return this.turn
    if (reason === "maxToolCalls") return this.toolCalls
    return reason === "toolsOff" ? this.callsWhileOff : run.depth
  }

  #exceeded(
    reason: BudgetReason,
    limit: number,
    spent: number,
    run: RunContext.RunContext,
    trail?: Trail
  ): Effect.Effect<never, BudgetExceededError> {
    const kept = { transcript: this.transcript(), usage: run.ledger.usage, partial: this.partial }
    const decided = trail === undefined ? {} : { trail }
    return Effect.fail(BudgetExceededError.exceeded({ agent: this.#agent, reason, limit, spent, ...kept, ...decided }))
  }

  /** Our own final error takes transcript and usage along; a user's error leaves as itself. */
  attach({ error, isOurs }: Toolset.Failure, run: RunContext.RunContext): unknown {
    if (!isOurs || !(error instanceof ToolExecutionError)) return error
    const { attempts, callId, message, tool, trail } = error
    return new ToolExecutionError({
      tool,
      callId,
      message,
      attempts,
      ...("cause" in error ? { cause: error.cause } : {}),
      ...(trail === undefined ? {} : { trail }),
      transcript: this.transcript(),
      usage: run.ledger.usage
    })
  }
}
