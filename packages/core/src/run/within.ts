/** What surrounds a run: each of these is a function around its work. */
import * as Effect from "effect/Effect"
import * as Budget from "../budget/Budget.ts"
import type * as Model from "../model/Model.ts"
import * as Beginning from "./beginning.ts"
import * as Limits from "./Limits.ts"
import { capture, ending, restore, resumedOf } from "./checkpoint.ts"
import * as Frame from "./Frame.ts"
import type { Plan } from "./plan.ts"
import type { Loop, Running } from "./running.ts"
import type { Start } from "./Start.ts"
import { RunState } from "./state.ts"
import { undoing } from "./Undoing.ts"
import { work } from "./work.ts"

/** Runs the work of a plan, `loop` where a model does it. Every event goes to the sink, if there is one. */
export const within = (
  plan: Plan,
  start: Start,
  sink: Frame.Sink | undefined,
  mode: Frame.Mode,
  loop: Loop
): Effect.Effect<unknown, unknown, Model.Model> =>
  Effect.suspend(() => {
    const beginning = Beginning.of(start, plan)
    const { from, said } = beginning
    const limits = Beginning.limitsOf(start)
    const budget = limits === undefined ? plan.budget : Budget.over(plan.budget, limits)
    const state = new RunState(plan.agent, budget, beginning, beginning.messages(plan.work.prompt))
    const input = start.kind === "input" ? start.input : said.text
    const resumed = from === undefined ? undefined : { runId: from.runId, elapsed: from.spent.millis }
    const { agent, listeners, onExceeded } = plan
    return Frame.within({ agent, listeners, onExceeded, budget, input, sink, mode, state, resumed }, (run) => {
      const running: Running = {
        plan: limits === undefined ? plan : { ...plan, budget },
        start,
        beginning,
        resumed: resumedOf(start, from),
        state,
        run,
        mode
      }
      if (from !== undefined) restore(run, from, limits ?? {})
      mode.started?.({ state, run })
      mode.nesting?.started(capture(running))
      return work(running, loop).pipe(Limits.inTime(run), ending(running), undoing(run))
    })
  })
