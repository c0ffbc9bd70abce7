/** How the input of an agent becomes the first message of its user. */
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Issue from "../data/Issue.ts"
import * as Message from "../data/Message.ts"
import { once } from "../data/Once.ts"
import type { ReadInput } from "./plan.ts"

/** Reads an input: message parts stay as they are, a string is the text, and any other value becomes JSON. */
export const reader = (agent: string, schema: Schema.Codec<unknown, unknown>): ReadInput => {
  const encode = once(() => Schema.encodeUnknownResult(Schema.toCodecJson(schema), { errors: "all" }))
  const takesParts = schema.ast === Message.UserContent.ast
  return (input) => {
    const encoded = encode()(input)
    if (Result.isFailure(encoded)) {
      const issues = Issue.fromSchema(encoded.failure.issue, input)
      throw new TypeError(`Agent '${agent}': the input does not fit its schema: ${Issue.formatAll(issues)}`)
    }
    if (takesParts) {
      // the check above has passed
      const message = Message.user(input as Message.UserContent)
      return { message, text: Message.textOf(message) }
    }
    const text = Predicate.isString(encoded.success) ? encoded.success : JSON.stringify(encoded.success)
    return { message: Message.user(text), text }
  }
}
