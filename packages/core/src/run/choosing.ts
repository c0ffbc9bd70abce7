/** Chooses one of several skills at the start of a run, and begins the work of that skill. */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as RunContext from "../event/RunContext.ts"
import type * as Model from "../model/Model.ts"
import { answeredBy, applying, looping, withModel, working } from "./beginning.ts"
import * as RunBudget from "./budget.ts"
import { unlessSaid } from "./hearing.ts"
import type { Choice, Chooser, Skilled } from "./plan.ts"
import * as Router from "./Router.ts"
import type { Choice as Chosen, Routing } from "./Routing.ts"
import type { End, Loop, Running } from "./running.ts"
import { read, turn } from "./turn.ts"

/** A skill is chosen, unless the run has its answer, or goes on with a skill that was chosen before. */
const choosing = Effect.fnUntraced(function* (
  running: Running,
  choice: Choice,
  loop: Loop
): Effect.fn.Return<unknown, unknown, Model.Model> {
  const { beginning, plan, run, state } = running
  const answer = yield* answered(running)
  // the chosen skill goes on with deferred calls whose results are to come
  const over = answer && beginning.from?.late === undefined ? yield* unlessSaid(running, answer, undefined) : undefined
  if (over !== undefined) return over.value
  // new input is routed again: it may be about something else. While deferred calls wait, their skill goes on with it
  const isRouted = beginning.isNew && beginning.from?.late === undefined
  const before = isRouted ? undefined : beginning.from?.skill
  if (before !== undefined) {
    const skilled = choice.works.get(before)
    if (skilled === undefined) {
      return yield* Effect.die(new TypeError(`Agent '${plan.agent}' has no skill '${before}' to go on with`))
    }
    state.skill = before
    return yield* working(running, skilled, loop)
  }
  const { candidates, router } = choice
  const routing: Routing = { input: beginning.said.text, candidates, run, transcript: () => state.transcript() }
  const ruled = yield* Router.rule(router, routing)
  if (ruled !== undefined) return yield* working(running, yield* take(running, choice, ruled), loop)
  return yield* withModel(plan, (model) =>
    Effect.flatMap(routeByModel(running, choice, routing, model), (chosen) =>
      chosen.kind === "function" ? applying(running, chosen) : looping(running, chosen, loop, model)
    )
  )
})

/** The answer of the conversation, if it fits; otherwise the chosen skill asks for another one. */
const answered = (running: Running): Effect.Effect<End, unknown> => {
  const { beginning, plan, start, state } = running
  const { output } = plan
  const said = answeredBy(start, beginning.from, state.messages)
  if (said === undefined) return Effect.undefined
  if (output === undefined) return Effect.succeed({ value: said })
  if (Result.isFailure(output.read(said))) return Effect.undefined
  state.partial = said
  return read(running)
}

/** The model chooses the skill, in a turn of the run. */
const routeByModel = Effect.fnUntraced(function* (
  running: Running,
  choice: Choice,
  routing: Routing,
  model: Model.Service
): Effect.fn.Return<Skilled, unknown> {
  const { run } = running
  yield* RunBudget.priced(run, model, () => turn(running, () => Effect.void))
  const chosen = yield* Router.ask(choice.router, model, routing)
  yield* RunBudget.spent(run, () => RunBudget.warn(run, () => Effect.void))
  return yield* take(running, choice, chosen)
})

/** Starts the chosen skill: the transcript begins with its prompt, and has no prompt of another skill. */
const take = ({ beginning, run, state }: Running, { works }: Choice, chosen: Chosen): Effect.Effect<Skilled> => {
  const skilled = works.get(chosen.skill)
  // Mutant `` `` `` survives: the router refuses such a name before
  if (skilled === undefined) return Effect.die(new TypeError(`Run: '${chosen.skill}' is not among the skills`))
  const { prompt } = skilled
  const begin = () => {
    state.skill = chosen.skill
    state.begin(beginning.messagesFor(prompt))
    return skilled
  }
  return RunContext.record(run, begin, () => ({ type: "skill-chosen", ...chosen, prompt }), Effect.succeed)
}

/** What a skill brings to an agent that has several. */
export const chooser: Chooser = { router: () => Router.byModel().definition, choose: choosing }
