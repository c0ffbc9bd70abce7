/** Draws the events of one run as chunks of a UI message. */
import { type AgentEvent, Bounds, type Message, RecoveryAdvice } from "@kintsugi/core"
import * as Result from "effect/Result"
import type { Block, Chunk, FinishReason, Options } from "./chunk.ts"

/** An event of one call of the run. */
type OfCall = Extract<AgentEvent.AgentEvent, AgentEvent.OfCall>

/** An event that ends a run, with what it has spent. */
type Ended = Extract<AgentEvent.AgentEvent, AgentEvent.Spent>

const finishReasons: Readonly<Record<Message.FinishReason, FinishReason>> = {
  stop: "stop",
  "tool-calls": "tool-calls",
  length: "length",
  filtered: "content-filter",
  paused: "other",
  other: "other"
}

export class Drawing {
  readonly #describe: (error: unknown) => string
  readonly #resets: boolean
  /** The run that is drawn: that of the first event. */
  #runId: string | undefined
  #isInStep = false
  #isEnded = false
  /** The block that is being written, and its number. */
  #open: Block | undefined
  #blocks = 0
  /** Whether the present attempt was shown while it came: then its reply is not shown again. */
  #isStreamed = false
  /** The ids of this turn's calls, as the reader knows them, and all that were given so far. */
  #ids = new Map<string, string>()
  readonly #given = new Set<string>()
  /** What was asked about which call. */
  readonly #approvals = new Map<string, string>()
  /** What the event at hand comes to. */
  #chunks: Array<Chunk> = []

  constructor({ describe = (error) => RecoveryAdvice.labelsOf(error).code, resets = true }: Options = {}) {
    this.#describe = describe
    this.#resets = resets
  }

  chunksOf(event: AgentEvent.AgentEvent): ReadonlyArray<Chunk> {
    this.#runId ??= event.runId
    if (event.runId !== this.#runId || this.#isEnded) return []
    this.#chunks = []
    this.#draw(event)
    return this.#chunks
  }

  #draw(event: AgentEvent.AgentEvent): void {
    switch (event.type) {
      case "run-start":
        return this.#say({ type: "start", messageId: event.runId })
      case "turn-start":
        this.#ids = new Map()
        return
      case "model-start":
        this.#isStreamed = false
        return this.#beginStep()
      case "text-delta":
        this.#isStreamed = true
        return this.#write("text", event.text)
      case "reasoning-delta":
        this.#isStreamed = true
        return this.#write("reasoning", event.text)
      case "attempt-discarded":
        // what a part of a composition has said was not drawn
        return event.run === undefined ? this.#discard() : undefined
      case "model-end":
        return this.#reply(event.reply, event.turn)
      case "turn-end":
        return this.#endStep()
      case "run-completed":
        return this.#complete(event)
      case "run-suspended":
        return this.#finish("other", event)
      case "run-failed":
        this.#endStep()
        this.#say({ type: "error", errorText: this.#describe(event.error) })
        return this.#finish("error", event)
      case "run-interrupted":
        this.#endStep()
        this.#isEnded = true
        return this.#say({ type: "abort" })
      default:
        return "callId" in event ? this.#ofCall(event) : undefined
    }
  }

