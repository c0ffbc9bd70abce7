/** Counts what a run and its descendants spend, against the limits of all of them. A step asks its meter before it spends. */
import * as Effect from "effect/Effect"
import * as Budget from "./Budget.ts"
import type { Ledger } from "./Ledger.ts"
import type * as Message from "../data/Message.ts"
import * as Price from "./Price.ts"
import type { BudgetReason } from "../errors/Limit.ts"
import * as Usage from "../data/Usage.ts"
import type { Asked, Because } from "./asked.ts"
import { CallCounts } from "./callCounts.ts"
import { Halted } from "./halted.ts"

export type { Asked, Because } from "./asked.ts"
export type { CallCap } from "./callCounts.ts"
export { Halted } from "./halted.ts"

/** The limits that a tree of runs shares, and that a decision may extend. */
export const shared = ["maxTurns", "maxToolCalls", "maxTokens", "maxCost", "maxDuration"] as const

export type Shared = (typeof shared)[number]

/** The limits for which `reserve` can keep an amount for the answer. */
export type Reserved = "maxTokens" | "maxCost"

/** The limits that `onBudgetExceeded` may decide about, also those of one run alone. */
export type Extendable = Shared | "repeatedFailure" | "toolsOff"

/** The defect that ends a run at a limit of `meter`. The meter records it before it is thrown: catching it does not save the run. */
export class Exceeded<Reason extends BudgetReason = BudgetReason> {
  readonly meter: Meter
  readonly reason: Reason
  readonly limit: number
  readonly spent: number
  because: Because | undefined
  /** The model without a known price, if the limit cannot hold for that reason. */
  unpriced: string | undefined
  /** The text so far of the innermost run that the limit has stopped. */
  said: { readonly transcript: Message.Transcript; readonly partial: string } | undefined
  constructor(meter: Meter, reason: Reason, limit: number, spent: number, because?: Because) {
    this.meter = meter
    this.reason = reason
    this.limit = limit
    this.spent = spent
    this.because = because
  }
}

export type SharedExceeded = Exceeded<Shared>

export type ExtendableExceeded = Exceeded<Extendable>

export type Warning = Pick<SharedExceeded, "reason" | "limit" | "spent">

/** Decides about a limit that was reached. */
export type OnExceeded = (exceeded: Exceeded) => Effect.Effect<Budget.LimitAction>

/** The amounts that a meter counts. */
export interface Counts {
  readonly turns: number
  readonly toolCalls: number
}

export class Meter {
  /** The agent to which its limits belong. */
  readonly agent: string
  readonly budget: Budget.Budget
  readonly parent: Meter | undefined
  /** This meter and its ancestors, nearest first; and those of them that count its turns and tool calls. */
  readonly chain: ReadonlyArray<Meter>
  readonly #counting: ReadonlyArray<Meter>
  readonly ledger: Ledger
  readonly prices: Price.Prices | undefined
  /** When its time began. For a resumed run this is earlier than the start of the current segment. */
  readonly #start: number
  readonly #limits: Record<Shared, number>
  /** Equal failures of a tool in a row that end the run; replies with calls that it may have with tools switched off. */
  #repeats: number
  #whileOff = 1
  /** The next three fields are created on first use, because most runs never need them. */
  #warned: Set<Shared> | undefined
  /** What suspended descendants have spent, by their run ids: they resume with these amounts. */
  #paid: Map<string, Counts> | undefined
  #asked: Map<Extendable, Asked> | undefined
  #callCounts: CallCounts | undefined
  #turns = 0
  #toolCalls = 0
  /** Warns of a limit that is near; absent if the run has no listeners. */
  announce: ((warning: Warning) => Effect.Effect<void>) | undefined
  onExceeded: OnExceeded | undefined
  /** The amount of each limit that is reserved for the answer; absent in a run that cannot answer at its limit. */
  reserve: ((reason: Reserved) => number) | undefined
  /** Whether the run answers at a limit that it has reached. */
  isAnswering = false
  #ended: Exceeded | undefined
  #endsAlone = false
  /** Whether the other running calls of a reply are interrupted when one call ends the run. */
  #batch: { readonly isCutShort: boolean } | undefined
  #halted: Halted | undefined
  #waits: Set<(halted: Halted) => void> | undefined

