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
  /** Calls beyond these are not run. */
  readonly admitted: number
  /** How many come before one tool was called too often in a row. */
  readonly admittedInARow: number
  /** Whether tools were off when the model was called. */
  readonly toolsWereOff: boolean
}

/** What the state of a run begins with. */
interface Start {
  readonly from: Snapshot | undefined
  readonly said: { readonly message: Message.User }
}

export class RunState implements State {
  readonly #agent: string
  readonly #maxInARow: number
  readonly #repeatedFailures: Budget.Budget["repeatedFailures"]
  #history: FailureHistory.FailureHistory | undefined
  /** The input of the run, as one of its messages. */
  inputMessage: Message.User
  /** What its guardrails keep; absent without any. */
  guarded: Guarded | undefined
  /** Grows in place: requests lend it to the model. */
  readonly messages: Array<Message.Message>
  /** What the model reads in their place since they were too long for it. */
  #compacted: Array<Message.Message> | undefined
  /** One for each call of the unfinished reply. */
  slots: ReadonlyArray<Slot> = []
  /** The idempotency keys of these calls, once they are known. */
  keys: ReadonlyArray<string> = []
  #pins: Pins | undefined
  /** The deferred calls whose results are to come, if there were any. */
  late: LateCalls | undefined
  /** Those that the run has left at work when it ended. */
  left: ReadonlyArray<LeftCall> | undefined
  /** How often each call was made, by its digest. */
  #made: Map<string, number> | undefined
  /** How many of these calls may run, once that is known. */
  admission: Admission | undefined
  #reply: Message.Reply | undefined
  /**
   * The turn that has begun with a compaction before the limit, or with an attempt at one, and how many were made in it. 0 where the run has
   * said that no window is known.
   */
  ahead: { readonly turn: number; readonly made: number } | undefined
  /** What a reader has seen of a reply that has not come to its end. */
  #shown: string | undefined
  /** The text of the last reply. */
  partial = ""
  /** The finish reason of the reply that is the output, once there is one. */
  finish: Message.FinishReason | undefined
  turn = 0
  /** The turn after which the run has read what was said to it, where it has done so before the limits of its calls. */
  heardAfter: number | undefined
  /** What was chosen for the present turn, and its model until the model is built. */
  prepared:
    | { readonly choice: TurnChoice; readonly model?: Layer.Layer<Model.Model, unknown, unknown> | undefined }
    | undefined
  /** The skill that was chosen, where there was a choice. */
  skill: string | undefined
  /** Final texts that did not fit, and after which the model was called again. */
  outputsRejected = 0
  /** Batches that were called with tools switched off. */
  callsWithToolsOff = 0
  /** The limit at which the run had its last turn: the run ends as that turn did. */
  endedBy: EndedBy | undefined
  /** The failure of the run, although its limit was to suspend it. */
  unhandled: { readonly error: unknown } | undefined
  /** The tool that was called last, and how often with no other in between. */
  #last = ""
  #inARow = 0

  /** Whether something may come to the run while it is at work: messages, or results of deferred calls. */
  mayRead({ tree }: RunContext): boolean {
    return tree.inbox !== undefined || this.late !== undefined
  }

  constructor(agent: string, budget: Budget.Budget, { from, said }: Start, messages: Array<Message.Message>) {
    this.#agent = agent
    this.#maxInARow = budget.maxConsecutiveSameTool
    this.#repeatedFailures = budget.repeatedFailures
    this.messages = messages
    this.inputMessage = said.message
    if (from !== undefined) this.#restore(from)
  }

  /** The history of the run's failing calls. */
  get history(): FailureHistory.FailureHistory {
    return (this.#history ??= new FailureHistory.FailureHistory(this.#repeatedFailures))
  }

  /** The pins of the tools that the run has offered. */
  get pins(): Pins {
    return (this.#pins ??= new Map())
  }

  /** Whether no tool is withheld, and tools are not off: requests are made as usual. */
  get isCalm(): boolean {
    return this.#history?.isCalm ?? true
  }

  /** Goes on where a run was suspended. */
  #restore({
    callsWithToolsOff,
    compacted,
    compactionTurn,
    failures,
    sameTool,
    made,
    unfinished,
    outputsRejected,
    pins,
    prepared,
    transcript,
    turn
  }: Snapshot): void {
    if (prepared !== undefined) this.prepared = { choice: prepared }
    if (pins !== undefined) {
      this.#pins = new Map(Object.entries(pins).map(([key, pinned]) => [key, { pinned, shown: pinned }]))
    }
    if (compacted !== undefined) {
      const last = transcript[compacted.from - 1]
      const from = last === undefined ? 0 : this.messages.lastIndexOf(last) + 1
      this.#compacted = [...compacted.head, ...this.messages.slice(from)]
    }
    if (compactionTurn !== undefined) this.ahead = { turn: compactionTurn, made: 0 }
    this.turn = turn
    this.outputsRejected = outputsRejected
    this.callsWithToolsOff = callsWithToolsOff
    this.#last = sameTool.tool
    this.#inARow = sameTool.calls
    this.history.restore(failures)
    this.#made = new Map(made.map(({ digest, times }) => [digest, times]))
    if (unfinished === undefined) return
    this.take(unfinished.reply)
    this.keys = unfinished.keys
    for (const [index, slot] of this.slots.entries()) {
      const call = unfinished.calls[index]
      if (call === undefined || call.type === "not-begun") continue
      if (call.type === "finished") {
        slot.settlement = call.settlement
        slot.record = call.record
        continue
      }
      // what its tool is, the run finds out later
      slot.goOn(call, "unsafe")
    }
  }

