/** What is sent to each family of models, over real connections, and what the run says of it. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { expected, models, playing, wanted } from "./_support/modelFamilies.ts"

describe("a request is adapted to the family of its model, with an event", () => {
  for (const [title, make] of Object.entries(models)) {
    it.live(`${title} [P1410]`, () =>
      Effect.gen(function* () {
        const play = yield* playing
        const seen: Record<string, ReadonlyArray<string>> = {}
        for (const [name, asked] of Object.entries(wanted)) {
          const sent = yield* play(make(asked), "whole")
          seen[name] = sent
          if (name === "off") assert.deepStrictEqual(yield* play(make(asked), "streamed"), sent)
        }
        assert.deepStrictEqual(seen, expected[title])
      })
    )
  }
})
