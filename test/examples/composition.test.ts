/** The example of a newsroom: a scripted model for its writers, and a library that may be slow. */
import { assert, it } from "@effect/vitest"
import { LlmError, Message } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import * as Newsroom from "@kintsugi/examples/17-composition"
import { Effect, Exit, Layer } from "effect"
import { overAMinute } from "../_support/composition.ts"

const { fails, make, text } = ScriptedModel

const long = "A page that is much longer than forty letters, sadly."

it.effect(
  "17-composition: both sides are looked at, the page is sent back until it is short, a spare writer helps",
  () =>
    Effect.gen(function* () {
      let looks = 0
      const model = yield* make(
        text(long),
        fails(LlmError.ModelNotFoundError.make({ model: "m" })),
        text("A short page.")
      )
      // the first look at the facts never ends
      const look = (side: string, topic: string) =>
        Effect.suspend(() => (looks++ === 0 ? Effect.never : Effect.succeed(`${side} of ${topic}.`)))
      const layer = Layer.merge(model.layer, Layer.succeed(Newsroom.Library, { look }))
      assert.deepStrictEqual(yield* overAMinute(Effect.provide(Newsroom.program, layer)), Exit.succeed("A short page."))
      assert.strictEqual(looks, 3)
      assert.deepStrictEqual(
        model.requests.map(({ messages }) =>
          messages.map((message) => (message.role === "system" ? message.text : Message.textOf(message))).join(" < ")
        ),
        [
          "Write one short page. < Facts: facts of the bridge. Voices: voices of the bridge.",
          `Write one short page. < Make it shorter: ${long}`,
          `Write one sentence. < Make it shorter: ${long}`
        ]
      )
    })
)
