/** What a happy turn allocates. */
import { Model } from "@kintsugi/core"
import * as Effect from "effect/Effect"
import { allocated } from "../allocation.ts"
import { report } from "../figures.ts"
import * as Bare from "../floors/effect.ts"
import * as Ours from "../ours.ts"
import * as Work from "../work.ts"

const turns = 2
const bare = Bare.agent(new Map([["add", Bare.add]]), 8)
const ours = Ours.agentOf(Ours.add)

const kib = async (run: Effect.Effect<unknown, unknown>) => (await allocated(run)) / 1024

const bareRun = Effect.provideService(
  Effect.suspend(() => bare(Work.input)),
  Bare.Model,
  Bare.modelOf(turns)
)

const ofBare = await kib(bareRun)
const ofTimed = await kib(Bare.timed(bareRun))
const ofOurs = await kib(
  Effect.provideService(
    Effect.suspend(() => ours(Work.input)),
    Model.Model,
    Ours.modelOf(turns)
  )
)

report("allocation per happy turn", [
  { name: "bare Effect", value: ofBare, unit: "KiB" },
  { name: "bare Effect with a deadline", value: ofTimed, unit: "KiB" },
  { name: "ours", value: ofOurs, unit: "KiB", most: 16, margin: 0.1 },
  { name: "ours to bare Effect", value: ofOurs / ofBare, unit: "×" }
])
