/** Text that a model reads when one of its calls failed: short, and clear about whether repeating it can help. */
import * as Predicate from "effect/Predicate"
import * as ErrorCause from "../data/ErrorCause.ts"
import * as Redaction from "../data/Redaction.ts"
import * as Issue from "../data/Issue.ts"
import { nearest } from "./nearest.ts"
import type { FailureContext } from "./Node.ts"
import { property } from "../data/Foreign.ts"
import { limitOf } from "../errors/Limit.ts"
import { outlookOf } from "../errors/RecoveryAdvice.ts"
import { BudgetExceededError } from "../errors/RunError.ts"
import type { Kind, Severity } from "../errors/ToolError.ts"

/** No told text is longer, in UTF-16 units. */
const maxChars = 4000

/**
 * Labels a failure as transient or permanent by its own advice (the wording is that of the C.W.K. lesson on tool
 * errors). Only tools without side effects, or with idempotent ones, are ever called safe to retry.
 */
export const labelled = (error: unknown, context: FailureContext): string => {
  const message = afterAttempts(error, context)
  if (outlookOf(error)?.isRetryable !== true) return `permanent: ${message}; consider asking the user for clarification`
  // that a tool further down took no effect says nothing of this one
  const tookNone = property(error, "tookEffect") === false && property(error, "tool") === context.tool
  const isSafe = context.sideEffects === "none" || context.sideEffects === "idempotent" || tookNone
  return isSafe
    ? `transient: ${message}; safe to retry`
    : `transient: ${message}; it may have taken effect, check before repeating`
}

const afterAttempts = (error: unknown, context: FailureContext): string => {
  const said = spoken(error, context.kind)
  const runs = context.runs ?? context.attempt
  return runs > 1 && context.tool !== undefined ? `tool '${context.tool}' failed ${runs} times, at last: ${said}` : said
}

/**
 * What an error says for itself; as data, where it comes from a server that is not ours.
 *
 * @internal
 */
export const spoken = (error: unknown, kind: Kind | undefined): string =>
  error instanceof BudgetExceededError
    ? // what helps its user is nothing that a model can do
      `agent '${error.agent}' reached ${limitOf(error)} before it had an answer`
    : kind === "mcp-tool" || kind === "web-service"
      ? asData(messageOf(error))
      : messageOf(error)

/** No foreign text is longer, in UTF-16 units. */
const maxForeignChars = 2000

/**
 * Marks a text of foreign origin as data: capped, in a frame that it cannot close, and none of its lines begins with one of
 * the words by which a model knows what this library tells it.
 */
export const asData = (text: string): string => {
  const framed = ErrorCause.cut(text, maxForeignChars)
    .replaceAll(/<(\/?)data/gi, "<\\$1data")
    .replaceAll(/^([^\S\n\r\u2028\u2029]*)(ERROR:|transient:|permanent:|unknown tool:)/gim, "$1\\$2")
  return `<data>${framed}</data>`
}

/**
 * The sentence with which an escalation comes back to the model that made the call.
 *
 * @internal
 */
export const escalation = (tool: string, reason: string, severity: Severity): string =>
  `ERROR: Tool '${tool}' failed: ${reason} (severity: ${severity}). Please retry with corrected arguments.`

/**
 * Says to the model that nobody knows what a call did, so that it does not make it again.
 *
 * @internal
 */
export const unverifiable = (tool: string, why: string): string =>
  `ERROR: Tool '${tool}' failed: it was cut off after its start and may have taken effect; looking it up failed: ${why} (severity: HIGH). Do not repeat the call: a person has to look it up.`

/**
 * Says to the model that a tool has done its work, and that nothing of what it gave can be read.
 *
 * @internal
 */
export const unshown = (tool: string, levels: number): string =>
  `ERROR: Tool '${tool}' has run, and its result cannot be shown: it is nested in more than ${levels} levels. Repeating the call will not help.`

/**
 * Added to whatever is said of a call of which an earlier run was cut off.
 *
 * @internal
 */
export const stillOpen =
  "An earlier run of this call was cut off after its start and may have taken effect: look that up before any repetition."

/**
 * Says to the model that a call was not admitted.
 *
 * @internal
 */
export const denied = (tool: string, reason: string): string =>
  `The call of tool '${tool}' was denied and not run: ${Redaction.own(reason)}`

/**
 * Adds how often the model may try again.
 *
 * @internal
 */
export const triesLeft = (text: string, tries: number): string =>
  `${text}\n${tries === 1 ? "1 try is left." : `${tries} tries are left.`}`

/**
 * Added to a failure that has come several times in a row.
 *
 * @internal
 */
export const repeated =
  "The same failure has come several times in a row: repeating the call will not help, try another way."

/**
 * Says to the model that a tool that failed too often in the same way is not there for now.
 *
 * @internal
 */
export const withheld = (tool: string): string =>
  `Tool '${tool}' failed too often in the same way and is not available in this turn. Try another way.`

/**
 * Says to the model where its answer does not fit what is wanted, and that it was cut off if it was, and asks for another one.
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
      wanted === "json" ? "Answer again, with JSON that fits and nothing else." : "Answer again, with what fits only.",
      ...(isCut ? ["Be shorter this time."] : [])
    ].join("\n")
  )
}

const maxIssues = 10

const maxIssueChars = 300

/**
 * Says to the model that there are no tools any more.
 *
 * @internal
 */
export const toolsOff = "No tool can be called any more. Answer in words."

/** Names the tools that there are to a model that named another. */
export const unknownTool = (name: string, known: ReadonlyArray<string>): string =>
  known.length === 0
    ? `unknown tool: ${shown(name)}; no tools are available`
    : `unknown tool: ${shown(name)}; available tools: ${known.join(", ")}${didYouMean(name, known)}`

/** A name as a model wrote it may be of any length. */
const shown = (name: string): string => ErrorCause.cut(name, maxNameChars)

const maxNameChars = 200

const didYouMean = (name: string, known: ReadonlyArray<string>): string => {
  const near = nearest(name, known)
  return near === undefined ? "" : `; did you mean ${near}?`
}

/** What an error says for itself, without credentials and the lines of a stack; its tag when it says nothing. */
export const messageOf = (error: unknown): string => {
  const message = Redaction.foreign(withoutStack(ErrorCause.messageOf(error)), maxChars - 500)
  return Predicate.isTruthy(message.trim()) ? message : ErrorCause.tagOf(error)
}

/** Some errors have the stack of another one in their message. */
const withoutStack = (text: string): string =>
  text
    .split("\n")
    .filter((line) => !stackLine.test(line))
    .join("\n")

const stackLine = /^\s+at \S.*(?::\d+:\d+\)?|\((?:<anonymous>|native)\))\s*$/

export { truncated } from "./truncation.ts"
