/** Reads the final text of a run by the output schema, and has the model say it again where it does not fit. */
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import type * as Coercion from "../coercion/Coercion.ts"
import type * as Issue from "../data/Issue.ts"
import * as Message from "../data/Message.ts"
import type * as Model from "../model/Model.ts"
import * as Render from "../recovery/Render.ts"
import * as RunContext from "../event/RunContext.ts"
import { InvalidOutputError } from "../errors/RunError.ts"
import type { Answer, Output } from "./Output.ts"
import type { RunState } from "./state.ts"

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
    const isCut = state.finish === "length"
    const answer = isCut ? Result.flatMap(output.read(text), whole) : output.read(text)
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
    const cut = isCut ? { isCut } : {}
    if (state.outputsRejected >= retries) {
      const rejected = RunContext.emit(run, () => ({ type: "output-rejected", text, issues, ...cut }))
      const kept = { transcript: state.transcript(), usage: run.ledger.usage, ...cut }
      return Effect.andThen(
        rejected,
        Effect.fail(InvalidOutputError.invalid({ agent: run.agent, text, issues, ...kept }))
      )
    }
    state.outputsRejected++
    const message = Message.user(Render.invalidOutput(issues, output.wanted().kind, isCut))
    // added and told of at once, as a turn is
    const add = () => {
      state.add(message)
      return message
    }
    return run.emit === undefined
      ? Effect.sync(() => void add())
      : Effect.as(
          RunContext.emit(run, () => ({ type: "output-rejected", text, issues, ...cut, message: add() })),
          undefined
        )
  })

/** Of a text that was cut off, a number may lack digits, and a block within another is not the answer. */
const whole = (answer: Answer): Result.Result<Answer, ReadonlyArray<Issue.Issue>> =>
  Predicate.isNumber(answer.value) || answer.changes.some(isWithin) ? Result.fail([incomplete]) : Result.succeed(answer)

const isWithin = ({ after, before, step }: Coercion.Change): boolean =>
  step === "first-block" &&
  Predicate.isString(before) &&
  Predicate.isString(after) &&
  /[[{]/.test(before.slice(0, Math.max(0, before.indexOf(after))))

const incomplete: Issue.Issue = { path: [], expected: "Expected a whole answer", actual: "a text that was cut off" }
