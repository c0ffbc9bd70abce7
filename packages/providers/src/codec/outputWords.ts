/** What an answer has to be, told in words where its schema cannot be handed over. */
import * as Message from "@kintsugi/core/Message"
import type * as Model from "@kintsugi/core/Model"
import { remembering } from "./Remembering.ts"

/** The conversation; unless the schema is sent, with the words for it in front, which are the same in every request of a run. */
export const make = (): ((request: Model.Request, isSent: boolean) => Message.Transcript) => {
  const words = remembering(({ schema }: Model.OutputSpec) =>
    Message.system(`Your final answer is JSON and nothing else. It fits this JSON Schema: ${JSON.stringify(schema)}`)
  )
  return ({ messages, output }, isSent) => (output === undefined || isSent ? messages : [words(output), ...messages])
}
