/** Bad arguments: told to the model, which corrects them, and mended by a fixer that is a function; beside happy runs of as many turns. */
import { Agent, type Message, Model, Recovery, Tool } from "@kintsugi/core"
import * as Effect from "effect/Effect"
import { each, report, times } from "../figures.ts"
import { interleaved } from "../harness.ts"
import * as Ours from "../ours.ts"
import { effects } from "../portion.ts"
import * as Work from "../work.ts"

const runs = 3000

const good = Ours.calling("add", Work.args)
const bad = Ours.calling("add", Work.badArgs)
const answer = Ours.answering(Work.answer)

/** Replies in this order; two messages stand before the first. */
const replying = (...replies: ReadonlyArray<Message.Reply>): Model.Service =>
  Ours.modelBy((messages) => replies[messages - 2] ?? answer)

const telling = Ours.agentOf(Ours.add.pipe(Tool.onError({ DeserializationError: Recovery.tell() })))
let repairs = 0
const fixer = Agent.deterministic("fixer", () =>
  Effect.sync(() => {
    repairs++
    return Work.args
  })
)
const fixed = Ours.agentOf(Ours.add.pipe(Tool.onError({ DeserializationError: Recovery.fix(fixer) })))
const happy = Ours.agentOf(Ours.add)

const running = (
  name: string,
  agent: (input: string) => Effect.Effect<unknown, unknown, Model.Model>,
  model: Model.Service
) =>
  effects(
    name,
    runs,
    Effect.provideService(
      Effect.suspend(() => agent(Work.input)),
      Model.Model,
      model
    ),
    Work.answer
  )

const fixing = running("fixed", fixed, replying(bad))

const samples = await interleaved(
  [
    running("happy, two turns", happy, replying(good)),
    running("happy, three turns", happy, replying(good, good)),
    running("told and corrected, three turns", telling, replying(bad, good)),
    {
      name: "fixed, two turns",
      portion: async () => {
        repairs = 0
        await fixing.portion()
        if (repairs !== runs) throw new Error(`${repairs} repairs instead of ${runs}`)
      }
    }
  ],
  { laps: 15 }
)

report("bad arguments", [
  ...each(samples, "happy, two turns", runs),
  ...each(samples, "happy, three turns", runs),
  ...each(samples, "told and corrected, three turns", runs),
  ...each(samples, "fixed, two turns", runs),
  times("told and corrected", samples, ["told and corrected, three turns", "happy, three turns"], {
    margin: 0.2
  }),
  times("fixed", samples, ["fixed, two turns", "happy, two turns"], { margin: 0.2 })
])
