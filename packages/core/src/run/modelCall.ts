/** One call of a model by a run: attempted until there is a reply, or until the table has given up. */
import * as Effect from "effect/Effect"
import { type LlmError, MalformedToolCallError } from "../errors/LlmError.ts"
import type * as Message from "../data/Message.ts"
import { helping } from "../event/Helping.ts"
import * as RunContext from "../event/RunContext.ts"
import * as Usage from "../data/Usage.ts"
import * as Interception from "../model/Interception.ts"
import type * as Model from "../model/Model.ts"
import { ask as askEach, type Asker } from "../model/ModelCall.ts"
import * as Driver from "../recovery/Driver.ts"
import { type Compactions, type Layer, rowOf } from "../recovery/Layer.ts"
import type { CompactEvent } from "../recovery/Node.ts"
import * as Budget from "./budget.ts"
import { admits, type Asking, attempt, discard, type ModelCall } from "./modelAttempt.ts"
import type { Looping } from "./running.ts"

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
      : Effect.as(Budget.spent(run), { ...answer, calls: state.open(answer.reply) })
  )
}

/** Asks, and recovers by the table; each attempt's usage is booked. */
export const ask = (asking: Asking): Effect.Effect<Answer, unknown> =>
  Effect.flatMap(Interception.Current, (interceptor) =>
    // Mutant `true` survives: speed only. Each step of the model then looks for an interceptor, and finds none
    Driver.drive(layerOf({ asking, isIntercepted: interceptor !== undefined, state: idle }))
  )

const idle = { type: "Idle", attempts: 0, shown: undefined } as const

const layerOf = (call: ModelCall): Layer<Message.Reply, Answer, unknown, never> => {
  const { asking } = call
  const { input, model, rows, run } = asking
  const compactions: Compactions = { made: 0 }
  /** With what the model reads of the conversation by now. */
  let request = asking.request
  /** The last failure that no row was for. */
  let unguarded: unknown
  const asker: Asker<Message.Reply, never> = {
    ask: (model, request) => attempt(call, model, request),
    given: (reply) => reply,
    isShown: () => call.state.shown !== undefined,
    compactions,
    within: (model, asking, { generate }, request) => generate(asking, request, model)
  }
  return {
    attempt: () => askEach(model, request, asker),
    row: (error) => {
      const row = rowOf(rows, error, () => admits(call))
      if (row === undefined) unguarded = error
      return row
    },
    repairs: {
      compactions,
      compact: ({ compaction, run: compact }, error) => {
        if (!admits(call)) return Effect.succeed({ type: "gave up" })
        // rows see nothing but failures of models
        // Mutant `false` survives: the compaction reads `input: undefined` and a missing key alike
        const overflow = {
          transcript: request.messages,
          error: error as LlmError,
          ...(input === undefined ? {} : { input })
        }
        const within = helping<CompactEvent>(compaction, run, { isCompacting: true }, (event) => event)
        return compact(compaction, overflow, within, (messages) => {
          request = { ...request, messages }
          asking.compacted?.(messages)
        })
      }
    },
    bounds: { ...RunContext.bounds(run), wait: Interception.wait },
    observe: (decision) => {
      const decided = RunContext.emit(run, () => ({ type: "verdict", layer: "model", ...decision }))
      const isAgain = !decision.gaveUp && (decision.verdict === "retry" || decision.verdict === "compact")
      return isAgain ? Effect.andThen(decided, discard(call)) : decided
    },
    end: {
      succeeded: (reply) => Effect.succeed({ type: "reply", reply }),
      answered: ({ value }) => Effect.as(discard(call), { type: "answered", value }),
      left: ({ error, isLate, why }) => {
        // not the policy has given up, the run is over
        if (isLate === true) return RunContext.endOfTime(run)
        const rejected = why === "rethrown" && error === unguarded ? rejectedCall(error, asking) : undefined
        if (rejected === undefined) return Effect.fail(error)
        const reply: Message.Reply = { content: [rejected], finish: "tool-calls", usage: Usage.empty }
        return Effect.as(discard(call), { type: "reply", reply })
      }
    }
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
