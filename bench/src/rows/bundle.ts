/** What an agent with one tool weighs when it is bundled, and how long it takes to load; beside the same by hand. */
import { writeFileSync, readFileSync } from "node:fs"
import { stripTypeScriptTypes } from "node:module"
import { join } from "node:path"
import { bundle, helloOf, importTimes, inFolder, install } from "../bundling.ts"
import { type Figure, report } from "../figures.ts"
import { median } from "../harness.ts"

const rounds = 20

await inFolder(async (folder) => {
  install(folder)
  const [loose, floor] = [join(folder, "ours.mjs"), join(folder, "effect.mjs")]
  writeFileSync(floor, stripTypeScriptTypes(readFileSync(helloOf("effect"), "utf8")))
  const bundles = [
    await bundle(folder, "bundled ours", loose),
    await bundle(folder, "bundled effect", floor),
    await bundle(folder, "bundled typescript", helloOf("typescript"))
  ]
  const files = [...bundles.map(({ file }) => file), loose, floor]
  const [ours = [], effect = [], typescript = [], oursLoose = [], effectLoose = []] = importTimes(files, rounds)
  const [ofOurs, ofEffect, ofTypescript] = bundles.map(({ gzip }) => gzip)
  const start = (name: string, times: ReadonlyArray<number>, target: Partial<Figure> = {}): Figure => ({
    name,
    value: median(times),
    unit: "ms",
    ...target
  })
  const over = ours.map((millis, round) => millis - (effect[round] ?? Number.NaN))
  report("a bundled hello agent", [
    { name: "ours, gzip", value: ofOurs ?? Number.NaN, unit: "KB", most: 70, margin: 0.05 },
    { name: "bare Effect, gzip", value: ofEffect ?? Number.NaN, unit: "KB" },
    { name: "bare TypeScript with zod, gzip", value: ofTypescript ?? Number.NaN, unit: "KB" },
    start("ours, start", ours),
    start("bare Effect, start", effect),
    start("bare TypeScript with zod, start", typescript),
    start("ours over bare Effect, start", over, { most: 20 }),
    start("ours unbundled, import", oursLoose, { most: 350 }),
    start("bare Effect unbundled, import", effectLoose)
  ])
})
