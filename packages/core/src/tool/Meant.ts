/** Finds the tool that a model means when it writes a name which no tool has, but only if there is no doubt. */
import { spelling } from "../coercion/Spelling.ts"
import type { ToolDefinition } from "./ToolDefinition.ts"

/** The fields of a tool that the search reads. */
type Candidate = Pick<ToolDefinition, "name" | "server" | "sideEffects" | "approval">

/**
 * Finds the only tool whose name is spelled like this (see `spelling`). A tool with unsafe side effects, or one that needs approval, is never
 * guessed.
 */
export const meant = <A extends Candidate>(tools: ReadonlyArray<A>, name: string): A | undefined => {
  const isSpelled = spelling(name)
  const [found, other] = tools.filter((tool) => isSpelled(tool.name, tool.server))
  if (found === undefined || other !== undefined) return undefined
  return found.sideEffects === "unsafe" || found.approval !== undefined ? undefined : found
}
