/** What the settling of one call is given: its tool with the tables around it, and what it finds around it in its run. */
import type * as FailureHistory from "../budget/FailureHistory.ts"
import type * as Message from "../data/Message.ts"
import type * as Recovery from "../recovery/Recovery.ts"
import type * as RunContext from "../event/RunContext.ts"
import type { Standing } from "../event/Snapshot.ts"
import type * as Gates from "./gates.ts"
import type { Place } from "./nesting.ts"
import type { Resumed } from "./Resumed.ts"
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

/** What a call finds around it. */
export interface Surroundings {
  /** Equal for all runs of the call. */
  readonly idempotencyKey: string
  readonly run: RunContext.RunContext
  readonly gates: Gates.Gates
  /** Whether its run can be suspended. */
  readonly isSuspendable: boolean
  /** What its run knows that goes on; absent where none goes on. */
  readonly resumed: Resumed | undefined
  readonly history: FailureHistory.FailureHistory
  /** Writes down what is to stand in the transcript should the call never come to its end. */
  readonly mark: (settlement: Message.Settlement | undefined) => void
  /** How far it had come when its run was suspended. */
  readonly standing: Standing | undefined
  /** Where its sub-agent stands, if it is one; absent where none is suspended. */
  readonly place: Place | undefined
}
