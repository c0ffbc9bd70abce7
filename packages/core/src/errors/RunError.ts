/** The errors of a run itself. The failures of its model and its tools are errors of their own. */
import * as Schema from "effect/Schema"
import * as CauseCodec from "../data/CauseCodec.ts"
import * as Issue from "../data/Issue.ts"
import { BudgetReason, limitOf } from "./Limit.ts"
import { type Made, sentence } from "./sentence.ts"
import { advised } from "./advised.ts"
import { CarriedTranscript } from "./transcript.ts"
import * as Trail from "./Trail.ts"
import * as Usage from "../data/Usage.ts"

export type { TrailEntry } from "./Trail.ts"

/** The work of the run before its end. */
const ofRun = { transcript: CarriedTranscript, usage: Usage.Usage }

const ofBudget = {
  message: Schema.String,
  /** The agent to which the limit belongs: the agent of this run, or of an ancestor. */
  agent: Schema.String,
  reason: BudgetReason,
  limit: Schema.Finite,
  spent: Schema.Finite,
  ...ofRun,
  /** The text of the last reply; empty when there was none. */
  partial: Schema.String,
  /**
   * The decisions about the last failures. Set for `repeatedFailure`, if the run had no time for a wait before a retry, and if it found no
   * answer at its limit (`Budget.answer`).
   */
  trail: Schema.optionalKey(Trail.Trail),
  /** The failure before a wait that the run had no time for. On a wire, it is its name, message and code. */
  cause: Schema.optionalKey(CauseCodec.summary)
}

/** The run reached a limit of its budget. The error has its transcript, usage and last text. */
export class BudgetExceededError extends advised<BudgetExceededError>()("BudgetExceededError", ofBudget) {
  static override make({ what, ...fields }: Made<typeof ofBudget>): BudgetExceededError {
    const reached = what ?? `Agent '${fields.agent}' reached ${limitOf(fields)}`
    const message = sentence("BudgetExceededError", { what: reached, where: [fields.reason] })
    return new BudgetExceededError({ message, ...fields })
  }
}

const ofOutput = {
  message: Schema.String,
  agent: Schema.String,
  /** The last answer. */
  text: Schema.String,
  /** Whether the answer was cut off at the model's length limit: a larger limit may help. */
  isCut: Schema.optionalKey(Schema.Boolean),
  issues: Schema.Array(Issue.Issue),
  ...ofRun
}

/** No answer fitted the agent's output schema. The error has the transcript and the usage of the run. */
export class InvalidOutputError extends advised<InvalidOutputError>()("InvalidOutputError", ofOutput) {
  static override make({ what, ...fields }: Made<typeof ofOutput>): InvalidOutputError {
    const why = fields.isCut === true ? "was cut off by the limit of its length and " : ""
    const unfit = what ?? `The answer of agent '${fields.agent}' ${why}does not fit its output schema`
    const message = sentence("InvalidOutputError", { what: unfit, words: Issue.formatAll(fields.issues) })
    return new InvalidOutputError({ message, ...fields })
  }
}

const ofRouting = {
  message: Schema.String,
  agent: Schema.String,
  candidates: Schema.Array(Schema.String),
  /** The answer that was not the name of a skill. */
  answer: Schema.String,
  ...ofRun
}

/** No skill could be chosen for the input. The error has the transcript and the usage, with the usage of the call that chooses. */
export class RoutingError extends advised<RoutingError>()("RoutingError", ofRouting) {
  static override make({ what, ...fields }: Made<typeof ofRouting>): RoutingError {
    const failed = what ?? `Agent '${fields.agent}' could not choose one of its skills ${fields.candidates.join(", ")}`
    return new RoutingError({ message: sentence("RoutingError", { what: failed, words: fields.answer }), ...fields })
  }
}

// its constructor takes JSON, where that of any codec takes what is unknown
const Json = Schema.Json as ReturnType<typeof CauseCodec.carried<Schema.Json, Schema.Json>>

const ofLoop = {
  message: Schema.String,
  iterations: Schema.Finite,
  /** The last output, if it is JSON. */
  last: Json
}

/** A loop made all its iterations without an accepted output. */
export class LoopExhaustedError extends advised<LoopExhaustedError>()("LoopExhaustedError", ofLoop) {
  static override make({ what, ...fields }: Made<typeof ofLoop>): LoopExhaustedError {
    const exhausted = what ?? `No output was accepted in ${fields.iterations} iterations`
    return new LoopExhaustedError({ message: sentence("LoopExhaustedError", { what: exhausted }), ...fields })
  }
}

const ofGuardrail = {
  message: Schema.String,
  agent: Schema.String,
  /** The name of the guardrail. */
  guard: Schema.String,
  /** What it has blocked: a text of the user, or an answer of the model. */
  side: Schema.Literals(["input", "output"]),
  /** Why, in the words of its check. */
  reason: Schema.String,
  ...ofRun
}

/**
 * A guardrail blocked a user's text or an answer. The error has the transcript and the usage of the run; what was withheld has no text
 * there.
 */
export class GuardrailError extends advised<GuardrailError>()("GuardrailError", ofGuardrail) {
  static override make({ what, ...fields }: Made<typeof ofGuardrail>): GuardrailError {
    const text = fields.side === "input" ? "a text of the user" : "an answer of the model"
    const blocked = what ?? `Guardrail '${fields.guard}' of agent '${fields.agent}' blocked ${text}`
    return new GuardrailError({
      message: sentence("GuardrailError", { what: blocked, words: fields.reason }),
      ...fields
    })
  }
}

const ofPrice = {
  message: Schema.String,
  /** The agent with the limit: that of this run, or of an ancestor. */
  agent: Schema.String,
  /** The model without a known price. */
  model: Schema.String,
  /** The option that needs the price. */
  option: Schema.Literal("maxCost"),
  ...ofRun
}

/**
 * A limit of cost cannot hold: a model's price is unknown. Neither the `prices` of the budget nor the layer of the model has the price, and
 * the provider does not report the cost. The run fails before the model is called, or after the first reply without the cost that its
 * provider should report.
 */
export class UnknownPriceError extends advised<UnknownPriceError>()("UnknownPriceError", ofPrice) {
  static override make({ what, ...fields }: Made<typeof ofPrice>): UnknownPriceError {
    const unknown = what ?? `${fields.option} of agent '${fields.agent}' needs the price of model '${fields.model}'`
    return new UnknownPriceError({ message: sentence("UnknownPriceError", { what: unknown }), ...fields })
  }
}

/** The errors that end a run and are no failure of a single call. */
export type RunError =
  | BudgetExceededError
  | InvalidOutputError
  | RoutingError
  | LoopExhaustedError
  | GuardrailError
  | UnknownPriceError

const union = Schema.Union([
  BudgetExceededError,
  InvalidOutputError,
  RoutingError,
  LoopExhaustedError,
  GuardrailError,
  UnknownPriceError
])

/** The schema of all run errors. It decodes each error to its own class. */
export const RunError: Schema.Codec<RunError, unknown> = union
