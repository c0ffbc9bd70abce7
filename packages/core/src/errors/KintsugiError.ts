/** Every error of this library, as one closed union: of a model call, of a tool call, of a run, of a door. */
import * as Schema from "effect/Schema"
import { DoorError } from "./DoorError.ts"
import { LlmError } from "./LlmError.ts"
import { RunError } from "./RunError.ts"
import { AroundToolError, ToolError } from "./ToolError.ts"

export type KintsugiError = LlmError | ToolError | AroundToolError | RunError | DoorError

const union = Schema.Union([LlmError, ToolError, AroundToolError, RunError, DoorError])

/** The closed union, as a schema: decodes each error to its own class. */
export const KintsugiError: Schema.Codec<KintsugiError, unknown> = union

/** Whether a value is an error of this library, of whatever kind. */
export const isKintsugiError: (value: unknown) => value is KintsugiError = Schema.is(KintsugiError)
