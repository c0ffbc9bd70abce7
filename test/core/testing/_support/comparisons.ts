/** The parts of a comparison of agents that read and answer texts. */
import type { Eval } from "@kintsugi/core/testing"
import type { Effect } from "effect"

export type Scenario<World> = Parameters<
  typeof Eval.compare<World, string, string, unknown, never>
>[0]["scenarios"][number]

export interface Policy<A, R = never> {
  readonly name: string
  readonly guard: (agent: A) => (input: string) => Effect.Effect<string, unknown, R>
}

/** One run of a scenario under a policy. */
export type Run = Parameters<Scenario<unknown>["world"]>[0]