  #say(chunk: Chunk): void {
    this.#chunks.push(chunk)
  }

  #beginStep(): void {
    if (this.#isInStep) return
    this.#isInStep = true
    this.#say({ type: "start-step" })
  }

  #endStep(): void {
    this.#close()
    if (!this.#isInStep) return
    this.#isInStep = false
    this.#say({ type: "finish-step" })
  }

  #write(block: Block, delta: string): void {
    if (delta === "") return
    if (this.#open !== block) {
      this.#close()
      this.#open = block
      this.#blocks++
      this.#say({ type: `${block}-start`, id: this.#id })
    }
    this.#say({ type: `${block}-delta`, id: this.#id, delta })
  }

  get #id(): string {
    return String(this.#blocks)
  }

  #close(): void {
    if (this.#open === undefined) return
    this.#say({ type: `${this.#open}-end`, id: this.#id })
    this.#open = undefined
  }

  #discard(): void {
    if (this.#resets) {
      this.#open = undefined
      return this.#say({ type: "reset-step" })
    }
    this.#endStep()
    this.#beginStep()
  }

  /** A whole reply, or what is left to show of one that was streamed: its calls. */
  #reply({ content }: Message.Reply, turn: number): void {
    for (const part of content) {
      if (part.type === "tool-call") {
        this.#close()
        const toolCallId = this.#idFor(part.id, turn)
        const input = inputOf(part.arguments)
        this.#say({ type: "tool-input-available", toolCallId, toolName: part.name, input, dynamic: true })
      } else if (!this.#isStreamed && (part.type === "text" || part.type === "reasoning")) {
        this.#close()
        this.#write(part.type, part.text)
      }
    }
    this.#close()
  }

  /** Ids of calls may repeat from turn to turn; a reader takes equal ones for one call. */
  #idFor(callId: string, turn: number): string {
    const id = this.#given.has(callId) ? `${callId}#${turn}` : callId
    this.#given.add(id)
    this.#ids.set(callId, id)
    return id
  }

  #ofCall(event: OfCall): void {
    const toolCallId = this.#ids.get(event.callId) ?? event.callId
    switch (event.type) {
      case "tool-progress":
        return this.#say({
          type: "tool-output-available",
          toolCallId,
          output: shown(event.data),
          dynamic: true,
          preliminary: true
        })
      case "tool-end":
        return this.#settle(toolCallId, event.use.settlement)
      case "tool-refused":
      case "tool-skipped":
        return this.#settle(toolCallId, event.settlement)
      case "approval-requested": {
        const { digest, reason } = event.request
        this.#approvals.set(event.callId, digest)
        return this.#say({ type: "tool-approval-request", toolCallId, approvalId: digest, reason })
      }
      case "approval-decided": {
        // what was asked in an earlier stream is known to the reader by its own record
        const approvalId = this.#approvals.get(event.callId)
        if (approvalId === undefined) return
        const { decision } = event
        const said = decision.type === "refuse" ? { approved: false, reason: decision.reason } : { approved: true }
        return this.#say({ type: "tool-approval-response", approvalId, ...said })
      }
    }
  }

  #settle(toolCallId: string, { kind, text }: Message.Settlement): void {
    switch (kind) {
      case "result":
        return this.#say({ type: "tool-output-available", toolCallId, output: jsonOr(text), dynamic: true })
      case "denied":
        return this.#say({ type: "tool-output-denied", toolCallId })
      default:
        return this.#say({ type: "tool-output-error", toolCallId, errorText: text, dynamic: true })
    }
  }

  /** An output that no reply has shown, that of a table or of a function, is shown as text. */
  #complete(event: AgentEvent.OfType<"run-completed">): void {
    if (event.finish === undefined) {
      this.#beginStep()
      const output = shown(event.output)
      this.#write("text", typeof output === "string" ? output : (JSON.stringify(output) ?? ""))
    }
    this.#finish(event.finish === undefined ? "stop" : finishReasons[event.finish], event)
  }

  #finish(finishReason: FinishReason, { type, usage }: Ended): void {
    this.#endStep()
    this.#isEnded = true
    this.#say({ type: "finish", finishReason, messageMetadata: { usage, isSuspended: type === "run-suspended" } })
  }
}

/** What a model wrote as arguments: mostly JSON in a text. */
const inputOf = (args: Message.ToolCall["arguments"]): unknown =>
  typeof args === "string" ? jsonOr(args) : shown(args)

/** A text that holds JSON too deep to be written stays a text. */
const jsonOr = (text: string): unknown => {
  const json = Result.try((): unknown => JSON.parse(text))
  return Result.isSuccess(json) && !Bounds.isDeeper(json.success, Bounds.deepest) ? json.success : text
}

/** A value that is written as JSON; in the place of one that is too deep for that is a mark. */
const shown = (value: unknown): unknown => (Bounds.isDeeper(value, Bounds.deepest) ? "…" : value)
