/** A happy turn: the model calls a tool, the tool answers, the model says so. There is no listener. */
import { Model } from "@kintsugi/core"
import * as Effect from "effect/Effect"
import { each, report, times } from "../figures.ts"
import * as Bare from "../floors/effect.ts"
import * as Plain from "../floors/typescript.ts"
import { interleaved } from "../harness.ts"
import * as Ours from "../ours.ts"
import { effects, promises } from "../portion.ts"
import * as Work from "../work.ts"

const runs = 10_000
const turns = 2

const plainModel = Plain.modelOf(turns)
const bare = Bare.agent(new Map([["add", Bare.add]]), 8)
const ours = Ours.agentOf(Ours.add)

const samples = await interleaved(
  [
    promises("bare TypeScript", runs, () => Plain.run(plainModel, Work.input, 8), Work.answer),
    effects(
      "bare Effect",
      runs,
      Effect.provideService(
        Effect.suspend(() => bare(Work.input)),
        Bare.Model,
        Bare.modelOf(turns)
      ),
      Work.answer
    ),
    effects(
      "ours",
      runs,
      Effect.provideService(
        Effect.suspend(() => ours(Work.input)),
        Model.Model,
        Ours.modelOf(turns)
      ),
      Work.answer
    )
  ],
  { laps: 15 }
)

report("happy turn", [
  ...each(samples, "bare TypeScript", runs),
  ...each(samples, "bare Effect", runs),
  ...each(samples, "ours", runs),
  times("ours to bare Effect", samples, ["ours", "bare Effect"], { most: 4, margin: 0.15 }),
  times("ours to bare Effect, processor", samples, ["ours", "bare Effect"], { measure: "cpu" })
])
