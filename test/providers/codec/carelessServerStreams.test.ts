/** Answers in the place of streams, errors that are no event, and ends of all kinds. */
import {
  anthropic,
  boom,
  candidate,
  chat,
  chunk,
  compact,
  completion,
  fn,
  gemini,
  long,
  ollama,
  pretty,
  reads,
  responses,
  said,
  usage
} from "./_support/carelessServers.ts"
import { done, event } from "../../_support/network.ts"

/** A text and a call in the whole bodies of each format. */
const wholes: Readonly<Record<string, object>> = {
  [chat]: completion({ content: long, tool_calls: [{ id: "a", function: fn("{}") }] }, "tool_calls"),
  [anthropic]: {
    type: "message",
    content: [
      { type: "text", text: long },
      { type: "tool_use", id: "a", name: "w", input: "{}" }
    ],
    stop_reason: "tool_use"
  },
  [responses]: {
    status: "completed",
    output: [
      { type: "message", content: [{ type: "output_text", text: long }] },
      { type: "function_call", call_id: "a", name: "w", arguments: "{}" }
    ]
  },
  [ollama]: {
    message: { content: long, tool_calls: [{ id: "a", function: fn("{}") }] },
    done: true,
    done_reason: "stop"
  }
}

const layouts: Readonly<Record<string, (body: object) => string>> = {
  compact,
  pretty,
  "after blanks": (body) => `\r\n ${pretty(body)}`
}

reads("an answer in the place of a stream is read [A114]", {
  ...Object.fromEntries(
    Object.entries(wholes).flatMap(([of, body]) =>
      Object.entries(layouts).map(([layout, text]) => [
        `${of}, ${layout}`,
        { of, body: text(body), reads: [long, ["a", "w", "{}"], "tool-calls"] }
      ])
    )
  ),
  "a list of pieces": {
    of: gemini,
    body: `[${compact(candidate("he"))}\n,\r\n${compact(candidate("llo", "STOP"))}\n]`,
    reads: ["hello", "stop"]
  },
  "a list of pieces, pretty": {
    of: gemini,
    body: pretty([candidate("he"), candidate("llo", "STOP")]),
    reads: ["hello", "stop"]
  },
  "a list of one error": {
    of: gemini,
    body: pretty([{ error: { code: 503, message: "The model is overloaded.", status: "UNAVAILABLE" } }]),
    reads: ["ModelOverloadedError", "The model is overloaded."]
  },
  "a list that was cut off": { of: gemini, body: `[${compact(candidate("he"))},`, reads: ["NetworkError"] }
})

reads("an error that is no event fails [T8]", {
  "on a line before [DONE]": { of: chat, body: `${said}${compact(boom)}\n\n${done}`, reads: ["ServerError", "boom"] },
  "first, before [DONE]": { of: chat, body: `${compact(boom)}\n\n${done}`, reads: ["ServerError", "boom"] },
  "after a finish reason": {
    of: chat,
    body: `${chunk({ content: "x" }, "stop")}${compact(boom)}`,
    reads: ["ServerError", "boom"]
  },
  "after a blank": { of: chat, body: `${said}  ${compact(boom)}\n\n${done}`, reads: ["ServerError", "boom"] },
  "over several lines": { of: chat, body: `${said}${pretty(boom)}\r\n${done}`, reads: ["ServerError", "boom"] },
  "longer than a few kilobytes": {
    of: chat,
    body: said + pretty({ error: { ...boom.error, more: Array.from({ length: 9 }, () => long) } }),
    reads: ["ServerError", "boom"]
  },
  "by itself": {
    of: anthropic,
    body: pretty({ type: "error", error: { type: "overloaded_error" } }),
    reads: ["ModelOverloadedError"]
  }
})

reads("an event with blank data says nothing [P504]", {
  [anthropic]: {
    of: anthropic,
    body:
      "event: ping\ndata: \n\n" +
      event({ type: "message_start", message: { usage: { input_tokens: 3, output_tokens: 1 } } }) +
      "data:   \n\n" +
      event({ type: "content_block_start", index: 0, content_block: { type: "text", text: "hi" } }) +
      event({ type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 2 } }) +
      event({ type: "message_stop" }),
    reads: ["hi", "stop", "3/2"]
  },
  [chat]: { of: chat, body: `data:\n\n${said}data:  \n\n${done}`, reads: ["he", "stop"] },
  [gemini]: { of: gemini, body: `data: \n\n${event(candidate("hi", "STOP"))}`, reads: ["hi", "stop"] }
})

reads("a message in the place of its pieces is read [A114]", {
  "with its end": {
    of: chat,
    body: event({ choices: [{ index: 0, message: { content: "hi" }, finish_reason: "stop" }] }) + done,
    reads: ["hi", "stop"]
  },
  "before its end": {
    of: chat,
    body:
      event({ choices: [{ index: 0, message: { content: "hi", tool_calls: [{ id: "a", function: fn("{}") }] } }] }) +
      chunk({}, "tool_calls") +
      done,
    reads: ["hi", ["a", "w", "{}"], "tool-calls"]
  },
  "with the last event alone": {
    of: "perplexity/openai-chat",
    body:
      event({ choices: [{ index: 0, delta: { role: "assistant", content: "" }, message: { content: "" } }] }) +
      event({
        object: "chat.completion.done",
        choices: [{ index: 0, delta: { content: "" }, message: { content: "all" }, finish_reason: "stop" }]
      }),
    reads: ["all", "stop"]
  },
  "and not where the pieces came": {
    of: "perplexity/openai-chat",
    body:
      event({ choices: [{ index: 0, delta: { role: "assistant", content: "" }, message: { content: "" } }] }) +
      event({ choices: [{ index: 0, delta: { content: "all" }, message: { content: "all" } }] }) +
      event({ choices: [{ index: 0, delta: {}, message: { content: "all" }, finish_reason: "stop" }] }),
    reads: ["all", "stop"]
  }
})

reads("a stream of chat completions ends with its finish reason or [DONE] [P504]", {
  "without [DONE]": { of: chat, body: said + chunk({}, "stop", { usage }), reads: ["he", "stop", "5/6"] },
  "or with [DONE], which may have blanks around it": {
    of: chat,
    body: `${said}data:   [DONE] \n\n`,
    reads: ["he", "stop"]
  },
  "and not where it breaks off within a later event": {
    of: chat,
    body: said + chunk({}, "stop") + chunk({}, null, { usage }).slice(0, -9),
    reads: ["NetworkError"]
  },
  "and not with [DONE] where nothing was said": {
    of: chat,
    body: chunk({ role: "assistant", content: "" }) + done,
    reads: ["UnknownLlmError"]
  }
})
