/** Runs an agent for the page: with its services, its model, its faults, and a log of its events. */
import { Model } from "@kintsugi/core"
import * as Interception from "@kintsugi/core/Interception"
import * as RunContext from "@kintsugi/core/RunContext"
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import { failingOf } from "./describing.ts"
import { Faults, jsonSchemaOf } from "./faults.ts"
import type { Found } from "./Finding.ts"
import { fitting } from "./generating.ts"
import { type Core, definitionOf, type ToolDefinition, toolsOf } from "./inside.ts"
import type { RunLog } from "./log.ts"
import * as Models from "./models.ts"
import * as StandIn from "./standIn.ts"
import type { Choice } from "./browser/Wire.ts"

/** An agent of a loaded module, with its services. */
export interface Ready extends Found {
  readonly core: Core
  readonly context: Context.Context<never>
  /** The tags with which tools have failed in recorded runs. */
  readonly seen: ReadonlyMap<string, ReadonlySet<string>>
}

/** The faults that a person has chosen for a run, by their names. */
export const faultsOf = ({ agent, core, seen }: Ready, names: ReadonlyArray<string>): Faults =>
  new Faults(names, failingOf(definitionOf(agent), seen), core)

/** Provides what the runs of an agent need, as a person has chosen it. The events go to `log`. */
export const surrounding = (
  ready: Ready,
  choice: Choice,
  faults: Faults,
  log: RunLog,
  pause: Duration.Input = "25 millis"
): Effect.Effect<<A, E>(self: Effect.Effect<A, E, unknown>) => Effect.Effect<A, E>, unknown, Scope.Scope> =>
  Effect.gen(function* () {
    const { agent, context, core } = ready
    const tools = new Map(toolsOf(definitionOf(agent)).map((tool) => [tool.name, tool]))
    const model = yield* modelFor(ready, choice, faults, { tools, pause })
    const encode = Schema.encodeSync(core.AgentEvent.AgentEvent)
    const observer = (event: Parameters<typeof encode>[0]) => log.push(JSON.stringify(encode(event)))
    const intercept: Interception.Interceptor["intercept"] = (step, self) => {
      const tool = step.type === "tool attempt" && !step.isAgent ? tools.get(step.tool) : undefined
      const isMadeUp = tool !== undefined && choice.tools === "made up"
      return faults.attempt(step, isMadeUp ? Effect.suspend(() => madeUp(tool, choice.seed)) : self)
    }
    return <A, E>(self: Effect.Effect<A, E, unknown>) =>
      Effect.flatMap(
        RunContext.Observers,
        (others) =>
          self.pipe(
            Effect.provideService(Interception.Current, { intercept, ...(model === undefined ? {} : { model }) }),
            Effect.provideService(RunContext.Observers, [...others, () => observer]),
            // a run of the page goes on from its own file alone
            Effect.provideService(core.Snapshot.Claims, { claim: () => Effect.succeed(true) }),
            Effect.provideContext(model === undefined ? context : Context.add(context, Model.Model, model))
            // cast: a service that is missing all the same is a defect, which the page explains
          ) as Effect.Effect<A, E>
      )
  })

/** The model of all agents of a run; `undefined` if each has its own one, unbroken. */
const modelFor = (
  { agent, context, core }: Ready,
  { faults: names, model, seed }: Choice,
  faults: Faults,
  means: StandIn.Means
) =>
  Effect.gen(function* () {
    if (model === "stand-in") return Models.resending(core, faults.around(StandIn.make(seed, means)))
    if (names.length === 0) return undefined
    const own = yield* Models.ownModel(definitionOf(agent), context)
    return own === undefined ? undefined : faults.around(own)
  })

/** A result of a tool that did not run: a value of its schema. */
export const madeUp = ({ name, success }: ToolDefinition, seed: number): Effect.Effect<unknown> => {
  const schema = Result.getOrUndefined(Result.try(() => jsonSchemaOf(success)))
  return Effect.orDie(Schema.decodeUnknownEffect(Schema.toCodecJson(success))(fitting(success, schema, seed, name)))
}
