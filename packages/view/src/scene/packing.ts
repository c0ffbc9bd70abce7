/**
 * Gives each strand a row of its lane, so that no two strands overlap: the lowest row that is free when the strand begins.
 *
 * @internal
 */
import type { Lane, Layer, Mark, Span, Track } from "./Shapes.ts"
import type { Piece, Seam, Strand } from "./strand.ts"

/** The layers, outermost first. This is the order of the lanes in a track. */
const layers: ReadonlyArray<Layer> = ["run", "turn", "model", "transport", "tool", "fixer"]

/** The lanes and items of a scene, and the item of each event. */
export interface Packed {
  readonly lanes: ReadonlyArray<Lane>
  readonly lanesOf: Readonly<Record<number, ReadonlyArray<Lane>>>
  readonly items: ReadonlyArray<Span | Mark>
  readonly itemOf: ReadonlyArray<number>
}

export const pack = (tracks: ReadonlyArray<Track>, strands: ReadonlyArray<Strand>, events: number): Packed => {
  const lanes: Array<Lane> = []
  const items: Array<Span | Mark> = []
  const itemOf = Array.from({ length: events }, () => -1)
  const byLane = group(strands)
  const lanesOf: Record<number, Array<Lane>> = {}
  let count = 0
  for (const track of tracks) {
    const lanesOfTrack: Array<Lane> = []
    lanesOf[track.id] = lanesOfTrack
    for (const layer of layers) {
      const own = byLane.get(keyOf(track.id, layer))
      if (own === undefined) continue
      const id = lanes.length
      const rows = rowsOf(own)
      const lane = { id, track: track.id, layer, rows: rows.length }
      lanes.push(lane)
      lanesOfTrack.push(lane)
      rows.forEach((row, at) => {
        for (const strand of row) {
          for (const item of itemsOf(strand)) {
            const index = items.length
            items.push(made(item, index, { lane: id, row: at, strand: count }))
            for (const event of item.events) itemOf[event] = index
          }
          count++
        }
      })
    }
  }
  return { lanes, lanesOf, items, itemOf }
}

const keyOf = (track: number, layer: Layer): string => `${track} ${layer}`

const group = (strands: ReadonlyArray<Strand>): ReadonlyMap<string, Array<Strand>> => {
  const found = new Map<string, Array<Strand>>()
  for (const strand of strands) {
    const key = keyOf(strand.track, strand.layer)
    const list = found.get(key)
    if (list === undefined) found.set(key, [strand])
    else list.push(strand)
  }
  return found
}

/** The time from the first piece or seam of a strand to the last. */
const extent = ({ from, pieces, seams }: Strand): readonly [number, number] => {
  const first = pieces[0]?.from ?? seams[0]?.at ?? from
  let [start, end] = [first, pieces.at(-1)?.to ?? first]
  for (const { at } of seams) {
    start = Math.min(start, at)
    end = Math.max(end, at)
  }
  return [start, end]
}

/**
 * Assigns the strands of a lane to rows, by time. The free rows are in a heap, and the busy rows are sorted by their end, so that many rows
 * take little time.
 */
const rowsOf = (strands: ReadonlyArray<Strand>): ReadonlyArray<ReadonlyArray<Strand>> => {
  const placed = strands
    .filter(({ pieces, seams }) => pieces.length + seams.length > 0)
    .map((strand) => ({ strand, extent: extent(strand) }))
    .toSorted((one, other) => one.extent[0] - other.extent[0])
  const rows: Array<Array<Strand>> = []
  const free = new Heap()
  const busy: Array<{ readonly row: number; readonly until: number }> = []
  for (const {
    extent: [from, to],
    strand
  } of placed) {
    release(busy, free, from)
    const row = free.pop() ?? rows.push([]) - 1
    rows[row]?.push(strand)
    insert(busy, { row, until: to })
  }
  return rows
}

/** Inserts a busy row in the list, in which the row that is free first comes last. */
const insert = (busy: Array<{ readonly row: number; readonly until: number }>, entry: (typeof busy)[number]) => {
  let [low, high] = [0, busy.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((busy[middle]?.until ?? 0) > entry.until) low = middle + 1
    else high = middle
  }
  busy.splice(low, 0, entry)
}

const release = (busy: Array<{ readonly row: number; readonly until: number }>, free: Heap, at: number) => {
  for (let last = busy.at(-1); last !== undefined && last.until <= at; last = busy.at(-1)) {
    busy.pop()
    free.push(last.row)
  }
}

/** A heap of numbers that gives the smallest one first. */
class Heap {
  readonly #numbers: Array<number> = []

  push(number: number): void {
    const numbers = this.#numbers
    let at = numbers.push(number) - 1
    while (at > 0) {
      const parent = (at - 1) >> 1
      if ((numbers[parent] ?? 0) <= number) break
      numbers[at] = numbers[parent] ?? 0
      at = parent
    }
    numbers[at] = number
  }

  pop(): number | undefined {
    const numbers = this.#numbers
    const [first] = numbers
    const last = numbers.pop()
    if (first === undefined || last === undefined || numbers.length === 0) return first
    let at = 0
    for (;;) {
      let child = at * 2 + 1
      if (child >= numbers.length) break
      if ((numbers[child + 1] ?? Infinity) < (numbers[child] ?? 0)) child++
      if ((numbers[child] ?? 0) >= last) break
      numbers[at] = numbers[child] ?? 0
      at = child
    }
    numbers[at] = last
    return first
  }
}

/**
 * The pieces and seams of a strand, sorted by time. At the same instant, the earlier event decides, so that a verdict comes before its
 * wait.
 */
const itemsOf = ({ pieces, seams }: Strand): ReadonlyArray<Piece | Seam> =>
  seams.length === 0 ? pieces : [...seams, ...pieces].toSorted(byTime)

const byTime = (one: Piece | Seam, other: Piece | Seam): number =>
  (one.shape === "span" ? one.from : one.at) - (other.shape === "span" ? other.from : other.at) ||
  firstOf(one) - firstOf(other)

/** The first event of an item. A piece that has ended may have got a later one, so it may begin with the event that it is about. */
const firstOf = ({ events, subject }: Piece | Seam): number => Math.min(subject, events[0] ?? subject)

/** Makes an item. It copies field by field, because spreading objects is slow for a hundred thousand items. */
const made = (
  item: Piece | Seam,
  id: number,
  { lane, row, strand }: { readonly lane: number; readonly row: number; readonly strand: number }
): Span | Mark => {
  const { events, label, subject } = item
  if (item.shape === "mark")
    return { shape: "mark", id, lane, row, strand, label, events, subject, tone: item.tone, at: item.at }
  const { from, part, state, to } = item
  return { shape: "span", id, lane, row, strand, label, events, subject, part, state, from, to }
}
