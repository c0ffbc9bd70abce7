/** The interface by which a wire format reads a streamed answer. */
import type * as LlmError from "@kintsugi/core/LlmError"
import type * as Result from "effect/Result"

/** Reads the events of a streamed answer and returns parts of the reply: a pure state machine. Each attempt has a new one. */
export interface Decoder<out Part> {
  /** How the body is cut into events: server-sent events, which is the default, or one JSON per line. */
  readonly framing?: Framing | undefined
  /** The names of the events that repeat the whole reply. Such an event may be as large as a whole body (`maxBodyBytes`). */
  readonly whole?: ReadonlySet<string> | undefined
  /** Takes the data of the next event, and returns the parts that it completes. `event` is the name of the event, if it has one. */
  readonly push: (data: string, event?: string) => Result.Result<ReadonlyArray<Part>, LlmError.LlmError>
  /** Returns the last parts at the end of the body. It is not called if the body ended in the state `open`. */
  readonly end: () => Result.Result<ReadonlyArray<Part>, LlmError.LlmError>
  /** `open`: more must come; `complete`: more may come; `done`: further events are ignored. */
  readonly state: () => "open" | "complete" | "done"
  /** How many bytes of the reply the decoder has read and not yet returned as parts, such as unfinished arguments. Absent: none. */
  readonly held?: () => number
  /** The name of the model that writes the present parts, as far as the events have named it; absent if no event of this format does. */
  readonly model?: () => string | undefined
}

type Framing = "sse" | "ndjson"
