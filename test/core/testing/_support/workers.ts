/** Tools whose failures are told, agents with one of them, and their script. */
import { Agent, Recovery, Skill, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Schema } from "effect"
import { type Gone } from "../../../_support/dialogue.ts"

const { call, calls, text } = ScriptedModel

export const common = { description: "d", parameters: Schema.Struct({ n: Schema.Finite }), success: Schema.String }

/** A tool that does this, of which all failures are told. */
export const toolOf = <const Name extends string, R>(
  name: Name,
  run: (n: number) => Effect.Effect<string, Gone, R>,
  sideEffects: "none" | "unsafe" = "none"
) =>
  Tool.make(name, { ...common, sideEffects, timeout: "5 seconds", run: ({ n }) => run(n) }).pipe(
    Tool.onError({ orElse: Recovery.tell() })
  )

export const fine = (n: number) => Effect.as(Effect.sleep(20), `${n}`)

/** An agent with one tool, and its script. */
export const around = <const T extends Tool.AnyTool>(tool: T) =>
  Agent.make("worker", { skills: [Skill.make("work", { description: "d", tools: [tool] })] })

export const script = (name: string) => [calls(call(name, { n: 1 }, "c1"), call(name, { n: 2 }, "c2")), text("done")]
