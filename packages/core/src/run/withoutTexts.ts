/** The events of agents that check an answer: they count for the budget, and have none of the texts that these agents read or write. */
import { tagOf } from "../data/ErrorCause.ts"
import * as Message from "../data/Message.ts"
import { isLlmError } from "../errors/LlmError.ts"
import type * as AgentEvent from "../event/AgentEvent.ts"
import type * as RunContext from "../event/RunContext.ts"
import { onlyPartial } from "../model/ModelCall.ts"

type Observer = NonNullable<RunContext.RunContext["emit"]>

export const withoutTexts =
  (emit: Observer): Observer =>
  (event, context) => {
    const counted = countedOf(event)
    return counted === undefined ? undefined : emit(counted, context)
  }

/** The event without texts; `undefined` if it consists of texts. */
const countedOf = (event: AgentEvent.AgentEvent): AgentEvent.AgentEvent | undefined => {
  switch (event.type) {
    case "run-start":
      return { ...event, input: "", transcript: [] }
    case "turn-start":
    case "model-start":
    case "model-interrupted":
    case "budget-warning":
      return event
    case "model-end":
      return { ...event, reply: { ...event.reply, content: [] } }
    case "model-failed":
      return { ...event, error: isLlmError(event.error) ? onlyPartial(event.error, "") : nameOf(event.error) }
    case "turn-end":
      return { ...event, message: Message.blank }
    case "run-completed":
      return { ...event, output: "" }
    case "run-failed":
      return { ...event, error: nameOf(event.error), transcript: [] }
    case "run-interrupted":
      return { ...event, transcript: [] }
    default:
      return undefined
  }
}

const nameOf = (error: unknown): Error => {
  const _tag = tagOf(error)
  return Object.assign(new Error(_tag), { _tag })
}
