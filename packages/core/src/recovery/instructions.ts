/** The instructions for a model that reads about a failure. Each text has exactly one, because two could contradict each other. */
import type { Means } from "./FixerInput.ts"

/** The instruction for a failure that the model can correct by other arguments. */
export const correct = (what: string): string => `correct ${what} and call the tool again`

/** The instruction for a failure of a tool without side effects, or with idempotent ones. */
export const repeat = "safe to retry"

/** The instruction for a transient failure after which the outcome of the run is unknown. */
export const check = "it may have taken effect, check before repeating"

/** The instruction for a failure that neither a repetition nor a correction can help. */
export const clarify = "consider asking the user for clarification"

/** The instruction for a failure that has come several times in a row. */
export const anotherWay = "repeating the call will not help, try another way"

/** The instruction for a call of which an earlier run was cut off. */
export const lookUp = "look that up before any repetition"

/** The instruction for a call that the model repeated at once, although it may have taken effect. */
export const confirm = "Look first whether it has. Where nothing can tell, make the same call once more."

/** The instruction for a call with an unknown outcome that nothing can look up. */
export const leave = "Do not repeat the call: a person has to look it up."

/** The instruction for a call that has done its work, but whose result cannot be shown. */
export const done = "Repeating the call will not help."

/** Of an escalation. */
export const corrected = "Please retry with corrected arguments."

/** The instruction for a tool that is unavailable in this turn. */
export const other = "Try another way."

/** The instruction for a tool that has reached its limit of calls. */
export const elsewhere = "answer with what you have or use another tool"

/** The instruction for a run in which all tools are switched off. */
export const words = "Answer in words."

/** For the last turn of a run that has reached a limit. */
export const conclude = "Answer now with what is known, and say what is missing."

/** The instruction for an answer that does not fit its schema, or was cut off. */
export const answer = (wanted: "json" | "text", isCut: boolean): string => {
  const how = wanted === "json" ? "with JSON that fits and nothing else" : "with what fits only"
  return isCut ? `Answer again and be shorter, ${how}.` : `Answer again, ${how}.`
}

/** The instruction for a fixer: says what to answer. A fixer whose tools end its task is asked to use one instead of a text. */
export const fix = (what: string, means: Means): string => {
  if (means === "end") return `End with one of your tools. A text is taken for ${what}.`
  const answer = `Answer with ${what} and nothing else`
  return means === "answer" ? `${answer}.` : `${answer}, or end with a tool where that cannot be known.`
}
