/**
 * Makes the strands of one run: its turns, its model calls with their sends, and its tool calls.
 *
 * @internal
 */
import { CallWeaver } from "./callWeaver.ts"
import { amountAt, itemsAt, numberAt, textAt } from "../recording/Fields.ts"
import { isTerminal, type Recorded } from "../recording/Recorded.ts"
import type { State, Tone } from "./Shapes.ts"
import { Strand } from "./strand.ts"
import { errorLine } from "../recording/ErrorWords.ts"
import { clip, money } from "../text/Words.ts"
import { toneOf, verdictLine } from "./words.ts"

/** The strands of a model call and of its sends, and the number of sends so far. */
interface ModelCall {
  readonly strand: Strand
  sends: Strand | undefined
  from: number
  sent: number
}

const ends: Readonly<Record<string, State>> = {
  "run-completed": "ok",
  "run-failed": "failed",
  "run-suspended": "suspended",
  "run-interrupted": "interrupted"
}

export class RunWeaver {
  #run: Strand | undefined
  #turns: Strand | undefined
  #turn = -1
  readonly #modelCalls: Array<ModelCall> = []
  readonly #calls = new Map<string, Array<CallWeaver>>()
  /** The calls whose run has gone on without their results, which come later. */
  #late: ReadonlyArray<{ readonly callId: string; readonly call: CallWeaver }> = []

  readonly track: number
  readonly #agent: string
  readonly #add: (strand: Strand) => void

  constructor(track: number, agent: string, add: (strand: Strand) => void) {
    this.track = track
    this.#agent = agent
    this.#add = add
  }

  isFixing(callId: string): boolean {
    return this.#calls.get(callId)?.some((call) => call.isFixing) ?? false
  }

  take(event: Recorded, index: number): void {
    if (event.type === "run-start") return this.#start(event, index)
    if (this.#run?.current === undefined && event.type !== "tool-compensated") this.#begin(event, index)
    if (isTerminal(event)) return this.#end(event, index)
    if (event.type === "tool-result") return this.#arrived(event, index)
    const callId = textAt(event, "callId")
    if (callId !== undefined && event.type !== "tool-compensated" && event.type !== "parts-described")
      return this.#called(callId, event, index)
    if (event.type === "turn-start" || event.type === "turn-end") return this.#turned(event, index)
    if (event.type === "model-start") return this.#ask(event, index)
    if (event.type.startsWith("model-")) return this.#answered(event, index)
    this.#other(event, index)
  }

  close(at: number, state: State): void {
    for (const { sends, strand } of this.#modelCalls) {
      strand.cut(at, state)
      sends?.cut(at, state)
    }
    for (const calls of this.#calls.values()) for (const call of calls) call.close(at, state)
    for (const { call } of this.#late) call.close(at, state)
    this.#turns?.cut(at, state)
    this.#run?.cut(at, state)
    this.#modelCalls.length = 0
    this.#calls.clear()
    this.#late = []
    this.#turns = undefined
    this.#turn = -1
  }

  #start(event: Recorded, index: number) {
    // the run was resumed, so its previous part ends here
    if (this.#run?.current !== undefined) this.close(event.at, "unfinished")
    this.#begin(event, index)
    this.#run?.current?.events.push(index)
  }

  /** Begins the strand of the run. It also does so at another event, if the `run-start` event is missing. */
  #begin(event: Recorded, subject: number) {
    this.#run = this.#strand("run", event.at)
    this.#run.begin({ part: "run", label: this.#agent, at: event.at, subject })
  }

  #end(event: Recorded, index: number) {
    const state = ends[event.type] ?? "unfinished"
    const run = this.#run
    run?.end(event.at, state, index)
    // the work of deferred calls goes on without the run
    if (state === "ok") for (const { call } of this.#late) call.close(event.at, "unfinished")
    this.close(event.at, state === "suspended" ? "suspended" : "interrupted")
    this.#run = run
  }

  #strand(layer: Strand["layer"], at: number): Strand {
    const strand = new Strand(this.track, layer, at)
    this.#add(strand)
    return strand
  }

  #turned(event: Recorded, index: number) {
    const { at, turn, type } = event
    // from the start of the run, because a turn that waited for a decision has no second `turn-start`
    this.#turns ??= this.#strand("turn", this.#run?.current?.from ?? at)
    if (type === "turn-start") {
      this.#turns.end(at, "unfinished")
      this.#turn = turn
      const label = event["answerTurn"] === true ? `turn ${turn}, to answer` : `turn ${turn}`
      this.#turns.begin({ part: "turn", label, at, subject: index, isOwn: true })
      return
    }
    if (this.#turns.current === undefined)
      this.#turns.begin({ part: "turn", label: `turn ${turn}`, at: this.#turns.cursor, subject: index })
    this.#turns.end(at, "ok", index)
    this.#settle(event)
    if (this.#turn === turn) this.#rest(at)
  }

  /** Ends calls that have no event for their end, such as calls that end the run. */
  #settle(event: Recorded) {
    if (this.#calls.size === 0) return
    for (const part of itemsAt(event, "message", "content")) {
      const calls = this.#calls.get(textAt(part, "call", "id") ?? "") ?? []
      const isResult = textAt(part, "settlement", "kind") === "result"
      for (const call of calls) call.close(event.at, isResult ? "ok" : "interrupted")
    }
    this.#calls.clear()
  }

  /** Ends the strands of this turn's model calls. */
  #rest(at: number) {
    for (const modelCall of this.#modelCalls.splice(0)) {
      if (modelCall.strand.current !== undefined) this.#modelCalls.push(modelCall)
      // the strand ends with a wait, which is cut at the end of the turn
      else modelCall.strand.cut(at, "interrupted")
    }
  }

  #ask(event: Recorded, index: number) {
    const { at } = event
    const attempt = numberAt(event, "attempt") ?? 1
    const label = `${textAt(event, "model") ?? "model"}${attempt === 1 ? "" : `, attempt ${attempt}`}`
    const idle = this.#modelCalls.find(({ strand }) => strand.current === undefined)
    const modelCall = idle ?? { strand: this.#strand("model", at), sends: undefined, from: at, sent: 0 }
    if (idle === undefined) this.#modelCalls.push(modelCall)
    modelCall.from = at
    modelCall.sent = 0
    modelCall.strand.begin({ part: "attempt", label, at, subject: index, isOwn: true })
  }

  /** The model call whose attempt began last, if several are at work at once. */
  #latestCall(): ModelCall | undefined {
    return this.#modelCalls.findLast(({ strand }) => strand.current !== undefined) ?? this.#modelCalls.at(-1)
  }

