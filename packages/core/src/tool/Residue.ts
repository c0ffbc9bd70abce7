/** What the options of a tool leave in its failures and needs. */
import type { OutcomeUnknownError, ToolTimeoutError } from "../errors/ToolError.ts"
import type { NoVerify } from "./define.ts"

/** What a tool with a time limit may fail with besides its own failures. */
export type TimeoutOf<S, T, VR> = [T] extends [undefined]
  ? never
  : S extends "unsafe"
    ? [NoVerify] extends [VR]
      ? OutcomeUnknownError
      : ToolTimeoutError
    : ToolTimeoutError

/** What looking up needs. */
export type ServicesOfVerify<VR> = [NoVerify] extends [VR] ? never : VR
