/** What is done to the processes and their connections, and when: drawn from the seed before anything starts. */
import { drawOf } from "../../eval/src/seeds.ts"

export const slots = [0, 1, 2] as const

/** The connections of a process: to the database, or to the model server. */
export type Link = "database" | "model"

/** How bytes pass a link for a while: late, cut off at some chunk, or with half of a chunk before the cut. */
export type Weather = "slow" | "cut" | "halved"

/** Something that happens to one process. `at` and `lasts` are in milliseconds. */
export type Trouble =
  | { readonly at: number; readonly slot: number; readonly type: "SIGKILL" | "SIGTERM" }
  | {
      readonly at: number
      readonly slot: number
      readonly type: "weather"
      readonly link: Link
      readonly weather: Weather
      readonly lasts: number
    }

/** A process ends every 20 seconds on average, and bad weather comes every 5 seconds. */
const means = { end: 20_000, weather: 5000 }

/** The process in this slot lives through the second half, so that its memory has time to grow. */
export const survivor = 0

/** All troubles of so many milliseconds, in the order of time. */
export const troublesOf = (seed: number, lasts: number): ReadonlyArray<Trouble> => {
  const draw = drawOf(seed, "troubles")
  const times = (mean: number): ReadonlyArray<number> => {
    const all: Array<number> = []
    for (let at = mean / 2; at < lasts; at += Math.round(mean * (0.5 + draw.fraction()))) all.push(at)
    return all
  }
  const ends = times(means.end).map((at): Trouble => {
    const type = draw.chance(0.7) ? "SIGKILL" : "SIGTERM"
    const slot = draw.pick(...slots)
    return { at, slot: slot === survivor && at > lasts / 2 ? draw.pick(1, 2) : slot, type }
  })
  const weathers = times(means.weather).map((at): Trouble => ({
    at,
    slot: draw.pick(...slots),
    type: "weather",
    link: draw.pick("database", "model"),
    weather: draw.pick("slow", "slow", "cut", "halved"),
    lasts: draw.int(500, 4000)
  }))
  return [...ends, ...weathers].toSorted((one, other) => one.at - other.at)
}

/** How wrong the clock of the n-th process of a slot is, in milliseconds: seconds to minutes, and one of three is right. */
export const clockOf = (seed: number, slot: number, nth: number): number => {
  const draw = drawOf(seed, "clock", slot, nth)
  if (draw.chance(1 / 3)) return 0
  const off = draw.pick(draw.int(1000, 10_000), draw.int(10_000, 180_000))
  return draw.chance(0.5) ? off : -off
}
