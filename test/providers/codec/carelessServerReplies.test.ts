/** What chat completions and responses get wrong in their replies. */
import {
  anthropic,
  candidate,
  boom,
  chat,
  chunk,
  completion,
  gemini,
  reads,
  responses,
  said,
  usage
} from "./_support/carelessServers.ts"
import { done, event } from "../../_support/network.ts"

reads("an error of a reply has the usage that came before it [T8]", {
  "a content filter": {
    of: chat,
    isWhole: true,
    body: completion({ content: "he" }, "content_filter", { usage }),
    reads: ["ContentFilteredError", "a content filter cut the reply off", "5/6"]
  },
  "a content filter, streamed": {
    of: chat,
    body: said + chunk({}, "content_filter", { usage }) + done,
    reads: ["ContentFilteredError", "a content filter cut the reply off", "5/6"]
  },
  "a refusal among the parts of a content": {
    of: chat,
    isWhole: true,
    body: completion({ content: [{ type: "refusal", refusal: "no" }] }),
    reads: ["ContentFilteredError", "no", "0/0"]
  },
  "a refusal among the parts of a content, streamed": {
    of: chat,
    body: chunk({ content: [{ type: "refusal", refusal: "no" }] }) + chunk({}, "stop") + done,
    reads: ["ContentFilteredError", "no", "0/0"]
  },
  "an error after a finish reason, before [DONE]": {
    of: chat,
    body: said + chunk({}, "length", { usage }) + chunk({}, null, boom) + done,
    reads: ["ServerError", "boom", "5/6"]
  }
})

const counted = (promptTokenCount: number, candidatesTokenCount: number) => ({
  usageMetadata: { promptTokenCount, candidatesTokenCount }
})

reads("a zero takes no count back [T8]", {
  [chat]: {
    of: chat,
    body:
      chunk({ content: "he" }, "stop", { usage }) +
      event({ choices: [], usage: { prompt_tokens: 0, completion_tokens: 0 } }) +
      done,
    reads: ["he", "stop", "5/6"]
  },
  [anthropic]: {
    of: anthropic,
    body:
      event({ type: "message_start", message: { usage: { input_tokens: 50, output_tokens: 1 } } }) +
      event({ type: "content_block_start", index: 0, content_block: { type: "text", text: "hi" } }) +
      event({
        type: "message_delta",
        delta: { stop_reason: "end_turn" },
        usage: { input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 9 }
      }) +
      event({ type: "message_stop" }),
    reads: ["hi", "stop", "50/9"]
  },
  [gemini]: {
    of: gemini,
    body: event({ ...candidate("hi"), ...counted(7, 2) }) + event({ ...candidate("", "STOP"), ...counted(0, 3) }),
    reads: ["hi", "stop", "7/3"]
  }
})

reads("an error with its fields at the top fails [T8]", {
  "by its object": {
    of: chat,
    body: said + event({ object: "error", message: "boom", code: 500 }) + done,
    reads: ["ServerError", "boom"]
  },
  "by the name of its event": {
    of: chat,
    body: `${said}event: error\n${event({ message: "boom", code: 500 })}${done}`,
    reads: ["ServerError", "boom"]
  },
  "as a whole answer": {
    of: chat,
    isWhole: true,
    body: { object: "error", message: "boom", code: 500 },
    reads: ["ServerError", "boom"]
  }
})

reads("the first choice is the one of the index 0 [A114]", {
  whole: {
    of: chat,
    isWhole: true,
    body: {
      choices: [
        { index: 1, message: { content: "other" }, finish_reason: "length" },
        { index: 0, message: { content: "first" }, finish_reason: "stop" }
      ]
    },
    reads: ["first", "stop"]
  },
  streamed: {
    of: chat,
    body:
      said +
      event({ choices: [{ index: 1, delta: { content: "other" } }] }) +
      event({ choices: [{ index: 1, delta: {}, finish_reason: "length" }] }) +
      chunk({ content: "llo" }) +
      chunk({}, "stop") +
      done,
    reads: ["hello", "stop"]
  },
  "or the only one": {
    of: chat,
    isWhole: true,
    body: { choices: [{ index: 1, message: { content: "only" }, finish_reason: "stop" }] },
    reads: ["only", "stop"]
  }
})

const completed = event({ type: "response.completed", response: { output: [] } })

const refusing = (delta: string) => event({ type: "response.refusal.delta", item_id: "m", output_index: 0, delta })

const textDone = (content_index: number, text: string) =>
  event({ type: "response.output_text.done", item_id: "m", output_index: 0, content_index, text })

const textDelta = (content_index: number, delta: string) =>
  event({ type: "response.output_text.delta", item_id: "m", output_index: 0, content_index, delta })

reads("what only the pieces or only the whole of a response say counts [T8]", {
  "the pieces of a refusal": {
    of: responses,
    body: refusing("I ") + refusing("can't") + completed,
    reads: ["ContentFilteredError", "I can't"]
  },
  "the whole of a text": { of: responses, body: textDone(0, "hi") + completed, reads: ["hi", "stop"] },
  "the rest of a text": {
    of: responses,
    body: textDelta(0, "he") + textDone(0, "hello") + textDone(1, ", you") + completed,
    reads: ["hello, you", "stop"]
  },
  "a text once": {
    of: responses,
    body: textDelta(0, "a") + textDone(0, "a") + textDelta(1, "a") + textDone(1, "a") + completed,
    reads: ["aa", "stop"]
  }
})
