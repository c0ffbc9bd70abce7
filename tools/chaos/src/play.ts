/** Plays the chaos of a seed: starts everything, lets runs arrive while faults come, waits until all is calm, and gathers the evidence. */
import { mkdirSync, rmSync } from "node:fs"
import { join } from "node:path"
import { Effect } from "effect"
import { root } from "../../../scripts/files.ts"
import { startPostgres } from "../../durable-lab/src/postgres.ts"
import { engineOn } from "../../durable-lab/src/processes/cluster.ts"
import { drawOf } from "../../eval/src/seeds.ts"
import { healthy } from "../../load/src/children.ts"
import { env, type Learnt, play as playClient } from "./clients.ts"
import { entriesOf } from "./diary.ts"
import * as Evidence from "./evidence.ts"
import { growthOf } from "./growth.ts"
import type { Noted } from "./judge.ts"
import { startModel } from "./modelServer.ts"
import { decide } from "./people.ts"
import { troublesOf } from "./plan.ts"
import type { Played } from "./report.ts"
import type { Settings } from "./settings.ts"
import { diaryOf, startSlots } from "./slots.ts"
import * as Till from "./process/till.ts"

/** Logs and diaries of the last chaos. */
export const folder = join(root, ".cache/chaos")

/** Seconds that all runs have to end after the chaos. */
const patience = 240

export const play = (postgres: string, { minutes, rate, seed }: Settings, say: (line: string) => void) =>
  Effect.gen(function* () {
    rmSync(folder, { recursive: true, force: true })
    mkdirSync(folder, { recursive: true })
    const database = yield* Effect.acquireRelease(
      Effect.promise(() => startPostgres(postgres)),
      ({ stop }) => Effect.promise(stop)
    )
    const model = yield* Effect.acquireRelease(
      Effect.promise(() => startModel(seed)),
      ({ stop }) => Effect.promise(stop)
    )
    const reader = engineOn(database.port)
    yield* Effect.provide(Till.creating, reader)
    const slots = yield* startSlots({ seed, folder, database: database.port, model: model.port, env })
    yield* Effect.forEach(slots.urls, healthy, { concurrency: "unbounded" })
    yield* Effect.sleep("5 seconds")
    yield* slots.sample
    const fresh = slots.lifetimes.map(({ process, samples }) => ({ process, sample: samples.at(-1) }))
    say(`three processes at ${slots.urls.join(", ")}`)

    const lasts = minutes * 60_000
    const [begun, learnt]: [number, Array<Learnt>] = [Date.now(), []]
    /** What began in time goes on, and ends by itself, or with the scope. */
    const client = (nth: number) =>
      Effect.promise(async (signal) => {
        const one = await playClient(seed, nth, slots.urls, signal)
        learnt.push(one)
        one.breaches.push(...(await decide(seed, one, slots.urls, signal)))
      })
    const arriving = Effect.gen(function* () {
      const draw = drawOf(seed, "arrivals")
      const all = []
      for (let [nth, due] = [1, 0]; due < lasts; nth++) {
        due += (-Math.log(1 - draw.fraction()) / rate) * 1000
        yield* Effect.sleep(Math.max(0, due - (Date.now() - begun)))
        all.push(yield* Effect.forkScoped(client(nth)))
      }
      return all
    })
    const suffering = Effect.forEach(
      troublesOf(seed, lasts),
      (trouble) => Effect.andThen(Effect.sleep(Math.max(0, trouble.at - (Date.now() - begun))), slots.suffer(trouble)),
      { concurrency: "unbounded", discard: true }
    )
    const sampling = yield* Effect.forkScoped(Effect.forever(Effect.andThen(slots.sample, Effect.sleep("10 seconds"))))
    const [clients] = yield* Effect.all([arriving, suffering], { concurrency: 2 })
    say(`the chaos is over: ${clients.length} runs have arrived; now all is calm`)
    yield* slots.calm
    model.calm()
    const counts = yield* Effect.provide(calming(say), reader)
    yield* Effect.sleep("10 seconds")
    sampling.interruptUnsafe()
    yield* slots.sample
    const runs = yield* Effect.provide(Evidence.seen, reader)
    const noted = slots.lifetimes.flatMap(({ process }): ReadonlyArray<Noted> =>
      entriesOf(diaryOf(folder, process)).map((entry) => ({ ...entry, process }))
    )
    const alive = slots.lifetimes.filter(({ ended }) => ended === undefined)
    const rests = alive.map(({ process, samples, slot }) => ({
      process,
      fresh: fresh[slot]?.sample,
      rest: samples.at(-1)
    }))
    const played: Played = {
      seed,
      minutes,
      ...counts,
      evidence: {
        runs,
        clients: learnt,
        asked: model.log,
        noted,
        lifetimes: slots.lifetimes,
        cuttings: slots.cuttings
      },
      growths: slots.lifetimes.flatMap(growthOf),
      rests
    }
    return played
  }).pipe(Effect.scoped)

/** Waits until no run is at work, and lets the engine read at once what it has marked while its database refused. */
const calming = (say: (line: string) => void) =>
  Effect.gen(function* () {
    const begun = performance.now()
    const seconds = () => (performance.now() - begun) / 1000
    let isUnmarked = false
    for (;;) {
      const left = yield* Evidence.unfinished
      if (left === 0 || seconds() > patience) return { calmAfter: seconds(), isUnmarked }
      if (seconds() > patience / 2 && !isUnmarked) {
        say(`${left} runs are at work after ${patience / 2} s: the marks of the engine are taken off`)
        yield* Evidence.unmark
        isUnmarked = true
      }
      yield* Effect.sleep("2 seconds")
    }
  })
