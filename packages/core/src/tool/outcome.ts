/** What became of a call, and what is said of it. */
import type * as Approval from "../data/Approval.ts"
import * as ErrorCause from "../data/ErrorCause.ts"
import * as FailureHistory from "../budget/FailureHistory.ts"
import type * as Message from "../data/Message.ts"
import type * as Recovery from "../recovery/Recovery.ts"
import * as Render from "../recovery/Render.ts"
import type { Nested, Standing } from "../event/Snapshot.ts"
import { DeserializationError, InvalidArgs } from "../errors/ToolError.ts"
import type { ToolDefinition } from "./ToolDefinition.ts"
import type { Afterwards } from "../recovery/Node.ts"

/** What ends a run. Our own final errors take its transcript along; a user's leaves as itself, the very same object. */
export interface Failure {
  readonly error: unknown
  readonly isOurs: boolean
}

/** What ends a run as a success. */
export interface Output {
  readonly value: unknown
}

/** What became of a call. `failure`, or `output`, is what ends the run with it; the call is settled all the same. */
export interface Outcome {
  readonly settlement: Message.Settlement
  readonly failure?: Failure
  readonly output?: Output
  /** What later calls are to know of it. */
  readonly settled: FailureHistory.Settled
  /** It has to wait, and is not settled. */
  readonly pending?: Pending
  /** What was decided about it, if anything had to be. */
  readonly trail?: ReadonlyArray<Recovery.Decision>
}

/** What a call waits for. */
export interface Pending {
  /** What has to be decided; nothing where its sub-agent waits for a larger budget. */
  readonly requests: ReadonlyArray<Approval.Request>
  /** How far it had come by then. */
  readonly standing?: Standing | undefined
  readonly nested?: Nested
}

/** How a call came to its settlement. */
export interface How {
  readonly recoveredBy?: string | undefined
  readonly signature?: string
  readonly wantsToolsOff?: boolean
  /** Whatever the model reads, the tool has succeeded. */
  readonly isSuccess?: boolean
  readonly trail?: ReadonlyArray<Recovery.Decision>
}

/** A success, as long as it may be. The tool may want the model to read it as an error all the same. */
export const result = (tool: ToolDefinition, value: unknown, text: string): Message.Settlement => ({
  kind: tool.isError?.(value) === true ? "told" : "result",
  text: tool.maxResultChars === undefined ? text : Render.truncated(text, tool.maxResultChars)
})

/** Whether whoever told a failure wants tools to be switched off; nothing for one who did not say. */
export const wishOf = (afterwards: Afterwards | undefined): boolean | undefined =>
  afterwards === undefined ? undefined : afterwards === "tools-off"

/** A call that was refused: the tool has not failed, but a model that insists is going round in circles. */
export const denialOf = (tool: string, signature?: string): FailureHistory.Settled => ({
  tool,
  isError: true,
  isDenied: true,
  ...(signature === undefined ? {} : { signature })
})

/** Without what the model wrote: of arguments that do not fit, only what would fit. */
export const signatureOf = (error: unknown): string => {
  const tag = ErrorCause.tagOf(error)
  if (error instanceof InvalidArgs) return FailureHistory.signatureOf(tag, "")
  if (error instanceof DeserializationError) {
    const expected = error.issues.slice(0, 20).map((issue) => `${issue.path.join(".")} ${issue.expected}`)
    return FailureHistory.signatureOf(tag, expected.join("; "))
  }
  return FailureHistory.signatureOf(tag, ErrorCause.messageOf(error))
}
