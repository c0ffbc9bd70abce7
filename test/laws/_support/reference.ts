/**
 * The reference: what an agent does with a world, as a plain function without fibers, clocks and streams. It knows the data of the library
 * and nothing of its engine. Calls of a reply are settled one after the other; none begins after a failure that ends the run.
 */
import * as Message from "../../../packages/core/src/data/Message.ts"
import * as Usage from "../../../packages/core/src/data/Usage.ts"

/** What one run of a tool does. */
export type Does = "works" | "is busy" | "is locked" | "is telling" | "is stale" | "escalates" | "raises" | "dies"

/** What a person decides: that the call runs, that it does not, or what its result is. */
export type Decision = "approve" | "refuse" | "give"

export interface Call {
  /** `look` may run again, `pay` may not, `ask` waits for a person, `order` is deferred, `consult` asks a sub-agent, `nope` is none. */
  readonly tool: "look" | "pay" | "ask" | "order" | "consult" | "nope"
  readonly arguments: "fit" | "misfit" | "no JSON"
  /** What its runs do, one after the other; then they work. */
  readonly does: ReadonlyArray<Does>
  /** Whether a person says something while it is at work for the first time. */
  readonly isSaid: boolean
  /** What a person decides about it, one time after the other; then that it runs. */
  readonly decisions: ReadonlyArray<Decision>
  /** What the model of the sub-agent does. */
  readonly expert: Asked
}

/** How an attempt of the model fails. While one is at work that is stopped, the run is interrupted. */
export type Failing = "overloaded" | "broken" | "stopped"

/** What a model does when it is asked. */
export interface Asked {
  readonly failures: ReadonlyArray<Failing>
  /** What a stream says before it fails. */
  readonly partial: string
}

export interface Turn extends Asked {
  readonly text: string
  readonly calls: ReadonlyArray<Call>
  readonly finish: Message.FinishReason
}

export type Answer = "done" | "nonsense"

export interface World {
  readonly agent: {
    readonly maxTurns: number
    readonly maxToolCalls: number
    readonly maxTokens: number
    /** How often a busy tool and an overloaded model are tried again. */
    readonly toolRetries: number
    readonly modelRetries: number
    /** How often a person decides about a locked tool, before the model is told. */
    readonly requests: number
    /** What the table of a tool says when it was tried in vain. */
    readonly atLast: "tell" | "raise"
    /** Whether a fixer repairs arguments that do not fit. */
    readonly fixes: boolean
    /** Whether the output schema takes no answer but "done". */
    readonly isStrict: boolean
  }
  readonly turns: ReadonlyArray<Turn>
  /** The answers after the last turn, one after the other; then "done". */
  readonly answers: ReadonlyArray<Answer>
  /** The run is interrupted while this call of `look` is at work for the first time, counted over all calls; none by default. */
  readonly interruptAt: number | undefined
}

/** How a run ends. */
export type End =
  | { readonly type: "answers"; readonly output: string }
  | { readonly type: "fails"; readonly tag: string; readonly reason?: string }
  | { readonly type: "dies" }
  | { readonly type: "is interrupted" }

export interface Outcome {
  readonly end: End
  readonly transcript: Message.Transcript
  /** The outcome of each attempt of the model, and what it used. */
  readonly ledger: ReadonlyArray<{ readonly outcome: string; readonly usage: Usage.Usage }>
  /** The runs of tools, in order: the call, and the attempt. */
  readonly runs: ReadonlyArray<string>
}

export const prompt = "Work."
export const input = "go"
export const usage: Usage.Usage = Usage.make({ inputTokens: 10, outputTokens: 5 })
export const given = (nth: number): string => `by hand ${nth}`
export const said = (nth: number): string => `word of call ${nth}`
export const argumentsOf = (call: Call, nth: number): Message.ToolCall["arguments"] =>
  call.arguments === "fit" ? { nth } : call.arguments === "misfit" ? { nth: String(nth) + " or so" } : '{"nth": '

/** A settlement; of texts that the library words only the kind counts, so they are empty here. */
type CallEnd = Message.Settlement | { readonly raises: true } | { readonly ends: End }

