/** Converts between the hints of MCP about a tool and the side effects of this library's tools. */
import type * as Recovery from "@kintsugi/core/Recovery"

/** The hints of a server about a tool. Each may be missing. */
interface Hints {
  readonly readOnlyHint?: boolean | undefined
  readonly destructiveHint?: boolean | undefined
  readonly idempotentHint?: boolean | undefined
  readonly openWorldHint?: boolean | undefined
}

/**
 * The side effects of a tool, by its hints and, if they are missing, by the protocol's defaults: a tool without hints is unsafe.
 * `readOnlyHint` wins over the others. `destructiveHint: false` does not make a tool safe: a tool that only adds something would add it
 * twice.
 */
export const sideEffectsOf = (hints: Hints = {}): Exclude<Recovery.SideEffects, "undeclared"> =>
  hints.readOnlyHint === true ? "none" : hints.idempotentHint === true ? "idempotent" : "unsafe"

/** The hints of the protocol for the side effects of a tool. */
export const hintsOf = (sideEffects: Recovery.SideEffects) => {
  switch (sideEffects) {
    case "none":
      return { readOnlyHint: true, destructiveHint: false, idempotentHint: true }
    case "idempotent":
      return { readOnlyHint: false, destructiveHint: true, idempotentHint: true }
    case "unsafe":
      return { readOnlyHint: false, destructiveHint: true, idempotentHint: false }
    case "undeclared":
      return undefined
  }
}
