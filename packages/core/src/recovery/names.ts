/** Names for what a handler chooses: the same for what counts on, another for what begins anew. */
import type { Node, Retry } from "./Node.ts"

/**
 * Options are known by their values and fixers by their names, so that a handler may write them anew each time and they count on after
 * a restart; schedules are known by which they are.
 */
export class Names {
  readonly #known = new Map<object, number>()

  of(node: Node): string {
    switch (node.kind) {
      case "retry":
        return `retry ${isOptions(node) ? JSON.stringify(node.madeOf, bigints) : this.#which(node.madeOf)}`
      case "fix":
        return `fix ${node.fixer.name} ${node.as} ${node.maxRuns}`
      case "ladder":
        return `ladder [${node.rungs.map((rung) => this.of(rung)).join(", ")}]`
      default:
        return node.kind
    }
  }

  #which(schedule: object): string {
    const known = this.#known.get(schedule) ?? this.#known.size
    this.#known.set(schedule, known)
    return `#${known}`
  }
}

/** Whether a retry is made of options: their values say all of it. */
export const isOptions = ({ madeOf }: Retry): boolean => Object.getPrototypeOf(madeOf) === Object.prototype

/** A `Duration.Input` may be a bigint, which JSON does not have. */
const bigints = (_: string, value: unknown): unknown => (typeof value === "bigint" ? `${value}n` : value)
