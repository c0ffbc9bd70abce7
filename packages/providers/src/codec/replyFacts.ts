/** Reads what a reply says about itself beside its content: the model, ids, the finish reason and the tier. */
import type * as Message from "@kintsugi/core/Message"
import * as Answer from "../transport/Answer.ts"
import * as Json from "../transport/Json.ts"
import * as Source from "../transport/Source.ts"
import type * as Schema from "effect/Schema"

/** The facts that a reply states about itself, in the words of the provider. */
export type Facts = Pick<Message.Reply, "model" | "responseId" | "requestId" | "rawFinish" | "serviceTier">

/**
 * The facts in the body of an answer. A fact that is no text, or empty, is absent. The id of the request is in the headers of the answer.
 */
export const factsOf = (
  answer: Answer.Answer,
  said: Readonly<Partial<Record<Exclude<keyof Facts, "requestId">, Schema.Json | undefined>>>
): Facts => {
  const model = Json.text(said.model)
  const responseId = Json.text(said.responseId)
  const requestId = Answer.requestId(answer)
  const rawFinish = Json.text(said.rawFinish)
  const serviceTier = Json.text(said.serviceTier)
  return {
    ...(model === undefined ? {} : { model }),
    ...(responseId === undefined ? {} : { responseId }),
    ...(requestId === undefined ? {} : { requestId: Source.quote(requestId) }),
    ...(rawFinish === undefined ? {} : { rawFinish }),
    ...(serviceTier === undefined ? {} : { serviceTier })
  }
}
