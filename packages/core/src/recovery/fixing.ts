/** Runs a fixer once for a failed call: makes its input, and uses its answer. */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Returned from "../data/Returned.ts"
import type { Broken, Fix, Fixed, FixRun } from "./Node.ts"
import { FixerInput, type Means, Reads } from "./FixerInput.ts"
import * as Instructions from "./instructions.ts"
import { untouchable } from "./Layer.ts"

export const run: Fix["run"] = (rung, seen, fixRun, broken) => {
  const { ended, helping, take } = broken
  if (helping.isAtWork) return Effect.succeed({ type: "skipped" })
  const input = inputOf(rung, seen, fixRun, broken)
  const ending = Effect.matchCauseEffect(
    helping.within(() => Returned.effect(rung.fixer(input), "The fixer of tool", broken.tool.name)),
    {
      onSuccess: (answer) =>
        helping.emitThen(
          () => ({ type: "fix-end", answer }),
          () => take(answer)
        ),
      onFailure: (cause) => {
        const passing = untouchable(cause)
        if (passing !== undefined) return Effect.failCause(passing)
        const error = Cause.squash(cause)
        const fixed: Fixed = ended(error)
        return helping.emitThen(
          () => ({ type: "fix-failed", error }),
          () => Effect.succeed(fixed)
        )
      }
    }
  )
  return helping.emitThen(
    () => ({ type: "fix-start", input }),
    () => ending
  )
}

const inputOf = (rung: Fix, seen: unknown, fixRun: FixRun, broken: Broken): string => {
  if (rung.input !== undefined) return rung.input({ error: seen, context: fixRun.context })
  const input = new FixerInput((reads) =>
    reads === "arguments" || reads === "each" ? broken.raw : report(rung, seen, fixRun, broken, reads)
  )
  // a composition gets the `FixerInput` itself, and each of its parts takes its own text
  return FixerInput.for(input, readsOf(rung.fixer)) as string
}

/** The kind of input of a fixer. Only an agent declares one; any other function gets the raw arguments. */
const readsOf = (fixer: Fix["fixer"]): Reads =>
  // only agents have this property
  Predicate.hasProperty(fixer, Reads) ? (fixer[Reads] as Reads) : "arguments"

/** The report that a fixer with a model reads. */
const report = (rung: Fix, seen: unknown, fixRun: FixRun, { messageOf, raw, tool }: Broken, means: Means): string =>
  [
    `A call of tool '${tool.name}' failed.`,
    `Description: ${tool.description}`,
    `Arguments: ${raw}`,
    `JSON Schema of the arguments: ${JSON.stringify(tool.spec().parameters)}`,
    `Error: ${messageOf(seen)}`,
    `This is repair attempt ${fixRun.run} of ${fixRun.maxRuns}. ${Instructions.fix(wanted[rung.as], means)}`
  ].join("\n")

const wanted: Record<Fix["as"], string> = {
  arguments: "the corrected arguments as JSON",
  result: "the result that the tool should have given (JSON or plain text)"
}
