/** Requests, and the bodies that they become for OpenAI's responses. */
import * as Message from "@kintsugi/core/Message"
import type * as Model from "@kintsugi/core/Model"
import * as OpenAiResponses from "@kintsugi/providers/OpenAiResponses"
import { Result } from "effect"
import { decode, type Item, response, source } from "./responses.ts"

export const plain: Model.Request = { messages: [Message.user("hi")], tools: [], toolChoice: "auto" }

/** The body of a request, as the server parses it. */
export const encode = (
  request: Partial<Model.Request>,
  parameters?: Parameters<typeof OpenAiResponses.make>[1],
  mode: "whole" | "streamed" = "whole"
) => JSON.parse(OpenAiResponses.make(source, parameters).encode({ ...plain, ...request }, mode))

export const inputOf = (...messages: ReadonlyArray<Message.Message>) => encode({ messages }).input

/** What a response said, as a message whose calls have these results. */
export const said = (output: ReadonlyArray<Item>, ...results: ReadonlyArray<Message.Settlement>): Message.Assistant =>
  Message.settle(Result.getOrThrow(decode(response(output))), results)

export const result = (text: string): Message.Settlement => ({ kind: "result", text })

export const answered = (id: string, kind: Message.Settlement["kind"], text: string): Message.SettledCall => ({
  type: "settled-call",
  call: { type: "tool-call", id, name: "search", arguments: "{}" },
  settlement: { kind, text }
})
