/** A parent and a child that needs approval, with the steps of their scripts. */
import { Agent, type Budget, Skill, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Schema } from "effect"
import { scripted } from "../../../_support/dialogue.ts"

const { call, calls } = ScriptedModel

export const calling = (id = "s1") => call("sub", { input: "do it" }, id)

export const looks = (times: number) => Array.from({ length: times }, () => Effect.succeed("seen"))

export const look = calls(call("look", {}, "l"))

/** A tool that needs approval, in a sub-agent that looks first. */
export const family = (budget: Budget.Limits = {}) => {
  const paid: Array<number> = []
  const pay = Tool.make("pay", {
    description: "Pays.",
    parameters: Schema.Struct({ cents: Schema.Int }),
    success: Schema.String,
    sideEffects: "unsafe",
    run: ({ cents }) => Effect.sync(() => `paid ${paid.push(cents)}`)
  }).pipe(Tool.requireApproval({ validFor: "1 day" }))
  const { runs: looked, tool: looking } = scripted("look", ...looks(4))
  const sub = Agent.make("sub", {
    budget: { maxTurns: 50 },
    skills: [Skill.make("s", { description: "S.", tools: [looking, pay] })]
  })
  const tool = Agent.asTool(sub, { description: "Does it." })
  const boss = Agent.make("boss", { budget, skills: [Skill.make("b", { description: "B.", tools: [tool] })] })
  return { paid, looked, sub, tool, boss }
}
