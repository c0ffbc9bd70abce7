/** The events that listeners have lost, counted by type, for one warning about all of them. */
import * as Effect from "effect/Effect"
import type * as AgentEvent from "./AgentEvent.ts"
import type { Losses } from "./RunContext.ts"

export class Lost {
  readonly #byType = new Map<AgentEvent.AgentEvent["type"], number>()
  readonly #losses: Losses

  constructor(losses: Losses) {
    this.#losses = losses
  }

  add({ type }: AgentEvent.AgentEvent): void {
    this.#losses.events++
    this.#byType.set(type, (this.#byType.get(type) ?? 0) + 1)
  }

  /** Warns of what was lost; nothing where nothing was. */
  report(labels: { readonly agent: string; readonly runId?: string }): Effect.Effect<void> | undefined {
    if (this.#byType.size === 0) return undefined
    let lost = 0
    const parts: Array<string> = []
    for (const [type, count] of this.#byType) {
      lost += count
      parts.push(`${count} × ${type}`)
    }
    return Effect.annotateLogs(
      Effect.logWarning(`Listeners of agent '${labels.agent}' were too slow, and lost ${parts.join(", ")}`),
      { ...labels, lost }
    )
  }
}
