/** What is wrong with a recording, or missing from it. */
import type { Recording } from "./Recording.ts"

export type Problem = Recording["problems"][number]

/** The number of problems, including those that a problem stands for. */
export const countOf = (problems: ReadonlyArray<Problem>): number =>
  problems.reduce((sum, { many = 1 }) => sum + many, 0)
