/**
 * A strand: a sequence of pieces (spans) in one row of a lane, and the seams (marks) between them. A piece never begins before the end of
 * the previous one.
 *
 * @internal
 */
import type { Layer, Part, State, Tone } from "./Shapes.ts"

export interface Piece {
  readonly shape: "span"
  readonly part: Part
  label: string
  state: State
  from: number
  to: number
  readonly events: Array<number>
  subject: number
}

export interface Seam {
  readonly shape: "mark"
  readonly tone: Tone
  readonly label: string
  readonly at: number
  readonly events: Array<number>
  readonly subject: number
}

/** How a piece begins: its part, label, time and event. */
export interface Beginning {
  readonly part: Part
  readonly label: string
  readonly at: number
  readonly subject: number
  /** Whether the event `subject` belongs to this piece, and not to another one. */
  readonly isOwn?: boolean
  readonly state?: State
}

export class Strand {
  readonly pieces: Array<Piece> = []
  readonly seams: Array<Seam> = []
  /** The piece that has not ended yet; `undefined` if there is none. */
  current: Piece | undefined

  readonly track: number
  readonly layer: Layer
  /** The time at which the strand begins. */
  readonly from: number

  constructor(track: number, layer: Layer, from: number) {
    this.track = track
    this.layer = layer
    this.from = from
  }

  /** The time at which the last piece ends. */
  get cursor(): number {
    return this.pieces.at(-1)?.to ?? this.from
  }

  begin({ at, isOwn = false, label, part, state = "unfinished", subject }: Beginning): Piece {
    const last = this.pieces.at(-1)
    // the last piece may be a wait that is cut short
    if (last !== undefined && last.to > at) last.to = Math.max(last.from, at)
    this.current = undefined
    const from = Math.max(at, this.cursor)
    const piece: Piece = { shape: "span", part, label, state, from, to: from, events: isOwn ? [subject] : [], subject }
    this.pieces.push(piece)
    this.current = piece
    return piece
  }

  /** Ends the current piece at this time. If an event is given, the piece gets it. */
  end(at: number, state: State, event?: number): Piece | undefined {
    const piece = this.current
    if (piece === undefined) return undefined
    piece.to = Math.max(piece.from, at)
    piece.state = state
    if (event !== undefined) {
      piece.events.push(event)
      piece.subject = event
    }
    this.current = undefined
    return piece
  }

  /** Adds a wait of this length. */
  pause(at: number, delay: number, label: string, subject: number): void {
    const piece = this.begin({ part: "wait", label, at, subject, state: "waited" })
    piece.to = piece.from + delay
    this.current = undefined
  }

  mark(at: number, tone: Tone, label: string, event: number): void {
    this.seams.push({ shape: "mark", tone, label, at, events: [event], subject: event })
  }

  /** Ends the strand at this time, also a wait that would last longer. */
  cut(at: number, state: State): void {
    this.end(at, state)
    const last = this.pieces.at(-1)
    if (last !== undefined && last.to > at) last.to = Math.max(last.from, at)
  }

  /** Moves the ends of pieces that would be later than the recording to the end of the recording. */
  clamp(end: number): void {
    for (const piece of this.pieces) {
      piece.from = Math.min(piece.from, end)
      piece.to = Math.min(piece.to, end)
    }
  }
}