  #answered(event: Recorded, index: number) {
    const { at, type } = event
    if (this.#latestCall()?.strand.current === undefined) this.#ask({ ...event, type: "model-start" }, index)
    const modelCall = this.#latestCall()
    if (modelCall === undefined) return
    const { strand } = modelCall
    const state = type === "model-end" ? "ok" : type === "model-failed" ? "failed" : "interrupted"
    const outcome = textAt(event, "entry", "outcome")
    // if the event that begins the attempt is missing, the piece has this event already
    const isAlone = strand.current?.events.includes(index) === true
    strand.end(at, outcome === "discarded" ? "discarded" : state, isAlone ? undefined : index)
    if (modelCall.sent > 0 && modelCall.sends?.current !== undefined) {
      modelCall.sends.end(at, state)
    }
  }

  /** Draws a verdict of the transport, which sends again or gives up. */
  #sent(event: Recorded, index: number): void {
    const { at } = event
    const modelCall = this.#latestCall()
    if (modelCall?.strand.current === undefined) return this.#marked("run", at, "note", verdictLine(event), index)
    const delay = amountAt(event, "delay") ?? 0
    const sends = (modelCall.sends ??= this.#strand("transport", modelCall.from))
    if (sends.current === undefined)
      sends.begin({ part: "send", label: `send ${++modelCall.sent}`, at: modelCall.from, subject: index })
    sends.end(at, "failed")
    const piece = sends.pieces.at(-1)
    if (piece !== undefined) piece.subject = index
    const tone = toneOf(event)
    sends.mark(at, tone, verdictLine(event), index)
    if (tone !== "mended") return
    if (delay > 0) sends.pause(at, delay, `waits before send ${modelCall.sent + 1}`, index)
    sends.begin({ part: "send", label: `send ${++modelCall.sent}`, at: at + delay, subject: index })
  }

  #called(callId: string, event: Recorded, index: number) {
    const calls = this.#calls.get(callId) ?? []
    // the call is deferred and its run has gone on, so this is an event of its policy, such as a retry
    const late = calls.length === 0 && event.type !== "tool-start" && this.#late.find((one) => one.callId === callId)
    if (late) return void late.call.take(event, index)
    this.#calls.set(callId, calls)
    const isNew = event.type === "tool-start" && calls.every(({ hasStarted }) => hasStarted)
    if (calls.length === 0 || isNew)
      calls.push(new CallWeaver(this.track, textAt(event, "tool") ?? "tool", event.at, this.#add))
    // if a call id repeats within a turn, which is a mistake, the events go to the call that began first
    const call = event.type === "tool-start" ? calls.find(({ hasStarted }) => !hasStarted) : calls[0]
    if (call === undefined || !call.take(event, index)) return
    if (call.isLate) this.#late = [...this.#late, { callId, call }]
    else call.close(event.at, "unfinished")
    this.#calls.set(
      callId,
      calls.filter((other) => other !== call)
    )
  }

