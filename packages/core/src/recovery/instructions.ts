/** Every instruction that a model reads about a failure. A text has one of them: two could contradict each other. */
import type { Means } from "./FixerInput.ts"

/** What the model sent can be put right by the model. */
export const correct = (what: string): string => `correct ${what} and call the tool again`

/** The tool has no side effects, or the same ones each time. */
export const repeat = "safe to retry"

/** It passes by itself, and it is not known what the failed run has done. */
export const check = "it may have taken effect, check before repeating"

/** Neither a repetition nor a correction helps. */
export const clarify = "consider asking the user for clarification"

/** The same came several times in a row. */
export const anotherWay = "repeating the call will not help, try another way"

/** An earlier run of the call was cut off. */
export const lookUp = "look that up before any repetition"

/** The same call again, at once: only what was looked up, or cannot be, is repeated. */
export const confirm = "Look first whether it has. Where nothing can tell, make the same call once more."

/** It is not known what the call has done, and nothing can tell. */
export const leave = "Do not repeat the call: a person has to look it up."

/** The call has done its work. */
export const done = "Repeating the call will not help."

/** Of an escalation. */
export const corrected = "Please retry with corrected arguments."

/** A tool is not there for a turn. */
export const other = "Try another way."

/** A tool has made all its calls. */
export const elsewhere = "answer with what you have or use another tool"

/** There are no tools any more. */
export const words = "Answer in words."

/** The run has reached a limit. */
export const conclude = "Answer now with what is known, and say what is missing."

/** The answer does not fit its schema, or was cut off. */
export const answer = (wanted: "json" | "text", isCut: boolean): string => {
  const how = wanted === "json" ? "with JSON that fits and nothing else" : "with what fits only"
  return isCut ? `Answer again and be shorter, ${how}.` : `Answer again, ${how}.`
}

/** What a fixer is to give, by what it can do: a model that has only tools that end its task is not asked for a text. */
export const fix = (what: string, means: Means): string => {
  if (means === "end") return `End with one of your tools. A text is taken for ${what}.`
  const answer = `Answer with ${what} and nothing else`
  return means === "answer" ? `${answer}.` : `${answer}, or end with a tool where that cannot be known.`
}
