/** The filters of the outline, and the failures that a reader steps through. */
import type { Recorded } from "../recording/Recorded.ts"
import type { Branch } from "../scene/Outline.ts"
import type { Scene } from "../scene/Scene.ts"
import { type Mark, type Span, startOf } from "../scene/Shapes.ts"

export type Filter = "all" | "lost" | "healed" | "tell" | "person" | "model" | "call" | "long"

const isWork = ({ kind }: Branch): boolean => kind === "model" || kind === "call"

/** The milliseconds from which on a call is long. */
const long = 5000

/** The filters in the order of their buttons. */
export const filters: Readonly<
  Record<Filter, { readonly sign: string; readonly name: string; readonly has: (branch: Branch) => boolean }>
> = {
  all: { sign: "", name: "All", has: isWork },
  lost: { sign: "✕", name: "Lost", has: (branch) => isWork(branch) && branch.health === "lost" },
  healed: { sign: "◆", name: "Healed", has: (branch) => isWork(branch) && branch.health === "healed" },
  tell: { sign: "○", name: "Read by the model", has: (branch) => isWork(branch) && branch.health === "tell" },
  person: { sign: "△", name: "Person", has: (branch) => isWork(branch) && branch.waited > 0 },
  model: { sign: "", name: "Models", has: ({ kind }) => kind === "model" },
  call: { sign: "", name: "Tools", has: ({ kind }) => kind === "call" },
  long: {
    sign: "",
    name: "> 5 s",
    has: (branch) => isWork(branch) && branch.to - branch.from - branch.waited > long
  }
}

/** The events of marks that repeat what a failed span says, or what a run says at its end. */
const repeats: ReadonlySet<string | undefined> = new Set(["verdict", "attempt-discarded"])

/** The items that failed, by time: failed attempts of models, tools and fixers, and everything else that was lost. */
export const failuresOf = (scene: Scene, events: ReadonlyArray<Recorded>): ReadonlyArray<number> =>
  scene.items
    .filter((item) => hasFailed(item, events))
    .toSorted((one, other) => startOf(one) - startOf(other) || one.subject - other.subject)
    .map(({ id }) => id)

const hasFailed = (item: Span | Mark, events: ReadonlyArray<Recorded>): boolean =>
  item.shape === "span"
    ? item.state === "failed" && item.part !== "run" && item.part !== "mending"
    : item.tone === "lost" && !repeats.has(events[item.subject]?.type)
