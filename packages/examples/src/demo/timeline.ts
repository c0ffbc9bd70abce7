/**
 * Draws a run while it happens: one line per event, with the time since the start, the layer that speaks and what it
 * says. What happens inside a fixer is indented under the call that started it.
 */
import type * as AgentEvent from "@kintsugi/core/AgentEvent"
import * as ErrorCause from "@kintsugi/core/ErrorCause"
import * as Message from "@kintsugi/core/Message"
import * as Duration from "effect/Duration"
import { styleText } from "node:util"
import { clip, describeError, describeSend, plain } from "./text.ts"

export interface Timeline {
  /** The text to write for an event, line ends included; empty for one that needs no words. */
  readonly draw: (event: AgentEvent.AgentEvent) => string
  /** The names of the columns. */
  readonly header: string
  /** The text to write above a run, if it has a title. */
  readonly title: (text: string) => string
  /** The text to write for a line of another source, below the events. */
  readonly line: (text: string) => string
}

type Column = "run" | "model" | "tool" | "fix" | AgentEvent.OfType<"verdict">["layer"]

type Tone = "plain" | "good" | "bad" | "quiet"

interface Line {
  readonly column: Column
  readonly text: string
  readonly tone?: Tone
}

const colors = {
  run: "bold",
  model: "cyan",
  tool: "magenta",
  fix: "blue",
  transport: "yellow",
  effect: "yellow",
  plain: "reset",
  good: "green",
  bad: "red",
  quiet: "dim"
} as const

export interface Options {
  readonly isColored: boolean
  /** The columns of the terminal. Longer lines go on below their text; without a width they stay as long as they are. */
  readonly width: number | undefined
}

export const make = (options: Options): Timeline => {
  const depths = new Map<string, number>()
  let start: number | undefined
  /** The run whose streamed text is being written: its line is not ended yet. */
  let speaking: string | undefined

  const paint = (tone: keyof typeof colors, text: string): string =>
    options.isColored && tone !== "plain" ? styleText(colors[tone], text, { validateStream: false }) : text

  const depthOf = (event: AgentEvent.AgentEvent): number => {
    const parentDepth = event.parent === undefined ? undefined : depths.get(event.parent.runId)
    const depth = parentDepth === undefined ? 0 : parentDepth + 1
    depths.set(event.runId, depth)
    return depth
  }

  const head = (event: AgentEvent.AgentEvent, column: Column, depth: number): string => {
    start ??= event.at
    const seconds = ((event.at - start) / 1000).toFixed(3).padStart(7)
    return `${paint("quiet", seconds)}  ${"  ".repeat(depth)}${paint(column, column.padEnd(columnWidth))}  `
  }

  const ended = (): string => {
    if (speaking === undefined) return ""
    speaking = undefined
    return "\n"
  }

  return {
    header: `${paint("quiet", `seconds  ${"layer".padEnd(columnWidth)}  what happens`)}\n`,
    title: (text) => `\n${paint("run", text)}\n`,
    line: (text) => `${ended()}  ${wrap(text, options.width, 4)}\n`,
    draw: (event) => {
      const depth = depthOf(event)
      if (event.type === "text-delta") {
        const goesOn = speaking === event.runId
        const opening = goesOn ? "" : `${ended()}${head(event, "model", depth)}says: `
        speaking = event.runId
        return `${opening}${plain(event.text)}`
      }
      const line = event.type === "model-end" ? endOfModel(event.reply, speaking === event.runId) : lineOf(event, depth)
      if (line === undefined) return ended()
      const lines = wrap(line.text, options.width, headWidth + 2 * depth)
      return `${ended()}${head(event, line.column, depth)}${paint(line.tone ?? "plain", lines)}\n`
    }
  }
}

const columnWidth = "transport".length

/** Seconds, column, and the spaces behind each. */
const headWidth = 7 + 2 + columnWidth + 2

/** Breaks a text between words, and below its head. */
const wrap = (text: string, width: number | undefined, indent: number): string => {
  const room = Math.max((width ?? Infinity) - indent, 20)
  const lines = [""]
  for (const word of text.split(" ")) {
    const last = lines.at(-1) ?? ""
    if (last !== "" && last.length + 1 + word.length > room) lines.push(word)
    else lines[lines.length - 1] = last === "" ? word : `${last} ${word}`
  }
  return lines.join(`\n${" ".repeat(indent)}`)
}

