/** Answers at the edges of the transport's own limits: of what is kept, and of time. */
import { type Duration, Effect } from "effect"
import { type Answer, both, brain, changed, each, eventStream, fixed, isGood, isStreamed, sse } from "./answers.ts"
import type { Expected, Scenario } from "./scenario.ts"

const over = (option: string): Expected => ({
  tags: ["ReplyTooLargeError"],
  sends: 1,
  error: (error) => error._tag === "ReplyTooLargeError" && error.option === option && !error.isRetryable
})

/** A chunk as DeepSeek writes it: 337 bytes for each token of its thoughts. */
const thought = (content: string) =>
  sse({
    id: "930c60df-bf64-41c9-a88e-3ec75f81e00e",
    object: "chat.completion.chunk",
    created: 1_785_000_000,
    model: "deepseek-reasoner",
    system_fingerprint: "fp_8802369eaa_prod0425fp8_kvcache",
    choices: [{ index: 0, delta: { content: null, reasoning_content: content }, logprobs: null, finish_reason: null }]
  })

const end = sse({ choices: [{ index: 0, delta: { content: "x" }, finish_reason: "stop" }] }, "[DONE]")

/** A pause before each piece of a stream. */
const slowly = (pause: Duration.Input) =>
  changed((good) =>
    isStreamed(good)
      ? { split: { every: 64 }, beforePiece: () => Effect.delay(Effect.void, pause) }
      : { before: Effect.delay(Effect.void, pause) }
  )

const alive: Answer = {
  ...eventStream(thought("hmm") + ": keep-alive\n\n".repeat(1000)),
  split: "event",
  beforePiece: () => Effect.delay(Effect.void, "20 millis")
}

export const limits: ReadonlyArray<Scenario> = [
  ...each(
    "limits",
    "60,000 thoughts of DeepSeek, above 16 MiB with their framing",
    () => ({
      modes: ["streamed"],
      serve: fixed(() => eventStream(thought("hmm").repeat(60_000) + end)),
      expected: { sends: 1, reply: ({ content }) => content.length > 0 }
    }),
    ["openai-chat"]
  ),
  ...each("limits", "a reply above maxReplyBytes", () => ({
    modes: both,
    serve: { type: "handler", handler: brain() },
    transport: { maxReplyBytes: 40 },
    expected: over("maxReplyBytes")
  })),
  ...each("limits", "a reply within maxReplyBytes", () => ({
    modes: both,
    serve: { type: "handler", handler: brain() },
    transport: { maxReplyBytes: 100 },
    expected: isGood
  })),
  ...each("limits", "an event or a line above maxEventBytes", () => ({
    modes: ["streamed"],
    serve: { type: "handler", handler: brain() },
    transport: { maxEventBytes: 30 },
    expected: over("maxEventBytes")
  })),
  ...each("limits", "a body above maxBodyBytes", () => ({
    modes: ["whole"],
    serve: { type: "handler", handler: brain() },
    transport: { maxBodyBytes: 30 },
    expected: over("maxBodyBytes")
  })),
  ...each("limits", "a stream that is alive for longer than requestTimeout", () => ({
    modes: ["streamed"],
    serve: slowly("60 millis"),
    transport: { requestTimeout: "1 second", retry: false },
    expected: isGood
  })),
  ...each("limits", "a head after requestTimeout", () => ({
    modes: both,
    serve: changed(() => ({ before: Effect.delay(Effect.void, "5 seconds") })),
    transport: { requestTimeout: "100 millis" },
    expected: { tags: ["RequestTimeoutError"], sends: 1 }
  })),
  ...each(
    "limits",
    "nothing but keep-alives",
    () => ({
      modes: ["streamed"],
      serve: fixed(alive),
      transport: { betweenParts: "500 millis" },
      expected: { tags: ["RequestTimeoutError"], sends: 1, error: ({ message }) => message.includes("keep-alives") }
    }),
    ["openai-chat"]
  )
]
