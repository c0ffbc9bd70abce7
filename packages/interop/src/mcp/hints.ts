/** The hints of MCP about side effects, and the side effects of tools. */
import type * as Recovery from "@kintsugi/core/Recovery"

/** A server's hints about running a tool: booleans that may be missing. */
interface Hints {
  readonly readOnlyHint?: boolean | undefined
  readonly destructiveHint?: boolean | undefined
  readonly idempotentHint?: boolean | undefined
  readonly openWorldHint?: boolean | undefined
}

/**
 * What running a tool twice would do, by its hints and, if they are missing, by the protocol's defaults: a tool
 * without hints is unsafe. Read-only overrides the others. A tool that is not destructive but adds something would
 * add it twice.
 */
export const sideEffectsOf = (hints: Hints = {}): Exclude<Recovery.SideEffects, "undeclared"> =>
  hints.readOnlyHint === true ? "none" : hints.idempotentHint === true ? "idempotent" : "unsafe"

/** The protocol's hints for the side effects of a tool. */
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