  /** Takes the result of a deferred call. If several calls have the id, it belongs to the one that began first. */
  #arrived(event: Recorded, index: number) {
    const found = this.#late.find(({ callId }) => callId === textAt(event, "callId"))
    if (found === undefined)
      return this.#marked("run", event.at, "note", `the result of ${textAt(event, "tool") ?? "tool"} has come`, index)
    found.call.arrive(event, index)
    this.#late = this.#late.filter((other) => other !== found)
  }

  #other(event: Recorded, index: number) {
    const { at, type } = event
    const note = (tone: Tone, label: string) => this.#marked("run", at, tone, label, index)
    switch (type) {
      case "text-delta":
      case "reasoning-delta": {
        const piece = this.#latestCall()?.strand.current
        return piece === undefined ? note("note", "streamed text") : void piece.events.push(index)
      }
      case "attempt-discarded":
        if (event["discardedRunId"] !== undefined) return note("lost", "what a part said does not count")
        return this.#marked("model", at, "lost", `attempt ${numberAt(event, "attempt") ?? "?"} does not count`, index)
      case "attempt-continued":
        return this.#marked("model", at, "mended", "the model goes on from what it has said", index)
      case "verdict":
        return this.#decided(event, index)
      case "compacted":
        return this.#marked("model", at, "mended", `shortened by ${textAt(event, "compaction") ?? "?"}`, index)
      case "not-compacted":
        return this.#marked("model", at, "note", `not shortened by ${textAt(event, "compaction") ?? "?"}`, index)
      case "request-adapted":
        return this.#marked("model", at, "note", `request adapted to ${textAt(event, "family") ?? "?"}`, index)
      case "output-coerced":
        return this.#marked("turn", at, "mended", `output read by ${textAt(event, "change", "step") ?? "?"}`, index)
      case "output-rejected":
        return this.#marked("turn", at, event["message"] === undefined ? "lost" : "tell", "output does not fit", index)
      case "skill-chosen":
        return note("note", `skill ${textAt(event, "skill") ?? "?"}`)
      case "turn-prepared":
        return note("note", prepared(event))
      case "tool-changed":
        return note(textAt(event, "action") === "refuse" ? "lost" : "note", changed(event))
      case "events-lost":
        return note("lost", "earlier events are gone")
      case "guardrail": {
        const verdict = textAt(event, "verdict") ?? "?"
        const label = `guardrail ${textAt(event, "guard") ?? "?"}: ${verdict}`
        return note(verdict === "block" ? "lost" : verdict === "replace" ? "mended" : "note", clip(label, 60))
      }
      case "message-queued":
        return note("asked", "a message is said")
      case "message-read":
        return note("note", "the message is read")
      case "message-returned":
        return note("lost", "the message is not read")
      case "budget-warning":
        return note("note", `budget: ${limit(event)} is near`)
      case "budget-exceeded":
        return note("lost", `budget: ${limit(event)} is reached: ${textAt(event, "action") ?? "?"}`)
      case "parts-described":
        return note("note", `${textAt(event, "model") ?? "the model"} reads a description of a picture`)
      case "tool-compensated": {
        const isUndone = event["error"] === undefined
        const label = `${textAt(event, "tool") ?? "tool"} ${isUndone ? "is undone" : `is not undone: ${errorLine(event["error"])}`}`
        return this.#strand("tool", at).mark(at, isUndone ? "note" : "lost", label, index)
      }
      default:
        return note("note", clip(type, 40))
    }
  }

  #decided(event: Recorded, index: number) {
    if (event["layer"] === "transport") return this.#sent(event, index)
    const { at } = event
    const delay = amountAt(event, "delay") ?? 0
    const strand = event["layer"] === "model" ? this.#latestCall()?.strand : this.#run
    if (strand === undefined) return this.#marked("run", at, toneOf(event), verdictLine(event), index)
    strand.mark(at, toneOf(event), verdictLine(event), index)
    if (delay > 0 && strand !== this.#run && strand.current === undefined)
      strand.pause(at, delay, "waits before it asks again", index)
  }

  #marked(layer: "run" | "turn" | "model", at: number, tone: Tone, label: string, index: number) {
    const own = layer === "run" ? this.#run : layer === "turn" ? this.#turns : this.#latestCall()?.strand
    const strand = own ?? this.#run ?? this.#strand("run", at)
    strand.mark(at, tone, label, index)
  }
}

/** What a server has changed about a tool, in words. */
const changed = (event: Recorded): string =>
  `${textAt(event, "server") ?? "a server"} has changed ${textAt(event, "tool") ?? "a tool"}: ${textAt(event, "action") ?? "?"}`

/** What the functions of a turn have chosen, in words. */
const prepared = (event: Recorded): string => {
  const [model, tools] = [textAt(event, "model"), event["tools"]]
  const chosen = [
    ...(model === undefined ? [] : [`model ${model}`]),
    ...(Array.isArray(tools) ? [tools.length === 1 ? "1 tool" : `${tools.length} tools`] : [])
  ]
  return chosen.length === 0 ? "the turn is prepared" : `the turn is prepared: ${chosen.join(", ")}`
}

const limit = (event: Recorded): string => {
  const reason = textAt(event, "reason") ?? "a limit"
  const [spent, most] = [numberAt(event, "spent"), numberAt(event, "limit")]
  if (spent === undefined || most === undefined) return reason
  const shown = reason === "maxCost" ? money : String
  return `${reason} ${shown(spent)} of ${shown(most)}`
}
