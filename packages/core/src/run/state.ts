/** The transcript and the counts of one run. */
import type * as Layer from "effect/Layer"
import type * as Budget from "../budget/Budget.ts"
import * as FailureHistory from "../budget/FailureHistory.ts"
import * as Message from "../data/Message.ts"
import type { TurnChoice } from "../data/TurnChoice.ts"
import type { EndedBy } from "../errors/Limit.ts"
import type { RunContext } from "../event/RunContext.ts"
import { ToolExecutionError } from "../errors/ToolError.ts"
import type { UnfinishedReply, Snapshot } from "../event/Checkpoint.ts"
import { Slot } from "../tool/CallSite.ts"
import type { LateCalls, LeftCall } from "../tool/Late.ts"
import type { Pins } from "../tool/ToolDefinition.ts"
import type { Failure } from "../tool/Toolset.ts"
import type * as Model from "../model/Model.ts"
import type { State } from "./Frame.ts"
import { abridged, asideOf, inboxOf, lateOf, requestsOf } from "./keeping.ts"
import type { Guarded } from "./guards.ts"

/** The calls of a reply, and how many of them may run. */
export interface Admission {
  /** Calls of the reply beyond this number are not run. */
  readonly admitted: number
  /** The number of calls before one tool was called too often in a row. */
  readonly admittedInARow: number
  /** Whether tools were off when the model was called. */
  readonly toolsWereOff: boolean
}

/** The fields of a state that only it changes itself. */
interface Own {
  readonly compacted: Array<Message.Message> | undefined
  readonly last: string
  readonly inARow: number
  readonly made: Map<string, number>
  readonly pins: Pins | undefined
}

export class RunState implements State {
  readonly #agent: string
  readonly #maxInARow: number
  readonly #repeatedFailures: Budget.Budget["repeatedFailures"]
  #history: FailureHistory.FailureHistory | undefined
  /** The message with the input of the run. */
  inputMessage: Message.User
  /** What the guardrails keep; absent without guardrails. */
  guarded: Guarded | undefined
  /** The conversation. It grows in place, and requests lend it to the model. */
  readonly messages: Array<Message.Message>
  /** The compacted conversation that the model reads instead of `messages`, once there was a compaction. */
  #compacted: Array<Message.Message> | undefined
  /** Whether a withheld message was ever among these. While none was, no request looks for one. */
  // Mutant `true` survives: speed only. A withheld message is then looked for and not found
  #mayWithhold = false
  /** One slot for each call of the unfinished reply. */
  slots: ReadonlyArray<Slot> = []
  /** The idempotency keys of these calls; empty until they are derived. */
  keys: ReadonlyArray<string> = []
  #pins: Pins | undefined
  /** The deferred calls that are still at work; absent if there never was one. */
  late: LateCalls | undefined
  /** The deferred calls that go on after the end of the run. */
  left: ReadonlyArray<LeftCall> | undefined
  /** How many times each call was made, by its digest. */
  #made: Map<string, number> | undefined
  /** How many calls of the reply may run; absent until that is decided. */
  admission: Admission | undefined
  #reply: Message.Reply | undefined
  /**
   * The turn in which `Agent.compactAt` has last compacted, or has tried to, and how many compactions there were in it. The turn is 0 if
   * the run has warned that no window is known.
   */
  ahead: { readonly turn: number; readonly made: number } | undefined
  /** The text that a reader has seen of the reply under way. */
  #shown: string | undefined
  /** The text of the last reply. */
  partial = ""
  /** The finish reason of the reply that is the output, once there is one. */
  finish: Message.FinishReason | undefined
  turn = 0
  /** The turn after which the run has read its messages before it checked its limits of calls. */
  heardAfter: number | undefined
  /** The choices of `prepareTurn` for the current turn, and its model until that is built. */
  prepared:
    | { readonly choice: TurnChoice; readonly model?: Layer.Layer<Model.Model, unknown, unknown> | undefined }
    | undefined
  /** The chosen skill, if there was a choice. */
  skill: string | undefined
  /** How many final texts did not fit the output schema and led to another turn. */
  outputsRejected = 0
  /** How many replies have called tools while tools were off. */
  callsWithToolsOff = 0
  /** The limit at which the run has had its final turn: the run ends with the outcome of that turn. */
  endedBy: EndedBy | undefined
  /** A failure that no table handles: the run fails with it, although its limit asks for a suspension. */
  unhandled: { readonly error: unknown } | undefined
  /** The tool of the last call, and how many calls in a row it has. */
  #last = ""
  #inARow = 0

  /** Whether the run may get messages or results of deferred calls while it is at work. */
  mayRead({ tree }: RunContext): boolean {
    return tree.inbox !== undefined || this.late !== undefined
  }

