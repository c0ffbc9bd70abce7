/** Shortens the conversation after a failed model call, if the row for the failure says so. */
import * as Effect from "effect/Effect"
import type { LlmError } from "../errors/LlmError.ts"
import { helping } from "../event/Helping.ts"
import type { Compact, Compacted, CompactEvent } from "../recovery/Node.ts"
import type { Calling } from "./modelCallState.ts"
import { admits, whyNot } from "./shown.ts"

/** Shortens the conversation that the model reads. */
export const compact = (
  call: Calling,
  { compaction, run: shorten }: Compact,
  error: unknown
): Effect.Effect<Compacted> => {
  const { conversation, input, run } = call.options
  if (!admits(call)) return Effect.succeed({ type: "gave up", ...whyNot(call) })
  const overflow = {
    transcript: call.request.messages,
    // this table has rows for model failures alone
    error: error as LlmError,
    // Mutant `false` survives: the compaction reads `input: undefined` and a missing key alike
    ...(input === undefined ? {} : { input })
  }
  const within = helping<CompactEvent>(compaction, run, { isCompacting: true }, (event) => event)
  return shorten(compaction, overflow, within, (messages) => {
    const { messages: before, uncompacted = before } = call.request
    call.request = { ...call.request, messages, uncompacted }
    conversation?.compact(messages)
  })
}
