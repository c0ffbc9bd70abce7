/** Bundles programs as they would be shipped, and starts them: what they weigh, and how long they take until they are loaded. */
import { execFileSync } from "node:child_process"
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { gzipSync } from "node:zlib"
import { build } from "esbuild"
import { median } from "./harness.ts"

export interface Bundle {
  readonly name: string
  readonly file: string
  /** KB of 1,000 bytes, minified and gzipped. */
  readonly gzip: number
}

/** A folder for what is bundled; it is gone afterwards. */
export const inFolder = async (use: (folder: string) => Promise<void>): Promise<void> => {
  const folder = mkdtempSync(join(realpathSync(tmpdir()), "kintsugi-bundles-"))
  try {
    await use(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

export const bundle = async (folder: string, name: string, entry: string): Promise<Bundle> => {
  const { outputFiles } = await build({
    entryPoints: [entry],
    bundle: true,
    minify: true,
    write: false,
    format: "esm",
    platform: "node",
    target: "node22",
    treeShaking: true,
    // packages that are no modules ask for what Node has by `require`
    banner: { js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);' },
    logLevel: "error"
  })
  const [output] = outputFiles
  if (output === undefined || !output.text.includes("Adds two numbers."))
    throw new Error(`${name}: nothing was bundled`)
  const file = join(folder, `${name.replaceAll(/\W/g, "-")}.mjs`)
  writeFileSync(file, output.contents)
  return { name, file, gzip: gzipSync(output.contents, { level: 9 }).length / 1000 }
}

/** Milliseconds that a new process takes to import each module, in turns; the median of `rounds`. */
export const importTimes = (files: ReadonlyArray<string>, rounds: number): ReadonlyArray<ReadonlyArray<number>> => {
  const times = files.map(() => new Array<number>())
  for (let round = -1; round < rounds; round++) {
    for (const [index, file] of files.entries()) {
      const script = `const start = performance.now(); const { main } = await import(${JSON.stringify(pathToFileURL(file).href)}); if (typeof main !== "function") throw new Error("no program"); console.log(performance.now() - start)`
      const millis = Number(execFileSync(process.execPath, ["--input-type=module", "-e", script], { encoding: "utf8" }))
      if (round >= 0) times[index]?.push(millis)
    }
  }
  return times
}

export { median }
