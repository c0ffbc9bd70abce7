/** How a format reads a streamed answer. */
import type * as LlmError from "@kintsugi/core/LlmError"
import type * as Result from "effect/Result"

/** Reads a stream event by event: a pure state machine, made anew for every attempt. */
export interface Decoder<out Part> {
  /** How the body is cut into events: server-sent events, which is the default, or one JSON per line. */
  readonly framing?: Framing | undefined
  /** The names of events that repeat the whole reply: they may be as large as a whole body. */
  readonly whole?: ReadonlySet<string> | undefined
  /** The parts that the data of the next event completes. `event` is its name, if it has one. */
  readonly push: (data: string, event?: string) => Result.Result<ReadonlyArray<Part>, LlmError.LlmError>
  /** The last parts, if the body ended in a state other than `open`. */
  readonly end: () => Result.Result<ReadonlyArray<Part>, LlmError.LlmError>
  /** `open`: more must come; `complete`: more may come; `done`: further events are ignored. */
  readonly state: () => "open" | "complete" | "done"
  /** How many bytes of the reply were read and not emitted yet, such as arguments; none by default. */
  readonly held?: () => number
  /** The name of the model whose parts come now, as far as the events have told it; absent if no event can tell it. */
  readonly model?: () => string | undefined
}

type Framing = "sse" | "ndjson"
