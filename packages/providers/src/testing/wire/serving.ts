/** Makes a handler of a loopback server from a wire format and a brain. */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { Handler } from "../handling.ts"
import * as Counts from "./counts.ts"
import * as Jobs from "./jobs.ts"
import * as Parts from "./parts.ts"
import type * as Wire from "./wire.ts"

/**
 * A handler in which a brain answers every request that the real service would accept. Other requests are refused with the service's own
 * failures. The handler stores the background jobs of its clients.
 */
export const handler = (wire: Wire.Wire, brain: Wire.Brain, rules: Wire.Rules = {}): Handler => {
  const jobs = wire.jobs === undefined ? undefined : Jobs.make(wire.jobs, rules.jobs)
  return (received) => {
    const key = wire.keyOf(received)
    const isLetIn = rules.apiKey === undefined ? key !== undefined || !wire.isKeyNeeded : key === rules.apiKey
    const refuse = (failure: Wire.Failure) => Effect.succeed(wire.refuse(failure))
    if (!isLetIn) return refuse({ type: "unauthorized", isKeyGiven: key !== undefined })
    const counted = wire.counts?.request(received)
    if (counted !== undefined) {
      const read = Result.flatMap(counted, (received) => wire.read(received, (id) => jobs?.earlier(id)))
      const tokens = Result.map(read, rules.tokens ?? Counts.estimateOf)
      return Result.match(tokens, {
        onFailure: refuse,
        onSuccess: (tokens) => Effect.succeed(Parts.json(wire.counts?.answer(tokens)))
      })
    }
    const about = jobs?.about(received)
    if (about !== undefined) return about
    return Result.match(
      wire.read(received, (id) => jobs?.earlier(id)),
      {
        onFailure: refuse,
        onSuccess: (request) => {
          const { model } = request
          if (rules.models?.includes(model) === false) return refuse({ type: "unknown-model", model })
          return Effect.map(brain(request), (reply) => jobs?.create(request, reply) ?? wire.render(request, reply))
        }
      }
    )
  }
}
