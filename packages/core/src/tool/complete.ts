/** The built-in tool that ends a run with a completion. */
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import { Completion } from "../data/Completion.ts"
import { endsRun } from "./builtIn.ts"
import { define } from "./define.ts"
import type { ToolDefinition } from "./ToolDefinition.ts"

const described = <S extends Schema.Top>(schema: S, description: string) => schema.annotate({ description })

const others = {
  result: Schema.optionalKey(described(Schema.Json, "The result, where the summary does not say it all")),
  metadata: Schema.optionalKey(described(Schema.Record(Schema.String, Schema.Json), "Anything else worth keeping")),
  reason: Schema.optionalKey(described(Schema.String, "Why it could not be done"))
}

/** The parameters that models see. */
const Wanted = Schema.Struct({
  summary: described(Schema.String, "What was done, or what could not be done"),
  success: Schema.optionalKey(described(Schema.Boolean, "Whether the task is done; true by default")),
  ...others
})

/** The parameters that are accepted. */
const Understood = Schema.Struct({
  summary: Schema.optionalKey(Schema.String),
  success: Schema.optionalKey(Schema.Json),
  ...others
})

export type Params = typeof Understood.Type

const name = "complete"

const description =
  "End the task: it is done, or it cannot be done. Nothing that you call or say after this counts. Say what was achieved in the summary."

const completionOf = ({ metadata, reason, result, success, summary }: Params): Completion =>
  new Completion({
    summary: [summary, reason].find(isSaid) ?? "no summary was given",
    isSuccess: isYes(success),
    ...(result === undefined ? {} : { result }),
    metadata: isSaid(reason) ? { ...metadata, reason } : { ...metadata }
  })

const isSaid = (text: string | undefined): text is string => text !== undefined && text.trim() !== ""

/** Whether the model claims a success: with `true`, the text "true" or no value. Any other value claims none. */
const isYes = (value: Schema.Json | undefined): boolean =>
  value === undefined ||
  value === null ||
  value === true ||
  (Predicate.isString(value) && value.trim().toLowerCase() === "true")

const run = (params: Params) => Effect.succeed(completionOf(params))

const options = { description, success: Completion, run }

export const definition: ToolDefinition = {
  ...define(name, { ...options, parameters: Understood }, { words: "summary", endsRun }),
  spec: define(name, { ...options, parameters: Wanted }).spec
}
