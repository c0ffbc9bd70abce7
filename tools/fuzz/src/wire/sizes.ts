/** Answers without an end: millions of events and comments, one endless event, blanks, bombs. */
import * as Message from "@kintsugi/core/Message"
import { gzipSync } from "node:zlib"
import { type Answer, each, eventStream, fixed, sse } from "./answers.ts"
import type { Expected, Scenario } from "./scenario.ts"

const MiB = 1024 * 1024

const stop = sse({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }] }, "[DONE]")

const chunk = (text: string) => sse({ choices: [{ index: 0, delta: { content: text }, finish_reason: null }] })

const packed = (body: Buffer): Answer => ({
  headers: { "content-type": "text/event-stream", "content-encoding": "gzip" },
  body: gzipSync(body)
})

const over: Expected = { tags: ["ReplyTooLargeError"], sends: 1 }

const text = (length: number): Expected => ({ sends: 1, reply: (reply) => Message.textOf(reply).length === length })

const events: Readonly<Record<Scenario["api"], readonly [piece: string, end: string, start?: string]>> = {
  "openai-chat": [chunk("x"), stop],
  anthropic: [
    sse({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "x" } }),
    sse(
      { type: "content_block_stop", index: 0 },
      { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 5 } },
      { type: "message_stop" }
    ),
    sse(
      { type: "message_start", message: { model: "m", usage: { input_tokens: 3, output_tokens: 1 } } },
      { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } }
    )
  ],
  "openai-responses": [
    sse({ type: "response.output_text.delta", output_index: 0, item_id: "i", content_index: 0, delta: "x" }),
    sse({ type: "response.completed", response: { status: "completed", model: "m", output: [] } })
  ],
  gemini: [
    sse({ candidates: [{ content: { parts: [{ text: "x" }] } }] }),
    sse({ candidates: [{ content: { parts: [] }, finishReason: "STOP" }] })
  ],
  ollama: [
    `${JSON.stringify({ message: { role: "assistant", content: "x" }, done: false })}\n`,
    `${JSON.stringify({ message: { role: "assistant", content: "" }, done: true, done_reason: "stop" })}\n`
  ]
}

const repeated = (api: Scenario["api"], times: number): Answer => {
  const [piece, end, start = ""] = events[api]
  const type = api === "ollama" ? "application/x-ndjson" : "text/event-stream"
  return { headers: { "content-type": type }, body: `${start}${piece.repeat(times)}${end}` }
}

type Made = readonly [name: string, answer: () => Answer, expected: Expected]

const sized: ReadonlyArray<Made> = [
  ["a million comments", () => eventStream(`${": ping\n".repeat(1_000_000)}\n${chunk("x")}${stop}`), text(1)],
  [
    "one event of 4 MiB",
    () => ({ ...eventStream(chunk("x".repeat(4 * MiB)) + stop), split: { every: 16_384 } }),
    text(4 * MiB)
  ],
  ["one event of 20 MiB", () => eventStream(chunk("x".repeat(20 * MiB)) + stop), over],
  [
    "2 MiB of blanks",
    () => ({ ...eventStream(" ".repeat(2 * MiB) + chunk("x") + stop), split: { every: 16_384 } }),
    { sends: 1 }
  ],
  ["2 MiB of line ends", () => eventStream("\n".repeat(2 * MiB) + chunk("x") + stop), text(1)],
  ["a line of 20 MiB without an end", () => eventStream(`data: ${"x".repeat(20 * MiB)}`), over],
  ["a bomb of 256 MiB, blanks", () => packed(Buffer.alloc(256 * MiB, " ")), over],
  [
    "a bomb of 256 MiB, one event",
    () => packed(Buffer.concat([Buffer.from("data: "), Buffer.alloc(256 * MiB, "x")])),
    over
  ],
  ["a text with a million escapes", () => eventStream(chunk('"\\\n'.repeat(333_333)) + stop), text(999_999)]
]

export const sizes: ReadonlyArray<Scenario> = [
  ...each("sizes", "30,000 events", (api) => ({
    modes: ["streamed"],
    serve: fixed(() => repeated(api, 30_000)),
    expected: text(30_000)
  })),
  ...sized.flatMap(([name, answer, expected]) =>
    each("sizes", name, () => ({ modes: ["streamed"], serve: fixed(answer), expected }), ["openai-chat"])
  ),
  ...each("sizes", "a whole body that is a bomb of 256 MiB", () => ({
    modes: ["whole"],
    serve: fixed(() => ({ ...packed(Buffer.alloc(256 * MiB, " ")), status: 200 })),
    expected: over
  })),
  ...each("sizes", "a refusal of 20 MiB", () => ({
    modes: ["whole", "streamed"],
    serve: fixed(() => ({ status: 500, body: "x".repeat(20 * MiB) })),
    expected: { tags: ["ServerError"], sends: 3 }
  }))
]
