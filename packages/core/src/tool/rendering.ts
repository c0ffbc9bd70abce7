/** Makes the text of a failure by the renderer of its row. */
import type * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as ErrorCause from "../data/ErrorCause.ts"
import * as Returned from "../data/Returned.ts"
import { labelsOf } from "../errors/RecoveryAdvice.ts"
import type * as RunContext from "../event/RunContext.ts"
import { untouchable } from "../recovery/Layer.ts"
import type { FailureContext, Renderer } from "../recovery/Node.ts"

interface Rendering {
  readonly render: Renderer
  readonly seen: unknown
  readonly context: FailureContext
}

/** The text of the renderer, or that of `byDefault` if the renderer fails or its text is blank. Interruptions and defects pass. */
export const rendered = (
  { context, render, seen }: Rendering,
  run: RunContext.RunContext,
  byDefault: (error: unknown, context: FailureContext) => string
): Effect.Effect<string> => {
  const rendering = Effect.suspend(() => {
    return Returned.valueOf(render(seen, context), Returned.aText, "The renderer for tool", context.tool)
  })
  return Effect.matchCauseEffect(rendering, {
    onSuccess: (text) => Effect.succeed(text.trim() === "" ? byDefault(seen, context) : text),
    onFailure: (cause) => {
      const passing = untouchable(cause)
      if (passing !== undefined) return Effect.failCause(passing)
      return Effect.as(complain(cause, seen, context, run), byDefault(seen, context))
    }
  })
}

/** Logs that a renderer has failed. This is a mistake in the program, but it does not end the run: the model reads the default text. */
const complain = (
  cause: Cause.Cause<unknown>,
  error: unknown,
  { callId, tool }: FailureContext,
  { agent, runId }: RunContext.RunContext
): Effect.Effect<void> =>
  Effect.annotateLogs(
    // Mutant `"Stryker was here!"` survives: a renderer gets failures of tools alone, which the type does not say
    Effect.logWarning(`A renderer failed on a failure of tool '${tool ?? ""}'`, ErrorCause.logged(cause)),
    {
      ...labelsOf(error),
      runId,
      agent,
      ...(callId === undefined ? {} : { callId })
    }
  )
