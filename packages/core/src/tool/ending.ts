/** The built-in tools that end an agent with a failure. If their arguments cannot be read, the text of the arguments is the reason. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { Severity } from "../errors/Kinds.ts"
import { EscalationError, ToolExecutionError } from "../errors/ToolError.ts"
import { endsRun } from "./builtIn.ts"
import { define } from "./define.ts"
import type { ToolContext, ToolDefinition } from "./ToolDefinition.ts"

const ending = <Params, E>(options: {
  readonly name: string
  readonly description: string
  readonly parameters: Schema.Codec<Params, unknown>
  readonly errorOf: (params: Params, agent: string) => E
}): ToolDefinition => {
  const { description, errorOf, name, parameters } = options
  const run = (params: Params, { agent }: ToolContext) => Effect.fail(errorOf(params, agent))
  return define(name, { description, parameters, success: Schema.Never, run }, { words: "reason", endsRun })
}

export const escalate = ending({
  name: "escalate",
  description:
    "Give the task back to the caller, who will read the reason and try again. Put what would correct the problem into the reason.",
  parameters: Schema.Struct({
    reason: Schema.optionalKey(Schema.String),
    severity: Schema.optionalKey(Schema.String.annotate({ description: `One of ${Severity.literals.join(", ")}` }))
  }),
  errorOf: ({ reason, severity }, agent) =>
    EscalationError.make({ source: agent, reason: reasonOf(reason), severity: severityOf(severity) })
})

export const throwException = ending({
  name: "throwException",
  description: "Give up for good: nothing that the caller could correct would help. Ends the whole pipeline.",
  parameters: Schema.Struct({ reason: Schema.optionalKey(Schema.String) }),
  errorOf: ({ reason }, agent) => ToolExecutionError.make({ tool: agent, message: reasonOf(reason) })
})

const reasonOf = (text: string | undefined): string =>
  text === undefined || text.trim() === "" ? "no reason was given" : text

const severityOf = (text: string | undefined): Severity => {
  const upper = text?.trim().toUpperCase()
  return Severity.literals.find((severity) => severity === upper) ?? "HIGH"
}
