/** Models whose scripts may be longer than what a case asks for. */
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Scope } from "effect"

/** A model that plays these steps. Steps that a case does not reach are no mistake, as the scope of the script is never closed. */
export const lasting = (
  ...steps: ReadonlyArray<ScriptedModel.ScriptedStep>
): Effect.Effect<ScriptedModel.ScriptedModel> =>
  Effect.flatMap(Scope.make(), (scope) => Scope.provide(ScriptedModel.make(...steps), scope))
