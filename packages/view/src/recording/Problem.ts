/** What is wrong with a recording, or missing from it. */

/** A fault of a recording, or a missing part. */
export interface Problem {
  /** Counted from 1; absent if the problem is about no single line. */
  readonly line?: number
  readonly kind: "broken" | "cut" | "foreign" | "unknown" | "beginning" | "end" | "parent" | "order" | "again" | "more"
  /** One sentence. */
  readonly says: string
  /** How many problems it stands for; 1 by default. */
  readonly many?: number
}

/** The number of problems, including those that a problem stands for. */
export const countOf = (problems: ReadonlyArray<Problem>): number =>
  problems.reduce((sum, { many = 1 }) => sum + many, 0)