class Run {
  readonly transcript: Array<Message.Message> = [Message.system(prompt), Message.user(input)]
  readonly ledger: Array<Outcome["ledger"][number]> = []
  readonly runs: Array<string> = []
  readonly inbox: Array<string> = []
  readonly world: World
  /** Turns that were begun, those of sub-agents included; and those of the run itself. */
  turns = 0
  own = 0
  calls = 0
  nth = 0
  /** Answers that were given, and those that did not fit. */
  answered = 0
  rejected = 0
  readonly asksLast: boolean
  constructor(world: World, asksLast: boolean) {
    this.world = world
    this.asksLast = asksLast
  }

  get tokens(): number {
    return this.ledger.reduce((sum, entry) => sum + entry.usage.inputTokens + entry.usage.outputTokens, 0)
  }

  /** Messages said at work are read when all calls of the reply are settled. */
  hear(): void {
    for (const word of this.inbox.splice(0)) this.transcript.push(Message.user(word))
  }

  /** A turn; the end of the run, if it ends. */
  turn(): End | undefined {
    const { agent, turns } = this.world
    if (this.turns >= agent.maxTurns) return limit("maxTurns")
    this.turns++
    const found = turns[this.own++]
    this.nth += found?.calls.length ?? 0
    const failed = this.ask(found)
    if (failed !== undefined) return failed
    const isOver = this.tokens > agent.maxTokens
    if (found === undefined) return this.answer(isOver)
    if (isOver) {
      this.close(found, [])
      return limit("maxTokens")
    }
    return this.settle(found)
  }

  /** An answer, which has to fit the output schema. The model is told of the first that does not. */
  answer(isOver: boolean): End | undefined {
    const output = this.world.answers[this.answered++] ?? "done"
    this.transcript.push(Message.assistant(output))
    if (isOver) return limit("maxTokens")
    if (output === "done" || !this.world.agent.isStrict) return { type: "answers", output }
    if (++this.rejected > 1) return { type: "fails", tag: "InvalidOutputError" }
    this.transcript.push(Message.user(""))
    return undefined
  }

  /** The attempts of a model call; its failure, if none replies. */
  ask(asked: Asked | undefined): End | undefined {
    const fail = (outcome: string) => this.ledger.push({ outcome, usage: Usage.empty })
    for (const [attempt, failure] of (asked?.failures ?? []).entries()) {
      fail(failure === "stopped" ? "interrupted" : "failed")
      if (failure === "stopped") return { type: "is interrupted" }
      if (failure === "broken") return { type: "fails", tag: "AuthenticationError" }
      if (attempt >= this.world.agent.modelRetries) return { type: "fails", tag: "ModelOverloadedError" }
    }
    this.ledger.push({ outcome: "used", usage })
    return undefined
  }

  close({ calls, finish, text }: Turn, settlements: ReadonlyArray<Message.Settlement>): void {
    const first = this.nth - calls.length
    const content = [
      ...(text === "" ? [] : [Message.text(text)]),
      ...calls.map((call, index): Message.ToolCall => ({
        type: "tool-call",
        id: `c${first + index}`,
        name: call.tool,
        arguments: argumentsOf(call, first + index)
      }))
    ]
    this.transcript.push(Message.settle({ content, finish, usage }, settlements))
  }

