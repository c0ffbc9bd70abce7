/** What was chosen for one turn, as data: in events, snapshots and the records of durable runs. */
import * as Schema from "effect/Schema"

/** A choice for one turn, without its model layer. */
export interface TurnChoice extends Schema.Schema.Type<typeof TurnChoice> {}

export const TurnChoice = Schema.Struct({
  /** The name of the model that was chosen; absent if the agent's own model is called. */
  model: Schema.optionalKey(Schema.String),
  /** The window that this model declares, in tokens; absent if it declares none. */
  contextWindow: Schema.optionalKey(Schema.Finite),
  /** The tools that may be called in this turn, by their names; absent for all tools. */
  tools: Schema.optionalKey(Schema.Array(Schema.String)),
  toolChoice: Schema.optionalKey(
    Schema.Union([Schema.Literals(["auto", "none", "required"]), Schema.Struct({ tool: Schema.String })])
  ),
  /** The system prompt of the request; empty for none. */
  prompt: Schema.optionalKey(Schema.String),
  /** Further fields of the request. */
  options: Schema.optionalKey(Schema.Record(Schema.String, Schema.Json))
})
