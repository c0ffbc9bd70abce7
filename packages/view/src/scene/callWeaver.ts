/**
 * Makes the strands of one tool call: its attempts, the waits between them, and the repairs of its fixers.
 *
 * @internal
 */
import { amountAt, itemsAt, numberAt, textAt } from "../recording/Fields.ts"
import type { Recorded } from "../recording/Recorded.ts"
import type { State } from "./Shapes.ts"
import { Strand } from "./strand.ts"
import { errorLine } from "../recording/ErrorWords.ts"
import { clip } from "../text/Words.ts"
import { toneOf, verdictLine } from "./words.ts"

export class CallWeaver {
  readonly strand: Strand
  /** The strand of the fixers' repairs, once the call has any. */
  fixes: Strand | undefined
  #hasStarted = false
  #isLate = false
  #attempts = 0
  /** When the next attempt begins, and the index of the event that announces it. */
  #next: { readonly at: number; readonly subject: number } | undefined

  readonly #tool: string
  readonly #add: (strand: Strand) => void

  constructor(track: number, tool: string, at: number, add: (strand: Strand) => void) {
    this.#tool = tool
    this.#add = add
    this.strand = new Strand(track, "tool", at)
    add(this.strand)
  }

  /** Whether the call has begun, so that a further `tool-start` with its id begins another call. */
  get hasStarted(): boolean {
    return this.#hasStarted
  }

  /** Whether the run goes on without the result, which comes later. */
  get isLate(): boolean {
    return this.#isLate
  }

  get isFixing(): boolean {
    return this.fixes?.current !== undefined
  }

