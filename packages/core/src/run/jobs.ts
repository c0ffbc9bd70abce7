/**
 * Replies that a provider makes in the background. The first model call gives a paused reply that names the job; its result is recorded as
 * that of any model call, so a replay, and each later attempt, asks for the job and makes no other.
 */
import * as Effect from "effect/Effect"
import type * as Message from "../data/Message.ts"
import type * as Usage from "../data/Usage.ts"
import * as Interception from "../model/Interception.ts"
import type { Attempting, Calling } from "./modelCallState.ts"

/** Whether a paused reply only names the job that makes it. */
export const isJob = ({ content }: Message.Reply): boolean =>
  content.some((part) => part.type === "provider-item" && part.kind === kind)

/** The kind of the item that names a job. */
const kind = "background_job"

/** An attempt that asks for a job. Cancelled, it books what the provider then reports. */
export const naming = (call: Calling, attempting: Attempting, message: Message.Assistant): Effect.Effect<Attempting> =>
  Effect.withFiber((fiber) => {
    const interceptor = fiber.getRef(Interception.Current)
    const background = {
      spent: (usage: Usage.Usage) => {
        if (call.state.type === "Attempting") call.state = { ...call.state, spent: { usage } }
      },
      isLeft: () => interceptor?.isLeft?.() === true
    }
    const { request } = attempting
    return Effect.succeed({
      ...attempting,
      request: { ...request, messages: [...request.messages, message], background }
    })
  })
