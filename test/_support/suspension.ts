/** What the tests of suspended runs share: how a run is started and gone on with, and what was decided meanwhile. */
import { assert } from "@effect/vitest"
import { type Agent, type AgentEvent, Approval, type Model, Snapshot, Tool } from "@kintsugi/core"
import type { ScriptedModel } from "@kintsugi/core/testing"
import { type Duration, Effect, Schema } from "effect"
import type { CallCheckpoint, UnfinishedReply } from "../../packages/core/src/event/Checkpoint.ts"

/** A tool that needs approval, and what it was run with. */
export const paying = (
  options: {
    readonly when?: (params: { readonly cents: number }) => boolean | Effect.Effect<boolean, unknown, never>
    readonly reason?: string
    readonly validFor?: Duration.Input
    readonly onExpiry?: "ask-again" | "refuse" | "fail"
  } = {}
) => {
  const runs: Array<number> = []
  const tool = Tool.make("pay", {
    description: "Pays.",
    parameters: Schema.Struct({ cents: Schema.Int }),
    success: Schema.String,
    run: ({ cents }) => Effect.sync(() => `paid ${runs.push(cents)}`)
  }).pipe(Tool.requireApproval(options))
  return { runs, tool }
}

interface Startable<I, O, E> {
  readonly start: (input: I) => Effect.Effect<Agent.Run<O, E>, never, unknown>
}

/** Starts an agent, and waits for how it ends. */
export const outcomeOf = <I, O, E>(agent: Startable<I, O, E>, input: I, model: ScriptedModel.ScriptedModel) =>
  // what it needs is the model, and the scope of the test
  (agent.start(input) as Effect.Effect<Agent.Run<O, E>, never, Model.Model>).pipe(
    Effect.flatMap(({ outcome }) => outcome),
    Effect.provide(model.layer)
  )

/** What it waits with, read back from the text of a JSON document. */
export const snapshotOf = (outcome: Agent.Outcome<unknown>): Effect.Effect<Snapshot.Snapshot> => {
  assert(outcome._tag === "Suspended")
  const json = JSON.stringify(Snapshot.toJson(outcome.snapshot))
  return Effect.orDie(Snapshot.fromJson(JSON.parse(json)))
}

/** The same decision about all that a run waits for. */
export const deciding = (from: Snapshot.Snapshot, decision: Approval.Decision = Approval.approve) => ({
  from,
  decisions: Snapshot.requestsOf(from).map(({ digest }) => ({ digest, decision }))
})

/** The events of one kind. */
export const only = <const Type extends AgentEvent.AgentEvent["type"]>(
  events: ReadonlyArray<AgentEvent.AgentEvent>,
  type: Type
): ReadonlyArray<AgentEvent.OfType<Type>> =>
  events.filter((event): event is AgentEvent.OfType<Type> => event.type === type)

/** The checkpoints of the calls that wait. */
export const waitingCalls = ({ unfinished }: Snapshot.Snapshot): ReadonlyArray<CallCheckpoint> =>
  (unfinished?.calls ?? []).flatMap((call) => (call.type === "decision" || call.type === "agent" ? call : []))

/** The sub-agents of these calls, suspended with them. */
export const suspendedAgents = (from: Snapshot.Snapshot): ReadonlyArray<Snapshot.Snapshot> =>
  waitingCalls(from).flatMap((call) => (call.type === "agent" ? call.snapshot : []))

/** How a call of a suspended run is settled; `undefined` while it waits. */
export const kindOf = (call: UnfinishedReply["calls"][number]) =>
  call.type === "finished" ? call.settlement.kind : undefined
