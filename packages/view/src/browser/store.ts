/** The state of the page: the scene, the visible stretch of time, the selection, and which branches are unfolded. Listeners learn of changes. */
import * as Axis from "../drawing/Axis.ts"
import type { Window } from "../drawing/Layout.ts"
import type { Outcome } from "../recording/Outcome.ts"
import type { Recorded } from "../recording/Recorded.ts"
import type { Recording } from "../recording/Recording.ts"
import * as Outline from "../scene/Outline.ts"
import * as Scene from "../scene/Scene.ts"
import { failuresOf, type Filter, filters } from "./filters.ts"

/** What has changed: the events, the visible stretch of time, the selection, the rows that are shown, the search, or the view. */
export type Change = "scene" | "window" | "selection" | "rows" | "search" | "view"

/** The views of the page, in the order of their keys. */
export const views = ["timeline", "conversation", "events", "comparison"] as const
export type View = (typeof views)[number]

export class Store {
  scene: Scene.Scene
  outline: Outline.Outline
  axis: Axis.Axis
  window: Window
  events: ReadonlyArray<Recorded>
  /** The ids of the items that failed, by time. */
  failures: ReadonlyArray<number>
  /** The ids of the branches that have a row, in their order. */
  rows: ReadonlyArray<number> = []
  /** The selected branch, and the event in it that the reader has selected. */
  selected: number | undefined
  event: number | undefined
  /** The part of the page that made the selection. It need not scroll to the selection. */
  by: unknown
  view: View = "timeline"
  filter: Filter = "all"
  /** The events that match the search; `undefined` if the reader searches for nothing. */
  matches: ReadonlySet<number> | undefined
  readonly #folds = new Map<string, boolean>()
  readonly #listeners: Array<(change: Change) => void> = []
  #matching: ReadonlySet<number> | undefined

  constructor(recording: Recording) {
    this.events = recording.events
    this.scene = Scene.make(recording)
    this.outline = Outline.make(this.scene, this.events)
    this.axis = Axis.make(this.scene)
    this.failures = failuresOf(this.scene, this.events)
    this.window = this.whole
    this.#flatten()
  }

  listen(listener: (change: Change) => void): void {
    this.#listeners.push(listener)
  }

  /** Adds a listener that learns of changes before the others. */
  listenFirst(listener: (change: Change) => void): void {
    this.#listeners.unshift(listener)
  }

  /** Shows these events from now on. The selection stays. */
  renew(recording: Recording): void {
    const { isWhole } = this
    const key = this.branch?.key
    this.events = recording.events
    this.scene = Scene.make(recording)
    this.outline = Outline.make(this.scene, this.events)
    this.axis = Axis.make(this.scene)
    this.failures = failuresOf(this.scene, this.events)
    if (isWhole) this.window = this.whole
    this.#matching = undefined
    this.selected = key === undefined ? undefined : this.outline.branches.find((branch) => branch.key === key)?.id
    this.#flatten()
    this.#tell("scene")
  }

  /** The stretch that shows everything, with a little room on both sides. */
  get whole(): Window {
    const { length } = this.axis
    return { start: -length * 0.005, end: length * 1.01 }
  }

  get isWhole(): boolean {
    const { end, start } = this.whole
    return this.window.start <= start && this.window.end >= end
  }

  get branch(): Outline.Branch | undefined {
    return this.outline.branches[this.selected ?? -1]
  }

  /** How the run ended; `undefined` without events. */
  get outcome(): Outcome | undefined {
    return this.scene.outcome
  }

  /** The event that ended the run, if it failed. */
  get fatal(): number | undefined {
    return this.outcome?.fatal?.index
  }

  /** The innermost branch of an event. */
  branchOf(event: number): number | undefined {
    const branch = this.outline.branchOf[this.scene.itemOf[event] ?? -1] ?? -1
    return branch < 0 ? undefined : branch
  }

  select(branch: number | undefined, by?: unknown, event?: number): void {
    this.selected = branch
    this.by = by
    this.event = event
    if (this.#unfoldTo(branch)) {
      this.#flatten()
      this.#tell("rows")
    }
    this.#tell("selection")
  }

  selectEvent(event: number, by?: unknown): void {
    this.select(this.branchOf(event), by, event)
  }

  /** The event that stands for the selection: in links, in the conversation and among the events. */
  get selectedEvent(): number | undefined {
    if (this.event !== undefined) return this.event
    const { branch } = this
    const main = branch?.main ?? this.outline.branches[branch?.children[0] ?? -1]?.main
    return main === undefined ? undefined : this.scene.items[main]?.subject
  }

  show({ end, start }: Window): void {
    const all = this.whole
    const length = Math.min(all.end - all.start, Math.max(0.5, end - start))
    const middle = (start + end) / 2
    const from = Math.min(Math.max(all.start, middle - length / 2), all.end - length)
    this.window = { start: from, end: from + length }
    this.#tell("window")
  }

