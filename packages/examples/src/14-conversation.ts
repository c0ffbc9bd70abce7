/**
 * A conversation is a transcript from which each run goes on. When a budget ends a run, the error has the transcript up to
 * then, and a run with a larger budget goes on from it: no tool runs twice.
 */
import { Agent, type Message, Recovery, Tool } from "@kintsugi/core"
import { Context, Effect, Schema } from "effect"

export class Timetable extends Context.Service<
  Timetable,
  { readonly next: (station: string) => Effect.Effect<string> }
>()("examples/Timetable") {}

export const nextTrain = Tool.make("nextTrain", {
  description: "When the next train leaves.",
  parameters: Schema.Struct({ station: Schema.String }),
  success: Schema.String,
  sideEffects: "none",
  run: ({ station }) => Timetable.use((timetable) => timetable.next(station))
}).pipe(Tool.onError({ InvalidArgs: Recovery.escalate() }))

export const guide = Agent.make("guide", {
  prompt: "Answer questions about trains.",
  budget: { maxTurns: 2 },
  tools: [nextTrain]
})

const going = Agent.resume(guide)

/** One turn: what the guide answers, and the conversation with it. */
const turn = (resumption: Agent.Resumption<string>) =>
  Effect.scoped(
    Effect.gen(function* () {
      const run = yield* going.start(resumption)
      const outcome = yield* run.outcome
      return { answer: outcome._tag === "Completed" ? outcome.output : "", said: yield* run.transcript }
    })
  )

/** A turn that may go on once, with a larger budget, from where the smaller one has ended it. */
export const ask = (from: Message.Transcript, input: string) =>
  Effect.catchTag(turn({ from, input }), "BudgetExceededError", ({ transcript }) =>
    turn({ from: transcript, budget: { maxTurns: 6 } })
  )

export const program = Effect.gen(function* () {
  const first = yield* ask([], "When can I leave Wien Hbf?")
  const second = yield* ask(first.said, "And from Praha or Brno?")
  return [first.answer, second.answer]
})
//           ^? Effect<Array<string>, LlmError | BudgetExceededError | SnapshotRefusedError | UnknownPriceError, Model | Timetable>
