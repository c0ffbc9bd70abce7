/** What an agent knows of the snapshots of its runs: whether a snapshot is one of them, and which of its tools wait in it. */
import type { Snapshot } from "../event/Checkpoint.ts"
import * as Message from "../data/Message.ts"
import type { Fitting } from "../run/Start.ts"
import { meant } from "../tool/Meant.ts"
import type { ToolDefinition } from "../tool/ToolDefinition.ts"

/** Of an agent with this name and these tools; those within a snapshot are of its sub-agents. */
export const fitting = (name: string, tools: () => ReadonlyArray<ToolDefinition>): Fitting => {
  const waiting = ({ unfinished }: Snapshot) => {
    const made = unfinished === undefined ? [] : Message.callsOf(unfinished.reply)
    return (unfinished?.calls ?? []).map((call, index) => {
      const name = made[index]?.name ?? ""
      const tool = () => tools().find((tool) => tool.name === name) ?? meant(tools(), name)
      return { call, tool }
    })
  }
  return {
    fits: (from) =>
      from.agent === name &&
      waiting(from).every(({ call, tool }) => {
        if (call.type === "deferred") return tool()?.deferral !== undefined
        return call.type !== "agent" || tool()?.nested?.fits(call.snapshot) === true
      }),
    deferrals: (from) =>
      waiting(from).flatMap(({ call, tool }) => {
        if (call.type === "agent") return tool()?.nested?.deferrals(call.snapshot) ?? []
        const deferral = call.type === "deferred" ? tool()?.deferral : undefined
        return call.type === "deferred" && deferral !== undefined ? [{ token: call.token, deferral }] : []
      })
  }
}
