import type { RunShown } from "../../../../../packages/view/src/serve/browser/Wire.ts"

/** A run of the list: it has completed, unless the fields say otherwise. */
export const run = (fields: Partial<RunShown> = {}): RunShown => ({
  id: "r1",
  agent: "desk",
  at: 0,
  input: "Hello",
  model: "stand-in",
  tools: "run",
  faults: [],
  seed: 1,
  status: "completed",
  healed: 0,
  turns: 1,
  lasted: 1500,
  missing: [],
  ...fields
})
