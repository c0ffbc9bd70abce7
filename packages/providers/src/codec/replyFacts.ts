/** What a reply says about itself beside its content: names, ids and words of the provider. */
import type * as Message from "@kintsugi/core/Message"
import * as Answer from "../transport/Answer.ts"
import * as Json from "../transport/Json.ts"
import * as Source from "../transport/Source.ts"
import type * as Schema from "effect/Schema"

/** The facts of a reply, each as its provider words it. */
export type Facts = Pick<Message.Reply, "model" | "responseId" | "requestId" | "rawFinish" | "serviceTier">

/** The facts in the body of an answer; what is no text, or empty, is absent. The id of the request is in the head of the answer. */
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
