/** Generated runs are recorded, written as tests, and the written texts are run: each replay has the events of its recording. */
import { assert, describe, it } from "@effect/vitest"
import { Approval, Model } from "@kintsugi/core"
import { RecordedEvents } from "@kintsugi/core/testing"
import * as FastCheck from "@kintsugi/core/testing/FastCheck"
import { Effect, Layer, Logger } from "effect"
import { TestClock } from "effect/testing"
import { runs, seed } from "../../_support/cases.ts"
import { interruptedAt, overADay } from "../../_support/dialogue.ts"
import { type Runner, runners } from "../../_support/run.ts"
import { agentOf, modelOf, type Story, story } from "../../laws/_support/stories.ts"
import * as Script from "../../../packages/view/src/replay/Script.ts"
import * as TestFile from "../../../packages/view/src/replay/TestFile.ts"
import { asRecording, normalised, played } from "./_support/playing.ts"

/** Tells a story, and gives its recording. */
const recordingOf = (story: Story, run: Runner) => {
  const recorded = RecordedEvents.makeUnsafe()
  const approver = Approval.layer(() => Effect.delay(Effect.succeed(Approval.approve), 100))
  const model = Layer.succeed(Model.Model, modelOf(story.steps).service)
  const running = Effect.provide(run(agentOf(story), "go"), Layer.mergeAll(model, approver, recorded.layer))
  const ended = story.interruptAt === undefined ? overADay(running) : interruptedAt(story.interruptAt, running)
  return ended.pipe(
    Effect.map(() => asRecording(recorded.all)),
    Effect.provide(TestClock.layer()),
    Effect.provide(Logger.layer([]))
  )
}

/** Why a story of these agents may not be played again: what their fixers spend is not in the script. */
const mayBeRefused =
  /fixer|it is not known which call has died|was skipped at a limit|were at work when a sub-agent reached the limit|another one had reached a limit/

describe("a written test", () => {
  for (const [way, run] of Object.entries(runners)) {
    it.live(
      `plays the events of its recording, and is red exactly if the run failed (${way}) [P1270]`,
      () =>
        Effect.gen(function* () {
          const seen = { refused: 0, green: 0, red: 0 }
          const check = FastCheck.check(
            story,
            (story) =>
              Effect.gen(function* () {
                const recording = yield* recordingOf(story, run)
                const script = Script.of(recording)
                if (!Script.isScript(script)) {
                  seen.refused++
                  assert.match(script.message, mayBeRefused)
                  assert.isAtLeast(script.index, 0)
                  return
                }
                const { isGreen, recording: replay } = yield* played(TestFile.write(script))
                assert.deepStrictEqual(normalised(replay), normalised(recording))
                assert.strictEqual(isGreen, script.end.type !== "failed")
                seen[isGreen ? "green" : "red"]++
              }),
            { runs: Math.ceil(Math.min(runs, 400) / 2), seed }
          )
          yield* check
          const all = seen.green + seen.red + seen.refused
          assert.isBelow(seen.refused, all / 5)
          assert.isAbove(seen.green, all / 10)
          assert.isAbove(seen.red, all / 10)
        }),
      60_000
    )
  }
})
