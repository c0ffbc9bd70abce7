/** What a run has to do: the loop of a model, a plain function, or the one of them that is chosen first. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import { end, Exceeded } from "../budget/Meter.ts"
import * as RunContext from "../event/RunContext.ts"
import * as Interception from "../model/Interception.ts"
import * as Model from "../model/Model.ts"
import * as Beginning from "./beginning.ts"
import * as Budget from "./budget.ts"
import type { Choice, Loop as Looped, Plain, Plan, Skilled } from "./plan.ts"
import { read } from "./rereading.ts"
import * as Router from "./Router.ts"
import type { Choice as Chosen, Place } from "./routerPlace.ts"
import type { End, Loop, Running } from "./running.ts"
import { turn } from "./safePoint.ts"

/** Does the work of a run, `loop` where a model does it. */
export const work = (running: Running, loop: Loop): Effect.Effect<unknown, unknown, Model.Model> => {
  const { plan, run } = running
  if (run.depth > run.deepest) return end(new Exceeded(run.meter, "maxDepth", run.deepest, run.depth))
  return plan.work.kind === "choice" ? choosing(running, plan.work, loop) : working(running, plan.work, loop)
}

/** The work of one skill. */
const working = (running: Running, skilled: Skilled, loop: Loop): Effect.Effect<unknown, unknown, Model.Model> =>
  skilled.kind === "function"
    ? applying(running, skilled)
    : withModel(running.plan, (model) => looping(running, skilled, loop, model))

const applying = ({ beginning }: Running, { run }: Plain) => Effect.suspend(() => run(beginning.said.text))

const looping = (running: Running, { toolset }: Looped, loop: Loop, model: Model.Service) =>
  Effect.suspend(() => {
    Budget.demandPrice(running.run, model)
    return loop({ ...running, toolset, model })
  })

const withModel = <A, E>(
  { model }: Plan,
  use: (model: Model.Service) => Effect.Effect<A, E>
): Effect.Effect<A, unknown, Model.Model> =>
  model === undefined
    ? Effect.contextWith((context: Context.Context<Model.Model>) => use(Context.get(context, Model.Model)))
    : Effect.flatMap(Interception.Current, (interceptor) =>
        interceptor?.model === undefined
          ? Effect.scopedWith((scope) =>
              Effect.flatMap(Layer.buildWithScope(model, scope), (built) => use(Context.get(built, Model.Model)))
            )
          : use(interceptor.model)
      )

/** A skill is chosen, unless the run has its answer, or goes on with a skill that was chosen before. */
const choosing = Effect.fnUntraced(function* (
  running: Running,
  choice: Choice,
  loop: Loop
): Effect.fn.Return<unknown, unknown, Model.Model> {
  const { beginning, plan, run, state } = running
  const answer = yield* answered(running)
  if (answer !== undefined) return answer.value
  // a new word is routed afresh: it need not be about what the last one was about
  const before = beginning.isNew ? undefined : beginning.from?.skill
  if (before !== undefined) {
    const known = choice.works.get(before)
    if (known === undefined) {
      return yield* Effect.die(new TypeError(`Agent '${plan.agent}' has no skill '${before}' to go on with`))
    }
    state.skill = before
    return yield* working(running, known, loop)
  }
  const { candidates, router } = choice
  const place: Place = { input: beginning.said.text, candidates, run, transcript: () => state.transcript() }
  const ruled = yield* Router.rule(router, place)
  if (ruled !== undefined) return yield* working(running, yield* take(running, choice, ruled), loop)
  return yield* withModel(plan, (model) =>
    Effect.flatMap(asking(running, choice, place, model), (chosen) =>
      chosen.kind === "function" ? applying(running, chosen) : looping(running, chosen, loop, model)
    )
  )
})

/** An answer that fits is one, whatever gave it; another one is asked for again, by the skill that is chosen. */
const answered = (running: Running): Effect.Effect<End, unknown> => {
  const { beginning, plan, start, state } = running
  const { output } = plan
  const said = Beginning.answeredBy(start, beginning.from, state.messages)
  if (said === undefined) return Effect.undefined
  if (output === undefined) return Effect.succeed({ value: said })
  if (Result.isFailure(output.read(said))) return Effect.undefined
  state.partial = said
  return read(running)
}

/** The model chooses: that is a turn of the run. */
const asking = Effect.fnUntraced(function* (
  running: Running,
  choice: Choice,
  place: Place,
  model: Model.Service
): Effect.fn.Return<Skilled, unknown> {
  const { run } = running
  Budget.demandPrice(run, model)
  yield* turn(running)
  yield* RunContext.emit(run, () => ({ type: "turn-start" }))
  const chosen = yield* Router.ask(choice.router, model, place)
  yield* Budget.spent(run)
  yield* Budget.warn(run)
  return yield* take(running, choice, chosen)
})

/** The work of a skill that was chosen; the transcript begins with its prompt, and has that of no other skill. */
const take = ({ beginning, run, state }: Running, { works }: Choice, chosen: Chosen): Effect.Effect<Skilled> => {
  const skilled = works.get(chosen.skill)
  if (skilled === undefined) return Effect.die(new TypeError(`Run: '${chosen.skill}' is not among the skills`))
  const { prompt } = skilled
  const begin = () => {
    state.skill = chosen.skill
    state.begin(beginning.messagesFor(prompt))
    return skilled
  }
  return RunContext.record(run, begin, () => ({ type: "skill-chosen", ...chosen, prompt }))
}
