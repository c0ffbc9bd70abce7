/**
 * Builds the packages into their `dist`: core first, because providers compiles against what core ships. The bin of providers is one
 * file: what it needs of Node's services is bundled into it, so that nobody installs more than the library needs.
 *
 *   node scripts/launch.mjs scripts/build.ts
 */
import { buildSync } from "esbuild"
import { spawnSync } from "node:child_process"
import { chmodSync, existsSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { pathsIn, root } from "./files.ts"
import { binary } from "./tools.ts"

/** The packages that are published, in the order in which they build. */
export const packages = ["core", "providers"] as const

/** The bin `kintsugi`, from the root. */
export const bin = "packages/providers/dist/cli/main.js"

const changedAt = (path: string): number => statSync(join(root, path)).mtimeMs

/** Whether every package was built after its last change. */
export const isBuilt = (): boolean => {
  const sources = packages.flatMap((name) => [
    ...pathsIn(`packages/${name}/src`),
    `packages/${name}/package.json`,
    `packages/${name}/tsconfig.build.json`
  ])
  const changed = Math.max(...["scripts/build.ts", "scripts/pure.ts", ...sources].map(changedAt))
  const builtAt = [...packages.map((name) => `packages/${name}/dist/index.js`), bin]
  if (!builtAt.every((path) => existsSync(join(root, path)))) return false
  return changed < Math.min(...builtAt.map(changedAt))
}

/** Builds all packages anew; whether that went well. The compiler's messages go to standard output. */
export const build = (): boolean =>
  packages.every((name) => {
    const folder = join(root, "packages", name)
    rmSync(join(folder, "dist"), { recursive: true, force: true })
    const compiler = spawnSync(process.execPath, [binary("typescript", "tsc"), "-p", "tsconfig.build.json"], {
      cwd: folder,
      stdio: "inherit"
    })
    if (compiler.status !== 0) return false
    const marking = spawnSync(process.execPath, [join(root, "scripts/pure.ts"), join(folder, "dist")], {
      stdio: "inherit"
    })
    return marking.status === 0 && (name !== "providers" || buildBin())
  })

/** The library stays outside: the drawing is that of `dist/view`, and core and Effect are those that are installed. */
const buildBin = (): boolean => {
  const { errors } = buildSync({
    entryPoints: [join(root, "packages/view/src/cli/main.ts")],
    outfile: join(root, bin),
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node22.19",
    external: ["effect", "effect/*", "@kintsugi/core", "@kintsugi/core/*", "../view/*"],
    logLevel: "error"
  })
  // what stays outside keeps the name of its source
  const bundled = readFileSync(join(root, bin), "utf8")
  writeFileSync(join(root, bin), bundled.replaceAll(/(from "\.\.\/view\/\w+)\.ts"/g, '$1.js"'))
  chmodSync(join(root, bin), 0o755)
  return errors.length === 0
}

if (import.meta.main) process.exitCode = build() ? 0 : 1
