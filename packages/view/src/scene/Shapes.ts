/** The parts of a scene: tracks, lanes, spans and marks. */

/** A layer of a run, outermost first. */
export type Layer = "run" | "turn" | "model" | "transport" | "tool" | "fixer"

/** The runs of one agent with the same parent track and the same purpose. */
export interface Track {
  readonly id: number
  /** `run` without a parent, `fixer` for repairs of a call, `agent` for other children. */
  readonly kind: "run" | "fixer" | "agent"
  readonly agent: string
  /** 0 for runs without a parent. */
  readonly depth: number
  /** The track of their parents. */
  readonly parent?: number
}

/** One layer of a track. Lanes come in the order in which they are drawn. */
export interface Lane {
  readonly id: number
  readonly track: number
  readonly layer: Layer
  /** How many rows it has: things that happen at the same time stand in different ones. */
  readonly rows: number
}

/** What a span is: `mending` is the time in which a fixer works on a call, seen from that call. */
export type Part = "run" | "turn" | "attempt" | "send" | "call" | "wait" | "mending" | "approval" | "repair"

/** The end of a span; `unfinished` if no event has it. */
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
  /** Its index in `items`. */
  readonly id: number
  readonly lane: number
  /** Within its lane, from 0. */
  readonly row: number
  readonly label: string
  /** The indexes of its events, in order. Empty if the item is only inferred: a wait, one of several sends. */
  readonly events: ReadonlyArray<number>
  /** Its most telling event. */
  readonly subject: number
}

/** Something that lasts, or may last. Times are milliseconds since the epoch. */
export interface Span extends Item {
  readonly shape: "span"
  readonly part: Part
  readonly state: State
  readonly from: number
  readonly to: number
}

/** Something that happens at an instant: a verdict on the seam, mostly. */
export interface Mark extends Item {
  readonly shape: "mark"
  /** `mended`: recovery goes on from here; `tell`: the model reads of it; `lost`: it gives up; `asked`: a person decides. */
  readonly tone: Tone
  readonly at: number
}

/** The meaning of a mark. */
export type Tone = "mended" | "tell" | "lost" | "asked" | "note"

/** When an item begins. */
export const startOf = (item: Span | Mark): number => (item.shape === "span" ? item.from : item.at)

/** When an item ends; a mark ends where it begins. */
export const endOf = (item: Span | Mark): number => (item.shape === "span" ? item.to : item.at)

/** A stretch of time in which nothing is at work. */
export interface Gap {
  readonly from: number
  readonly to: number
}
