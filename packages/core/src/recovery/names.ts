/** Names for the verdicts that a handler chooses. Choices with the same name share one count. */
import type { Node, Retry } from "./Node.ts"

/**
 * Names retries by the values of their options and fixers by their function names, so that a handler may create them anew at each failure
 * and the counts survive a restart. Schedules are named by identity, and handlers by their `atMost`.
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

  /**
   * Continues the numbering of schedules after a restart. A single schedule is taken to be the same one. With several, nothing tells them
   * apart, so each gets a new number.
   */
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

/** Whether a retry was made from options. Their values identify it. */
export const isOptions = ({ madeOf }: Retry): boolean => Object.getPrototypeOf(madeOf) === Object.prototype

/** Converts a bigint, which a `Duration.Input` may be, to a string: JSON has no bigints. */
const bigints = (_: string, value: unknown): unknown => (typeof value === "bigint" ? `${value}n` : value)
