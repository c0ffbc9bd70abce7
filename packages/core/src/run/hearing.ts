/** Messages to a run while it is at work: which of them it reads, and which calls it skips or withdraws because of them. */
import * as Effect from "effect/Effect"
import * as Message from "../data/Message.ts"
import * as RunContext from "../event/RunContext.ts"
import type { CallSite, Slot } from "../tool/CallSite.ts"
import type { LateCalls, Rows } from "../tool/Late.ts"
import type { Outcome } from "../tool/Toolset.ts"
import { suspend } from "./checkpoint.ts"
import { requestsOf } from "./keeping.ts"
import { rowsOf } from "./late.ts"
import type { End, Looping, Running } from "./running.ts"
import { Suspension } from "./Start.ts"

/**
 * Reads the results of deferred calls, and then the messages to the run: each becomes a user message of the conversation. `undefined` if
 * there are none.
 */
export const hear = (running: Looping, rows: (running: Looping) => Rows): Effect.Effect<void, unknown> | undefined => {
  const { run, state } = running
  const { inbox } = run.tree
  const { late } = state
  const said = inbox?.read(run, (message) => {
    state.add(message)
    state.guarded?.hear(message)
  })
  const results = late?.read(run, (message) => state.add(message), rows(running))
  return results === undefined || said === undefined ? (results ?? said) : Effect.andThen(results, said)
}

/**
 * The same at a safe point. A paused reply must go back to its provider unchanged, so messages wait until the provider has finished, unless
 * one interrupts it.
 */
export const hearNow = (running: Looping): Effect.Effect<void, unknown> | undefined => {
  const { run, state } = running
  const last = state.messages.at(-1)
  const isPaused = last?.role === "assistant" && last.paused === true
  return isPaused && run.tree.inbox?.ends(run, "model") !== true ? undefined : hear(running, rowsOf)
}

/**
 * Ends a run with this value, unless something has come that the model has not read: a message, or the result of a deferred call. Then it
 * gives `undefined`, and the run goes on.
 */
export const atEnd = (running: Looping, end: NonNullable<End>): Effect.Effect<End, unknown> => {
  const { late } = running.state
  return unlessSaid(running, end, late && (() => unlessLate(running, late, end)))
}

/** The same for messages alone; `next` runs if there are none. */
export const unlessSaid = <E = never>(
  { run }: Running,
  end: NonNullable<End>,
  next: (() => Effect.Effect<End, E>) | undefined
): Effect.Effect<End, E> => {
  const { inbox } = run.tree
  if (end.value instanceof Suspension) return Effect.succeed(end)
  const ended = next ?? (() => Effect.succeed(end))
  return inbox === undefined
    ? ended()
    : Effect.flatMap(inbox.waits(run), (isSaid) => (isSaid ? Effect.undefined : ended()))
}

/**
 * Waits for the deferred calls that the run waits for at its end; leaves the others at work. A run that can be suspended does so instead of
 * waiting.
 */
const unlessLate = (running: Looping, late: LateCalls, end: NonNullable<End>): Effect.Effect<End, unknown> =>
  Effect.suspend(() => {
    if (late.isEmpty) return Effect.succeed(end)
    return Effect.flatMap(late.isDue, (isDue) => (isDue ? unlessRead(running, end) : waited(running, late, end)))
  })

/** A retried deferred call has no result yet, so the model is not called again for it. */
const unlessRead = (running: Looping, end: NonNullable<End>): Effect.Effect<End, unknown> =>
  Effect.suspend(() => {
    const { messages } = running.state
    const before = messages.length
    const read = hear(running, rowsOf) ?? Effect.void
    return Effect.flatMap(read, () => (messages.length > before ? Effect.undefined : atEnd(running, end)))
  })

const waited = (running: Looping, late: LateCalls, end: NonNullable<End>): Effect.Effect<End, unknown> => {
  const { mode, run, state } = running
  if (late.mayBeLeft) {
    return Effect.map(late.detach, (left) => {
      state.left = left
      return end
    })
  }
  const last = state.messages.at(-1)
  const isAnswer = last?.role === "assistant" && last.content.every(({ type }) => type !== "settled-call")
  if (mode.isSuspendable && isAnswer) return Effect.map(suspend(running), (value) => ({ value }))
  return Effect.flatMap(late.wait(run), () => atEnd(running, end))
}

/** Calls the model, and stops if a message interrupts the call. Then there is no answer, and the next safe point reads the message. */
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

/** Settles a call that the end of its run or a message ends, and withdraws its requests for approval. */
export const endBy = (
  run: RunContext.RunContext,
  slot: Slot,
  by: Parameters<Slot["settlementBy"]>[0]
): Message.Settlement => {
  for (const digest of requestsOf(slot.waiting ?? slot.from)) run.tree.inbox?.withdraw(digest)
  return (slot.settlement = slot.settlementBy(by))
}

/** Skips a call because of a message that the user has said in the meantime. */
export const passOver = ({ call: { id: callId, name: tool }, run, slot }: CallSite): Effect.Effect<Outcome> => {
  const settlement = endBy(run, slot, "interrupt")
  const record = { tool, isError: false }
  slot.record = record
  return RunContext.emitThen(
    run,
    () => ({ type: "tool-skipped", callId, tool, settlement }),
    () => Effect.succeed({ settlement, record })
  )
}

/**
 * Settles the calls that wait, and cancels the work of deferred calls. A waiting sub-agent settles its own calls, unless the run is over.
 * Returns whether there is such a sub-agent.
 */
export const withdraw = (running: Looping): Effect.Effect<boolean> => {
  const { run } = running
  const isOver = run.meter.ended !== undefined
  const by = run.meter.withdraws ? "run" : "supersede"
  return Effect.map(
    Effect.forEach(running.state.slots, (slot) => {
      const { waiting } = slot
      if (waiting === undefined) return Effect.succeed(false)
      if (waiting.type === "agent" && !isOver) {
        const anew = {
          isBegun: false,
          live: undefined,
          settlement: undefined,
          record: undefined,
          checkpoint: undefined
        }
        return Effect.sync(() => Object.assign(slot, anew, { from: waiting }) === slot)
      }
      return Effect.map(cancelled(running, slot), (isCancelled) => {
        endBy(run, slot, by)
        if (isCancelled) slot.settlement = by === "run" ? Message.interrupted : Message.superseded
        return false
      })
    }),
    (found) => found.includes(true)
  )
}

/** Cancels the work of a deferred call. Returns whether its tool has confirmed the cancellation. */
export const cancelled = ({ toolset }: Looping, { checkpoint }: Slot): Effect.Effect<boolean> => {
  const waiting = checkpoint?.(0)
  if (waiting?.type !== "deferred") return Effect.succeed(false)
  // any deferred tool can look up the token of another one
  const { deferral } = Array.from(toolset.entries.values(), ({ tool }) => tool).find((tool) => tool.deferral) ?? {}
  return deferral?.withdraw(waiting.token) ?? Effect.succeed(false)
}