const lineOf = (event: AgentEvent.AgentEvent, depth: number): Line | undefined => {
  switch (event.type) {
    case "run-start":
      return { column: "run", text: `${event.agent} starts: ${clip(firstOf(String(event.input), depth))}` }
    case "skill-chosen":
      return { column: "run", text: `takes the skill ${event.skill}, chosen by the ${event.by}${sureness(event)}` }
    case "turn-start":
    case "turn-prepared":
    case "turn-end":
    case "text-delta":
    case "reasoning-delta":
    case "tool-start":
    case "model-end":
      return undefined
    case "model-start":
      return {
        column: "model",
        text: `turn ${event.turn}: asks ${event.model}${attemptSuffix(event.attempt)}`,
        tone: "quiet"
      }
    case "model-failed":
      return { column: "model", text: `attempt ${event.attempt} failed: ${describeError(event.error)}`, tone: "bad" }
    case "model-interrupted":
      return { column: "model", text: `attempt ${event.attempt} was interrupted`, tone: "quiet" }
    case "attempt-discarded":
      if (event.discardedRunId !== undefined)
        return { column: "run", text: `what part ${event.attempt} said does not count`, tone: "quiet" }
      return { column: "model", text: `what attempt ${event.attempt} said does not count`, tone: "quiet" }
    case "attempt-continued":
      return { column: "model", text: `the model goes on from ${event.kept.length} characters`, tone: "good" }
    case "compacted": {
      const { after, before, compaction } = event
      const sizes = `${before.messages} → ${after.messages} messages, ${before.characters} → ${after.characters} characters`
      return { column: "model", text: `the conversation was shortened by ${compaction}: ${sizes}`, tone: "good" }
    }
    case "not-compacted":
      return {
        column: "model",
        text: `the conversation was not shortened by ${event.compaction}: ${event.why}`,
        tone: "quiet"
      }
    case "tool-changed":
      return { column: "tool", text: `${event.server} has changed ${event.tool} → ${event.action}`, tone: "bad" }
    case "request-adapted":
      return {
        column: "model",
        text: `${event.model} takes no ${event.changes.map(({ option }) => option).join(", ")}: adapted`,
        tone: "quiet"
      }
    case "parts-described":
      return { column: "tool", text: `${event.model} reads a description of what ${event.tool} shows`, tone: "quiet" }
    case "tool-denied":
      return { column: "tool", text: `${event.tool} refused: ${clip(event.settlement.text)}`, tone: "bad" }
    case "tool-skipped":
      return { column: "tool", text: `${event.tool} is not run: ${clip(event.settlement.text)}`, tone: "quiet" }
    case "tool-compensated":
      return event.error === undefined
        ? { column: "tool", text: `${event.tool} is undone`, tone: "quiet" }
        : { column: "tool", text: `${event.tool} is not undone: ${describeError(event.error)}`, tone: "bad" }
    case "tool-progress":
      return { column: "tool", text: `${event.tool}: ${describeError(event.data)}`, tone: "quiet" }
    case "tool-waiting":
      return { column: "tool", text: `${event.tool} has begun, and waits for its settlement`, tone: "quiet" }
    case "tool-result":
      return { column: "tool", text: `the result of ${event.tool} has come`, tone: toneOf(event) }
    case "result-put-aside":
      return { column: "tool", text: `${event.tool}: ${event.characters} characters are put aside`, tone: "quiet" }
    case "result-cut":
      return { column: "tool", text: `${event.tool}: its result is cut: ${describeError(event.error)}`, tone: "bad" }
    case "arguments-coerced":
      return { column: "tool", text: `${event.tool}: arguments mended: ${describeChange(event.change)}`, tone: "good" }
    case "tool-failed":
      return {
        column: "tool",
        text: `${event.tool}: attempt ${event.attempt} failed: ${describeError(event.error)}`,
        tone: "bad"
      }
    case "fix-start":
      return { column: "fix", text: `${event.tool}: repair ${event.repair}, hands the call to a fixer` }
    case "fix-end":
      return { column: "fix", text: `${event.tool}: repair ${event.repair} gave ${clip(event.answer)}`, tone: "good" }
    case "fix-failed":
      return { column: "fix", text: `${event.tool}: repair ${event.repair}: ${endOfFix(event.error)}`, tone: "bad" }
    case "tool-end":
      return { column: "tool", text: `${event.tool}: ${endOfTool(event.use)}`, tone: toneOf(event.use) }
    case "verdict":
      return verdictOf(event)
    case "approval-requested":
      return { column: "tool", text: `${event.tool}: waits for approval: ${event.request.reason}`, tone: "quiet" }
    case "approval-expired":
      return { column: "tool", text: `${event.tool}: no decision came in time`, tone: "bad" }
    case "approval-decided":
      return { column: "tool", text: `${event.tool}: ${event.decision.type}d`, tone: "quiet" }
    case "run-suspended":
      return { column: "run", text: `${event.agent} waits`, tone: "quiet" }
    case "output-coerced":
      return { column: "run", text: `the answer read by ${event.change.step}`, tone: "quiet" }
    case "output-rejected": {
      const then = event.message === undefined ? "" : ", and is asked for again"
      return { column: "run", text: `the answer does not fit what is wanted${then}`, tone: "bad" }
    }
    case "events-lost":
      return { column: "run", text: "earlier events are gone", tone: "bad" }
    case "guardrail":
      return {
        column: "run",
        text: `guardrail ${event.guard}, ${event.side} → ${event.verdict}${event.reason === undefined ? "" : `: ${clip(event.reason)}`}`,
        tone: event.verdict === "block" ? "bad" : "quiet"
      }
    case "message-queued":
      return { column: "run", text: `hears: ${clip(Message.textOf(event.message))}`, tone: "quiet" }
    case "message-read":
      return { column: "run", text: `reads what was said: ${clip(Message.textOf(event.message))}`, tone: "good" }
    case "message-returned":
      return { column: "run", text: `has not read: ${clip(Message.textOf(event.message))}`, tone: "bad" }
    case "budget-exceeded":
      return {
        column: "run",
        text: `${event.reason}: ${event.spent} of ${event.limit} spent → ${event.action}`,
        tone: "bad"
      }
    case "budget-warning":
      return { column: "run", text: `${event.spent} of ${event.limit} spent (${event.reason})`, tone: "bad" }
    case "run-completed":
      return {
        column: "run",
        text: `${event.agent} answers${event.finish === "length" ? ", cut off" : ""}: ${clip(String(event.output))}`,
        tone: "good"
      }
    case "run-failed":
      return { column: "run", text: `${event.agent} ends: ${describeError(event.error)}`, tone: "bad" }
    case "run-interrupted":
      return { column: "run", text: `${event.agent} was interrupted`, tone: "bad" }
  }
}

