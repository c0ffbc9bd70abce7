/** Reads the attempts of one tool call from its events. */
import { at, flagAt, numberAt, textAt } from "../recording/Fields.ts"
import type { Recorded } from "../recording/Recorded.ts"
import { tagOf } from "../recording/ErrorWords.ts"
import { Refused } from "./refusing.ts"
import { failureOf, isSame } from "./failures.ts"
import type { Attempt, Failure, Started } from "./parts.ts"
import type { Rows, Treated } from "./rows.ts"

/** A run that was started in a call, and how it ended. */
export interface ChildEnd {
  readonly at: number
  readonly text?: string
  readonly failure?: Failure
}

/** A call at work. */
export class Call {
  readonly tool: string
  readonly callId: string
  readonly attempts: Array<Attempt> = []
  /** Whether a fixer is at work; the runs that begin now are its own. */
  isFixing = false
  isOver = false
  /** Whether the last event is the failure of an attempt, or a decision about one. */
  hasFailed = false
  /** The arguments as JSON, once a person was asked about them. */
  asked: string | undefined
  /** Whether it waits before its next attempt. */
  isWaiting = false
  readonly #arguments: unknown
  readonly #rows: Rows
  /** When the present attempt began. */
  #since: number
  #runs: Array<Begun> = []
  #lastRun: ChildEnd | undefined
  #runsAtWork = 0
  /** Whether several runs were at work at once. */
  #isConcurrent = false
  /** The attempts that the events have counted, also those whose arguments were invalid. */
  #counted = 0
  #failed: Recorded | undefined
  #treated: Treated | undefined
  #fixBegan = 0
  #lastFix: string | undefined

  constructor(started: Recorded, rows: Rows) {
    this.tool = textAt(started, "tool") ?? ""
    this.callId = textAt(started, "callId") ?? ""
    this.#arguments = at(started, "arguments")
    this.#since = started.at
    this.#rows = rows
  }

  /** A person is asked about the call. */
  requested(): void {
    this.asked = asJson(this.#arguments)
  }

  /** A person has decided: the attempt begins now. */
  admitted({ at }: Recorded): void {
    this.#since = at
  }

  started(event: Recorded, input: string): void {
    const previous = this.#lastRun?.at ?? this.#since
    this.#runs.push({ agent: event.agent, input, at: event.at, previous })
    this.#isConcurrent ||= this.#runsAtWork > 0
    this.#runsAtWork++
  }

  ended(end: ChildEnd): void {
    this.#lastRun = end
    this.#runsAtWork--
  }

  failed(event: Recorded): void {
    this.#settleFailure()
    this.#counted++
    this.isWaiting = false
    this.#failed = event
    this.hasFailed = true
  }

  treated(event: Recorded): void {
    const tag = textAt(event, "tag") ?? ""
    this.#settleFailure(tag)
    this.#treated = this.#rows.of(this.callId, tag)
    this.#treated.take(event)
    this.#since = event.at + (numberAt(event, "delay") ?? 0)
    this.isWaiting = textAt(event, "verdict") === "retry" && !flagAt(event, "gaveUp")
    this.hasFailed = true
  }

  fixing(event: Recorded): void {
    this.isFixing = true
    this.#fixBegan = event.at
  }

  fixed(event: Recorded): void {
    this.isFixing = false
    const after = event.at - this.#fixBegan
    const answer = textAt(event, "answer")
    this.#lastFix = answer
    this.#treated?.fixed(answer === undefined ? { after, failure: failureOf(at(event, "error")) } : { after, answer })
    this.#since = event.at
    this.hasFailed = false
  }

  /** The call has a settlement: a result of the tool or of a row, or a failure that the model reads. */
  settle(event: Recorded): void {
    this.#settleFailure()
    this.isOver = true
    if (textAt(event, "use", "settlement", "kind") !== "result") return
    const text = textAt(event, "use", "settlement", "text") ?? ""
    const isOwn = (numberAt(event, "use", "attempts") ?? 1) > this.#counted
    if (isOwn) this.#push(event.at, { type: "gives", text })
    else if (this.#treated !== undefined) {
      this.#treated.answer = text
      this.#treated.isResult = this.#lastFix !== undefined
    }
  }

  /** The run has ended, and this call has no settlement. Returns whether it was at work, or waited. */
  cut(event: Recorded): boolean {
    this.#settleFailure()
    const isDefect = flagAt(event, "isDefect")
    if (this.isFixing) this.#cutFixer(event, isDefect)
    if (this.isOver || this.isFixing || this.hasFailed) return this.isWaiting
    const message = textAt(event, "error", "message") ?? ""
    this.#push(event.at, isDefect ? { type: "dies", message } : { type: "never" })
    return this.attempts.at(-1)?.type === "never"
  }

  #cutFixer(event: Recorded, isDefect: boolean): void {
    const after = event.at - this.#fixBegan
    const error = at(event, "error")
    if (event.type !== "run-failed") this.#treated?.fixed({ after, cut: "never" })
    else if (isDefect) this.#treated?.fixed({ after, cut: "dies" })
    else if (tagOf(error) !== "BudgetExceededError") this.#treated?.fixed({ after, failure: failureOf(error) })
    else throw new Refused(event, "a fixer has reached the limit, and its run is not played again")
  }

  /** Writes the failed attempt down, once its verdict, which knows its tag, is there or cannot come any more. */
  #settleFailure(tag?: string): void {
    const failed = this.#failed
    if (failed === undefined) return
    this.#failed = undefined
    const error = at(failed, "error")
    // the tool has not run, and any tool refuses the same arguments
    if (tagOf(error) === "InvalidArgs") return
    this.#push(failed.at, { type: "fails", failure: failureOf(error, tag) })
    this.#since = failed.at
  }

  #push(at: number, end: Ending): void {
    const isOfRun = this.#runs.length > 0 && isEndOf(end, at, this.#lastRun)
    const isInTurn = !this.#isConcurrent
    const since = isInTurn && this.#runsAtWork === 0 ? (this.#lastRun?.at ?? this.#since) : this.#since
    const runs = this.#runs.map(({ agent, at, input, previous }) => ({
      agent,
      input,
      after: at - (isInTurn ? previous : this.#since)
    }))
    this.attempts.push({ after: Math.max(0, at - since), runs, isInTurn, ...(isOfRun ? { type: "run" } : end) })
    this.#runs = []
    this.#lastRun = undefined
    this.#runsAtWork = 0
    this.#isConcurrent = false
  }
}

/** A run that has begun in an attempt, and the end of the run before it. */
interface Begun extends Omit<Started, "after"> {
  readonly at: number
  readonly previous: number
}

/** Arguments as JSON, in the form of the decoded arguments. */
const asJson = (args: unknown): string => {
  if (typeof args !== "string") return JSON.stringify(args)
  try {
    return JSON.stringify(JSON.parse(args))
  } catch {
    return args
  }
}

type Ending =
  | { readonly type: "gives"; readonly text: string }
  | { readonly type: "fails"; readonly failure: Failure }
  | { readonly type: "dies"; readonly message: string }
  | { readonly type: "never" }

/** Whether an attempt ended as the last run did that it has started. */
const isEndOf = (end: Ending, at: number, run: ChildEnd | undefined): boolean => {
  if (run === undefined) return false
  if (end.type === "gives") return run.text === end.text
  if (end.type === "fails") return run.failure !== undefined && isSame(run.failure, end.failure)
  // the run has ended with that run
  return end.type === "never" && run.failure !== undefined && run.at === at
}
