/** Streams that functions of users return. */
import * as Stream from "effect/Stream"
import * as Returned from "../data/Returned.ts"
import type { LlmError } from "../errors/LlmError.ts"
import type { Part } from "./service.ts"

/** The stream itself; what is none is a defect of the function, see `Returned`. */
export const streamed = (
  given: Stream.Stream<Part, LlmError>,
  whose: string,
  name?: string
): Stream.Stream<Part, LlmError> =>
  Stream.isStream(given) ? given : Stream.die(Returned.wrong(given, "a Stream", whose, name))
