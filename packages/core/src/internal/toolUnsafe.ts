/** Whether something may start a tool with unsafe side effects: agents, and tools that are agents, say so of themselves. */
import * as Predicate from "effect/Predicate"
import type { ToolDefinition } from "./toolDefinition.ts"

/** Where an agent, or the run of a tool, says whether a tool with unsafe side effects may be started by it. */
export const MayBeUnsafe: unique symbol = Symbol.for("~@kintsugi/core/MayBeUnsafe")

/** What does not say anything is taken to be safe. */
export const mayBeUnsafe = (value: unknown): boolean =>
  Predicate.hasProperty(value, MayBeUnsafe) && value[MayBeUnsafe] === true

/** A tool says it by its side effects; where it declares none and is an agent, that agent says it. */
export const isUnsafeTool = ({ run, sideEffects }: ToolDefinition): boolean =>
  sideEffects === "unsafe" || (sideEffects === "undeclared" && mayBeUnsafe(run))
