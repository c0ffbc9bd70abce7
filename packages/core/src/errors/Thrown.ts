/** Errors for exceptions of plain functions, and of functions that should return an effect. */
import * as Effect from "effect/Effect"
import * as ErrorCause from "../data/ErrorCause.ts"
import * as Returned from "../data/Returned.ts"
import { categoryOf } from "./facts.ts"
import { isLlmError } from "./LlmError.ts"
import {
  EscalationError,
  type ExecutionError,
  executionErrorOf,
  type FunctionError,
  type Kind,
  ToolExecutionError
} from "./ToolError.ts"

const isEnd = (thrown: unknown): thrown is EscalationError | ToolExecutionError =>
  thrown instanceof EscalationError || thrown instanceof ToolExecutionError

/**
 * The failure for a value that a plain function threw or its promise rejected with. An `EscalationError` and a `ToolExecutionError` stay
 * unchanged.
 */
export const thrownBy = (
  tool: string,
  kind: Kind,
  call: Pick<ExecutionError, "callId" | "args">,
  thrown: unknown
): FunctionError => {
  if (isEnd(thrown)) return thrown
  const category = categoryOf(thrown, isLlmError)
  return executionErrorOf(
    { tool, kind, ...call, ...(category === "unknown" ? { category: "invocation" } : {}) },
    thrown
  )
}

/** A plain function of this name. Its signal is aborted when it is stopped. */
export const lifted = <I, O>(
  name: string,
  f: (input: I, context: { readonly signal: AbortSignal }) => O | Promise<O>
) => {
  return (input: I): Effect.Effect<O, FunctionError> =>
    Effect.tryPromise({
      // this also catches a function that throws before it returns a promise
      try: async (signal) => f(input, { signal }),
      catch: (thrown) => thrownBy(name, "local", { callId: "", args: null }, thrown)
    })
}

/** The effect that a function returns. Its exception is a defect with its name, unless it is the end of an agent. */
export const effect = <A, E, R>(f: () => Effect.Effect<A, E, R>, whose: string, name: string): Effect.Effect<A, E, R> =>
  Effect.suspend(() => {
    try {
      return Returned.effect(f(), whose, name)
    } catch (thrown) {
      // these two errors end an agent by design; the type of a function cannot say what it throws
      if (isEnd(thrown)) return Effect.fail(thrown as E)
      const said = ErrorCause.sayingOf(thrown)
      return Effect.die(new TypeError(`${whose} '${name}' threw: ${said}`, { cause: thrown }))
    }
  })
