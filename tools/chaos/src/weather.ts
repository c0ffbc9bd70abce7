/** The streams that stand between a process and what it is connected to. */
import { Transform } from "node:stream"
import type { Draw } from "../../soak/src/Draw.ts"
import type { Weather } from "./plan.ts"

/** The sky over a link: all its connections have the same weather. */
export interface Sky {
  weather: Weather | undefined
  /** Called at each cut. */
  readonly cut: () => void
}

export class Cut extends Error {}

const longest = 400

/** A stream that does to each chunk what the weather says. `wait` calls back after so many milliseconds. */
export const passing = (
  sky: Sky,
  draw: Draw,
  wait: (callback: () => void, milliseconds: number) => void = setTimeout
): Transform =>
  new Transform({
    transform(chunk: Buffer, _, done) {
      const { weather } = sky
      if (weather === undefined) return done(undefined, chunk)
      if (weather === "slow") return wait(() => done(undefined, chunk), draw.int(20, longest))
      if (draw.chance(0.6)) return done(undefined, chunk)
      sky.cut()
      if (weather === "halved") this.push(chunk.subarray(0, Math.floor(chunk.length / 2)))
      // what was pushed is passed on first
      setImmediate(() => done(new Cut()))
    }
  })
