/** Reads messages that a program says to a run. A wrong value from a program without types is a defect that names the option. */
import * as Predicate from "effect/Predicate"
import { demand } from "../data/Demand.ts"
import type { Saying } from "./Start.ts"
import { userMessage } from "./userMessage.ts"

/** The messages with which a run is resumed: a text, one message, or several. */
export const sayings = (agent: string, say: unknown): ReadonlyArray<Saying> => {
  const whose = `Agent '${agent}': say`
  const all: ReadonlyArray<unknown> = Array.isArray(say) ? say : [Predicate.isString(say) ? { message: say } : say]
  return all.map((one) => {
    demand(whose, "a text, a message or a list of messages", one, Predicate.isObject(one))
    // options that need a run at work are refused
    const { message, supersede, ...others } = one as unknown as Saying
    for (const option of Object.keys(others)) {
      throw new TypeError(`Agent '${agent}': a message of say has no option '${option}', only message and supersede`)
    }
    if (supersede !== undefined && !Predicate.isBoolean(supersede))
      throw new TypeError(`Agent '${agent}': supersede of say must be true or false, got ${typeof supersede}`)
    userMessage(whose, message)
    // Mutant `false` survives: `undefined` is read like no option
    return { message, ...(supersede === undefined ? {} : { supersede }) }
  })
}
