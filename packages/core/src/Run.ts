/** One invocation of an agent: ask, settle the calls, ask again, until the model answers or a limit is reached. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Budget from "./Budget.ts"
import type * as FailureHistory from "./FailureHistory.ts"
import { Exceeded, type OnExceeded } from "./internal/budgetMeter.ts"
import * as RunBudget from "./internal/runBudget.ts"
import * as Frame from "./internal/runFrame.ts"
import { RunState } from "./internal/runState.ts"
import { trailOf } from "./internal/trail.ts"
import * as Message from "./Message.ts"
import * as Model from "./Model.ts"
import type * as Recovery from "./Recovery.ts"
import * as RunContext from "./RunContext.ts"
import type * as Toolset from "./Toolset.ts"
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
  /** What is done about a limit of the budget that was reached; it ends the run where nobody decides. */
  readonly onExceeded: OnExceeded | undefined
}

/** Runs a plan. With a sink, replies are asked for in parts and every event goes there. */
export const run = (
  plan: Plan,
  input: string,
  sink: Frame.Sink | undefined
): Effect.Effect<unknown, unknown, Model.Model> =>
  Effect.suspend(() => {
    const state = new RunState(plan.agent, plan.budget, opening(plan.prompt, input))
    return Frame.within({ ...plan, input, sink, state }, (context) =>
      withModel(plan, (model) => {
        const looping = RunBudget.inTime(loop(plan, model, state, context, sink !== undefined), context)
        return Effect.mapError(looping, (error) => state.leaving(error, context))
      })
    )
  })

const opening = (prompt: string, input: string): Array<Message.Message> =>
  prompt === "" ? [Message.user(input)] : [Message.system(prompt), Message.user(input)]

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
  state: RunState,
  run: RunContext.RunContext,
  isStreamed: boolean
): Effect.fn.Return<unknown, unknown> {
  const { budget, onLlmError: rows, onPartial, siblings, toolset } = plan
  const { toolConcurrency: concurrency } = budget
  const { history } = state
  const { meter } = run
  const usual: Model.Request = { messages: state.messages, tools: toolset.specs, toolChoice: "auto" }
  if (run.depth > run.deepest) return yield* Effect.fail(state.own("maxDepth", run.deepest, run.depth, run))
  RunBudget.demandPrice(run, model)
  while (true) {
    const noTurn = meter.takeTurn()
    if (noTurn !== undefined) yield* RunBudget.passing(noTurn, () => meter.takeTurn(), run)
    state.turn++
    yield* RunContext.emit(run, () => ({ type: "turn-start" }))
    const request = history.isCalm ? usual : restricted(usual, history)
    const answer = yield* Turn.ask({ model, request, rows, onPartial, isStreamed, run })
    if (answer.type === "answered") return answer.value
    const { reply } = answer
    const calls = state.open(reply)
    const wasOff = history.isToolsOff
    const overspent = meter.passed(spending)
    if (overspent !== undefined) yield* RunBudget.passing(overspent, () => meter.passed(spending), run)
    const inARow = state.inARow(calls)
    let admitted = calls.length === 0 ? 0 : meter.takeCalls(calls.length)
    let tooMany = admitted < calls.length ? meter.passed(counting) : undefined
    if (tooMany !== undefined && (yield* RunBudget.isExtended(tooMany, () => meter.passed(counting), run))) {
      admitted = calls.length
      tooMany = undefined
    }
    admitted = Math.min(admitted, inARow)
    yield* RunBudget.warn(run)
    const { settlements } = state
    const batch = yield* Turn.settle({ toolset, reply, admitted, concurrency, siblings, settlements, history, run })
    // closed and told of at once: whatever comes in between would be told of twice, or never
    if (run.emit === undefined) state.close(batch.message)
    else yield* RunContext.emit(run, () => ({ type: "turn-end", message: state.close(batch.message) }))
    if (batch.failure !== undefined) return yield* Effect.fail(state.attach(batch.failure, run))
    if (calls.length === 0) return state.partial
    if (tooMany !== undefined) return yield* Effect.fail(tooMany)
    if (inARow < calls.length) {
      const limit = budget.maxConsecutiveSameTool
      return yield* Effect.fail(state.own("maxConsecutiveSameTool", limit, limit + 1, run))
    }
    // a model that calls tools although there are none is asked once more
    if (wasOff && ++state.callsWhileOff > 1) {
      return yield* Effect.fail(state.own("toolsOff", 1, state.callsWhileOff, run))
    }
    const repeated = history.record(batch.outcomes.map(({ settled }) => settled))
    if (repeated !== undefined) return yield* Effect.fail(repeatedFailure(budget, repeated, batch, run))
  }
})

const spending = ["maxTokens", "maxCost"] as const
const counting = ["maxToolCalls"] as const

/** One tool failed too often in the same way: what was decided about its last failures comes along. */
const repeatedFailure = (
  { repeatedFailures }: Budget.Budget,
  { repeats, tool }: { readonly tool: string; readonly repeats: number },
  { outcomes }: Turn.Batch,
  run: RunContext.RunContext
): Exceeded => {
  const last = outcomes.filter(({ settled }) => settled.tool === tool).flatMap(({ trail }) => trail ?? [])
  return new Exceeded(run.meter, "repeatedFailure", repeatedFailures.stop, repeats, trailOf(last))
}

/** A request without the tools that are withheld, or with the demand to call none. */
const restricted = (usual: Model.Request, { isToolsOff, withheld }: FailureHistory.FailureHistory): Model.Request =>
  isToolsOff
    ? { ...usual, toolChoice: "none" }
    : { ...usual, tools: usual.tools.filter(({ name }) => !withheld.has(name)) }
