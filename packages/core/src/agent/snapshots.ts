/** Compares snapshots with agents: whether a snapshot is one of an agent, and which of its tools wait. */
import type { LateCheckpoint, Snapshot } from "../event/Checkpoint.ts"
import { unwrapped } from "../coercion/Unwrapped.ts"
import * as Message from "../data/Message.ts"
import { meant } from "../tool/Meant.ts"
import type { Deferral, Suspendable } from "../tool/ToolDefinition.ts"

/** The calls that wait in a snapshot, with their tools. */
const waiting = ({ tools }: Suspendable, { unfinished }: Snapshot) => {
  // Mutant `["Stryker was here"]` survives: without a reply there are no calls
  const made = unfinished === undefined ? [] : Message.callsOf(unfinished.reply)
  return (unfinished?.calls ?? []).map((call, index) => {
    const wrote = made[index]
    const named = (name: string) => tools().find((tool) => tool.name === name) ?? meant(tools(), name)
    const tool = () => wrote && (named(wrote.name) ?? named(unwrapped(wrote).name))
    return { call, tool }
  })
}

/** The deferral of the tool of a late call: a deferred call whose run has gone on. */
const deferralOf = ({ tools }: Suspendable, late: LateCheckpoint): Deferral | undefined => {
  const deferral = tools().find((tool) => tool.name === late.tool)?.deferral
  return deferral?.restore === undefined ? undefined : deferral
}

/** Whether a snapshot is one of a run of this agent; those within it are of its sub-agents. */
export const fits = (agent: Suspendable, from: Snapshot): boolean =>
  from.agent === agent.name &&
  (from.late ?? []).every((late) => deferralOf(agent, late) !== undefined) &&
  waiting(agent, from).every(({ call, tool }) => {
    if (call.type === "deferred") return tool()?.deferral !== undefined
    if (call.type !== "agent") return true
    const nested = tool()?.nested
    return nested !== undefined && fits(nested, call.snapshot)
  })

/** The deferred tools that wait in a snapshot, of the agent and of its sub-agents. */
export const deferrals = (
  agent: Suspendable,
  from: Snapshot
): ReadonlyArray<{ readonly token: string; readonly deferral: Deferral }> => [
  ...(from.late ?? []).flatMap((late) => {
    const deferral = deferralOf(agent, late)
    return deferral === undefined ? [] : [{ token: late.token, deferral }]
  }),
  ...waiting(agent, from).flatMap(({ call, tool }) => {
    if (call.type === "agent") {
      const nested = tool()?.nested
      return nested === undefined ? [] : deferrals(nested, call.snapshot)
    }
    if (call.type !== "deferred") return []
    const deferral = tool()?.deferral
    return deferral === undefined ? [] : [{ token: call.token, deferral }]
  })
]

/** The tokens of all deferred calls of a snapshot that have no result that the model has read, of the sub-agents too. */
export const tokensOf = ({ late = [], unfinished }: Snapshot): ReadonlyArray<string> => [
  ...late.map(({ token }) => token),
  // Mutant `["Stryker was here"]` survives: what has no type has no token
  ...(unfinished?.calls ?? []).flatMap((call) =>
    call.type === "agent" ? tokensOf(call.snapshot) : call.type === "deferred" ? call.token : []
  )
]
