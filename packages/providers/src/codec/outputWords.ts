/** Puts the JSON Schema of an output into the prompt, for requests that cannot send it as a field. */
import * as Message from "@kintsugi/core/Message"
import type * as Model from "@kintsugi/core/Model"
import { remembering } from "./Remembering.ts"

/**
 * Makes a function that gives the messages of a request. If the schema is not sent as a field (`isSent`), a system message with the schema
 * comes first. That message is the same in every request of a run.
 */
export const make = (): ((request: Model.Request, isSent: boolean) => Message.Transcript) => {
  const words = remembering(({ schema }: Model.OutputSpec) =>
    Message.system(`Your final answer is JSON and nothing else. It fits this JSON Schema: ${JSON.stringify(schema)}`)
  )
  return ({ messages, output }, isSent) => (output === undefined || isSent ? messages : [words(output), ...messages])
}
