/** The faults of the model server, and how long it takes: drawn from the seed, the number of the run and the step of the run. */
import { drawOf } from "../../eval/src/seeds.ts"

/** A run has two steps: the model calls the tool, and the model answers. */
export type Step = "call" | "answer"

/** A 429 that says how long to wait, a 503, a connection that ends in mid-stream, a tool call whose arguments are cut off. */
export type Fault = "429" | "503" | "reset" | "malformed"

/** The share of steps whose first request meets a fault. */
export const share = 0.05

export const faultOf = (seed: number, run: number, step: Step): Fault | undefined => {
  const draw = drawOf(seed, run, step, "fault")
  if (!draw.chance(share)) return undefined
  return step === "call" ? draw.pick("429", "503", "reset", "malformed") : draw.pick("429", "503", "reset")
}

/** The milliseconds until the first part of a reply, and from there to its end. */
export interface Pace {
  readonly first: number
  readonly rest: number
}

/** All steps of a run take `mean` milliseconds on average, and at most half as much again. */
export const paceOf = (seed: number, run: number, step: Step, mean: number): Pace => {
  const takes = mean * (0.5 + drawOf(seed, run, step, "pace").fraction())
  return step === "call" ? { first: 0.2 * takes, rest: 0.1 * takes } : { first: 0.2 * takes, rest: 0.5 * takes }
}