  /** Begins the wait for a person: for an approval, or for a decision about a failure. */
  #waits(event: Recorded, index: number) {
    const hasFailed = textAt(event, "request", "failed", "tag") !== undefined
    const [label, asked] = hasFailed
      ? ["waits for a person", "a person is asked"]
      : ["waits for approval", "approval asked"]
    this.strand.begin({ part: "approval", label: `${this.#tool} ${label}`, at: event.at, subject: index })
    this.strand.mark(event.at, "asked", `${asked}: ${clip(textAt(event, "request", "reason") ?? "", 60)}`, index)
  }

  /** Takes an event of the call. Returns whether the call ends with it. */
  take(event: Recorded, index: number): boolean {
    const { at, type } = event
    switch (type) {
      case "tool-start":
        this.#hasStarted = true
        this.#attempt(at, index, true)
        return false
      case "tool-failed":
        this.#running(at, index)
        this.strand.end(at, "failed", index)
        return false
      case "verdict":
        return this.#decided(event, index)
      case "tool-progress":
        this.#running(at, index)
        this.strand.current?.events.push(index)
        return false
      case "tool-waiting":
        // the tool has started the work, and the settlement of the deferred call will end it
        this.#running(at, index)
        this.strand.end(at, "ok", index)
        this.strand.begin({ part: "call", label: `${this.#tool} waits for its settlement`, at, subject: index })
        return false
      case "result-put-aside":
        this.strand.mark(at, "note", `result put aside: ${numberAt(event, "characters") ?? "?"} characters`, index)
        return false
      case "result-cut":
        this.strand.mark(at, "lost", "result cut: it could not be put aside", index)
        return false
      case "arguments-coerced":
        this.strand.mark(at, "mended", `arguments read by ${textAt(event, "change", "step") ?? "?"}`, index)
        return false
      case "approval-requested":
        // the call has not run yet, so its attempt is not counted
        if (this.strand.current?.part === "call") this.#attempts--
        this.strand.end(at, "ok")
        this.#next = undefined
        this.#waits(event, index)
        return false
      case "approval-decided":
        // a call that a grant admits does not wait
        if (textAt(event, "by") !== undefined) {
          this.strand.mark(at, "asked", "approved by a grant", index)
          return false
        }
        this.strand.end(at, "ok")
        if (textAt(event, "decision", "type") === "approve") this.#next = { at, subject: index }
        this.strand.mark(at, "asked", `decided: ${textAt(event, "decision", "type") ?? "?"}`, index)
        return false
      case "approval-expired":
        this.strand.mark(at, "lost", "no decision in time", index)
        return false
      case "fix-start":
      case "fix-end":
      case "fix-failed":
        this.#fixed(event, index)
        return false
      case "tool-denied":
      case "tool-skipped":
        this.#refused(at, index, "refused", type === "tool-denied" ? "refused" : "not run")
        return true
      default:
        return this.#ended(event, index)
    }
  }

  /** Takes the result of a deferred call whose run has gone on. */
  arrive(event: Recorded, index: number): void {
    this.strand.end(event.at, stateOf(textAt(event, "settlement", "kind")), index)
  }

  /** Ends the call. No later event belongs to it. */
  close(at: number, state: State): void {
    if (this.#next !== undefined && this.#next.at < at) this.#attempt(this.#next.at, this.#next.subject, false)
    this.strand.cut(at, state)
    this.fixes?.cut(at, state)
  }

  #attempt(at: number, subject: number, isOwn: boolean) {
    this.#next = undefined
    this.#attempts++
    const label = this.#attempts === 1 ? this.#tool : `${this.#tool}, attempt ${this.#attempts}`
    this.strand.begin({ part: "call", label, at, subject, isOwn })
  }

  /** Begins an attempt if none is at work. Called with an event of an attempt, whose start may be missing. */
  #running(at: number, index: number) {
    if (this.strand.current?.part === "call") return
    this.#attempt(Math.min(at, this.#next?.at ?? (this.#attempts === 0 ? at : this.strand.cursor)), index, false)
  }

  #decided(event: Recorded, index: number): boolean {
    const tone = toneOf(event)
    const delay = amountAt(event, "delay") ?? 0
    // no other event reports a failure of the arguments, so the verdict ends the attempt
    this.strand.end(event.at, "failed")
    this.strand.mark(event.at, tone, verdictLine(event), index)
    if (delay > 0) this.strand.pause(event.at, delay, `waits before attempt ${this.#attempts + 1}`, index)
    if (tone === "mended" && textAt(event, "verdict") === "retry") this.#next = { at: event.at + delay, subject: index }
    return false
  }

  #fixed(event: Recorded, index: number) {
    const { at, type } = event
    const repair = numberAt(event, "repair") ?? 1
    if (this.fixes === undefined) this.#add((this.fixes = new Strand(this.strand.track, "fixer", at)))
    const label = `fixes ${this.#tool}, repair ${repair}`
    if (type === "fix-start" || this.fixes.current === undefined)
      this.fixes.begin({ part: "repair", label, at, subject: index, isOwn: type === "fix-start" })
    if (type === "fix-start") {
      this.strand.begin({ part: "mending", label: `${this.#tool} is being mended`, at, subject: index })
      return
    }
    const isMended = type === "fix-end"
    this.fixes.end(at, isMended ? "ok" : "failed", index)
    if (this.strand.current?.part === "mending") this.strand.end(at, isMended ? "ok" : "failed")
    if (isMended) this.#next = { at, subject: index }
  }

  #refused(at: number, index: number, state: State, word: string) {
    if (this.strand.current === undefined)
      this.strand.begin({ part: "call", label: `${this.#tool}, ${word}`, at, subject: index })
    this.strand.end(at, state, index)
  }

  #ended(event: Recorded, index: number): boolean {
    const { at } = event
    const kind = textAt(event, "use", "settlement", "kind")
    const attempts = numberAt(event, "use", "attempts") ?? this.#attempts
    if (kind === "deferred" && this.strand.current !== undefined) {
      this.#isLate = true
      this.strand.mark(at, "note", "the run goes on", index)
      return true
    }
    const state = stateOf(kind)
    if (this.strand.current?.part !== "call" && attempts > this.#attempts) this.#running(at, index)
    const last = this.strand.pieces.at(-1)
    if (this.strand.current !== undefined || last === undefined) {
      this.#refused(at, index, state, "settled")
      return true
    }
    // a verdict has settled the call, so its last piece gets the event
    last.events.push(index)
    if (last.part === "call") last.subject = index
    return true
  }
}

const stateOf = (kind: string | undefined): State => {
  if (kind === "result" || kind === "deferred") return "ok"
  return kind === "told" || kind === undefined ? "tell" : "interrupted"
}

/** The errors of a failed run in one line: its own error, and the errors of its parts. */
export const reasonsOf = (event: Recorded): string =>
  [errorLine(event["error"]), ...itemsAt(event, "reasons").map((reason) => errorLine(reason))].join("; ")
