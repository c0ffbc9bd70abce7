/** Waits until a reply that was held back has passed the guardrails. */
import * as Effect from "effect/Effect"
import type * as Message from "../data/Message.ts"
import * as RunContext from "../event/RunContext.ts"
import * as Model from "../model/Model.ts"
import type { Attempting, Calling, Hold } from "./modelCallState.ts"
import { show } from "./received.ts"

/** Waits until the reply has passed. Its usage is booked meanwhile. */
export const passed = (
  hold: Pick<Hold, "reply">,
  call: Calling,
  attempting: Attempting,
  reply: Message.Reply
): Effect.Effect<Message.Reply> =>
  Effect.suspend(() => {
    const { run } = call.options
    const of = call.state.shown?.of ?? new Model.Collector()
    call.state = { ...attempting, shown: call.state.shown }
    return hold.reply(reply, (parts, anew) => {
      const { attempts: attempt, shown = call.prefix } = call.state
      if (anew !== true || shown === undefined) return show(call, of, parts)
      // the shown text is discarded, so that no attempt continues it
      call.prefix = undefined
      call.state = { ...call.state, shown: undefined }
      call.options.conversation?.show(undefined)
      return RunContext.emitThen(
        run,
        () => ({ type: "attempt-discarded", attempt, text: shown.text }),
        () => show(call, of, parts)
      )
    })
  })
