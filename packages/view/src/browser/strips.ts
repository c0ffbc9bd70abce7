/** The items whose bars a row of the outline shows. */
import * as Drawing from "../drawing/Strip.ts"
import type { Branch, Outline } from "../scene/Outline.ts"
import type { Scene } from "../scene/Scene.ts"
import type { Mark, Span } from "../scene/Shapes.ts"

/** Makes the bars of a branch. A run and a turn show the bars of the calls in them. */
export const stripOf = (scene: Scene, outline: Outline, branch: Branch): Drawing.Strip =>
  Drawing.make(scene, itemsOf(scene, outline, branch))

function* itemsOf(scene: Scene, outline: Outline, branch: Branch): Generator<Span | Mark> {
  const waiting = [branch]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    for (const id of next.items) {
      const item = scene.items[id]
      if (item !== undefined && isShown(item, branch)) yield item
    }
    if (next.kind === "model" || next.kind === "call") continue
    for (const child of next.children) {
      const found = outline.branches[child]
      // a run in a turn has rows of its own
      if (found !== undefined && (found.kind !== "run" || next === branch)) waiting.push(found)
    }
  }
}

const isShown = (item: Span | Mark, branch: Branch): boolean => {
  const isDeep = branch.kind === "run" || branch.kind === "turn"
  // a note is small, and a row that sums up has many
  if (item.shape === "mark") return !isDeep || item.tone === "lost" || item.tone === "mended"
  if (item.part === "mending") return false
  if (item.part === "send") return branch.kind === "part" || item.state === "failed"
  return branch.kind !== "run" || (item.part !== "run" && item.part !== "turn")
}
