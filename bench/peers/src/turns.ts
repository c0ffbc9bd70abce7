/** A happy turn, and one whose tool fails twice: ours and the peers, in turns, in one process. */
import { type Figure, report, times } from "../../src/figures.ts"
import { interleaved, typical } from "../../src/harness.ts"
import { promises } from "../../src/portion.ts"
import * as Work from "../../src/work.ts"
import { ai } from "./ai.ts"
import { cockatiel } from "./cockatiel.ts"
import { effectAi } from "./effectAi.ts"
import { langgraph } from "./langgraph.ts"
import { mastra } from "./mastra.ts"
import { openaiAgents } from "./openaiAgents.ts"
import { ours } from "../../src/beside.ts"
import type { Behaviour } from "./peer.ts"

const libraries = { happy: [ours, ai, effectAi, openaiAgents, langgraph, mastra] }
const titles = { happy: "happy turn, ours and the peers", flaky: "a tool fails twice, ours and the peers" }

/** How many runs a portion has: about as much time for each. */
const runsOf: Record<string, number> = { ours: 1000, cockatiel: 50, ai: 100, "effect/ai": 60 }

const measure = async (behaviour: Behaviour) => {
  const makers = behaviour === "happy" ? libraries.happy : [...libraries.happy, cockatiel]
  const peers = makers.map((make) => make(behaviour))
  const subjects = peers.map(({ name, run }) => promises(name, runsOf[name] ?? 20, run, Work.answer))
  const samples = await interleaved(subjects, { rounds: 7 })
  const runs = (name: string) => runsOf[name] ?? 20
  // portions differ in length: ratios are made of single runs
  const each = new Map(
    [...samples].map(([name, all]) => [
      name,
      all.map(({ cpu, wall }) => ({ cpu: cpu / runs(name), wall: wall / runs(name) }))
    ])
  )
  const figures = peers.map(({ name }): Figure => ({ name, value: typical(each, name) * 1000, unit: "µs" }))
  // cockatiel is no agent: it has nothing but the policy
  const against = peers.filter(({ name }) => name !== "ours" && name !== "cockatiel")
  const ratios = against.map(({ name }) => times(`${name} to ours`, each, [name, "ours"]))
  const nearest = Math.min(...ratios.map(({ value }) => value))
  const target = behaviour === "happy" ? { least: 8 } : {}
  report(titles[behaviour], [
    ...figures,
    ...ratios,
    { name: "the fastest peer to ours", value: nearest, unit: "×", ...target }
  ])
}

await measure("happy")
await measure("flaky")