  constructor(
    agent: string,
    budget: Budget.Budget,
    ledger: Ledger,
    now: number,
    elapsed: number,
    parent: Meter | undefined,
    isCheck = false
  ) {
    const { maxCost, maxDuration, maxTokens, maxToolCalls, maxTurns, prices } = budget
    this.agent = agent
    this.budget = budget
    this.parent = parent
    this.chain = parent === undefined ? [this] : [this, ...parent.chain]
    this.#counting = isCheck ? [this] : parent === undefined ? this.chain : [this, ...parent.#counting]
    this.ledger = ledger
    this.prices = prices ?? parent?.prices
    this.#start = now - elapsed
    this.#limits = { maxTurns, maxToolCalls, maxTokens, maxCost, maxDuration }
    this.#repeats = budget.repeatedFailures.stop
  }

  /** A child of this meter for a contender of a race, or for work of a run with limits of its own: a limit that ends it does not end the others. */
  contender(limits?: Partial<Budget.Budget>): Meter {
    const meter = new Meter(this.agent, { ...Budget.unlimited, ...limits }, this.ledger, 0, 0, this)
    meter.#endsAlone = true
    return meter
  }

  /** A child of this meter for a check: its turns and tool calls do not count here. */
  checking(): Meter {
    return new Meter(this.agent, Budget.unlimited, this.ledger, 0, 0, this, true)
  }

  /** A meter with the same ledger and no limits, for work after the end of the run. */
  afterwards(): Meter {
    const budget = { ...Budget.unlimited, ...(this.prices === undefined ? {} : { prices: this.prices }) }
    return new Meter(this.agent, budget, this.ledger, 0, 0, undefined)
  }

