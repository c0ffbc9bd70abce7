/** How many cases a law draws, and where they start. How many it did draw stands in the meta data of its test, for the tally. */
import { it } from "@effect/vitest"
import { type Cases, casesIn, seedIn } from "../../scripts/cases.ts"

declare module "vitest" {
  interface TaskMeta {
    law?: Cases
  }
}

/** How many cases each law draws. */
export const runs = casesIn(process.env)

/** Where they start. */
export const seed = seedIn(process.env)

/** A test that says how many cases it has gone through; `count` is called after each of them. */
export const counting = (title: string, check: (count: () => void) => Promise<unknown>): void =>
  it(title, { timeout: 20_000 + 50 * runs }, async ({ task }) => {
    let cases = 0
    try {
      await check(() => cases++)
    } finally {
      task.meta.law = { cases, seed }
    }
  })
