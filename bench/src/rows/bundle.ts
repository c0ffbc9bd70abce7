/** What an agent with one tool weighs when it is bundled, and how long it takes to load; beside the same by hand. */
import { readFileSync, realpathSync, symlinkSync, mkdirSync, writeFileSync } from "node:fs"
import { stripTypeScriptTypes } from "node:module"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { build as buildPackages, isBuilt } from "../../../scripts/build.ts"
import { root } from "../../../scripts/files.ts"
import { bundle, importTimes, inFolder } from "../bundling.ts"
import { type Figure, report } from "../figures.ts"
import { median } from "../harness.ts"

const rounds = 20
const names = ["ours", "effect", "typescript"] as const
const sourceOf = (name: string) => fileURLToPath(new URL(`../hello/${name}.ts`, import.meta.url))

/** A project that has installed what is published, so that an import without a bundle loads that. */
const unbundled = (folder: string): string => {
  for (const name of ["core", "providers"]) {
    const place = join(folder, "node_modules/@kintsugi", name)
    mkdirSync(place, { recursive: true })
    const { publishConfig, ...manifest } = JSON.parse(
      readFileSync(join(root, "packages", name, "package.json"), "utf8")
    )
    writeFileSync(join(place, "package.json"), JSON.stringify({ ...manifest, exports: publishConfig.exports }))
    symlinkSync(join(root, "packages", name, "dist"), join(place, "dist"), "junction")
  }
  symlinkSync(
    realpathSync(join(root, "packages/core/node_modules/effect")),
    join(folder, "node_modules/effect"),
    "junction"
  )
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }')
  const file = join(folder, "unbundled.mjs")
  writeFileSync(file, stripTypeScriptTypes(readFileSync(sourceOf("ours"), "utf8")))
  return file
}

if (!isBuilt() && !buildPackages()) throw new Error("the packages do not build")

await inFolder(async (folder) => {
  const bundles = []
  for (const name of names) bundles.push(await bundle(folder, name, sourceOf(name)))
  const files = [...bundles.map(({ file }) => file), unbundled(folder)]
  const [ours = [], effect = [], typescript = [], loose = []] = importTimes(files, rounds)
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
    start("ours unbundled, import", loose, { most: 350 })
  ])
})
