/** providers: requests that name the stored reply before them. */
import { Result } from "effect"
import * as Message from "../../../packages/core/src/data/Message.ts"
import { partsOf } from "../../../packages/core/src/model/parts.ts"
import type { Codec } from "../../../packages/providers/src/codec/Codec.ts"
import * as Chain from "../../../packages/providers/src/codec/openai-responses/chain.ts"
import * as Responses from "../../../packages/providers/src/codec/openai-responses/OpenAiResponses.ts"
import { answerOf, source } from "./answers.ts"
import { documents, replies, replyOf, texts } from "./data.ts"
import { grows, merged, reached, type Table } from "./entry.ts"

const chain = Chain.make(source, [])

const around = (more: Partial<Codec> = {}) => chain.around({ ...Responses.make(source), ...more })

const stored = (reply: Message.Reply): Message.Reply => ({ ...reply, responseId: "r", rawFinish: "completed" })

/** A request that names the reply before it. */
const linking = (reply: Message.Reply) => {
  const { decode } = around({ decode: () => Result.succeed(stored(reply)) })
  const named = Result.getOrThrow(decode(answerOf("")))
  const messages = [Message.user("hi"), Message.settle(named, []), Message.user("more")]
  return { messages, tools: [], toolChoice: "auto" } as const
}

const linked = linking(replyOf([Message.text("hi")]))

export const chained: Table = {
  "providers/src/codec/openai-responses/chain.ts": {
    make: merged({
      "a reply, and the request after it": grows(replies, (reply) => chain.linkIn(linking(reply))),
      "a streamed reply": grows(replies, (reply) => {
        const parts = partsOf(stored(reply)).values()
        const { decoder } = around({
          decoder: () => ({
            push: () => Result.succeed([]),
            end: () => Result.succeed([...parts]),
            state: () => "complete"
          })
        })
        return decoder(answerOf("")).end()
      }),
      "any body of an error": grows({ ...texts, ...documents }, (text) => {
        const { anew, classify } = around()
        return anew?.(classify(answerOf(text, 400)), linked)
      })
    }),
    namesConversation: reached
  }
}
