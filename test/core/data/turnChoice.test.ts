/** What was chosen for a turn, as data. */
import { assert, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { TurnChoice } from "../../../packages/core/src/data/TurnChoice.ts"

const decode = Schema.decodeUnknownEffect(TurnChoice)

it.effect.each<TurnChoice>([
  {},
  { toolChoice: "auto" },
  { toolChoice: "none" },
  { toolChoice: "required" },
  { toolChoice: { tool: "look" } },
  { model: "m", contextWindow: 1000, tools: ["look"], prompt: "", options: { seed: 1 } }
])("the choice %j is read as it was written [P1551]", (choice) =>
  Effect.gen(function* () {
    assert.deepStrictEqual(yield* decode(JSON.parse(JSON.stringify(choice))), choice)
  })
)

it.effect.each([
  { toolChoice: "all" },
  { toolChoice: { tool: 1 } },
  { toolChoice: {} },
  { model: 1 },
  { contextWindow: "wide" },
  { tools: "look" },
  { prompt: 1 },
  { options: 1 }
])("%j is refused [P1551]", (choice) => Effect.asVoid(Effect.flip(decode(choice))))