  /** Decisions about limits, made or in progress. `undefined` if the asking fiber was interrupted before the decision. */
  get asked(): Map<Extendable, Asked> {
    return (this.#asked ??= new Map())
  }

  /** What happens at this limit, if `onExceeded` has decided about it. */
  actionAt(reason: BudgetReason): Budget.LimitAction["type"] | undefined {
    return (this.#asked as ReadonlyMap<BudgetReason, Asked> | undefined)?.get(reason)?.action
  }

  /** Begins a turn, in this run and all ancestors; or returns the limit that forbids it, and begins none. */
  takeTurn(): SharedExceeded | undefined {
    const full = this.#counting.find((meter) => meter.#turns >= meter.#limits.maxTurns)
    if (full !== undefined) return full.#exceeded("maxTurns", full.#turns)
    for (const meter of this.#counting) meter.#turns++
    return undefined
  }

  /** Takes over the limits of a run that goes on, but for those that were given anew. */
  takeOver(limits: Readonly<Record<Shared, number>>, given: object): void {
    for (const reason of shared) {
      if (!(reason in given)) this.#limits[reason] = limits[reason]
    }
  }

  get limits(): Readonly<Record<Shared, number>> {
    return { ...this.#limits }
  }

  /** Counts what a resumed run had spent before, here and in its ancestors: once, if it was suspended within the same run. */
  restore(runId: string, spent: Counts): void {
    for (const meter of this.chain) {
      const paid = meter.#paid?.get(runId)
      meter.#turns += Math.max(0, spent.turns - (paid?.turns ?? 0))
      meter.#toolCalls += Math.max(0, spent.toolCalls - (paid?.toolCalls ?? 0))
    }
    this.suspended(runId, spent)
  }

  /** Remembers what a suspended descendant has spent of its ancestors' limits: it may resume. */
  suspended(runId: string, spent: Counts): void {
    this.parent?.chain.forEach((meter) => meter.paidFor(runId, spent))
  }

  /** Notes that the spending of the run with this id is already counted here. */
  paidFor(runId: string, { toolCalls, turns }: Counts): void {
    const all = (this.#paid ??= new Map<string, Counts>())
    const paid = all.get(runId)
    all.set(runId, {
      turns: Math.max(turns, paid?.turns ?? 0),
      toolCalls: Math.max(toolCalls, paid?.toolCalls ?? 0)
    })
  }

  /** The limits with a warning. Each warns once, also over suspensions. */
  get warned(): ReadonlyArray<Shared> {
    return [...(this.#warned ?? [])]
  }

  warnedBefore(reasons: ReadonlyArray<Shared>): void {
    for (const reason of reasons) (this.#warned ??= new Set()).add(reason)
  }

  get counts(): Counts {
    return { turns: this.#turns, toolCalls: this.#toolCalls }
  }

  /** Counts the calls of a reply; gives how many of them may run. */
  takeCalls(calls: number): number {
    for (const meter of this.#counting) meter.#toolCalls += calls
    return this.admitted(calls)
  }

  /** How many of the calls that were counted last may run under the current limits. */
  admitted(calls: number): number {
    const least = (left: number, meter: Meter) => Math.min(left, meter.#limits.maxToolCalls - meter.#toolCalls + calls)
    return Math.max(0, this.#counting.reduce(least, calls))
  }

  /** The calls of tools with a cap, which the outermost run counts. */
  get callCounts(): CallCounts {
    return this.parent?.callCounts ?? (this.#callCounts ??= new CallCounts())
  }

  /** These counts as data; absent where no such tool was called, and in a run within another. */
  get capped(): CallCounts["data"] {
    return this.#callCounts?.data
  }

  /** The nearest meter that has exceeded one of these limits; before a turn, what is kept for an answer counts as spent. */
  passed(reasons: ReadonlyArray<"maxToolCalls" | Reserved>, isBefore = false): SharedExceeded | undefined {
    for (const meter of this.chain) {
      for (const reason of reasons) {
        const spent = meter.spent(reason, 0)
        const reserved = isBefore && reason !== "maxToolCalls" ? (meter.reserve?.(reason) ?? 0) : 0
        if (spent + reserved > meter.#limits[reason]) return meter.#exceeded(reason, spent)
      }
    }
    return undefined
  }

  spent(reason: Shared, now: number): number {
    switch (reason) {
      case "maxTurns":
        return this.#turns
      case "maxToolCalls":
        return this.#toolCalls
      case "maxTokens":
        return Usage.total(this.ledger.usage)
      case "maxCost":
        return this.ledger.cost
      case "maxDuration":
        return now - this.#start
    }
  }

  limit(reason: Extendable): number {
    if (reason === "toolsOff") return this.#whileOff
    return reason === "repeatedFailure" ? this.#repeats : this.#limits[reason]
  }

  /** Whether this run or an ancestor gives its last answer at a limit: then no step waits any more. */
  get withdraws(): boolean {
    return this.isAnswering || this.parent?.withdraws === true
  }

  /** What is left of a limit, here and in the ancestors. */
  left(reason: "maxTurns" | "maxToolCalls"): number {
    const left = this.#counting.map((meter) => meter.#limits[reason] - meter.spent(reason, 0))
    return Math.max(0, Math.min(...left))
  }

  /** The instant at which the run's own time is over. */
  get ownDeadline(): number {
    return this.#start + this.#limits.maxDuration
  }

  /** The meter with the nearest end that cannot be extended: no wait may pass that end. */
  get deadline(): Meter | undefined {
    const nearest = this.parent?.deadline
    if (this.onExceeded !== undefined) return nearest
    return nearest === undefined || this.ownDeadline < nearest.ownDeadline ? this : nearest
  }

  /** Whether a limit has ended this contender of a race alone. */
  get endedAlone(): boolean {
    return this.chain.some((meter) => meter.#endsAlone && meter.#ended !== undefined)
  }

  /** The limit that has ended this run, or else an ancestor's. */
  get ended(): Exceeded | undefined {
    return this.#ended ?? this.parent?.ended
  }

  /** Several calls begin: until their end, one of them may halt the others. */
  beginBatch(batch: { readonly isCutShort: boolean }): void {
    this.#batch = batch
  }

  endBatch(): void {
    this.#batch = undefined
    this.#halted = undefined
  }

  /** A call of the batch has ended the run: the others, and their descendants, begin nothing more, and wait for nothing. */
  halt(now: number): void {
    if (this.#batch === undefined || this.#halted !== undefined) return
    const halted = new Halted(now)
    this.#halted = halted
    for (const resume of this.#waits ?? []) resume(halted)
  }

  /** Why nothing more begins in this run, if so: a limit was reached, or a call has ended this run or an ancestor. */
  get barrier(): Exceeded | Halted | undefined {
    return this.#ended ?? this.#halted ?? this.parent?.barrier
  }

  /** The instant at which a call ended this run or an ancestor; `Infinity` if none did. */
  get haltedAt(): number {
    const { barrier } = this
    return barrier instanceof Halted ? barrier.at : Infinity
  }

  /** Waits until a call ends this run or an ancestor; `undefined` where no other call is at work, or its end interrupts the wait. */
  get halting(): Effect.Effect<Halted> | undefined {
    const batches = this.chain.filter((meter) => meter.#batch?.isCutShort === false)
    if (batches.length === 0) return undefined
    return Effect.callback((resume) => {
      const done = (halted: Halted) => resume(Effect.succeed(halted))
      const waits = batches.map((meter) => (meter.#waits ??= new Set()))
      for (const one of waits) one.add(done)
      // Mutant `{}` survives: memory only. A wait that is over ignores `done`
      return Effect.sync(() => {
        for (const one of waits) one.delete(done)
      })
    })
  }

  /** Ends the run to which the limit belongs, or its contender that has reached the limit. The first limit counts. */
  endWith(exceeded: Exceeded): void {
    const owner = this.chain.find((meter) => meter.#endsAlone || meter === exceeded.meter)
    if (owner !== undefined) owner.#ended ??= exceeded
  }

  late(now: number, because?: Because): SharedExceeded {
    return this.#exceeded("maxDuration", Math.max(this.#limits.maxDuration, now - this.#start), because)
  }

  /** Throws a `RangeError` if the new limit is not valid in a budget, or not above the present one. */
  extend(reason: Extendable, limit: number): void {
    Budget.check(reason, limit)
    if (!(limit > this.limit(reason))) {
      throw new RangeError(`Budget.extend: ${reason} is ${this.limit(reason)}, ${limit} is not above it`)
    }
    if (reason === "repeatedFailure") this.#repeats = limit
    else if (reason === "toolsOff") this.#whileOff = limit
    else this.#limits[reason] = limit
  }

  /**
   * The cost of a reply, if the price of the model is known. If the provider should report the cost and does not, only the budget's prices
   * count.
   */
  costOf(model: Price.Priced, usage: Usage.Usage, reply: Partial<Message.Reply> = {}): number | undefined {
    if (this.prices === undefined && model.price === undefined) return undefined
    const price = Price.of(this.prices, model.price === "reported" ? { name: model.name } : model)
    return typeof price === "object"
      ? Usage.sum(Price.costOf(price, usage, reply.serviceTier), Price.costOfItems(price, reply.content ?? []))
      : undefined
  }

  /** Warns once of each limit that is near, here and in the ancestors. */
  warn(now: number): Effect.Effect<void> {
    const warnings = this.chain.flatMap((meter) => {
      const { announce } = meter
      return announce === undefined ? [] : meter.#warnings(now).map((warning) => announce(warning))
    })
    return warnings.length === 0 ? Effect.void : Effect.all(warnings, { discard: true })
  }

  #warnings(now: number): ReadonlyArray<Warning> {
    const { warnAt } = this.budget
    if (warnAt >= 1) return []
    const near = shared.filter((reason) => this.spent(reason, now) >= warnAt * this.#limits[reason])
    const news = near.filter((reason) => this.#warned?.has(reason) !== true)
    this.warnedBefore(news)
    return news.map((reason) => ({ reason, limit: this.#limits[reason], spent: this.spent(reason, now) }))
  }

  #exceeded(reason: Shared, spent: number, because?: Because): SharedExceeded {
    return new Exceeded(this, reason, this.#limits[reason], spent, because)
  }
}

/** Ends the run to which a limit belongs, on behalf of the run with this meter, which has reached it. */
export const end = (meter: Meter, exceeded: Exceeded): Effect.Effect<never> =>
  Effect.suspend(() => {
    meter.endWith(exceeded)
    return Effect.die(exceeded)
  })
