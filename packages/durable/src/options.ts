/** The options of durable workflows, and the requests that they announce. */
import type * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { Approval } from "@kintsugi/core"
import type { Events } from "./memory.ts"
import type { Migration } from "./migration.ts"

/** A request for approval, with the run that waits for its decision and the workflow of that run. It is the input of `decide`. */
export interface DurableRequest extends Schema.Schema.Type<typeof DurableRequest> {}

/** The schema of a durable run's request for approval. It is for a wire or a database. */
export const DurableRequest = Schema.Struct({
  /** The workflow under which the run was started, with its version. */
  workflow: Schema.String,
  executionId: Schema.String,
  request: Approval.ApprovalRequest
})

/** The options of `Durable.workflow`, which makes a workflow of an agent. */
export interface WorkflowOptions<Name extends string, Input, Output, R> {
  /** The name under which the engine stores the runs. Two workflows with the same name and version would read each other's runs. */
  readonly name: Name
  /**
   * The version of the agent; none by default. Change it with every change to the steps of its runs: tools, tables, or prompts that lead to
   * other steps. A run continues under the version with which it was started, as long as a workflow of that version is served. A workflow
   * with `migrations` may keep its version.
   */
  readonly version?: string
  /**
   * The changes of the agent under this name and version, the oldest first, so that runs which began before them go on with the current
   * agent. Add one for each change of the tools, and remove none as long as a run of before is left: each run keeps their number.
   */
  readonly migrations?: ReadonlyArray<Migration>
  /** The schemas of the agent's input and output. */
  readonly input: Input
  readonly output: Output
  /** Receives each call that needs a decision, at least once; `decide` answers it. By default no function receives it. */
  readonly onApproval?: (asked: DurableRequest) => Effect.Effect<void, never, R>
  /**
   * Whether `Durable.say` can send messages to the runs; `false` by default. If it can, each safe point of a run records the messages that
   * the run reads there. So a change of this option changes the steps of the runs.
   */
  readonly inbox?: boolean
  /**
   * Whether the events of the runs are stored, for `Durable.events`; `true` by default. `maxCharacters` bounds the JSON in the log of a
   * run, and is 16 Mi by default. With `false` no event is stored, and the models are asked for whole replies instead of streams.
   */
  readonly events?: Events
}
