/** What an agent with one tool weighs when it is bundled, and how long it takes to load; beside the same by hand. */
import { writeFileSync, readFileSync } from "node:fs"
import { stripTypeScriptTypes } from "node:module"
import { join } from "node:path"
import { bundle, helloOf, type Import, importTimes, inFolder, install } from "../bundling.ts"
import { type Figure, report } from "../figures.ts"
import { median } from "../harness.ts"

const laps = 20

await inFolder(async (folder) => {
  install(folder)
  const [loose, floor] = [join(folder, "ours.mjs"), join(folder, "effect.mjs")]
  writeFileSync(floor, stripTypeScriptTypes(readFileSync(helloOf("effect"), "utf8")))
  const bundles = [
    await bundle(folder, "ours", loose),
    await bundle(folder, "effect", floor),
    await bundle(folder, "typescript", helloOf("typescript"))
  ]
  const files = bundles.map(({ file }) => file)
  const [ours = [], effect = [], typescript = []] = importTimes(files, laps)
  const [ofOurs, ofEffect, ofTypescript] = bundles.map(({ gzip }) => gzip)
  const taken = (name: string, imports: ReadonlyArray<Import>, target: Partial<Figure> = {}): ReadonlyArray<Figure> => [
    { name, value: median(imports.map(({ wall }) => wall)), unit: "ms", ...target },
    { name: `${name}, processor`, value: median(imports.map(({ cpu }) => cpu)), unit: "ms" }
  ]
  const over = ours.map(({ cpu, wall }, lap) => ({
    wall: wall - (effect[lap]?.wall ?? Number.NaN),
    cpu: cpu - (effect[lap]?.cpu ?? Number.NaN)
  }))
  report("a bundled hello agent", [
    { name: "ours, gzip", value: ofOurs ?? Number.NaN, unit: "KB", most: 70, margin: 0.05 },
    { name: "bare Effect, gzip", value: ofEffect ?? Number.NaN, unit: "KB" },
    { name: "bare TypeScript with zod, gzip", value: ofTypescript ?? Number.NaN, unit: "KB" },
    ...taken("ours, start", ours),
    ...taken("bare Effect, start", effect),
    ...taken("bare TypeScript with zod, start", typescript),
    ...taken("ours over bare Effect, start", over, { most: 20 })
  ])
})
