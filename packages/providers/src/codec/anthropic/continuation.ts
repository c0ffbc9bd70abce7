/** Which Claude models go on from a message of the assistant at the end of a request. */
import type { AnthropicParameters } from "../Parameters.ts"
import * as Parameters from "../Parameters.ts"
import type { Codec } from "../Codec.ts"
import * as Json from "../../transport/Json.ts"
import { fieldsOf } from "./parameters.ts"

/** Up to Claude 4.5. From Claude 4.6 on, the provider refuses a conversation that does not end with a message of the user. */
const goesOn = /^claude-(?:(?:2|3|instant)(?:[-.]|$)|(?:opus|sonnet|haiku)-4(?:-[015])?(?:-\d{8})?$)/

/** Besides, the provider demands thoughts at the beginning of the message if the model thinks, and takes none beside a forced call or JSON. */
export const continuationOf = (model: string, parameters: AnthropicParameters): Codec["continuation"] => {
  const { outputConfig, thinking } = fieldsOf(model, parameters)
  const isThinking = thinking !== undefined && Json.field(thinking, "type") !== "disabled"
  const isAble = goesOn.test(model) && !isThinking && outputConfig["format"] === undefined
  return isAble && !Parameters.isForced(parameters.toolChoice) ? "rest" : undefined
}
