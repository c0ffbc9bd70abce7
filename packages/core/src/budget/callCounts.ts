/** How often the tools with a cap were called in a run. */
/** The limit of the calls of one tool. Its identity is that of the tool: copies of a tool share it. */
export interface CallCap {
  readonly tool: string
  readonly max: number
}

export class CallCounts {
  #calls: Map<CallCap, number> | undefined
  /** The counts of a run that goes on, by the names of the tools. */
  #before: Readonly<Record<string, number>> | undefined

  /** Counts a call of a tool, unless its cap admits no more. */
  take(cap: CallCap): boolean {
    const calls = (this.#calls ??= new Map<CallCap, number>())
    const before = calls.get(cap) ?? ownOf(this.#before, cap.tool)
    if (before >= cap.max) return false
    calls.set(cap, before + 1)
    return true
  }

  /** By the names of the tools; absent where none was called. */
  get data(): Readonly<Record<string, number>> | undefined {
    if (this.#calls === undefined) return this.#before
    const counts = { ...this.#before }
    // two tools with one name, in two agents, go on with the greater count
    for (const [{ tool }, calls] of this.#calls) counts[tool] = Math.max(calls, ownOf(counts, tool))
    return counts
  }

  /** Goes on with the counts of a run that was suspended. */
  restore(calls: Readonly<Record<string, number>>): void {
    this.#before = { ...this.#before, ...calls }
  }
}

const ownOf = (counts: Readonly<Record<string, number>> | undefined, tool: string): number =>
  counts !== undefined && Object.hasOwn(counts, tool) ? (counts[tool] ?? 0) : 0
