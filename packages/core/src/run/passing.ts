/** What becomes of a reply that a guardrail has held back. */
import * as Effect from "effect/Effect"
import type * as Message from "../data/Message.ts"
import * as RunContext from "../event/RunContext.ts"
import * as Model from "../model/Model.ts"
import type { Attempting, Calling, Hold } from "./modelCallState.ts"
import { show } from "./received.ts"

/** A reply, once it has passed. What it has cost is known meanwhile. */
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
      // what readers have seen of it does not count
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
