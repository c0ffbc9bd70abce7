/** The question to the policies of an agent. */
import type * as Effect from "effect/Effect"
import type { ToolDeniedError } from "../errors/ToolError.ts"
import type { ProposedCall } from "./ToolPolicy.ts"

/** Asks the policies of an agent about a call. Returns the error if one denies. A policy that fails denies. */
export type Denies = (
  call: Omit<ProposedCall, "params">,
  params: () => unknown
) => Effect.Effect<ToolDeniedError | undefined>
