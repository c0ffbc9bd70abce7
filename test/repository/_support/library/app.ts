/** A program over the library. `packaging.process.test.ts` compiles it against nothing but the declarations of that. */
import {
  Agent,
  type Approval,
  type LlmError,
  type Model,
  Recovery,
  type RunError,
  Skill,
  Tool,
  type ToolError
} from "@kintsugi/core"
import { type Config, Effect } from "effect"
import { type IsAny, sameType } from "../../../types/_support/Identity.ts"
import * as lib from "./index.ts"

type Own = LlmError.LlmError | RunError.BudgetExceededError
type BadArgs = ToolError.InvalidArgs | ToolError.DeserializationError
type Hard = ToolError.ToolExecutionError
type One = Own | BadArgs | lib.Busy | Hard
type Needs = Model.Model | lib.Db | lib.Mail

sameType<Effect.Effect<string, Own, Model.Model>>()(lib.bare(""))
sameType<Effect.Effect<string, One, Needs>>()(lib.one(""))
sameType<Effect.Effect<string | number, One | lib.Broken | RunError.RoutingError, Needs>>()(lib.two(""))
sameType<Effect.Effect<string | number, One | lib.Broken, Needs>>()(lib.routed(""))
sameType<Effect.Effect<string, Own | BadArgs | Hard, Needs>>()(lib.tabled(""))
sameType<Effect.Effect<{ readonly total: number }, Own | RunError.InvalidOutputError, Model.Model>>()(lib.answering(""))
sameType<Effect.Effect<string, Own, Model.Model>>()(lib.shaped({ q: "" }))
sameType<Effect.Effect<string, Own | BadArgs | lib.Busy, Model.Model | lib.Db | Approval.Approver>>()(lib.waiting(""))
sameType<Effect.Effect<string, never, lib.Db>>()(lib.deterministic(""))
sameType<Effect.Effect<string, One, Needs>>()(lib.inTurn(""))
sameType<Effect.Effect<{ readonly a: string; readonly b: string }, One, Needs>>()(lib.together(""))
sameType<Effect.Effect<string, Own | RunError.InvalidOutputError, Model.Model>>()(lib.branched(""))
sameType<Effect.Effect<string, One, Needs>>()(lib.racing(""))
sameType<Effect.Effect<string, One, Needs>>()(lib.hedged(""))
sameType<Effect.Effect<string, Own | RunError.LoopExhaustedError, Model.Model>>()(lib.looping(""))
sameType<Effect.Effect<number, One, Needs>>()(lib.mapped(""))
sameType<Effect.Effect<string, One, Model.Model | lib.Mail>>()(lib.provided(""))
sameType<Effect.Effect<string, One, Needs>>()(lib.budgeted(""))
sameType<Agent.Any<string, string, One, Needs>>()(lib.sealed)
sameType<Effect.Effect<number, BadArgs | lib.Busy>>()(Tool.call(lib.fromPool, {}))
sameType<lib.Db | lib.Mail>()(undefined as never as Tool.ServicesOf<typeof lib.connecting>)
const one = lib.keeping(Effect.as(Effect.andThen(Effect.scope, lib.Db), 1))
sameType<lib.Db>()(undefined as never as Tool.ServicesOf<typeof one>)
sameType<Effect.Effect<string, Own | Hard, Needs>>()(lib.calm(lib.one)(""))
export const defaulted = Agent.make("standing", {
  skills: [Skill.make("all", { description: "d", tools: [lib.standard(lib.plain)] })]
})
sameType<Effect.Effect<string, Own | Hard, Model.Model | lib.Db>>()(defaulted(""))
sameType<Effect.Effect<string, Own | Config.ConfigError, never>>()(lib.own(""))

/** The names of all exports of which a part is `any`. */
type Parts<T> = T extends (input: infer I) => Effect.Effect<infer A, infer E, infer R> ? [I, A, E, R] : [T]
type AnyIn<T extends ReadonlyArray<unknown>> = { [K in keyof T]: IsAny<T[K]> }[number]
type Lost = { [K in keyof typeof lib]: true extends AnyIn<Parts<(typeof lib)[K]>> ? K : never }[keyof typeof lib]
export const lost: ReadonlyArray<Lost> = [] satisfies ReadonlyArray<never>
sameType<never>()(undefined as never as Lost)

// what is left of them goes on being made into agents
export const composed = Agent.make("above", {
  skills: [Skill.make("all", { description: "d", tools: [lib.tooled, lib.guarded, lib.limited] })]
}).pipe(Agent.toolDefaults({ Busy: Recovery.tell(), orElse: Recovery.raise }))
sameType<Effect.Effect<string, Own | Hard, Needs>>()(composed(""))
