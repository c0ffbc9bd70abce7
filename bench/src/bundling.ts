/** Bundles programs as they would be shipped, and starts them: what they weigh, and how long they take until they are loaded. */
import { execFileSync } from "node:child_process"
import { cpSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { stripTypeScriptTypes } from "node:module"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"
import { gzipSync } from "node:zlib"
import { build, type OutputFile, type Plugin } from "esbuild"
import { build as buildPackages, isBuilt } from "../../scripts/build.ts"
import { root } from "../../scripts/files.ts"
import { dependencies, packages } from "../../scripts/packages.ts"
import { median } from "./harness.ts"
import { answer } from "./loopback.ts"

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

/** Where a program of `bench/src/hello` is. */
export const helloOf = (name: string): string => fileURLToPath(new URL(`./hello/${name}.ts`, import.meta.url))

/**
 * Makes a folder a project that has installed what is published, with a program of ours in `ours.mjs`. What is built is copied: a link
 * would be followed to the workspace, where the packages export their sources.
 */
export const install = (folder: string): void => {
  if (!isBuilt() && !buildPackages()) throw new Error("the packages do not build")
  for (const name of packages) {
    const destination = join(folder, "node_modules/@kintsugi", name)
    mkdirSync(destination, { recursive: true })
    const { publishConfig, ...manifest } = JSON.parse(
      readFileSync(join(root, "packages", name, "package.json"), "utf8")
    )
    writeFileSync(join(destination, "package.json"), JSON.stringify({ ...manifest, exports: publishConfig.exports }))
    const published: ReadonlyArray<string> = manifest.files
    for (const path of published)
      cpSync(join(root, "packages", name, path), join(destination, path), { recursive: true })
  }
  for (const [name, needing] of [["effect", "."] as const, ["fast-check", "."] as const, ...dependencies()]) {
    const target = realpathSync(join(root, needing, "node_modules", name))
    symlinkSync(target, join(folder, "node_modules", name), "junction")
  }
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }')
  program(folder, "ours", readFileSync(helloOf("ours"), "utf8"))
}

/** Writes a program into a project, without its types; returns its path. */
export const program = (folder: string, name: string, source: string): string => {
  const file = join(folder, `${name}.mjs`)
  writeFileSync(file, stripTypeScriptTypes(source))
  return file
}

const options = {
  bundle: true,
  minify: true,
  write: false,
  metafile: true,
  format: "esm",
  platform: "node",
  target: "node22",
  treeShaking: true,
  logLevel: "error"
} as const

export const bundle = async (folder: string, name: string, entry: string): Promise<Bundle> => {
  // packages that are no modules ask for what Node has by `require`
  const js = 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);'
  const { outputFiles } = await build({ ...options, entryPoints: [entry], banner: { js } })
  const [output] = outputFiles
  if (output === undefined || !output.text.includes("Adds two numbers."))
    throw new Error(`${name}: nothing was bundled`)
  const file = join(folder, `bundled-${name.replaceAll(/\W/g, "-")}.mjs`)
  writeFileSync(file, output.contents)
  return { name, file, gzip: kilobytes(output.contents) }
}

const kilobytes = (contents: Uint8Array): number => gzipSync(contents, { level: 9 }).length / 1000

const programOf = (folder: string, source: string) => ({
  ...options,
  stdin: { contents: source, resolveDir: folder, loader: "ts" as const }
})

/** Bundles a module of a project, and leaves its names as they are. Comments go, and with them the paths of its modules. */
export const readable = async (folder: string, source: string): Promise<string> => {
  const { outputFiles } = await build({ ...programOf(folder, source), minify: false, minifyWhitespace: true })
  return outputFiles[0]?.text ?? ""
}

/** What a program weighs, in KB of 1,000 bytes. */
export interface Weight {
  /** All of it, minified and gzipped. */
  readonly gzip: number
  /** Minified: by package, and by module, the heaviest first. */
  readonly packages: ReadonlyMap<string, number>
  readonly modules: ReadonlyArray<readonly [module: string, size: number]>
}

