/** What is weighed: modules that take a part of the library, and agents that are complete programs. */
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import type { Weight } from "./bundling.ts"

/** Each takes a part of the library, and nothing else. */
export const programs = {
  "a table for an effect":
    'import * as Recovery from "@kintsugi/core/Recovery"; export const guarded = Recovery.onError({ Busy: Recovery.retry({ retries: 3 }), orElse: Recovery.rethrow })',
  "all of Recovery": 'import * as Recovery from "@kintsugi/core/Recovery"; export { Recovery }',
  "all of the core": 'import * as Kintsugi from "@kintsugi/core"; export { Kintsugi }'
} as const

/** Programs of `bench/src/agents`, besides the hello agent: each is that agent with one thing more. */
export const agents = [
  "hello",
  "table",
  "fixer",
  "streamed",
  "approval",
  "resumed",
  "structured",
  "telemetry",
  "composed",
  "models"
] as const

/** The program of an agent, as it is written. */
export const sourceOf = (agent: (typeof agents)[number]): string => {
  const path = agent === "hello" ? "./hello/ours.ts" : `./agents/${agent}.ts`
  return readFileSync(fileURLToPath(new URL(path, import.meta.url)), "utf8")
}

const most = 10

/** The heaviest modules of a bundle, minified and not compressed. */
export const heaviest = ({ modules }: Weight): ReadonlyArray<string> =>
  modules.slice(0, most).map(([module, size]) => `${size.toFixed(2).padStart(7)} KB  ${module}`)
