/** Agents with limits, and the errors of their runs. */
import * as Factories from "@kintsugi/core/Factories"
import { assert } from "@effect/vitest"
import { Agent, type Budget, RunError, Skill, Tool } from "@kintsugi/core"
import { type ScriptedModel } from "@kintsugi/core/testing"
import { Cause, Effect, Exit, Schema } from "effect"
import { batch, scripted } from "../../../_support/dialogue.ts"

export const worker = <const Tools extends ReadonlyArray<Tool.AnyTool>>(budget: Budget.Limits, ...tools: Tools) =>
  Agent.make("worker", { budget, skills: [Skill.make("work", { description: "Works.", tools })] })

export const exceeded = (error: unknown): RunError.BudgetExceededError => {
  assert.instanceOf(error, RunError.BudgetExceededError)
  // the line above has failed otherwise
  return error as RunError.BudgetExceededError
}

export const failing = <A, E>(exit: Exit.Exit<A, E>): unknown =>
  Exit.isFailure(exit) ? Cause.squash(exit.cause) : undefined

export const refused = () => Factories.connectionRefused("localhost", 1)

export const seen = (times: number) => Array.from({ length: times }, () => Effect.succeed("seen"))

/** A tool whose work is an agent that looks for so many turns, then answers. */
export const expertTool = (model: ScriptedModel.ScriptedModel, budget: Budget.Limits, looks: number) => {
  const { runs, tool: look } = scripted("look", ...seen(looks))
  const expert = Agent.make("expert", {
    budget,
    model: model.layer,
    skills: [Skill.make("look", { description: "Looks.", tools: [look] })]
  })
  const tool = Tool.make("ask", {
    description: "Asks the expert.",
    parameters: Schema.Struct({}),
    success: Schema.String,
    run: () => expert("why?")
  })
  return { runs, tool }
}

export const looking = (times: number) => Array.from({ length: times }, () => batch("look"))
