/** Describes the output in the prompt, for requests that cannot send its schema. */
import * as Message from "@kintsugi/core/Message"
import type * as Model from "@kintsugi/core/Model"
import { remembering } from "./Remembering.ts"

/**
 * The messages of a request. If its schema is not sent, a system message with the schema comes first; it is the same
 * in every request of a run.
 */
export const make = (): ((request: Model.Request, isSent: boolean) => Message.Transcript) => {
  const words = remembering(({ schema }: Model.OutputSpec) =>
    Message.system(`Your final answer is JSON and nothing else. It fits this JSON Schema: ${JSON.stringify(schema)}`)
  )
  return ({ messages, output }, isSent) => (output === undefined || isSent ? messages : [words(output), ...messages])
}
