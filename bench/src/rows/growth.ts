/** What a turn costs in a long conversation, beside what it costs in a short one: all that grows with the transcript shows here. */
import { Model } from "@kintsugi/core"
import * as Effect from "effect/Effect"
import { type Figure, report } from "../figures.ts"
import * as Bare from "../floors/effect.ts"
import { interleaved, median, type Samples, type Subject, typical } from "../harness.ts"
import * as Ours from "../ours.ts"
import { effects } from "../portion.ts"
import * as Work from "../work.ts"

const few = 200
const many = 1000
/** Turns of a portion: as many for all. */
const turns = 20_000

const bare = Bare.agent(new Map([["add", Bare.add]]), many)
const ours = Ours.agentOf(Ours.add, many)

const bareWith = (count: number): Subject =>
  effects(
    `bare Effect, ${count} turns`,
    turns / count,
    Effect.provideService(
      Effect.suspend(() => bare(Work.input)),
      Bare.Model,
      Bare.modelOf(count)
    ),
    Work.answer
  )

const oursWith = (count: number): Subject =>
  effects(
    `ours, ${count} turns`,
    turns / count,
    Effect.provideService(
      Effect.suspend(() => ours(Work.input)),
      Model.Model,
      Ours.modelOf(count)
    ),
    Work.answer
  )

const samples = await interleaved([bareWith(few), oursWith(few), bareWith(many), oursWith(many)], { laps: 15 })

const perTurn = (name: string): Figure => ({ name, value: (typical(samples, name) * 1000) / turns, unit: "µs" })

/** Lap by lap, how much dearer a turn of the long conversation is. */
const growths = (all: Samples, name: string): ReadonlyArray<number> => {
  const [short, long] = [all.get(`${name}, ${few} turns`) ?? [], all.get(`${name}, ${many} turns`) ?? []]
  return short.map(({ wall }, lap) => (long[lap]?.wall ?? Number.NaN) / wall)
}

const bareGrowth = median(growths(samples, "bare Effect"))
const ourGrowth = median(growths(samples, "ours"))

report("growth from 200 to 1,000 turns", [
  perTurn(`bare Effect, ${few} turns`),
  perTurn(`bare Effect, ${many} turns`),
  perTurn(`ours, ${few} turns`),
  perTurn(`ours, ${many} turns`),
  { name: "growth of bare Effect", value: bareGrowth, unit: "×" },
  { name: "growth of ours", value: ourGrowth, unit: "×" },
  { name: "growth of ours to that of bare Effect", value: ourGrowth / bareGrowth, unit: "×", most: 1.1, margin: 0.15 }
])