/** Weighs a module of a project. */
export const weigh = async (folder: string, source: string): Promise<Weight> => {
  const { metafile, outputFiles } = await build(programOf(folder, source))
  const inputs = Object.values(metafile.outputs).flatMap((output) => Object.entries(output.inputs))
  const modules = inputs
    .map(([path, { bytesInOutput }]) => [nameOf(path), bytesInOutput / 1000] as const)
    .filter(([, size]) => size > 0)
    .toSorted(([, a], [, b]) => b - a)
  const sizes = new Map<string, number>()
  for (const [path, size] of modules) {
    const name = /^(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? path
    sizes.set(name, (sizes.get(name) ?? 0) + size)
  }
  return { gzip: sizeOf(outputFiles), packages: sizes, modules }
}

const withoutEffect = { external: ["effect/*"] }

/**
 * What a module of a project weighs without Effect, which a program that imports it has anyway: what of it is needed is left out, and
 * the rest is minified and gzipped by itself. Packages that ours depend on count as ours.
 */
export const weighBeyondEffect = async (folder: string, source: string): Promise<number> => {
  const { outputFiles } = await build({ ...programOf(folder, source), ...withoutEffect })
  return sizeOf(outputFiles)
}

const sizeOf = ([file]: ReadonlyArray<OutputFile>): number => kilobytes(file?.contents ?? new Uint8Array())

const nameOf = (path: string): string => /.*node_modules\/(.*)/.exec(path)?.[1] ?? "the program"

/**
 * What has to be kept of a module, besides its imports from Effect. Unless `promised`, our packages are held to what their statements do,
 * and not to what `sideEffects` in `package.json` promises of them.
 */
export const remains = async (folder: string, source: string, promised: boolean): Promise<string> => {
  const plugins = promised ? [] : [unpromised]
  const stdin = { contents: source, resolveDir: folder }
  const { outputFiles } = await build({ ...options, ...withoutEffect, stdin, plugins })
  return (outputFiles[0]?.text ?? "").replaceAll(/import[^;"]*"[^"]+";/g, "").trim()
}

const seen = Symbol("resolved already")

/** Takes the promise away that modules have no side effects: a bundler then keeps each statement of which it does not see that itself. */
const unpromised: Plugin = {
  name: "unpromised",
  setup: ({ onResolve, resolve }) => {
    onResolve({ filter: /^\.|^@kintsugi\// }, async ({ importer, kind, path, pluginData, resolveDir }) => {
      if (pluginData === seen) return undefined
      const { errors, path: found } = await resolve(path, { importer, kind, resolveDir, pluginData: seen })
      return errors.length > 0 ? { errors } : { path: found, sideEffects: true }
    })
  }
}

/** Milliseconds that a new process took to import a module, and to answer once with it: on the clock, and of the processor. */
export interface Import {
  readonly wall: number
  readonly cpu: number
}

export interface Importing {
  /** The base URL of a server that answers: the first call counts too. Without it, the import alone is timed. */
  readonly baseUrl?: string
  /** A folder for Node's compile cache. The lap before the first fills it. */
  readonly cache?: string
}

/** What each import took, in turns: every file in every lap. */
export const importTimes = (
  files: ReadonlyArray<string>,
  laps: number,
  { baseUrl, cache }: Importing = {}
): ReadonlyArray<ReadonlyArray<Import>> => {
  const times = files.map(() => new Array<Import>())
  const env = { ...process.env, ...(cache !== undefined && { NODE_COMPILE_CACHE: cache }) }
  const call = `if ((await main("go", ${JSON.stringify(baseUrl)})) !== ${JSON.stringify(answer)}) throw new Error("no answer")`
  for (let lap = -1; lap < laps; lap++) {
    for (const [index, file] of files.entries()) {
      const script = `
        const [start, used] = [performance.now(), process.cpuUsage()]
        const { main } = await import(${JSON.stringify(pathToFileURL(file).href)})
        ${baseUrl === undefined ? 'if (typeof main !== "function") throw new Error("no program")' : call}
        const { system, user } = process.cpuUsage(used)
        const wall = performance.now() - start
        console.log(JSON.stringify({ wall, cpu: (system + user) / 1000 }))`
      const said = execFileSync(process.execPath, ["--input-type=module", "-e", script], { encoding: "utf8", env })
      // it is what the script above says
      if (lap >= 0) times[index]?.push(JSON.parse(said) as Import)
    }
  }
  return times
}

export { median }
