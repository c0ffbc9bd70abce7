/** What the compiler says about options that have another name, or another place, in other libraries. */
import type * as Budget from "../budget/Budget.ts"
import type { UnknownPriceError } from "../errors/RunError.ts"
import type { Present } from "../recovery/TableTypes.ts"

/** Names of agent options in other libraries, with the name to use here. The compiler shows it. */
export interface Elsewhere {
  readonly instructions: "its name here is prompt"
  readonly system: "its name here is prompt"
  readonly systemPrompt: "its name here is prompt"
  readonly maxSteps: "its name here is budget: { maxTurns }"
  readonly maxTurns: "it stands in budget: { maxTurns }"
  readonly maxToolCalls: "it stands in budget: { maxToolCalls }"
  readonly maxIterations: "its name here is budget: { maxTurns }"
  readonly stopWhen: "the limit is budget: { maxTurns }, and the tool Tool.complete ends a run"
  readonly timeout: "its name here is budget: { maxDuration }"
  readonly maxRetries: "retries are rows of a table: toolDefaults, onLlmError"
  readonly inputSchema: "its name here is input"
  readonly outputSchema: "its name here is output"
  readonly outputType: "its name here is output"
  readonly name: "the name of an agent is the first argument"
  readonly execute: "an agent that is a function is Agent.deterministic"
  readonly onToolError: "tables by tool are added with Agent.onToolError"
}

/** Limits by their names in other libraries. */
interface LimitsElsewhere {
  readonly maxSteps: "its name here is maxTurns"
  readonly stopWhen: "the limit is maxTurns, and the tool Tool.complete ends a run"
  readonly maxIterations: "its name here is maxTurns"
  readonly recursionLimit: "its name here is maxTurns"
  readonly timeout: "its name here is maxDuration"
}

/** A limit of cost needs the price of each model: without it the run fails. */
export type PriceErrorOf<Limits> = "maxCost" extends keyof Limits ? UnknownPriceError : never

/** Refuses unknown limits: the compiler shows a sentence with the right name. */
export type PresentLimits<Given> = Present<Given, keyof Budget.Limits, LimitsElsewhere>
