/** The text of one part of a composition that readers of the stream have seen and that is not discarded. */
import type * as AgentEvent from "../../event/AgentEvent.ts"

/** The text of one turn; empty if the turn has shown only reasoning. */
interface Reply {
  readonly runId: string
  readonly text: string
}

export class Shown {
  /** The run of the part. */
  runId: string | undefined
  /** By run and turn. */
  readonly #replies = new Map<string, Reply>()
  readonly #parents = new Map<string, string>()

  hear(event: AgentEvent.AgentEvent): void {
    const { runId } = event
    const key = `${event.turn} ${runId}`
    const text = this.#replies.get(key)?.text ?? ""
    switch (event.type) {
      case "run-start":
        this.runId ??= runId
        if (event.parent !== undefined) this.#parents.set(runId, event.parent.runId)
        return
      case "text-delta":
        this.#replies.set(key, { runId, text: text + event.text })
        return
      case "reasoning-delta":
        this.#replies.set(key, { runId, text })
        return
      case "attempt-continued":
        this.#replies.set(key, { runId, text: event.kept })
        return
      case "attempt-discarded": {
        const { discardedRunId } = event
        if (discardedRunId === undefined) this.#replies.delete(key)
        else
          for (const [one, reply] of this.#replies)
            if (this.#isWithin(reply.runId, discardedRunId)) this.#replies.delete(one)
      }
    }
  }

  /** Removes and returns the text, if there is any. */
  take(): string | undefined {
    if (this.#replies.size === 0) return undefined
    const text = Array.from(this.#replies.values(), (reply) => reply.text).join("")
    this.#replies.clear()
    return text
  }

  #isWithin(runId: string, ancestor: string): boolean {
    for (let one: string | undefined = runId; one !== undefined; one = this.#parents.get(one)) {
      if (one === ancestor) return true
    }
    return false
  }
}