  /**
   * The snapshot from which the run can go on. A batch stays unfinished if calls wait in it, or if its sub-agents can go on.
   * Calls that were cut off are settled as such.
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

  /** The reply of the present turn, until its calls are settled. */
  get reply(): Message.Reply | undefined {
    return this.#reply
  }

  /** Adds a reply; returns its calls. */
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

  /** The idempotency keys of the calls of the reply, by their digests: equal calls are counted in their order. */
  count(digests: ReadonlyArray<string>): ReadonlyArray<string> {
    const made = (this.#made ??= new Map<string, number>())
    this.keys = digests.map((digest) => {
      const before = made.get(digest) ?? 0
      made.set(digest, before + 1)
      return `${digest}-${before}`
    })
    return this.keys
  }

  /** The settlements of the unfinished reply's calls; absent for calls whose turn has not come. */
  settlements(): ReadonlyArray<Message.Settlement | undefined> {
    return this.slots.map((slot) => slot.settlement ?? slot.settlementNow)
  }

  requests(): ReadonlyArray<string> {
    return this.slots.flatMap(({ waiting }) => requestsOf(waiting))
  }

  /** Notes the text of the present model call that a reader has seen: if the call is stopped, the transcript keeps it. */
  show(text: string | undefined): void {
    this.#shown = text
  }

  close(message: Message.Assistant): Message.Assistant {
    this.#reply = undefined
    this.#shown = undefined
    this.add(message)
    return message
  }

  /** Forgets the reply of the present turn, which no reader has seen. */
  drop(): void {
    this.#reply = this.#shown = undefined
    this.partial = ""
    this.slots = []
  }

  /** Takes another message in the place of one of the user. */
  replace(before: Message.User, after: Message.User): void {
    const swap = (one: Message.Message, at: number, all: Array<Message.Message>) => one === before && (all[at] = after)
    for (const messages of [this.messages, this.#compacted]) messages?.forEach(swap)
    if (this.inputMessage === before) this.inputMessage = after
  }

  /** Adds a message, for the model too. */
  add(message: Message.Message): void {
    this.messages.push(message)
    this.#compacted?.push(message)
  }

  /** Takes the last messages back, for the model too. */
  takeBack(count: number): void {
    this.messages.splice(-count)
    this.#compacted?.splice(-count)
  }

  /** Replaces the conversation. */
  begin(messages: ReadonlyArray<Message.Message>): void {
    this.messages.splice(0, this.messages.length, ...messages)
    this.#compacted = undefined
  }

  /** What the model reads of the conversation: nothing that was withheld. */
  get visible(): Message.Transcript {
    return Message.withoutWithheld(this.#compacted ?? this.messages)
  }

  /** How often the conversation was shortened at the beginning of the present turn. */
  get compactionsAhead(): number {
    return this.ahead?.turn === this.turn ? this.ahead.made : 0
  }

  /** From here on the model reads this, and what is added to it; nothing of the conversation is lost. */
  compact(messages: Message.Transcript): void {
    this.#compacted = [...messages]
  }

  /** Of these calls, how many come before one tool was called too often with no other in between. */
  inARow(tools: ReadonlyArray<string>): number {
    for (const [index, name] of tools.entries()) {
      this.#inARow = name === this.#last ? this.#inARow + 1 : 1
      this.#last = name
      if (this.#inARow > this.#maxInARow) return index
    }
    return tools.length
  }

  get callsInARow(): number {
    return this.#inARow
  }

  /** A copy of all finished messages, as readers may see them. */
  said(): Message.Transcript {
    return Message.withoutWithheld([...this.messages])
  }

  /** A copy, in which unfinished calls are settled as if the run ended now, as readers may see it. */
  transcript(): Message.Transcript {
    return Message.withoutWithheld(this.whole())
  }

  /** The same, with what was withheld. */
  whole(): Message.Transcript {
    const unfinished = this.unfinished()
    return unfinished === undefined ? [...this.messages] : [...this.messages, unfinished]
  }

  unfinished(): Message.Assistant | undefined {
    return this.#reply === undefined ? this.incomplete() : Message.settle(this.#reply, this.settlements())
  }

  /** What a reader has seen of a model call that was stopped. */
  incomplete(): Message.Assistant | undefined {
    return this.#shown === undefined ? undefined : Message.incomplete(this.#shown)
  }

  /** A final error of ours takes the transcript and the usage of the run along. */
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
  // its turn has not come since the run goes on
  if (!isBegun && settlement === undefined) return from ?? { type: "not-begun" }
  return {
    type: "finished",
    settlement: slot.settlementNow ?? Message.notRun,
    ...(record === undefined ? {} : { record })
  }
}
