/** The servers under load, which have the same endpoint, and the same agent behind it. */

export interface Subject {
  readonly name: "bare" | "kintsugi" | "ai"
  /** The program, from the root of the repository. */
  readonly script: string
  /** What it needs installed besides. */
  readonly needs?: string
}

export const subjects: ReadonlyArray<Subject> = [
  { name: "bare", script: "tools/load/src/bare.ts" },
  { name: "kintsugi", script: "packages/examples/src/backend/main.ts" },
  { name: "ai", script: "bench/peers/src/load.ts", needs: "bench/peers" }
]
