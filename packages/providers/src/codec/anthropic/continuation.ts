/** Whether a Claude model goes on from a message of the assistant at the end of a request. */
import type { Capabilities } from "../Capabilities.ts"
import type { AnthropicParameters } from "../Parameters.ts"
import * as Parameters from "../Parameters.ts"
import type { Codec } from "../Codec.ts"
import * as Json from "../../transport/Json.ts"
import { fieldsOf } from "./parameters.ts"

/**
 * Besides, the provider demands thoughts at the beginning of the message if the model thinks, and takes none beside a forced call or JSON.
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
