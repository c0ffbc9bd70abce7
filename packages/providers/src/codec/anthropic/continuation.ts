/** Decides whether a Claude model continues a message of the assistant at the end of a request. */
import type { Capabilities } from "../Capabilities.ts"
import type { AnthropicParameters } from "../Parameters.ts"
import * as Parameters from "../Parameters.ts"
import type { Codec } from "../Codec.ts"
import * as Json from "../../transport/Json.ts"
import { fieldsOf } from "./parameters.ts"

/**
 * How the model continues its own message with these parameters; `undefined` if it does not. It does not while it thinks, because then the
 * provider demands thoughts at the beginning of the message, nor beside a forced call or JSON output.
 */
export const continuationOf = (
  model: string,
  parameters: AnthropicParameters,
  { continuation }: Partial<Capabilities>
): Codec["continuation"] => {
  const { outputConfig, thinking } = fieldsOf(model, parameters)
  const isThinking = thinking !== undefined && Json.field(thinking, "type") !== "disabled"
  const isAble = continuation !== "none" && !isThinking && outputConfig["format"] === undefined
  return isAble && !Parameters.isForced(parameters.toolChoice) ? continuation : undefined
}
