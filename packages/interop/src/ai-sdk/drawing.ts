/** Converts the events of one run to chunks of a UI message. */
import type { AgentEvent, Message } from "@kintsugi/core"
import * as Bounds from "@kintsugi/core/Bounds"
import * as RecoveryAdvice from "@kintsugi/core/RecoveryAdvice"
import * as Result from "effect/Result"
import { type Block, type Chunk, facts, type FinishReason, type Options } from "./chunk.ts"
import { sourcesOf } from "./sources.ts"

/** An event of one call of the run. */
type OfCall = Extract<AgentEvent.AgentEvent, { readonly callId: string; readonly tool: string }>

/** An event that ends a run, with what it has spent. */
type Ended = Extract<AgentEvent.AgentEvent, { readonly ledger: unknown }>

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
  /** The converted run: that of the first event. */
  #runId: string | undefined
  #hasBegun = false
  #isInStep = false
  #isEnded = false
  /** The current block, and its number. */
  #current: Block | undefined
  #blocks = 0
  /** Whether the current attempt was streamed. Its reply is then not shown again. */
  #isStreamed = false
  /** The text that the reply goes on from: a reader has it, of this stream or of the one before it. */
  #prefix = ""
  /** The ids of this turn's calls as sent to the reader, and all ids sent so far. */
  #ids = new Map<string, string>()
  readonly #given = new Set<string>()
  /** The approval id of each call. */
  readonly #approvals = new Map<string, string>()
  /** What the last reply says about itself. */
  #facts: Pick<Extract<Chunk, { readonly type: "finish" }>["messageMetadata"], "reply"> = {}
  /** The chunks of the current event. */
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
        return this.#begin()
      case "events-lost":
        return this.#goOn(event.text ?? "")
      case "turn-start":
        // What the model reads in the turn of an answer at a limit is not said to the user.
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
      case "attempt-continued":
        // What is written from here on comes behind it.
        this.#prefix = event.kept
        return
      case "attempt-discarded":
        this.#prefix = ""
        // Text of a composition's part was not shown.
        return event.discardedRunId === undefined ? this.#discard() : undefined
      case "model-end":
        return this.#reply(event.reply, event.turn)
      case "model-interrupted":
        return this.#close()
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
      // A server that has changed a tool is a matter of operators, as limits, verdicts and compactions are: no part of a message is about it.
      // So is what was chosen for a turn (`turn-prepared`).
      // The verdict of a guardrail is a matter of operators too: of a withheld answer no part was shown, or what was shown is reset.
      // What was said to the run (`message-queued` and the like) is no part of the message of its model.
      default:
        return "callId" in event ? this.#ofCall(event) : undefined
    }
  }

  /** The beginning was lost, with finished replies: the message goes on with what the model call at work has written. */
  #goOn(text: string): void {
    if (this.#isInStep) this.#discard()
    this.#begin()
    this.#beginStep()
    this.#isStreamed = text !== ""
    this.#write("text", text)
  }

  #say(chunk: Chunk): void {
    this.#chunks.push(chunk)
  }

  #begin(): void {
    if (this.#hasBegun) return
    this.#hasBegun = true
    this.#say({ type: "start", messageId: this.#runId ?? "" })
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
    if (this.#current !== block) {
      this.#close()
      this.#current = block
      this.#blocks++
      this.#say({ type: `${block}-start`, id: this.#id })
    }
    this.#say({ type: `${block}-delta`, id: this.#id, delta })
  }

  get #id(): string {
    return String(this.#blocks)
  }

  #close(): void {
    if (this.#current === undefined) return
    this.#say({ type: `${this.#current}-end`, id: this.#id })
    this.#current = undefined
  }

  #discard(): void {
    if (this.#resets) {
      this.#current = undefined
      return this.#say({ type: "reset-step" })
    }
    this.#endStep()
    this.#beginStep()
  }

  /** Shows a whole reply, or the calls of a streamed one. */
  #reply(reply: Message.Reply, turn: number): void {
    const { content } = reply
    const said = facts.flatMap((name) => (reply[name] === undefined ? [] : [[name, reply[name]] as const]))
    this.#facts = said.length === 0 ? {} : { reply: Object.fromEntries(said) }
    for (const part of content) {
      if (part.type === "tool-call") {
        this.#close()
        const toolCallId = this.#idFor(part.id, turn)
        const input = inputOf(part.arguments)
        this.#say({ type: "tool-input-available", toolCallId, toolName: part.name, input, dynamic: true })
      } else if (!this.#isStreamed && (part.type === "text" || part.type === "reasoning")) {
        this.#close()
        this.#write(part.type, part.type === "text" ? this.#unseen(part.text) : part.text)
      }
    }
    this.#prefix = ""
    this.#close()
    for (const source of sourcesOf(content)) this.#say({ type: "source-url", sourceId: source.url, ...source })
  }

  /** What of a whole text a reader does not have yet. */
  #unseen(text: string): string {
    const prefix = this.#prefix
    this.#prefix = ""
    return text.startsWith(prefix) ? text.slice(prefix.length) : text
  }

  /** Makes call ids unique: they may repeat from turn to turn, and a reader treats equal ids as one call. */
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
      // `tool-waiting`, `result-put-aside` and `result-cut` have no part in this protocol: the call has its input, and its output comes
      // with `tool-end`. Nor has `tool-result`: the output of that call has been shown, and the message is for the model. Nor has
      // `parts-described`: it is about what the model reads, and images of results are not in events
      case "tool-end":
        return this.#settle(toolCallId, event.use.settlement)
      case "tool-denied":
      case "tool-skipped":
        return this.#settle(toolCallId, event.settlement)
      case "approval-requested": {
        const { digest, reason } = event.request
        this.#approvals.set(event.callId, digest)
        return this.#say({ type: "tool-approval-request", toolCallId, approvalId: digest, reason })
      }
      // `approval-expired` has no part in this format: what becomes of the call follows it
      case "approval-decided": {
        // The reader has the requests of an earlier stream in its own record. A call that a grant admits has no request.
        const approvalId = this.#approvals.get(event.callId)
        if (approvalId === undefined || event.by !== undefined) return
        const { decision } = event
        const said = decision.type === "refuse" ? { approved: false, reason: decision.reason } : { approved: true }
        return this.#say({ type: "tool-approval-response", approvalId, ...said })
      }
    }
  }

  #settle(toolCallId: string, { kind, text }: Message.Settlement): void {
    switch (kind) {
      case "result":
      case "deferred":
        return this.#say({ type: "tool-output-available", toolCallId, output: jsonOr(text), dynamic: true })
      case "denied":
        return this.#say({ type: "tool-output-denied", toolCallId })
      default:
        return this.#say({ type: "tool-output-error", toolCallId, errorText: text, dynamic: true })
    }
  }

  /** Shows the output of a table or a function, which is in no reply, as text. */
  #complete(event: AgentEvent.OfType<"run-completed">): void {
    if (event.finish === undefined) {
      this.#beginStep()
      const output = shown(event.output)
      this.#write("text", typeof output === "string" ? output : (JSON.stringify(output) ?? ""))
    }
    this.#finish(event.finish === undefined ? "stop" : finishReasons[event.finish], event)
  }

  #finish(finishReason: FinishReason, event: Ended): void {
    this.#endStep()
    this.#isEnded = true
    const { type, usage } = event
    const mark = type === "run-completed" && event.endedBy !== undefined ? { endedBy: event.endedBy } : {}
    const messageMetadata = { usage, isSuspended: type === "run-suspended", ...mark, ...this.#facts }
    this.#say({ type: "finish", finishReason, messageMetadata })
  }
}

/** The arguments of a call: usually JSON in a text. */
const inputOf = (args: Message.ToolCall["arguments"]): unknown =>
  typeof args === "string" ? jsonOr(args) : shown(args)

/** Parses JSON; a text with JSON that is too deep to write stays a text. */
const jsonOr = (text: string): unknown => {
  const json = Result.try((): unknown => JSON.parse(text))
  return Result.isSuccess(json) && !Bounds.isDeeper(json.success) ? json.success : text
}

/** A value to write as JSON; a mark replaces one that is too deep. */
const shown = (value: unknown): unknown => (Bounds.isDeeper(value) ? "…" : value)
