/** Writes the text that a model reads about a failed call. The text is short, and says whether a repetition of the call can help. */
import * as Predicate from "effect/Predicate"
import * as ErrorCause from "../data/ErrorCause.ts"
import * as Redaction from "../data/Redaction.ts"
import * as Issue from "../data/Issue.ts"
import type { Settlement } from "../data/Message.ts"
import { nearest } from "../data/Nearest.ts"
import * as Instructions from "./instructions.ts"
import type { FailureContext } from "./Node.ts"
import { property } from "../data/Foreign.ts"
import { limitOf } from "../errors/Limit.ts"
import { outlookOf, withoutHelp } from "../errors/RecoveryAdvice.ts"
import { BudgetExceededError } from "../errors/RunError.ts"
import type { Kind, Severity } from "../errors/ToolError.ts"

/** The limit for the length of a told text, in UTF-16 units. */
const maxChars = 4000

/**
 * Writes the text of a failure with a label. Without a label, the model can correct its call. A `transient` failure may pass by itself, and
 * the text says whether a repetition is safe: only for a tool without side effects, or with idempotent ones. A `permanent` failure stays.
 * The labels are those of the C.W.K. lesson on tool errors.
 *
 * @internal
 */
export const labelled = (error: unknown, context: FailureContext): string => {
  const message = afterAttempts(error, context)
  const kind = kindOf(error, context)
  const instruction = fateOf(context) ?? instructionOf(kind, error, context)
  return kind === "repair" ? `${message}; ${instruction}` : `${kind}: ${message}; ${instruction}`
}

type Label = "repair" | "transient" | "permanent"

const kindOf = (error: unknown, context: FailureContext): Label => {
  const outlook = outlookOf(error)
  if (outlook?.isRetryable === true) return "transient"
  const isOwn = (property(error, "tool") ?? context.tool) === context.tool
  // an agent that escalates returns its task together with a correction
  if (isOwn && (ErrorCause.tagOf(error) === "EscalationError" || (outlook?.recovery === "repair" && !isOfModel(error))))
    return "repair"
  // the call was cut off and its outcome is unknown: a retry may succeed, but is not safe
  return isOwn && uncertainTags.has(ErrorCause.tagOf(error)) ? "transient" : "permanent"
}

/** Whether the invalid value is the answer of a model inside the tool. The caller cannot correct such an answer. */
const isOfModel = (error: unknown): boolean =>
  ofModels.has(ErrorCause.tagOf(error)) || ofModels.has(ErrorCause.tagOf(property(error, "cause")))

const ofModels: ReadonlySet<string> = new Set(["InvalidOutputError", "MalformedToolCallError"])

const uncertainTags: ReadonlySet<string> = new Set(["ToolTimeoutError", "OutcomeUnknownError"])

/** The instruction for a call that may have run already, or that keeps failing. It replaces the instruction for the failure itself. */
const fateOf = ({ isUncertain, isRepeated }: FailureContext): string | undefined => {
  if (isUncertain === true) return `${mayHaveRun}: ${Instructions.lookUp}`
  return isRepeated === true ? `${repeatedFailure}: ${Instructions.anotherWay}` : undefined
}

const mayHaveRun = "an earlier run of this call was cut off after its start and may have taken effect"

const repeatedFailure = "the same failure has come several times in a row"

const instructionOf = (kind: Label, error: unknown, context: FailureContext): string => {
  if (kind === "repair") return Instructions.correct(wrongOf(error))
  if (kind === "permanent") return Instructions.clarify
  // an inner tool that took no effect says nothing about this tool
  const tookNone = property(error, "tookEffect") === false && property(error, "tool") === context.tool
  const isSafe = context.sideEffects === "none" || context.sideEffects === "idempotent" || tookNone
  return isSafe ? Instructions.repeat : Instructions.check
}

/** The names of the fields that the model has to correct, if the failure names them; otherwise `the arguments`. */
const wrongOf = (error: unknown): string => {
  const issues = property(error, "issues")
  // Mutant `["Stryker was here"]` survives: what is no path has no name
  const paths = Array.isArray(issues) ? issues.map((issue) => property(issue, "path")) : []
  const names = paths.map((path) => (Array.isArray(path) ? Issue.formatPath(path) : ""))
  const distinct = [...new Set(names)].slice(0, maxIssues)
  const text = distinct.includes("") ? "" : distinct.join(", ")
  return text === "" || text.length > maxIssueChars ? "the arguments" : text
}

const afterAttempts = (error: unknown, context: FailureContext): string => {
  const words = spoken(error, context.kind)
  // a clause follows
  const said = ErrorCause.trimmed(words) || words
  const runs = context.runs ?? context.attempt
  return runs > 1 && context.tool !== undefined ? `tool '${context.tool}' failed ${runs} times, at last: ${said}` : said
}

/**
 * The message of an error. It is framed as data if it comes from a foreign server.
 *
 * @internal
 */
export const spoken = (error: unknown, kind: Kind | undefined): string => {
  if (error instanceof BudgetExceededError) return reached(error)
  const message = messageOf(error)
  return kind === "mcp-tool" || kind === "web-service" ? asData(message) : message
}

