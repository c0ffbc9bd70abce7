/** What a model reads in the place of what a guardrail has blocked: each comes out of a run. */
import { Agent, Message, Recovery } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect } from "effect"
import type { ReadText } from "./texts.ts"

const { make, text } = ScriptedModel

const clerk = Agent.make("clerk", {}).pipe(
  Agent.guardInput(({ text }) => (text === "bad" ? Agent.guard.block("it is an attack") : Agent.guard.pass)),
  Agent.guardOutput(({ text }) => (text === "bad" ? Agent.guard.block("it holds a number") : Agent.guard.pass)),
  Agent.onGuardrail({ output: Recovery.tell() })
)

/** Of an answer and of words that were withheld, in the same run and in later ones. */
export const ofBlanks: Effect.Effect<ReadonlyArray<ReadText>> = Effect.gen(function* () {
  const retried = yield* make(text("bad"), text("good"))
  yield* Effect.exit(clerk("go").pipe(Effect.provide(retried.layer)))
  const [, answer] = retried.requests.at(-1)?.messages ?? []
  const blocked = yield* Effect.flip(clerk("bad").pipe(Effect.provide((yield* make(text("unseen"))).layer)))
  const from = blocked._tag === "GuardrailError" ? blocked.transcript : []
  const later = yield* make(text("good"))
  yield* Effect.exit(Agent.resume(clerk)({ from, input: "go" }).pipe(Effect.provide(later.layer)))
  const [words] = later.requests.at(-1)?.messages ?? []
  return [
    { when: "In the place of that answer", text: said(answer) },
    { when: "In the place of a withheld user message", text: said(words) }
  ]
}).pipe(Effect.scoped, Effect.orDie)

const said = (message: Message.Message | undefined): string => {
  if (message === undefined || message.role === "system") throw new Error("nothing stands in its place")
  return Message.textOf(message)
}
