/** What a run does about what is said to it while it is at work: what it reads, what it no longer begins, and what it withdraws. */
import * as Effect from "effect/Effect"
import * as Message from "../data/Message.ts"
import * as RunContext from "../event/RunContext.ts"
import type { CallSite, Slot } from "../tool/CallSite.ts"
import type { Outcome } from "../tool/Toolset.ts"
import type { Looping, Running } from "./running.ts"
import { Suspension } from "./Start.ts"

/** Each message is a user message of its own. */
export const hear = ({ run, state }: Running, inbox: RunContext.Inbox): Effect.Effect<void> =>
  inbox.read(run, (message) => state.add(message))

/** A provider that is at work on its own side wants the reply back as it is, unless a message interrupts it. */
export const goesOnAsItIs = ({ run, state: { messages } }: Running, inbox: RunContext.Inbox): boolean => {
  const last = messages.at(-1)
  return last?.role === "assistant" && last.paused === true && !inbox.ends(run, "model")
}

/** Whether a run that could end with this value goes on: something was said that it has not read. */
export const goesOn = (inbox: RunContext.Inbox, { run }: Running, value: unknown): Effect.Effect<boolean> =>
  value instanceof Suspension ? Effect.succeed(false) : inbox.waits(run)

/** Asks the model until there is an answer, or until a message interrupts it. Without an answer, the next safe point reads the message. */
export const untilSaid = <Answer, Asked>(
  inbox: RunContext.Inbox,
  run: RunContext.RunContext,
  ask: (take: (answer: Answer) => Effect.Effect<void>) => Effect.Effect<unknown, unknown>,
  next: (answer: Answer) => Effect.Effect<Asked>
): Effect.Effect<Asked | { readonly type: "interrupted" }, unknown> => {
  let found: { readonly answer: Answer } | undefined
  const asked = ask((answer) => Effect.sync(() => void (found = { answer })))
  type Ended = Asked | { readonly type: "interrupted" }
  return Effect.flatMap(inbox.during(run, "model", asked), (): Effect.Effect<Ended> =>
    found === undefined ? Effect.succeed({ type: "interrupted" }) : next(found.answer)
  )
}

/** The user has said something that comes before this call. */
export const passOver = ({ call: { id: callId, name: tool }, run, slot }: CallSite): Effect.Effect<Outcome> => {
  const settlement = Message.passedOver
  const record = { tool, isError: false }
  Object.assign(slot, { settlement, record })
  return RunContext.emitThen(
    run,
    () => ({ type: "tool-skipped", callId, tool, settlement }),
    () => Effect.succeed({ settlement, record })
  )
}

/**
 * Settles the calls that wait as superseded, and cancels the work of deferred calls. A call that may have taken effect says so instead. One
 * whose sub-agent waits goes on, so that the sub-agent settles its own calls: returns whether there is such a call.
 */
export const withdraw = (running: Looping): Effect.Effect<boolean> =>
  Effect.map(
    Effect.forEach(running.state.slots, (slot) => {
      const waiting = slot.record === undefined ? undefined : slot.checkpoint?.(0)
      if (waiting === undefined) return Effect.succeed(false)
      if (waiting.type === "agent") {
        const anew = { isBegun: false, settlement: undefined, record: undefined, checkpoint: undefined }
        return Effect.sync(() => Object.assign(slot, anew, { from: waiting }) === slot)
      }
      return Effect.map(cancelled(running, slot), (isCancelled) => {
        if (isCancelled || slot.settlement?.kind !== "unknown") slot.settlement = Message.superseded
        return false
      })
    }),
    (found) => found.includes(true)
  )

/** Cancels the work of a deferred call that waits; gives whether its tool has confirmed that. */
export const cancelled = ({ toolset }: Looping, { checkpoint }: Slot): Effect.Effect<boolean> => {
  const waiting = checkpoint?.(0)
  if (waiting?.type !== "deferred") return Effect.succeed(false)
  // each deferred tool knows the tokens of all
  const { deferral } = Array.from(toolset.entries.values(), ({ tool }) => tool).find((tool) => tool.deferral) ?? {}
  return deferral?.withdraw(waiting.token) ?? Effect.succeed(false)
}
