/**
 * How many cases a law draws, and where they start: `KINTSUGI_CASES` and `KINTSUGI_SEED`. How many it did draw stands in the
 * meta data of its test, for the tally.
 */
import { it } from "@effect/vitest"
import type { Cases } from "../../scripts/cases.ts"

declare module "vitest" {
  interface TaskMeta {
    law?: Cases
  }
}

const environment = (name: string, otherwise: number): number => {
  const value = Number(process.env[name] ?? otherwise)
  return Number.isSafeInteger(value) && value > 0 ? value : otherwise
}

/** How many cases each law draws. */
export const runs = environment("KINTSUGI_CASES", 1_000)

/** Where they start. */
export const seed = environment("KINTSUGI_SEED", 4_711)

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
