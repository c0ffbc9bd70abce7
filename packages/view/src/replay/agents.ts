/** Reads what one agent did, in all of its runs. */
import { at, flagAt, itemsAt, numberAt, textAt } from "../recording/Fields.ts"
import type { Recorded } from "../recording/Recorded.ts"
import { Call } from "./calls.ts"
import { failureOf } from "./failures.ts"
import { Refused } from "./refusing.ts"
import { Rows } from "./rows.ts"
import type { AgentScript, Answer, Attempt, Failure, ModelStep } from "./parts.ts"
import { outputOf } from "./texts.ts"

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null

const kept: ReadonlySet<string> = new Set(["maxTurns", "maxToolCalls", "maxDuration"])

/** A model call at work. */
interface Asked {
  readonly start: Recorded
  /** Where its step stands: the steps are in the order in which the model was called. */
  readonly slot: number
  shown: string
}

export class AgentReader {
  readonly #name: string
  readonly #prompt: string | undefined
  readonly #models: Array<ModelStep> = []
  readonly #answers: Array<Answer> = []
  readonly #tools = new Map<string, { calls: Array<Call>; rows: Rows; needsApproval: boolean }>()
  readonly #builtIn = new Set<"escalate" | "throwException">()
  readonly #rows = new Rows()
  readonly #unknownRows = new Rows()
  readonly #denied = new Map<string, string>()
  /** The calls at work, by the id of their run and their own. */
  readonly #atWork = new Map<string, Map<string, Call>>()
  readonly #asked = new Map<string, Asked>()
  readonly #warned: Record<string, number> = {}
  #turns = 0
  #calls = 0
  #lasted = 0
  #began: number
  #interruptsSiblings = false
  #restarts = false
  /** The failure that has ended a run of this agent, and the tool in which it came up. */
  fatal: { readonly failure: Failure; readonly tool: string | undefined } | undefined
  hasModel = false
  /** The agents whose runs its tools have started. */
  readonly starts = new Set<string>()

  constructor(start: Recorded) {
    this.#name = start.agent
    const [first] = itemsAt(start, "transcript")
    this.#prompt = textAt(first, "role") === "system" ? textAt(first, "text") : undefined
    this.#began = start.at
  }

  /** The call of a run that is at work. */
  call(runId: string, callId: string): Call | undefined {
    return this.#atWork.get(runId)?.get(callId)
  }

  take(event: Recorded): void {
    this.#takeModel(event)
    this.#takeCall(event)
    if (event.type === "run-start") this.#began = event.at
    if (event.type === "turn-start") this.#turns++
    if (event.type === "budget-warning" || event.type === "budget-exceeded") this.#limited(event)
    if (event.type === "run-completed" || event.type === "run-failed" || event.type === "run-interrupted")
      this.#ended(event)
  }

