/** One invocation of an agent: the model is called, its tool calls are settled, and it is called again, until there is an output. */
import * as Effect from "effect/Effect"
import { atEnd } from "./hearing.ts"
import { callModel } from "./modelCall.ts"
import type * as Frame from "./Frame.ts"
import type { Plan } from "./plan.ts"
import type { Around, Loop, Start } from "./running.ts"
import { answer, keepShown, safePoint } from "./turn.ts"
import { settle } from "./settle.ts"
import { within } from "./beginning.ts"

export type { Around, Start } from "./running.ts"
export type { Chooser, OnPartial, Plain, Plan, ReadInput, Siblings, Skilled, Work } from "./plan.ts"

/**
 * Runs a plan. What surrounds the loop are functions around it: the events of the run, its listeners, the end of its time, its
 * suspension, and the undoing of what its tools have done when it fails.
 */
export const run = (plan: Plan, start: Start, sink: Frame.Sink | undefined, mode: Frame.Mode, around?: Around) =>
  within(plan, start, sink, mode, around === undefined ? loop : around.loop(loop), around?.says)

/**
 * - A tool that fails and is told: its call is settled with the text of the failure, and the model reads that in the next turn.
 * - A failure that no table handles: all calls of the reply are settled, and the run fails with it.
 * - A reply without a call is the output. Where it does not fit the output schema, the model reads why, and has another turn.
 * - A limit that is reached ends the run: at the safe point, where the model's reply has passed it, or within a call or a wait.
 */
const loop: Loop = Effect.fnUntraced(function* (running) {
  // a resumed run may have unsettled calls, or already its answer
  const before = running.start.kind === "input" ? undefined : yield* running.start.by.resume(running)
  const over = before && running.state.mayRead(running.run) ? yield* atEnd(running, before) : before
  if (over !== undefined) return over.value
  while (true) {
    const request = yield* safePoint(running)
    const outcome = yield* running.prepare?.through(running, request, callModel) ?? callModel(running, request)
    // a row of `onLlmError` has answered in the place of a model
    if (outcome.type === "answered") return outcome.value
    // the next safe point reads the message that interrupted the model
    if (outcome.type === "interrupted") {
      yield* keepShown(running, () => Effect.void)
      continue
    }
    const end = yield* outcome.calls.length === 0 ? answer(running, outcome.reply) : settle(running, outcome)
    const over = end && running.state.mayRead(running.run) ? yield* atEnd(running, end) : end
    if (over !== undefined) return over.value
  }
})
