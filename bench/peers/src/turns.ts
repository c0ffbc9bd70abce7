/** A happy turn, and one whose tool fails twice: ours and the peers, in turns, each in a process of its own. */
import { type Figure, report, times } from "../../src/figures.ts"
import { interleaved, typical } from "../../src/harness.ts"
import { apart } from "./apart.ts"
import type { Behaviour, Name } from "./peer.ts"

const titles = { happy: "happy turn, ours and the peers", flaky: "a tool fails twice, ours and the peers" }

/** How many runs a portion has: about as much time for each. */
const runsOf = {
  ours: 2000,
  ai: 250,
  "effect/ai": 100,
  "@openai/agents": 60,
  "@langchain/langgraph": 20,
  "@mastra/core": 20,
  cockatiel: 50
} satisfies Record<Name, number>

const measure = async (behaviour: Behaviour, names: ReadonlyArray<Name>) => {
  const orders = names.map((name) => ({ name, behaviour, runs: runsOf[name] }))
  const samples = await apart(orders, (subjects) => interleaved(subjects, { laps: 9 }))
  // portions differ in length: ratios are made of single runs
  const each = new Map(
    names.map((name) => [
      name,
      (samples.get(name) ?? []).map(({ cpu, wall }) => ({ cpu: cpu / runsOf[name], wall: wall / runsOf[name] }))
    ])
  )
  const figures = names.map((name): Figure => ({ name, value: typical(each, name) * 1000, unit: "µs" }))
  // cockatiel is no agent: it has nothing but the policy
  const against = names.filter((name) => name !== "ours" && name !== "cockatiel")
  const ratios = against.map((name) => times(`${name} to ours`, each, [name, "ours"]))
  const nearest = Math.min(...ratios.map(({ value }) => value))
  const target = behaviour === "happy" ? { least: 8 } : {}
  report(titles[behaviour], [
    ...figures,
    ...ratios,
    { name: "the fastest peer to ours", value: nearest, unit: "×", ...target }
  ])
}

const agents: ReadonlyArray<Name> = [
  "ours",
  "ai",
  "effect/ai",
  "@openai/agents",
  "@langchain/langgraph",
  "@mastra/core"
]

await measure("happy", agents)
await measure("flaky", [...agents, "cockatiel"])
