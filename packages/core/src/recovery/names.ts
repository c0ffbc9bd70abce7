/** Names for what a handler chooses: the same for what counts on, another for what begins anew. */
import type { Node, Retry } from "./Node.ts"

/**
 * Options are known by their values and fixers by their names, so that a handler may write them anew each time and they count on after
 * a restart; schedules are known by which they are, handlers by how often they may run something again.
 */
export class Names {
  readonly #numbers = new Map<object, number>()
  #first = 0

  of(node: Node): string {
    switch (node.kind) {
      case "retry":
        return `retry ${isOptions(node) ? JSON.stringify(node.madeOf, bigints) : this.#which(node.madeOf)}`
      case "fix":
        return `fix ${node.fixer.name} ${node.as} ${node.maxRuns}`
      case "ask":
        return `ask ${node.maxRuns}`
      case "ladder":
        return `ladder [${node.rungs.map((rung) => this.of(rung)).join(", ")}]`
      case "when":
        return `when ${node.atMost ?? "any"}`
      default:
        return node.kind
    }
  }

  /** Takes over the choices from before a restart: a single one is taken to be the same; of several it is unknown which is which. */
  resume(chosen: ReadonlyArray<string>): void {
    const before = new Set(chosen.flatMap((name) => name.match(/#\d+/g) ?? []))
    this.#first = before.size > 1 ? before.size : 0
  }

  #which(value: object): string {
    const number = this.#numbers.get(value) ?? this.#first + this.#numbers.size
    this.#numbers.set(value, number)
    return `#${number}`
  }
}

/** Whether a retry is made of options: their values say all of it. */
export const isOptions = ({ madeOf }: Retry): boolean => Object.getPrototypeOf(madeOf) === Object.prototype

/** A `Duration.Input` may be a bigint, which JSON does not have. */
const bigints = (_: string, value: unknown): unknown => (typeof value === "bigint" ? `${value}n` : value)