  settle(turn: Turn): End | undefined {
    const first = this.nth - turn.calls.length
    const { maxToolCalls } = this.world.agent
    const admitted = Math.min(turn.calls.length, maxToolCalls - this.calls)
    this.calls += admitted
    const settlements: Array<Message.Settlement> = []
    let failed: End | undefined
    const isCut = turn.finish === "length"
    const begun = [...turn.calls.slice(0, isCut ? 0 : admitted).entries()]
    const atWork = begun.map(([index, call]) => ({ index, call, steps: this.call(call, first + index) }))
    for (const one of atWork) {
      const { call, index, steps } = one
      let step = steps.next()
      while (step.done !== true && !this.asksLast) step = steps.next()
      if (step.done !== true) {
        // a call that waits goes on behind the others; of an unsafe one that has begun, the effect is not known
        if (call.tool === "pay") settlements[index] = { kind: "unknown", text: "" }
        atWork.push(one)
        continue
      }
      const ended = step.value
      if ("ends" in ended) {
        settlements[index] = { kind: call.tool === "pay" ? "unknown" : "interrupted", text: "" }
        this.close(turn, settlements)
        return ended.ends
      }
      settlements[index] = "raises" in ended ? { kind: "told", text: "" } : ended
      if ("raises" in ended) failed ??= { type: "fails", tag: "ToolExecutionError" }
      if (failed !== undefined) break
    }
    this.close(turn, isCut ? turn.calls.map(() => Message.truncated) : settlements)
    if (failed !== undefined) return failed
    this.hear()
    return admitted < turn.calls.length ? limit("maxToolCalls") : undefined
  }

  /** Whether a call has arguments that fit, after the fixer. The sub-agent's own row tells all failures, so it needs none. */
  fits({ arguments: given, tool }: Call): boolean {
    return given === "fit" || (given === "misfit" && tool !== "consult" && this.world.agent.fixes)
  }

  /** A call of the sub-agent: one turn, which spends what the run has. */
  consult({ expert }: Call): CallEnd {
    const { maxTokens, maxTurns } = this.world.agent
    if (this.turns >= maxTurns) return { ends: limit("maxTurns") }
    this.turns++
    const failed = this.ask(expert)
    if (failed?.type === "is interrupted") return { ends: failed }
    if (failed !== undefined) return { kind: "told", text: "" }
    if (this.tokens > maxTokens) return { ends: limit("maxTokens") }
    return { kind: "result", text: "known" }
  }

  /** One call, with all of its attempts. It pauses where it waits for a person, or for the settlement of deferred work. */
  *call(call: Call, nth: number): Generator<void, CallEnd> {
    const plain = { kind: "told", text: "" } as const
    if (call.tool === "nope" || !this.fits(call)) return plain
    if (call.tool === "consult") return this.consult(call)
    const { agent, interruptAt } = this.world
    const decisions = [...call.decisions]
    const denied = { kind: "denied", text: "" } as const
    if (call.tool === "ask") {
      yield
      // a call that has not failed takes no result
      if ((decisions.shift() ?? "approve") !== "approve") return denied
    }
    const retries = call.tool === "pay" ? 0 : agent.toolRetries
    let busy = 0
    let locked = 0
    for (let attempt = 1; ; attempt++) {
      this.runs.push(`${nth} ${attempt}`)
      if (attempt === 1 && call.isSaid) this.inbox.push(said(nth))
      if (attempt === 1 && nth === interruptAt && call.tool === "look") return { ends: { type: "is interrupted" } }
      const does = call.does[attempt - 1] ?? "works"
      if (call.tool === "order" && does !== "dies") yield
      if (does === "works") return { kind: "result", text: `did ${nth}` }
      if (does === "is telling" || does === "escalates") return plain
      if (does === "is stale") return { kind: "result", text: "stale" }
      if (does === "raises") return { raises: true }
      if (does === "dies") return { ends: { type: "dies" } }
      if (does === "is busy") {
        if (++busy > retries) return agent.atLast === "tell" ? plain : { raises: true }
        continue
      }
      if (++locked > agent.requests) return plain
      yield
      const decision = decisions.shift()
      if (decision === "give") return { kind: "result", text: given(nth) }
      if (decision === "refuse") return denied
    }
  }
}

const limit = (reason: string): End => ({ type: "fails", tag: "BudgetExceededError", reason })

/** What comes of a world. Where a run is suspended for a person, `asksLast`: the other calls of the reply go first. */
export const outcomeOf = (world: World, asksLast: boolean): Outcome => {
  const run = new Run(world, asksLast)
  let end: End | undefined
  while (end === undefined) end = run.turn()
  const { ledger, runs, transcript } = run
  return { end, transcript, ledger, runs }
}
