import { assert, it } from "@effect/vitest"
import { type LlmError, type Model, RunError } from "@kintsugi/core"
import type * as DoorError from "@kintsugi/core/DoorError"
import { ScriptedModel } from "@kintsugi/core/testing"
import * as Trains from "@kintsugi/examples/14-conversation"
import { Effect, Layer } from "effect"
import { sameType } from "../types/_support/Identity.ts"

const { call, calls, make, text } = ScriptedModel

const callFor = (station: string) => calls(call("nextTrain", { station }, station))

const timetable = () => {
  const stations: Array<string> = []
  const layer = Layer.succeed(Trains.Timetable, {
    next: (station) => Effect.sync(() => (stations.push(station), "08:30"))
  })
  return { layer, stations }
}

it.effect("14-conversation: the second turn goes on from the first, also after its budget; no tool runs twice", () =>
  Effect.gen(function* () {
    type OfRuns = RunError.BudgetExceededError | RunError.UnknownPriceError
    type Left = LlmError.LlmError | OfRuns | DoorError.SnapshotRefusedError
    sameType<Effect.Effect<Array<string>, Left, Model.Model | Trains.Timetable>>()(Trains.program)
    const { layer, stations } = timetable()
    const model = yield* make(
      callFor("Wien Hbf"),
      text("At 08:30."),
      callFor("Praha"),
      callFor("Brno"),
      text("At 08:30 too.")
    )
    const answers = yield* Effect.provide(Trains.program, Layer.merge(model.layer, layer))
    assert.deepStrictEqual(answers, ["At 08:30.", "At 08:30 too."])
    assert.deepStrictEqual(stations, ["Wien Hbf", "Praha", "Brno"])
    assert.deepStrictEqual(
      model.requests.at(-1)?.messages.map(({ role }) => role),
      ["system", "user", "assistant", "assistant", "user", "assistant", "assistant"]
    )
  })
)

it.effect("14-conversation: the larger budget is one too", () =>
  Effect.gen(function* () {
    const { layer } = timetable()
    const model = yield* make(...Array.from("abcdefgh", callFor))
    const error = yield* Effect.flip(Effect.provide(Trains.ask([], "Where?"), Layer.merge(model.layer, layer)))
    assert.instanceOf(error, RunError.BudgetExceededError)
    assert.strictEqual(model.requests.length, 8)
  })
)
