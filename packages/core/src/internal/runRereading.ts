/** Reads the final text of a run by the output schema, and has the model say it again where it does not fit. */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Message from "../Message.ts"
import type * as Model from "../Model.ts"
import * as Render from "../Render.ts"
import * as RunContext from "../RunContext.ts"
import { InvalidOutputError } from "../RunError.ts"
import type { Answer, Output } from "./runOutput.ts"
import type { RunState } from "./runState.ts"

/** The request, with what is wanted for an answer where that is JSON. */
export const asking = (request: Model.Request, output: Output): Model.Request => {
  const wanted = output.wanted()
  return wanted.kind === "json" ? { ...request, output: wanted.spec } : request
}

/** The answer; nothing where the model has been told what does not fit, and has another turn. */
export const read = (
  output: Output,
  retries: number,
  state: RunState,
  run: RunContext.RunContext
): Effect.Effect<Answer | undefined, InvalidOutputError> =>
  Effect.suspend(() => {
    const text = state.partial
    const answer = output.read(text)
    if (Result.isSuccess(answer)) {
      const { changes } = answer.success
      const told = Effect.forEach(
        changes,
        (change) => RunContext.emit(run, () => ({ type: "output-coerced", change })),
        { discard: true }
      )
      return changes.length === 0 || run.emit === undefined
        ? Effect.succeed(answer.success)
        : Effect.as(told, answer.success)
    }
    const issues = answer.failure
    if (state.outputsRejected >= retries) {
      const rejected = RunContext.emit(run, () => ({ type: "output-rejected", text, issues }))
      const kept = { transcript: state.transcript(), usage: run.ledger.usage }
      return Effect.andThen(
        rejected,
        Effect.fail(InvalidOutputError.invalid({ agent: run.agent, text, issues, ...kept }))
      )
    }
    state.outputsRejected++
    const message = Message.user(Render.invalidOutput(issues, output.wanted().kind))
    // added and told of at once, as a turn is
    const add = () => {
      state.messages.push(message)
      return message
    }
    return run.emit === undefined
      ? Effect.sync(() => void add())
      : Effect.as(
          RunContext.emit(run, () => ({ type: "output-rejected", text, issues, message: add() })),
          undefined
        )
  })
