/** The parts of a scene. Each track is an agent; its lanes are layers; spans and marks are the items in a lane. */

/** A layer of a run; the outermost layer is first. */
export type Layer = "run" | "turn" | "model" | "transport" | "tool" | "fixer"

/** A track of the drawing: the runs of one agent that have the same parent track and the same purpose. */
export interface Track {
  readonly id: number
  /** `run`: the runs have no parent. `fixer`: they repair a call. `agent`: they are other children. */
  readonly kind: "run" | "fixer" | "agent"
  readonly agent: string
  /** The depth of nesting: 0 for runs without a parent. */
  readonly depth: number
  /** The id of the track of the parents; absent for runs without a parent. */
  readonly parent?: number
}

/** A lane of the drawing: one layer of a track. The lanes are in the order in which they are drawn. */
export interface Lane {
  readonly id: number
  readonly track: number
  readonly layer: Layer
  /** How many rows the lane has. Items that overlap in time are in different rows. */
  readonly rows: number
}

/** What a span shows. `mending` is the time in which a fixer works on a call, in the lane of the call. */
export type Part = "run" | "turn" | "attempt" | "send" | "call" | "wait" | "mending" | "approval" | "repair"

/** How a span ended. It is `unfinished` if no event says how. */
export type State =
  | "ok"
  | "failed"
  | "tell"
  | "discarded"
  | "interrupted"
  | "suspended"
  | "refused"
  | "waited"
  | "unfinished"

interface Item {
  /** The index of the item in `Scene.items`. */
  readonly id: number
  readonly lane: number
  /** The row within the lane, from 0. */
  readonly row: number
  /** The number of the strand. The items of one tool call, or of one chain of model calls, have the same number. */
  readonly strand: number
  readonly label: string
  /** The indexes of the item's events, in order. Empty if the item is only inferred from other events, as a wait is. */
  readonly events: ReadonlyArray<number>
  /** The index of the event that says most about the item. */
  readonly subject: number
}

/** An item that lasts for a time. Times are in milliseconds since the epoch. */
export interface Span extends Item {
  readonly shape: "span"
  readonly part: Part
  readonly state: State
  readonly from: number
  readonly to: number
}

/** An item at an instant, such as a verdict between two attempts. */
export interface Mark extends Item {
  readonly shape: "mark"
  /**
   * The meaning of the mark. `mended`: recovery goes on from here. `tell`: the model is told. `lost`: recovery gives up. `asked`: a person
   * decides.
   */
  readonly tone: Tone
  readonly at: number
}

/** The meaning of a mark; `note` has no meaning for recovery. */
export type Tone = "mended" | "tell" | "lost" | "asked" | "note"

/** The time at which an item begins. */
export const startOf = (item: Span | Mark): number => (item.shape === "span" ? item.from : item.at)

/** The time at which an item ends. A mark ends when it begins. */
export const endOf = (item: Span | Mark): number => (item.shape === "span" ? item.to : item.at)

/** A stretch of time in which nothing is at work. */
export interface Gap {
  readonly from: number
  readonly to: number
}
