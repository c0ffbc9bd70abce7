/** Makes a user message of what a program says to a run. */
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import { demand } from "../data/Demand.ts"
import * as Message from "../data/Message.ts"

const isContent = Schema.is(Message.UserContent)

/** The message. Throws a `TypeError` on a value that is no message, and on a message without words or parts. */
export const userMessage = (whose: string, given: unknown): Message.User => {
  const what = `${whose}: message`
  demand(what, "a text or a list of parts", given, Predicate.isString(given) || isContent(given))
  // the checks above have passed
  const message = Message.user(given as string | Message.UserContent)
  demand(
    what,
    "more than blank",
    "",
    message.content.some((part) => part.type !== "text" || part.text.trim() !== "")
  )
  return message
}
