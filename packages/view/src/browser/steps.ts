/** Steps through the failures, and fits the visible time to the selection. */
import type { Store } from "./store.ts"

export class Steps {
  readonly #store: Store

  constructor(store: Store) {
    this.#store = store
  }

  /** Which failure is selected, from 1; `undefined` if none is. */
  get nth(): number | undefined {
    const { branch, failures, outline } = this.#store
    if (branch === undefined) return undefined
    const event = this.#store.selectedEvent
    const own = failures.findIndex((id) => this.#store.scene.items[id]?.subject === event)
    const at = own >= 0 ? own : failures.findLastIndex((id) => outline.branchOf[id] === branch.id)
    return at < 0 ? undefined : at + 1
  }

  /** Selects the next failure, or the failure before. */
  failure(by: 1 | -1): void {
    const { branch, failures, scene } = this.#store
    if (failures.length === 0) return
    const { nth } = this
    let next = nth === undefined ? -1 : nth - 1 + by
    if (nth === undefined) {
      const from = branch?.from ?? (by === 1 ? -Infinity : Infinity)
      const times = failures
        .map((id) => scene.items[id])
        .map((item) => (item?.shape === "span" ? item.from : (item?.at ?? 0)))
      next = by === 1 ? times.findIndex((time) => time >= from) : times.findLastIndex((time) => time <= from)
    }
    const item = scene.items[failures[Math.min(Math.max(next, 0), failures.length - 1)] ?? -1]
    if (item !== undefined) this.#store.selectEvent(item.subject)
  }

  /** Selects the error that ended the run. */
  fatal(): void {
    const { fatal } = this.#store
    if (fatal === undefined) return
    this.#store.selectEvent(fatal)
  }

  fit(): void {
    this.#store.fit(this.#store.branch)
  }

  fitTurn(): void {
    this.#store.fit(this.#store.around("turn") ?? this.#store.around("run"))
  }
}