/**
 * The exact message of an error, without its help for operators.
 *
 * @internal
 */
export const plainly = (error: unknown): string =>
  error instanceof BudgetExceededError ? reached(error) : withoutHelp(ErrorCause.sayingOf(error))

/** Names a reached limit. The help of a `BudgetExceededError` is for operators, and a model cannot act on it. */
const reached = (error: BudgetExceededError): string =>
  `agent '${error.agent}' reached ${limitOf(error)} before it had an answer`

/** The limit for the length of a foreign text, in UTF-16 units. */
const maxForeignChars = 2000

/**
 * Marks a foreign text as data for the model. It cuts the text to 2,000 UTF-16 units, and puts it into a frame that the text cannot close.
 * No line of it begins like a text of this library.
 */
export const asData = (text: string): string => framed(ErrorCause.cut(text, maxForeignChars))

/**
 * Frames a text as data without cutting it. With `isOurs`, the label of this library at the start of the text stays unescaped.
 *
 * @internal
 */
export const framed = (text: string, isOurs = false): string => {
  const inside = text
    .replaceAll(/<(\/?)data/gi, "<\\$1data")
    .replaceAll(
      /^([^\S\n\r\u2028\u2029]*)(ERROR:|transient:|permanent:|unknown tool:)/gim,
      (all, blanks: string, label: string, at: number) => (isOurs && at === 0 ? all : `${blanks}\\${label}`)
    )
  return `<data>${inside}</data>`
}

/**
 * Tells an escalation to the model that made the call. The text asks for another call, unless this one may have taken effect.
 *
 * @internal
 */
export const escalation = (
  tool: string,
  reason: string,
  severity: Severity = "HIGH",
  isUncertain: boolean = false
): string =>
  `ERROR: Tool '${tool}' failed: ${reason} (severity: ${severity}). ${isUncertain ? sentenceOf(mayHaveRun, Instructions.lookUp) : Instructions.corrected}`

/**
 * Tells the model that the outcome of a call is unknown, so that it does not make the call again.
 *
 * @internal
 */
export const unverifiable = (tool: string, why: string): string =>
  `ERROR: Tool '${tool}' failed: it was cut off after its start and may have taken effect; looking it up failed: ${why} (severity: HIGH). ${Instructions.leave}`

/**
 * Tells the model that a tool has run, but its result is nested too deeply to be shown.
 *
 * @internal
 */
export const unshown = (tool: string, levels: number): string =>
  `ERROR: Tool '${tool}' has run, and its result cannot be shown: it is nested in more than ${levels} levels. ${Instructions.done}`

/**
 * Adds that an earlier run of the call was cut off, unless the text already says so.
 *
 * @internal
 */
export const withCutOff = (text: string): string => following(text, mayHaveRun, Instructions.lookUp)

/**
 * The reason for a denial after a person gave a result for a call that only needs approval.
 *
 * @internal
 */
export const notFailed = "a person has given a result, which only a failed call takes"

/**
 * The reason for a denial after no decision came in time. No person has refused the call.
 *
 * @internal
 */
export const undecided = "no decision about it came in time"

/**
 * Tells the model that a call was denied and not run.
 *
 * @internal
 */
export const denied = (tool: string, reason: string): string =>
  `The call of tool '${tool}' was denied and not run: ${Redaction.own(reason)}`

/**
 * Adds the number of tries that the model has left.
 *
 * @internal
 */
export const triesLeft = (text: string, tries: number): string =>
  `${text}\n${tries === 1 ? "1 try is left." : `${tries} tries are left.`}`

/**
 * Adds that the same failure has come several times in a row, unless the text already says so.
 *
 * @internal
 */
export const repeated = (text: string): string => following(text, repeatedFailure, Instructions.anotherWay)

/**
 * Removes the message of a failure and all instructions from a text. Two texts of the same failure may differ in their instructions.
 *
 * @internal
 */
export const saidBesides = (text: string, message: string): string =>
  changing().reduce(
    (left, words) => left.replaceAll(words, ""),
    text.replace(ErrorCause.trimmed(message), () => "").replaceAll(correction, "")
  )

const following = (text: string, what: string, instruction: string): string =>
  text.includes(instruction) ? text : `${text}\n${sentenceOf(what, instruction)}`

/** All instructions that may change when a failure repeats, in the two forms in which a text contains them. */
const changing = () => {
  const { anotherWay, check, clarify, lookUp, repeat } = Instructions
  const alone = [repeat, check, clarify].map((words) => `; ${words}`)
  const after: ReadonlyArray<[string, string]> = [
    [repeatedFailure, anotherWay],
    [mayHaveRun, lookUp]
  ]
  return [...alone, ...after.flatMap(([what, words]) => [`; ${what}: ${words}`, `\n${sentenceOf(what, words)}`])]
}

/** `Instructions.correct` of any fields. */
const correction = /; correct [^;\n]+ and call the tool again/g

