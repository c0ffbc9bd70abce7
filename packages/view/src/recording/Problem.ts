/** The problems of a recording: what is broken in it, or missing from it. */
import type { Recording } from "./Recording.ts"

export type Problem = Recording["problems"][number]

/** The number of problems. An entry may stand for several of them. */
export const countOf = (problems: ReadonlyArray<Problem>): number =>
  problems.reduce((sum, { many = 1 }) => sum + many, 0)
