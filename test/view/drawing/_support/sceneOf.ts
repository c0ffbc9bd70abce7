/** Scenes by hand: tracks with lanes, and the items in them. */
import { Recording, Scene } from "@kintsugi/view"
import type { Gap, Lane, Layer, Mark, Span, Track } from "../../../../packages/view/src/scene/Shapes.ts"

type Of<Item> = Partial<Omit<Item, "shape" | "id">>

/** A tool call in the first row of the first lane, unless it is said otherwise. */
export const span = (from: number, to: number, more: Of<Span> = {}): Omit<Span, "id"> => ({
  shape: "span",
  part: "call",
  state: "ok",
  from,
  to,
  ...common,
  label: `${from} to ${to}`,
  ...more
})

/** A mark there. */
export const mark = (at: number, tone: Mark["tone"], more: Of<Mark> = {}): Omit<Mark, "id"> => ({
  shape: "mark",
  at,
  tone,
  ...common,
  label: `${tone} at ${at}`,
  ...more
})

const common = { lane: 0, row: 0, strand: 0, events: [], subject: 0 }

interface Given {
  readonly to?: number
  readonly from?: number
  readonly gaps?: ReadonlyArray<Gap>
  readonly tracks?: ReadonlyArray<Omit<Track, "id">>
  /** The layers of lanes, with their tracks and numbers of rows. */
  readonly lanes?: ReadonlyArray<Omit<Lane, "id">>
  readonly items?: ReadonlyArray<Omit<Span, "id"> | Omit<Mark, "id">>
}

/** A lane of tools on one track, which lasts for a second, unless it is said otherwise. */
export const sceneOf = ({
  from = 0,
  gaps = [],
  items = [],
  lanes = [lane("tool")],
  to = 1000,
  tracks = [{ kind: "run", agent: "a", depth: 0 }]
}: Given): Scene.Scene => {
  const numbered = lanes.map((one, id): Lane => ({ ...one, id }))
  return {
    ...Scene.make(Recording.fromEvents([])),
    from,
    to,
    gaps,
    tracks: tracks.map((track, id): Track => ({ ...track, id })),
    lanes: numbered,
    lanesOf: Object.fromEntries(tracks.map((_, track) => [track, numbered.filter((one) => one.track === track)])),
    items: items.map((item, id): Span | Mark => ({ ...item, id }))
  }
}

export const lane = (layer: Layer, rows = 1, track = 0): Omit<Lane, "id"> => ({ layer, rows, track })
