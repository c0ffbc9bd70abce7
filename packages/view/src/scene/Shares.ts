/**
 * Where the time of a recording went: to models, to tools, to recovery, or to waits for a person.
 *
 * @internal
 */
import type { Scene } from "./Scene.ts"
import type { Span } from "./Shapes.ts"

/** What a stretch of time went to. `other`: nothing of a run was at work. */
export type Share = "model" | "tool" | "recovery" | "person" | "other"

/** The milliseconds of each share. Their sum is the time from the first event to the last. */
export type Shares = Readonly<Record<Share, number>>

/** The shares that may be at work at once; the first that is at work counts. */
const order = ["model", "tool", "recovery", "person"] as const

/**
 * Splits the time of a scene. Time in which a model or a tool does work that counts is theirs. Recovery is the time in which nothing
 * but failed attempts, repairs and waits between attempts goes on.
 */
export const make = (scene: Scene): Shares => {
  const fixers = new Set(scene.tracks.flatMap(({ id, kind }) => (kind === "fixer" ? [id] : [])))
  const changes: Array<readonly [time: number, share: number, by: number]> = []
  for (const item of scene.items) {
    if (item.shape !== "span" || item.to <= item.from) continue
    const share = order.findIndex((one) => one === shareOf(scene, item, fixers))
    if (share < 0) continue
    changes.push([item.from, share, 1], [item.to, share, -1])
  }
  changes.sort((one, other) => one[0] - other[0])
  const found = { model: 0, tool: 0, recovery: 0, person: 0, other: 0 }
  const active = order.map(() => 0)
  let last = scene.from
  for (const [time, share, by] of changes) {
    const at = active.findIndex((many) => many > 0)
    found[order[at] ?? "other"] += time - last
    last = time
    active[share] = (active[share] ?? 0) + by
  }
  found.other += Math.max(0, scene.to - last)
  return found
}

const shareOf = (scene: Scene, { lane, part, state }: Span, fixers: ReadonlySet<number>): Share => {
  if (part === "approval") return "person"
  if (part === "run" || part === "turn" || part === "send") return "other"
  const { layer, track = -1 } = scene.lanes[lane] ?? {}
  if (part === "wait" || part === "mending" || part === "repair" || fixers.has(track)) return "recovery"
  if (state === "failed" || state === "discarded") return "recovery"
  return layer === "model" ? "model" : "tool"
}
