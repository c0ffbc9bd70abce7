/** What is said to a run. A program without types may say anything: that is a defect, which names the option. */
import * as Predicate from "effect/Predicate"
import * as Message from "../data/Message.ts"
import type { Saying } from "./Start.ts"

export const userMessage = (whose: string, message: unknown): Message.User => {
  if (Predicate.isString(message) || Array.isArray(message)) return Message.user(message)
  throw new TypeError(`${whose}: message must be a text or a list of parts, got ${typeof message}`)
}

/** The messages with which a run goes on: a text, one message, or several. */
export const sayings = (agent: string, say: unknown): ReadonlyArray<Saying> => {
  if (Predicate.isString(say)) return [{ message: say }]
  const all: ReadonlyArray<unknown> = Array.isArray(say) ? say : [say]
  return all.map((one) => {
    if (!Predicate.isObject(one))
      throw new TypeError(`Agent '${agent}': say must be a text, a message or a list of messages, got ${typeof one}`)
    // there is nothing at work yet, and no sub-agent
    const { message, supersede, ...others } = one as unknown as Saying
    for (const option of Object.keys(others)) {
      throw new TypeError(`Agent '${agent}': a message of say has no option '${option}', only message and supersede`)
    }
    if (supersede !== undefined && !Predicate.isBoolean(supersede))
      throw new TypeError(`Agent '${agent}': supersede of say must be true or false, got ${typeof supersede}`)
    userMessage(`Agent '${agent}': say`, message)
    return { message, ...(supersede === undefined ? {} : { supersede }) }
  })
}