const describeChange = ({ after, before, path, step }: AgentEvent.OfType<"arguments-coerced">["change"]): string => {
  const where = path.length === 0 ? "" : ` ${path.join(".")}`
  const value = after === undefined ? "" : ` → ${clip(JSON.stringify(after), 40)}`
  return `${step}:${where} ${clip(JSON.stringify(before), 40)}${value}`
}

/** A fixer's input is a report of many lines; its first says enough. */
const firstOf = (input: string, depth: number): string => (depth === 0 ? input : (input.split("\n", 1)[0] ?? ""))

const sureness = ({ confidence }: { readonly confidence?: number }): string =>
  confidence === undefined ? "" : ` with confidence ${confidence}`

const attemptSuffix = (attempt: number): string => (attempt === 1 ? "" : `, attempt ${attempt}`)

/** What was streamed is not said twice. */
const endOfModel = (reply: Message.Reply, wasStreamed: boolean): Line | undefined => {
  const calls = Message.callsOf(reply).map((call) => `calls ${call.name} ${clip(argumentsOf(call))}`)
  const text = wasStreamed ? "" : Message.textOf(reply).trim()
  if (wasStreamed && calls.length === 0) return undefined
  const said = [...(text === "" ? [] : [`says: ${clip(text)}`]), ...calls].join("; ")
  return { column: "model", text: said === "" ? "says nothing" : said, tone: "good" }
}

const argumentsOf = (call: Message.ToolCall): string =>
  typeof call.arguments === "string" ? call.arguments : JSON.stringify(call.arguments)

const verdictOf = (event: AgentEvent.OfType<"verdict">): Line => {
  const { attempt, delay, error, gaveUp, hint, layer, tag, verdict } = event
  const wait = Duration.isZero(delay) ? "at once" : `in ${Duration.format(delay)}`
  const asked = hint === undefined ? "" : `, the server asked for ${Duration.format(hint)}`
  const noun = layer === "transport" ? "send" : "attempt"
  const isRetried = verdict === "retry" && !gaveUp
  const given = gaveUp ? `${verdict} gave up` : verdict
  const what = isRetried ? `retry: ${noun} ${attempt + 1} ${wait}${asked}` : given
  switch (layer) {
    case "transport": {
      const up = isRetried ? "" : `: it leaves the transport as ${tag}`
      return { column: layer, text: `send ${attempt} failed (${describeSend(error)}) → ${what}${up}` }
    }
    case "model":
      return { column: layer, text: `onLlmError: ${tag} → ${what}` }
    case "tool":
      return { column: layer, text: `onError: ${tag} → ${what}` }
    case "effect":
      return { column: layer, text: `${describeError(error)} → ${what}` }
  }
}

/** The fixer's own line has just said what went wrong; this says what that means for the call. */
const endOfFix = (error: unknown): string => {
  const { name } = ErrorCause.summarise(error)
  if (name === "EscalationError") return "the fixer escalated, so the model is told and may call again"
  return name === "ToolExecutionError" ? "the fixer gave up, so nothing else is tried" : describeError(error)
}

const endOfTool = ({ attempts: made, recoveredBy, settlement }: AgentEvent.OfType<"tool-end">["use"]): string => {
  const how = recoveredBy === undefined ? "" : `, by ${recoveredBy}`
  const what = Message.isError(settlement) ? "the model is told an error" : "the model gets the result"
  return `${what}${how}, after ${attempts(made)}`
}

const toneOf = ({ settlement }: Pick<AgentEvent.OfType<"tool-end">["use"], "settlement">): Tone =>
  Message.isError(settlement) ? "bad" : "good"

const attempts = (count: number): string => (count === 1 ? "1 attempt" : `${count} attempts`)
