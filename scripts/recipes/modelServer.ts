/** A model behind a loopback server, for recipes that run in a process of their own. */
import { Message } from "@kintsugi/core"
import { AnyWire, LoopbackServer } from "@kintsugi/providers/testing"
import { Effect, Queue } from "effect"

/** Of each three requests it answers the first, refuses the second, and never answers the third. The refusal is `failure` of the recipes' tests. */
export const modelServer = Effect.gen(function* () {
  const asked = yield* Queue.unbounded<void>()
  const stuck = Effect.andThen(Queue.offer(asked, undefined), Effect.never)
  const answering = AnyWire.handler(({ received: { number } }) =>
    number % 3 === 0 ? stuck : Effect.succeed({ content: [Message.text("Forty-two.")] })
  )
  const refused = AnyWire.failing({ type: "unknown-model", model: "gpt-5.6-sol" })
  const { nextAbort, url } = yield* LoopbackServer.make((received) =>
    received.number % 3 === 2 ? refused(answering(received), received) : answering(received)
  )
  return { url: `${url}/v1`, asked: Queue.take(asked), stopped: Effect.asVoid(nextAbort) }
})
