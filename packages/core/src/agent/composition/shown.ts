/** The text of one part of a composition that readers of the stream have seen and that is not discarded. */
import type * as AgentEvent from "../../event/AgentEvent.ts"

export class Shown {
  /** The run of the part. */
  runId: string | undefined
  /** Texts by run; empty for a run that has shown only reasoning. */
  readonly #texts = new Map<string, string>()
  readonly #parents = new Map<string, string>()

  hear(event: AgentEvent.AgentEvent): void {
    const { runId } = event
    switch (event.type) {
      case "run-start":
        this.runId ??= runId
        if (event.parent !== undefined) this.#parents.set(runId, event.parent.runId)
        return
      case "text-delta":
        this.#texts.set(runId, this.#textOf(runId) + event.text)
        return
      case "reasoning-delta":
        this.#texts.set(runId, this.#textOf(runId))
        return
      case "attempt-continued":
        this.#texts.set(runId, event.kept)
        return
      case "attempt-discarded": {
        const { discardedRunId, text } = event
        const left = this.#textOf(runId).slice(0, -text.length || undefined)
        if (discardedRunId === undefined && left === "") this.#texts.delete(runId)
        else if (discardedRunId === undefined) this.#texts.set(runId, left)
        else for (const one of this.#texts.keys()) if (this.#isWithin(one, discardedRunId)) this.#texts.delete(one)
      }
    }
  }

  /** Removes and returns the text, if there is any. */
  take(): string | undefined {
    if (this.#texts.size === 0) return undefined
    const text = [...this.#texts.values()].join("")
    this.#texts.clear()
    return text
  }

  #textOf(runId: string): string {
    return this.#texts.get(runId) ?? ""
  }

  #isWithin(runId: string, ancestor: string): boolean {
    for (let one: string | undefined = runId; one !== undefined; one = this.#parents.get(one)) {
      if (one === ancestor) return true
    }
    return false
  }
}
