/** A tool with the tables that guard it. */
import type * as Recovery from "../recovery/Recovery.ts"
import type { ToolDefinition } from "./ToolDefinition.ts"

/** A tool and its tables, nearest first: its own, the agent's for it, the agent's defaults. */
export interface Entry {
  readonly tool: ToolDefinition
  readonly levels: ReadonlyArray<Level>
}

export interface Level {
  readonly name: "tool" | "agent" | "defaults"
  readonly rows: Recovery.Rows
}
