/** The state of the page: the scene, the visible stretch of time and the selection. Listeners learn of changes. */
import { sheet, type Sheet, whole, type Window } from "../drawing/Layout.ts"
import type { Recorded } from "../recording/Recorded.ts"
import type { Recording } from "../recording/Recording.ts"
import * as Scene from "../scene/Scene.ts"
import { endOf, type Mark, type Span, startOf } from "../scene/Shapes.ts"

/** What has changed: the events, the visible stretch of time, or the selection. */
export type Change = "scene" | "window" | "selection"

export class Store {
  scene: Scene.Scene
  sheet: Sheet
  window: Window
  events: ReadonlyArray<Recorded>
  selected: number | undefined
  /** The part of the page that made the selection. It need not scroll to the selection. */
  by: unknown
  /** The event that the reader has selected, if any. An item may have several events. */
  event: number | undefined
  #listeners: Array<(change: Change) => void> = []
  #lanes: ReadonlyArray<ReadonlyArray<Span | Mark>> | undefined

  constructor(recording: Recording) {
    this.events = recording.events
    this.scene = Scene.make(recording)
    this.sheet = sheet(this.scene)
    this.window = whole(this.sheet)
  }

  listen(listener: (change: Change) => void): void {
    this.#listeners.push(listener)
  }

  /** Shows these events from now on. The selection stays. */
  renew(recording: Recording): void {
    const isWhole = this.isWhole
    const subject = this.item?.events[0] ?? this.item?.subject
    this.events = recording.events
    this.scene = Scene.make(recording)
    this.sheet = sheet(this.scene)
    this.#lanes = undefined
    if (isWhole) this.window = whole(this.sheet)
    this.selected = subject === undefined ? undefined : this.scene.itemOf[subject]
    this.#tell("scene")
  }

  get isWhole(): boolean {
    const { end, start } = whole(this.sheet)
    return this.window.start <= start && this.window.end >= end
  }

  get item(): Span | Mark | undefined {
    return this.selected === undefined ? undefined : this.scene.items[this.selected]
  }

  select(item: number | undefined, by?: unknown, event?: number): void {
    this.selected = item
    this.by = by
    this.event = event
    if (this.item !== undefined) this.#reveal(this.item)
    this.#tell("selection")
  }

  /** Shows another stretch of time. It stays within the whole time, and is at least half a millisecond long. */
  show({ end, start }: Window): void {
    const all = whole(this.sheet)
    const length = Math.min(all.end - all.start, Math.max(0.5, end - start))
    const middle = (start + end) / 2
    const from = Math.min(Math.max(all.start, middle - length / 2), all.end - length)
    this.window = { start: from, end: from + length }
    this.#tell("window")
  }

  /** Magnifies the picture by a factor, around a position of the axis. */
  zoom(factor: number, around = (this.window.start + this.window.end) / 2): void {
    const { end, start } = this.window
    this.show({ start: around - (around - start) / factor, end: around + (end - around) / factor })
  }

  pan(by: number): void {
    const { end, start } = this.window
    const all = whole(this.sheet)
    const held = Math.min(Math.max(by, all.start - start), all.end - end)
    this.show({ start: start + held, end: end + held })
  }

  showAll(): void {
    this.show(whole(this.sheet))
  }

  /** The items of a lane, sorted by time. */
  inLane(lane: number): ReadonlyArray<Span | Mark> {
    this.#lanes ??= byLane(this.scene)
    return this.#lanes[lane] ?? []
  }

  /** Moves the visible stretch of time so that it has the item. */
  #reveal(item: Span | Mark): void {
    const [from, to] = [startOf(item), endOf(item)].map(this.sheet.axis.toDrawn)
    const { end, start } = this.window
    if (from === undefined || to === undefined || (to >= start && from <= end)) return
    const half = (end - start) / 2
    const middle = (from + Math.min(to, from + 2 * half)) / 2
    this.show({ start: middle - half, end: middle + half })
  }

  #tell(change: Change): void {
    for (const listener of this.#listeners) listener(change)
  }
}

const byLane = ({ items, lanes }: Scene.Scene): ReadonlyArray<ReadonlyArray<Span | Mark>> => {
  const found = lanes.map((): Array<Span | Mark> => [])
  for (const item of items) found[item.lane]?.push(item)
  return found.map((list) => list.toSorted((one, other) => startOf(one) - startOf(other) || one.id - other.id))
}
