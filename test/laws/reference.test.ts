/** The reference, a plain function, and the four ways to run an agent: the same transcript, ledger, runs of tools and end. */
import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { law } from "../_support/laws.ts"
import { outcomeOf } from "./_support/reference.ts"
import { normal, ways } from "./_support/ways.ts"
import { silent, world } from "./_support/worlds.ts"

describe("the reference", () => {
  for (const [way, { takesMessages, play, suspends }] of Object.entries(ways)) {
    law(`says what comes of a run (${way}) [L1020]`, world, (drawn) => {
      const played = takesMessages ? drawn : silent(drawn)
      const { transcript, ...wanted } = outcomeOf(played, suspends)
      return Effect.map(play(played), ({ transcript: found, ...rest }) => {
        assert.deepStrictEqual(rest, wanted)
        assert.deepStrictEqual(normal(found), normal(transcript))
      }).pipe(Effect.provide(TestClock.layer()))
    })
  }
})
