/** Collects the tests of many files in one process; `runner.ts` runs them. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, vi } from "vitest"
import { root } from "../../../scripts/files.ts"
import { heartbeat } from "./heartbeat.ts"
import { PLAN, type Plan } from "./protocol.ts"
import { broken, switches } from "./switches.ts"

const plan: Plan = JSON.parse(readFileSync(process.env[PLAN] ?? "", "utf8"))
const beat = heartbeat(plan.heartbeat)
if (plan.mode === "baseline") switches.hits = new Uint32Array(plan.mutants)

const load = async (file: string): Promise<void> => void (await import(/* @vite-ignore */ join(root, file)))

/** Loads a file while a mutant is on; that it cannot be loaded then is found out, and not the end. */
const loadWith = async (mutant: string, file: string): Promise<void> => {
  if (broken.has(mutant)) return
  beat(mutant, file, 60_000)
  switches.activeMutant = mutant
  try {
    await load(file)
  } catch {
    broken.set(mutant, file)
  } finally {
    switches.activeMutant = undefined
  }
}

if (plan.mode === "worlds") {
  for (const { files, mutant } of plan.worlds) {
    describe(mutant, () => {
      vi.resetModules()
      for (const file of files) describe(file, () => loadWith(mutant, file))
    })
  }
} else {
  for (const file of plan.files) describe(file, () => load(file))
}
