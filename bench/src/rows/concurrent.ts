/**
 * 10,000 runs at once of three turns each, with a tool that sleeps 10 ms, beside the same with a bare Effect loop. Each side has a
 * process of its own, in turns. `--runs=100000` makes it as many, once.
 */
import { execFileSync } from "node:child_process"
import { fileURLToPath } from "node:url"
import type { AtOnce } from "../atOnce.ts"
import { type Figure, report } from "../figures.ts"
import { median } from "../harness.ts"

const given = process.argv.find((one) => one.startsWith("--runs="))
const runs = Number(given?.slice("--runs=".length) ?? 10_000)
const laps = runs > 10_000 ? 1 : 5

const script = fileURLToPath(new URL("../atOnce.ts", import.meta.url))

/** `timed` is the bare loop with a deadline: what of the distance is the deadline alone. */
const names = ["bare", "timed", "ours"] as const
type Name = (typeof names)[number]

const measure = (name: Name): AtOnce =>
  JSON.parse(
    execFileSync(process.execPath, ["--max-old-space-size=8192", script, name, String(runs)], { encoding: "utf8" })
  )

const all: Record<Name, Array<AtOnce>> = { bare: [], timed: [], ours: [] }
for (let lap = 0; lap < laps; lap++) {
  const order = lap % 2 === 0 ? names : names.toReversed()
  for (const name of order) all[name].push(measure(name))
}

const typical = (name: Name, what: keyof AtOnce): number => median(all[name].map((one) => one[what]))

const ratio = (
  name: string,
  what: keyof AtOnce,
  target: Pick<Figure, "most" | "margin"> = {},
  [of, to]: readonly [Name, Name] = ["ours", "bare"]
): Figure => ({
  name,
  value: median(all[of].map((one, lap) => one[what] / (all[to][lap]?.[what] ?? Number.NaN))),
  unit: "×",
  ...target
})

report(`${runs} runs at once`, [
  { name: "bare Effect", value: typical("bare", "wall"), unit: "ms" },
  { name: "bare Effect with a deadline", value: typical("timed", "wall"), unit: "ms" },
  { name: "ours", value: typical("ours", "wall"), unit: "ms" },
  { name: "bare Effect, peak memory over idle", value: typical("bare", "memory"), unit: "MiB" },
  { name: "ours, peak memory over idle", value: typical("ours", "memory"), unit: "MiB" },
  ratio("wall, ours to bare Effect", "wall", { most: 2, margin: 0.25 }),
  ratio("processor, ours to bare Effect", "cpu"),
  ratio("memory, ours to bare Effect", "memory", { most: 2, margin: 0.25 }),
  ratio("wall, ours to bare Effect with a deadline", "wall", { most: 1.4 }, ["ours", "timed"]),
  ratio("memory, ours to bare Effect with a deadline", "memory", { most: 1.4 }, ["ours", "timed"]),
  ratio("wall, with a deadline to bare Effect", "wall", {}, ["timed", "bare"]),
  ratio("memory, with a deadline to bare Effect", "memory", {}, ["timed", "bare"])
])