  /** A warning tells the limit. A limit of tokens or costs is kept only if it has ended the run. */
  #limited(event: Recorded): void {
    // Mutant `"Stryker was here!"` survives: no limit has this name
    const reason = textAt(event, "reason") ?? ""
    const limit = numberAt(event, "limit")
    if (limit !== undefined && kept.has(reason)) this.#warned[reason] = limit
  }

  #takeModel(event: Recorded): void {
    const asked = this.#asked.get(event.runId)
    const after = event.at - (asked?.start.at ?? event.at)
    switch (event.type) {
      case "model-start":
        this.hasModel = true
        this.#asked.set(event.runId, {
          start: event,
          slot: this.#models.push({ after: 0, type: "never" }) - 1,
          shown: ""
        })
        return
      case "text-delta":
        if (asked !== undefined) asked.shown += textAt(event, "text") ?? ""
        return
      case "attempt-discarded":
        if (textAt(event, "discardedRunId") !== undefined)
          throw new Refused(event, "a part of a composition was discarded")
        this.#restarts = true
        return
      case "model-end": {
        const reply = at(event, "reply")
        if (!isObject(reply) || !itemsAt(reply, "content").every(isObject))
          throw new Refused(event, "a reply of its model cannot be read")
        this.#step(asked, { after, type: "reply", reply })
        this.#asked.delete(event.runId)
        return
      }
      case "model-failed": {
        const failure = failureOf(at(event, "error"))
        const shown = asked === undefined || asked.shown === "" ? {} : { shown: asked.shown }
        this.#step(
          asked,
          failure.json === undefined
            ? { after, type: "dies", message: failure.message }
            : { after, type: "fails", failure, ...shown }
        )
        this.fatal = { failure, tool: undefined }
        this.#asked.delete(event.runId)
        return
      }
      case "model-interrupted":
        this.#asked.delete(event.runId)
        return
      case "verdict":
        if (textAt(event, "layer") === "model") {
          const tag = textAt(event, "tag") ?? ""
          const treated = this.#rows.of(`${event.runId} ${event.turn}`, tag)
          treated.take(event)
          this.#answering = textAt(event, "verdict") === "respondWith" ? treated : undefined
        }
        return
    }
  }

  #step(asked: Asked | undefined, step: ModelStep): void {
    if (asked !== undefined) this.#models[asked.slot] = step
  }

  /** The row that has answered in the place of the model, until the run ends. */
  #answering: ReturnType<Rows["of"]> | undefined

  #takeCall(event: Recorded): void {
    const callId = textAt(event, "callId")
    if (callId === undefined) return
    const calls = this.#atWork.get(event.runId) ?? new Map<string, Call>()
    this.#atWork.set(event.runId, calls)
    const call = calls.get(callId)
    switch (event.type) {
      case "tool-start":
        this.#calls++
        calls.set(callId, this.#begun(event))
        return
      case "approval-requested":
        call?.requested()
        if (call !== undefined) this.#toolOf(call.tool).needsApproval = true
        return
      case "tool-failed":
        call?.failed(event)
        if (call !== undefined) this.fatal = { failure: failureOf(at(event, "error")), tool: call.tool }
        return
      case "verdict":
        if (textAt(event, "layer") !== "tool") return
        if (call === undefined) this.#unknownRows.of(callId, textAt(event, "tag") ?? "").take(event)
        call?.treated(event)
        if (call !== undefined)
          this.fatal = { failure: failureOf(at(event, "error"), textAt(event, "tag")), tool: call.tool }
        return
      case "fix-start":
        return call?.fixing(event)
      case "fix-end":
      case "fix-failed":
        return call?.fixed(event)
      case "tool-end":
        if (at(event, "use", "settlement", "parts") !== undefined)
          throw new Refused(event, "the result has images or files, and events have no bytes")
        call?.settle(event)
        calls.delete(callId)
        return
      case "tool-denied":
        this.#refused(event, call)
        calls.delete(callId)
        return
      case "tool-skipped":
        if (this.#models.at(-1)?.type === "fails") throw new Refused(event, "a malformed call was skipped at a limit")
        calls.delete(callId)
        return
    }
  }

  #begun(event: Recorded): Call {
    const name = textAt(event, "tool") ?? ""
    const tool = this.#toolOf(name)
    const call = new Call(event, tool.rows)
    if (name === "escalate" || name === "throwException") this.#builtIn.add(name)
    else tool.calls.push(call)
    return call
  }

  #toolOf(name: string) {
    const tool = this.#tools.get(name) ?? { calls: [], rows: new Rows(), needsApproval: false }
    this.#tools.set(name, tool)
    return tool
  }

  /** A call of an unknown tool has no script. A person's refusal is a decision, and any other one is that of a policy. */
  #refused(event: Recorded, call: Call | undefined): void {
    const text = textAt(event, "settlement", "text") ?? ""
    const tool = textAt(event, "tool") ?? ""
    // Mutant `["Stryker was here"]` survives: it has no second item either
    const [, reason] = /^The call of tool '[^']*' was denied and not run: ([^]*)$/.exec(text) ?? []
    if (text.startsWith("unknown tool: ")) this.#unknown.add(tool)
    if (reason !== undefined && !this.#tools.get(tool)?.needsApproval)
      this.#denied.set(textAt(event, "callId") ?? "", reason)
    if (call !== undefined) call.isOver = true
  }

  #ended(event: Recorded): void {
    this.#lasted = Math.max(this.#lasted, event.at - this.#began)
    this.#asked.delete(event.runId)
    if (this.#answering !== undefined && event.type === "run-completed") this.#answering.answer = outputOf(event)
    const left = [...(this.#atWork.get(event.runId)?.values() ?? [])]
    this.#atWork.delete(event.runId)
    const atWork = left.filter(({ hasFailed }) => !hasFailed)
    if (flagAt(event, "isDefect") && atWork.length > 1) throw new Refused(event, "it is not known which call has died")
    const wereAtWork = left.map((call) => call.cut(event)).some((wasAtWork) => wasAtWork)
    const limit =
      textAt(event, "error", "_tag") === "BudgetExceededError" ? textAt(event, "error", "reason") : undefined
    if (wereAtWork && limit !== undefined && limit !== "maxDuration")
      throw new Refused(event, "other calls were at work when a sub-agent reached the limit")
    if (event.type === "run-failed" && !flagAt(event, "isDefect") && wereAtWork) this.#interruptsSiblings = true
    const after = event.at - this.#began
    // a run that begins when a limit is reached does not come to its model
    if (this.hasModel || limit !== undefined || event.type === "run-interrupted") return
    this.#answers.push(
      event.type === "run-completed"
        ? { after, text: outputOf(event) }
        : { after, failure: failureOf(at(event, "error")) }
    )
  }

  made(): AgentScript {
    const tools = [...this.#tools].flatMap(([name, { calls, needsApproval, rows }]) => {
      const attempts = new Map<string, ReadonlyArray<Attempt>>()
      for (const call of calls) attempts.set(call.callId, [...(attempts.get(call.callId) ?? []), ...call.attempts])
      const asked = calls.flatMap((call) => call.asked ?? [])
      // a tool may need approval for some calls alone
      const isForAll = calls.every((call) => call.asked !== undefined || call.attempts.length === 0)
      const approval = needsApproval ? { approval: isForAll ? [] : asked } : {}
      return calls.length === 0 ? [] : [{ name, ...approval, calls: attempts, rows: rows.made() }]
    })
    return {
      name: this.#name,
      prompt: this.#prompt,
      models: this.#models,
      answers: this.#answers,
      tools: tools.filter(({ name }) => !this.#isUnknown(name)),
      builtIn: [...this.#builtIn],
      rows: this.#rows.made(),
      unknown: this.#unknownRows.made(),
      denied: this.#denied,
      budget: {
        ...this.#warned,
        ...(this.#turns >= 8 && this.#warned["maxTurns"] === undefined ? { maxTurns: this.#turns + 8 } : {}),
        ...(this.#calls >= 32 && this.#warned["maxToolCalls"] === undefined ? { maxToolCalls: this.#calls + 32 } : {}),
        ...(this.#lasted >= 300_000 && this.#warned["maxDuration"] === undefined
          ? { maxDuration: this.#lasted + 300_000 }
          : {})
      },
      interruptsSiblings: this.#interruptsSiblings,
      restarts: this.#restarts
    }
  }

  #isUnknown(name: string): boolean {
    const calls = this.#tools.get(name)?.calls ?? []
    return (
      calls.every(({ attempts, callId }) => attempts.length === 0 && !this.#denied.has(callId)) &&
      this.#unknown.has(name)
    )
  }

  readonly #unknown = new Set<string>()
}
