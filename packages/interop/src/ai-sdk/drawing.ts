/** Converts the events of one run to chunks of a UI message stream. */
import type { AgentEvent, Message } from "@kintsugi/core"
import * as Bounds from "@kintsugi/core/Bounds"
import * as RecoveryAdvice from "@kintsugi/core/RecoveryAdvice"
import * as Tool from "@kintsugi/core/Tool"
import * as Result from "effect/Result"
import { type Block, type Chunk, facts, type FinishReason, type Options } from "./chunk.ts"
import { sourcesOf } from "./sources.ts"

/** An event about a tool call of the run. */
type OfCall = Extract<AgentEvent.AgentEvent, { readonly callId: string; readonly tool: string }>

/** An event that ends a run and has the run's usage. */
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
  /** The id of the converted run, which is the run of the first event. */
  #runId: string | undefined
  #hasBegun = false
  #isInStep = false
  #isEnded = false
  /** The kind of the open block of text, and the number of blocks so far. */
  #current: Block | undefined
  #blocks = 0
  /** Whether the reply of the current attempt was streamed. Then the whole reply is not shown again. */
  #isStreamed = false
  /** The text that the current reply continues. The reader has this text already, from this stream or from an earlier one. */
  // Mutant `"Stryker was here!"` survives: a text that does not begin with it is shown whole
  #prefix = ""
  /** `#ids`: the id under which the reader knows each call of this turn. `#given`: all ids of the conversation so far. */
  #ids = new Map<string, string>()
  readonly #given = new Set<string>()
  /** The id of the request for approval of each call, by call id. */
  readonly #approvals = new Map<string, string>()
  /** The ids, model and service tier of the last reply. */
  #facts: Pick<Extract<Chunk, { readonly type: "finish" }>["messageMetadata"], "reply"> = {}
  /** The chunks that the current event gives. */
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
        for (const id of idsIn(event.transcript)) this.#given.add(id)
        return this.#begin()
      case "events-lost":
        return this.#goOn(event.text ?? "")
      case "turn-start":
        // If the turn gives an answer at a limit, it has a message for the model, which the user must not see.
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
        // Text from here on comes after the kept text.
        this.#prefix = event.kept
        return
      case "attempt-discarded":
        this.#prefix = ""
        // The discarded text of a part of a composition was not shown, so there is nothing to remove.
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
      // All other events are for operators, and no part of a message: limits, verdicts, compactions, `tool-changed`, `turn-prepared`. So is
      // the verdict of a guardrail: a withheld answer was not shown, or is reset. Messages to the run (`message-queued` and the like) are
      // not part of the model's message either.
      default:
        return "callId" in event ? this.#ofCall(event) : undefined
    }
  }

  /**
   * Goes on after events were lost. The lost beginning had the finished replies, so the message goes on with the text of the model call
   * that is at work.
   */
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
    // Mutant `"Stryker was here!"` survives: the first event has set the id of the run
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

  /** Shows a whole reply, or only the calls of a reply that was streamed. */
  #reply(reply: Message.Reply, turn: number): void {
    const { content } = reply
    const said = facts.flatMap((name) => (reply[name] === undefined ? [] : [[name, reply[name]] as const]))
    this.#facts = said.length === 0 ? {} : { reply: Object.fromEntries(said) }
    for (const part of content) {
      if (part.type === "tool-call") {
        this.#close()
        // a call of a tool on demand is shown as one of that tool
        const call = Tool.callOf(part)
        this.#call(this.#idFor(call.id, turn), call.name, call.arguments)
      } else if (!this.#isStreamed && (part.type === "text" || part.type === "reasoning")) {
        this.#close()
        this.#write(part.type, part.type === "text" ? this.#unseen(part.text) : part.text)
      }
    }
    // Mutant `"Stryker was here!"` survives: a text that does not begin with it is shown whole
    this.#prefix = ""
    this.#close()
    for (const source of sourcesOf(content)) this.#say({ type: "source-url", sourceId: source.url, ...source })
  }

  /** The part of a text that the reader does not have yet. */
  #unseen(text: string): string {
    const prefix = this.#prefix
    this.#prefix = ""
    return text.startsWith(prefix) ? text.slice(prefix.length) : text
  }

  /** The id of a call as the reader has it. A run that was suspended goes on with calls of a reply that an earlier stream has shown. */
  #idOf({ callId, turn }: OfCall): string {
    return this.#ids.get(callId) ?? this.#idFor(callId, turn)
  }

  /** Makes an id that is unique in the message. Call ids may repeat in later turns, but a reader treats equal ids as one call. */
  #idFor(callId: string, turn: number): string {
    const id = this.#given.has(callId) ? `${callId}#${turn}` : callId
    this.#given.add(id)
    this.#ids.set(callId, id)
    return id
  }

  #ofCall(event: OfCall): void {
    switch (event.type) {
      case "tool-progress":
        return this.#say({
          type: "tool-output-available",
          toolCallId: this.#idOf(event),
          output: shown(event.data),
          dynamic: true,
          preliminary: true
        })
      // This protocol has no chunk for `tool-waiting`, `result-put-aside` and `result-cut`: the input of the call was shown, and `tool-end`
      // has its output. It has none for `tool-result` either, which is a message for the model about a call whose output was shown, nor for
      // `parts-described`, which says what the model reads.
      case "tool-end":
        return this.#settle(this.#idOf(event), event.use.settlement)
      case "tool-denied":
      case "tool-skipped":
        return this.#settle(this.#idOf(event), event.settlement)
      case "approval-requested": {
        const { digest, reason } = event.request
        this.#approvals.set(event.callId, digest)
        return this.#say({ type: "tool-approval-request", toolCallId: this.#idOf(event), approvalId: digest, reason })
      }
      // This protocol has no chunk for `approval-expired`: the events after it show what becomes of the call.
      case "approval-decided": {
        // Without a request in this stream there is no id: the reader got the request in an earlier stream. `by` is set if a grant admitted
        // the call, without a request.
        const approvalId = this.#approvals.get(event.callId)
        if (approvalId === undefined || event.by !== undefined) return
        const { decision } = event
        // what a person has edited is what runs
        if (decision.type === "approve" && decision.arguments !== undefined)
          this.#call(this.#idOf(event), event.tool, decision.arguments)
        const said = decision.type === "refuse" ? { approved: false, reason: decision.reason } : { approved: true }
        return this.#say({ type: "tool-approval-response", approvalId, ...said })
      }
    }
  }

  #call(toolCallId: string, toolName: string, args: Message.ToolCall["arguments"]): void {
    this.#say({ type: "tool-input-available", toolCallId, toolName, input: inputOf(args), dynamic: true })
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

  /** Shows the output of a run as text if no reply has it, because a table or a function made it. */
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

/** The ids of the calls of a conversation. */
const idsIn = (transcript: Message.Transcript): ReadonlyArray<string> =>
  transcript
    .flatMap((message) => (message.role === "assistant" ? message.content : []))
    .flatMap((part) => (part.type === "settled-call" ? [part.call.id] : []))

/** The arguments of a call, which are usually a text with JSON. */
const inputOf = (args: Message.ToolCall["arguments"]): unknown =>
  typeof args === "string" ? jsonOr(args) : shown(args)

/** Parses JSON. A text that is no JSON, or that is nested too deeply to be written again, stays a text. */
const jsonOr = (text: string): unknown => {
  const json = Result.try((): unknown => JSON.parse(text))
  return Result.isSuccess(json) && !Bounds.isDeeper(json.success) ? json.success : text
}

/** Gives a value that can be written as JSON; "…" stands for a value that is nested too deeply. */
const shown = (value: unknown): unknown => (Bounds.isDeeper(value) ? "…" : value)