  /** Magnifies by a factor, around a position of the axis. */
  zoom(factor: number, around = this.#middle()): void {
    const { end, start } = this.window
    this.show({ start: around - (around - start) / factor, end: around + (end - around) / factor })
  }

  pan(by: number): void {
    const { end, start } = this.window
    const all = this.whole
    const moved = Math.min(Math.max(by, all.start - start), all.end - end)
    this.show({ start: start + moved, end: end + moved })
  }

  showAll(): void {
    this.show(this.whole)
  }

  /** Shows the time of a branch, with a little room on both sides. */
  fit(branch: Outline.Branch | undefined): void {
    if (branch === undefined) return
    const [start, end] = [this.axis.toDrawn(branch.from), this.axis.toDrawn(branch.to)]
    const room = Math.max(1, (end - start) * 0.06)
    this.show({ start: start - room, end: end + room })
  }

  /** The innermost branch of a kind around the selection. */
  around(kind: Outline.Branch["kind"]): Outline.Branch | undefined {
    let { branch } = this
    while (branch !== undefined && branch.kind !== kind)
      branch = branch.parent === undefined ? undefined : this.outline.branches[branch.parent]
    return branch
  }

  isUnfolded(branch: Outline.Branch): boolean {
    return this.#folds.get(branch.key) ?? (branch.health === "lost" || (branch.kind === "run" && branch.depth === 0))
  }

  fold(branch: Outline.Branch, isUnfolded: boolean): void {
    if (branch.children.length === 0) return
    this.#folds.set(branch.key, isUnfolded)
    this.#flatten()
    this.#tell("rows")
  }

  choose(filter: Filter): void {
    this.filter = filter
    this.#flatten()
    this.#tell("rows")
  }

  /** Whether a view has something to show: a comparison needs two runs. */
  has(view: View): boolean {
    return view !== "comparison" || this.scene.totals.runs > 1
  }

  look(view: View): void {
    if (!this.has(view)) return
    this.view = view
    this.#tell("view")
  }

  /** Sets the events that match the search. */
  match(matches: ReadonlySet<number> | undefined): void {
    this.matches = matches
    this.#matching = undefined
    this.#tell("search")
  }

  /** Whether a branch, or a branch within it, has an event that matches the search. */
  isMatch(branch: number): boolean {
    if (this.matches === undefined) return true
    this.#matching ??= this.#withOwners([...this.matches].map((event) => this.branchOf(event)))
    return this.#matching.has(branch)
  }

  #withOwners(branches: Iterable<number | undefined>): ReadonlySet<number> {
    const found = new Set<number>()
    for (let branch of branches)
      while (branch !== undefined && !found.has(branch)) {
        found.add(branch)
        // Mutant `this.outline.branches[branch].parent` survives: each of them is a branch
        branch = this.outline.branches[branch]?.parent
      }
    return found
  }

  #middle(): number {
    const { branch } = this
    const { end, start } = this.window
    const at = branch === undefined ? undefined : this.axis.toDrawn((branch.from + branch.to) / 2)
    return at !== undefined && at > start && at < end ? at : (start + end) / 2
  }

  /** Unfolds the branches around a branch, and shows all branches if the filter hides it. Returns whether that changes the rows. */
  #unfoldTo(branch: number | undefined): boolean {
    let isChanged = false
    const { branches } = this.outline
    // Mutant `true` for `this.filter !== "all"` survives: without a filter, a branch without a row has an owner that is folded
    if (branch !== undefined && this.filter !== "all" && !this.rows.includes(branch)) {
      this.filter = "all"
      isChanged = true
    }
    for (let next = branches[branch ?? -1]?.parent; next !== undefined; next = branches[next]?.parent) {
      const owner = branches[next]
      if (owner === undefined || this.isUnfolded(owner)) continue
      this.#folds.set(owner.key, true)
      isChanged = true
    }
    return isChanged
  }

  #flatten(): void {
    const { branches, roots } = this.outline
    const isShown = filters[this.filter].has
    const wanted = this.filter === "all" ? undefined : this.#withOwners(branches.filter(isShown).map(({ id }) => id))
    const rows: Array<number> = []
    const waiting = [...roots].toReversed()
    for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
      const branch = branches[id]
      if (branch === undefined || wanted?.has(id) === false) continue
      rows.push(id)
      if (wanted === undefined ? !this.isUnfolded(branch) : this.#folds.get(branch.key) === false) continue
      for (let at = branch.children.length - 1; at >= 0; at--) waiting.push(branch.children[at] ?? 0)
    }
    this.rows = rows
  }

  #tell(change: Change): void {
    for (const listener of this.#listeners) listener(change)
  }
}