  constructor(agent: string, budget: Budget.Budget, inputMessage: Message.User, messages: Array<Message.Message>) {
    this.#agent = agent
    this.#maxInARow = budget.maxConsecutiveSameTool
    this.#repeatedFailures = budget.repeatedFailures
    this.messages = messages
    this.#heed(messages)
    this.inputMessage = inputMessage
  }

  /** The failed calls of the run, for the rules about repeated failures. */
  get history(): FailureHistory.FailureHistory {
    return (this.#history ??= new FailureHistory.FailureHistory(this.#repeatedFailures))
  }

  /** The pins of the tools that the run has offered. */
  get pins(): Pins {
    return (this.#pins ??= new Map())
  }

  /** Whether the request is as usual: all tools are offered, and the model may call them. */
  get isCalm(): boolean {
    return this.#history?.isCalm ?? true
  }

  /** Takes over what a snapshot says of the fields that only this class changes. */
  takeOver({ compacted, inARow, last, made, pins }: Own): void {
    this.#compacted = compacted
    if (compacted !== undefined) this.#heed(compacted)
    this.#inARow = inARow
    this.#last = last
    this.#made = made
    this.#pins = pins
  }

  /**
   * The snapshot of the run. Calls that wait, and sub-agents that can be resumed, leave the last reply unfinished. Interrupted calls are
   * settled as interrupted.
   */
  snapshot(run: RunContext, now: number): Snapshot {
    const unfinished = this.#unfinishedReply(now)
    const { skill } = this
    const inputIndex = this.messages.findIndex((message) => message === this.inputMessage)
    const { capped, counts } = run.meter
    run.meter.suspended(run.runId, counts)
    return {
      version: 6,
      runId: run.runId,
      ...(run.seed === run.runId ? {} : { seed: run.seed }),
      agent: this.#agent,
      transcript: unfinished === undefined ? this.whole() : [...this.messages],
      ...(this.#compacted === undefined ? {} : { compacted: abridged(this.messages, this.#compacted) }),
      ...(this.ahead !== undefined && this.ahead.turn > 0 ? { compactionTurn: this.ahead.turn } : {}),
      ...(inputIndex < 0 ? {} : { inputIndex }),
      ...(run.done.granted === undefined ? {} : { grants: run.done.granted }),
      ...asideOf(run),
      ...inboxOf(run),
      ...lateOf(this.late),
      turn: this.turn,
      limits: run.meter.limits,
      warned: run.meter.warned,
      spent: { ...counts, millis: run.meter.spent("maxDuration", now) },
      ledger: [...run.ledger.entries],
      ...capped,
      failures: this.history.state,
      callsWithToolsOff: this.callsWithToolsOff,
      outputsRejected: this.outputsRejected,
      sameTool: { tool: this.#last, calls: this.#inARow },
      made: Array.from(this.#made ?? [], ([digest, times]) => ({ digest, times })),
      ...(this.#pins === undefined
        ? {}
        : { pins: Object.fromEntries(Array.from(this.#pins, ([key, { pinned }]) => [key, pinned])) }),
      ...(this.prepared === undefined ? {} : { prepared: this.prepared.choice }),
      ...(skill === undefined ? {} : { skill }),
      ...(this.guarded === undefined ? {} : { guards: this.guarded.record(this.messages) }),
      ...(unfinished === undefined ? {} : { unfinished })
    }
  }

  #unfinishedReply(now: number): UnfinishedReply | undefined {
    const reply = this.#reply
    if (reply === undefined || this.admission === undefined) return undefined
    const calls = this.slots.map((slot) => callOf(slot, now))
    const isUnfinished = calls.some(({ type }) => type !== "finished")
    return isUnfinished ? { ...this.admission, reply, keys: this.keys, calls } : undefined
  }

  /** The reply of the current turn; `undefined` once its calls are settled. */
  get reply(): Message.Reply | undefined {
    return this.#reply
  }

  /** Sets the reply of the turn, and returns its calls. */
  take(reply: Message.Reply): ReadonlyArray<Message.ToolCall> {
    this.#reply = reply
    this.#shown = undefined
    this.admission = undefined
    this.keys = []
    this.partial = Message.textOf(reply)
    const calls = Message.callsOf(reply)
    this.slots = calls.map(() => new Slot())
    return calls
  }

  /** The idempotency keys of the reply's calls. Equal calls have the same digest, and their number makes the keys differ. */
  count(digests: ReadonlyArray<string>): ReadonlyArray<string> {
    const made = (this.#made ??= new Map<string, number>())
    this.keys = digests.map((digest) => {
      const before = made.get(digest) ?? 0
      made.set(digest, before + 1)
      return `${digest}-${before}`
    })
    return this.keys
  }

  /** The settlements of the reply's calls; absent for calls that have not begun. */
  settlements(): ReadonlyArray<Message.Settlement | undefined> {
    return this.slots.map((slot) => slot.settlement ?? slot.settlementNow)
  }

  requests(): ReadonlyArray<string> {
    return this.slots.flatMap(({ waiting }) => requestsOf(waiting))
  }

  /** Notes the text of the current model call that a reader has seen. The transcript keeps it if the call is interrupted. */
  show(text: string | undefined): void {
    this.#shown = text
  }

  close(message: Message.Assistant): Message.Assistant {
    this.#reply = undefined
    this.#shown = undefined
    this.add(message)
    return message
  }

  /** Removes the reply of the current turn, which no reader has seen. */
  drop(): void {
    this.#reply = this.#shown = undefined
    this.partial = ""
    this.slots = []
  }

  /** Replaces a message. */
  replace(before: Message.Message, after: Message.Message): void {
    const swap = (one: Message.Message, at: number, all: Array<Message.Message>) => one === before && (all[at] = after)
    for (const messages of [this.messages, this.#compacted]) messages?.forEach(swap)
    if (this.inputMessage === before && after.role === "user") this.inputMessage = after
    this.#heed([after])
  }

  /** Adds a message to the conversation and to what the model reads. */
  add(message: Message.Message): void {
    this.messages.push(message)
    this.#compacted?.push(message)
    this.#heed([message])
  }

  /** Removes the last messages from both. */
  takeBack(count: number): void {
    this.messages.splice(-count)
    this.#compacted?.splice(-count)
  }

  /** Replaces the conversation. */
  begin(messages: ReadonlyArray<Message.Message>): void {
    this.messages.splice(0, this.messages.length, ...messages)
    this.#compacted = undefined
    this.#heed(messages)
  }

  #heed(added: Message.Transcript): void {
    this.#mayWithhold ||= added.some(Message.isWithheld)
  }

  /** The conversation that the model reads, without withheld words. */
  get visible(): Message.Transcript {
    const read = this.#compacted ?? this.messages
    return this.#mayWithhold ? Message.withoutWithheld(read) : read
  }

  /** The whole conversation without withheld words, once there was a compaction. */
  get uncompacted(): Message.Transcript | undefined {
    return this.#compacted === undefined ? undefined : this.said()
  }

  /** How many compactions there were at the beginning of the current turn. */
  get compactionsAhead(): number {
    return this.ahead?.turn === this.turn ? this.ahead.made : 0
  }

  /** From now on the model reads these messages and the ones added later. The conversation itself keeps all messages. */
  compact(messages: Message.Transcript): void {
    this.#compacted = [...messages]
    this.#heed(messages)
  }

  /** The number of calls before one tool is called too often in a row. */
  inARow(tools: ReadonlyArray<string>): number {
    const tooMany = tools.findIndex((name) => {
      this.#inARow = name === this.#last ? this.#inARow + 1 : 1
      this.#last = name
      return this.#inARow > this.#maxInARow
    })
    return tooMany === -1 ? tools.length : tooMany
  }

  get callsInARow(): number {
    return this.#inARow
  }

  /** A copy of all finished messages, without withheld words. */
  said(): Message.Transcript {
    return Message.withoutWithheld([...this.messages])
  }

  /** A copy in which unfinished calls are settled as if the run ended now, without withheld words. */
  transcript(): Message.Transcript {
    return Message.withoutWithheld(this.whole())
  }

  /** The same copy with the withheld words. */
  whole(): Message.Transcript {
    const unfinished = this.unfinished()
    return unfinished === undefined ? [...this.messages] : [...this.messages, unfinished]
  }

  unfinished(): Message.Assistant | undefined {
    return this.#reply === undefined ? this.incomplete() : Message.settle(this.#reply, this.settlements())
  }

  /** The message of an interrupted model call: the text that a reader has seen. */
  incomplete(): Message.Assistant | undefined {
    return this.#shown === undefined ? undefined : Message.incomplete(this.#shown)
  }

  /** Adds the transcript and the usage of the run to an error of this library. */
  attach({ error, isOurs }: Failure, run: RunContext): unknown {
    if (!isOurs || !(error instanceof ToolExecutionError)) return error
    const { attempts, callId, message, tool, trail } = error
    return new ToolExecutionError({
      tool,
      callId,
      message,
      attempts,
      ...("cause" in error ? { cause: error.cause } : {}),
      ...(trail === undefined ? {} : { trail }),
      transcript: this.transcript(),
      usage: run.ledger.usage
    })
  }
}

const callOf = (slot: Slot, now: number): UnfinishedReply["calls"][number] => {
  const { checkpoint, from, isBegun, record, settlement } = slot
  const waiting = checkpoint?.(now)
  if (waiting !== undefined) return waiting
  // the call has not begun since the run was resumed
  if (!isBegun && settlement === undefined) return from ?? { type: "not-begun" }
  return {
    type: "finished",
    settlement: slot.settlementNow ?? Message.notRun,
    ...(record === undefined ? {} : { record })
  }
}