const sentenceOf = (what: string, instruction: string): string =>
  `${what.slice(0, 1).toUpperCase()}${what.slice(1)}: ${instruction}.`

/**
 * Tells the model that a tool is withheld because it failed too often in the same way.
 *
 * @internal
 */
export const withheld = (tool: string): string =>
  `Tool '${tool}' failed too often in the same way and is not available in this turn. ${Instructions.other}`

/**
 * Tells the model that `Agent.prepareTurn` left this tool out of the turn.
 *
 * @internal
 */
export const leftOut = (tool: string): string => `Tool '${tool}' is not available in this turn. ${Instructions.other}`

/**
 * Tells the model that a tool has reached its limit of calls in one run.
 *
 * @internal
 */
export const capped = (tool: string, max: number): string =>
  `Tool '${tool}' was not run: limit of ${max} call${max === 1 ? "" : "s"} reached; ${Instructions.elsewhere}.`

/**
 * Whether the text of a failed settlement says that the call may have taken effect.
 *
 * @internal
 */
export const mayBeDone = ({ kind, text }: Settlement): boolean =>
  kind !== "result" && unsettling.some((instruction) => text.includes(instruction))

const unsettling = [Instructions.check, Instructions.lookUp, Instructions.leave]

/**
 * Tells the model that it repeated a call at once, although the call may have taken effect.
 *
 * @internal
 */
export const unchecked = (tool: string, earlier: string): string =>
  `Tool '${tool}' was not run: the same call has just failed, and may have taken effect. ${earlier.includes(Instructions.leave) ? Instructions.leave : Instructions.confirm}`

/**
 * Tells the model why its answer is invalid or that it was cut off, and asks for another answer.
 *
 * @internal
 */
export const invalidOutput = (
  issues: ReadonlyArray<Issue.Issue>,
  wanted: "json" | "text",
  isCut: boolean = false
): string => {
  const lines = issues.slice(0, maxIssues).map((issue) => `- ${ErrorCause.cut(Issue.format(issue), maxIssueChars)}`)
  const more = issues.length - lines.length
  return Redaction.own(
    [
      ...(isCut ? ["Your answer reached the limit of its length and was cut off before its end."] : []),
      "Your answer does not fit what is wanted:",
      ...lines,
      ...(more > 0 ? [`- and ${more} more`] : []),
      Instructions.answer(wanted, isCut)
    ].join("\n")
  )
}

/**
 * Asks a model again after its last answer was stopped.
 *
 * @internal
 */
export const stopped =
  "Your last answer was stopped before its end. The user has seen what you wrote. Give the whole answer."

/**
 * Asks for the rest of an answer that broke off, with `continueBy: "message"`.
 *
 * @internal
 */
export const continued =
  "Your last answer broke off before its end. The user has seen what you wrote. Go on exactly where it ends, and repeat nothing of it."

const maxIssues = 10

const maxIssueChars = 300

/**
 * The text for the model after tools are switched off.
 *
 * @internal
 */
export const toolsOff = `No tool can be called any more. ${Instructions.words}`

/**
 * Asks the model for its answer in the last turn of a run that has reached a limit.
 *
 * @internal
 */
export const lastTurn = `The run has reached its limit, and tools are no longer available in it. ${Instructions.conclude}`

/**
 * The reason for a denial of a call in the last turn.
 *
 * @internal
 */
export const atLimit = "the run has reached its limit"

/**
 * Names the available tools to a model that called an unknown one.
 *
 * @internal
 */
export const unknownTool = (name: string, names: ReadonlyArray<string>): string =>
  names.length === 0
    ? `unknown tool: ${shown(name)}; no tools are available`
    : `unknown tool: ${shown(name)}; available tools: ${names.join(", ")}${didYouMean(name, names)}`

/** A tool name for an error text. A model may send a name of any length, so it is cut. */
const shown = (name: string): string => ErrorCause.cut(name, maxNameChars)

const maxNameChars = 200

/** The prefix of a tool's name, such as `functions.` or the name of a server. */
// Mutant `/.*(?:[.:/]|__)/s` survives: speed only
const prefix = /^.*(?:[.:/]|__)/s

const didYouMean = (name: string, names: ReadonlyArray<string>): string => {
  const near = nearest(name, names) ?? nearest(name.replace(prefix, ""), names)
  return near === undefined ? "" : `; did you mean ${near}?`
}

/**
 * The redacted message of an error, without stack lines and without help for operators. If the message is empty, the tag or the name of the
 * error.
 */
export const messageOf = (error: unknown): string => {
  const message = Redaction.foreign(withoutStack(withoutHelp(ErrorCause.messageOf(error))), maxChars - 500)
  return Predicate.isTruthy(message.trim()) ? message : ErrorCause.kindOf(error)
}

/** Removes stack lines, which some errors have in their messages. */
const withoutStack = (text: string): string =>
  text
    .split("\n")
    .filter((line) => !stackLine.test(line))
    .join("\n")

const stackLine = /^\s+at \S.*(?::\d+:\d+\)?|\((?:<anonymous>|native)\))\s*$/

/** @internal */
export { truncated } from "./truncation.ts"
