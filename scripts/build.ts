/**
 * Builds the packages into their `dist`: core first, because the others compile against what core ships. The bin of view is one file:
 * the build bundles into it what it needs of Node's services, so that an installation of the package brings none of them.
 *
 *   node scripts/launch.mjs scripts/build.ts
 */
import { buildSync } from "esbuild"
import { spawnSync } from "node:child_process"
import { chmodSync, existsSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { pathsIn, root } from "./files.ts"
import { manifestOf, packages } from "./packages.ts"
import { binary } from "./tools.ts"

/** The bin `kintsugi`, from the root. */
export const bin = "packages/view/dist/cli/main.js"

const changedAt = (path: string): number => statSync(join(root, path)).mtimeMs

/** Whether every package was built after its last change. */
export const isBuilt = (): boolean => {
  const sources = packages.flatMap((name) => [
    ...pathsIn(`packages/${name}/src`),
    `packages/${name}/package.json`,
    `packages/${name}/tsconfig.build.json`
  ])
  const changed = Math.max(...["scripts/build.ts", "scripts/pure.ts", ...sources].map(changedAt))
  const exported = packages.flatMap((name) =>
    Object.values(manifestOf(name).publishConfig.exports).map((path) => join(`packages/${name}`, path))
  )
  const builtAt = [...exported, bin]
  if (!builtAt.every((path) => existsSync(join(root, path)))) return false
  return changed < Math.min(...builtAt.map(changedAt))
}

/** Builds all packages anew; whether that went well. The compiler's messages go to standard output. */
export const build = (): boolean =>
  packages.every((name) => {
    const folder = join(root, "packages", name)
    // without its notes, the compiler takes for written what is in no folder any more
    for (const old of ["dist", "tsconfig.build.tsbuildinfo"])
      rmSync(join(folder, old), { recursive: true, force: true })
    const compiler = spawnSync(process.execPath, [binary("typescript", "tsc"), "-p", "tsconfig.build.json"], {
      cwd: folder,
      stdio: "inherit"
    })
    if (compiler.status !== 0) return false
    const marking = spawnSync(process.execPath, [join(root, "scripts/pure.ts"), join(folder, "dist")], {
      stdio: "inherit"
    })
    return marking.status === 0 && (name !== "view" || buildBin())
  })

/** The library stays outside: the drawing is that of `dist`, and core and Effect are those that are installed. */
const buildBin = (): boolean => {
  const library = pathsIn("packages/view/src", (path) => !path.startsWith("packages/view/src/cli/"))
  const { errors } = buildSync({
    absWorkingDir: root,
    entryPoints: ["packages/view/src/cli/main.ts"],
    outfile: bin,
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node22.19",
    external: ["effect", "effect/*", "@kintsugi/core", "@kintsugi/core/*", ...library.map((path) => `./${path}`)],
    logLevel: "error"
  })
  // what stays outside keeps the path of its source
  const bundled = readFileSync(join(root, bin), "utf8")
  writeFileSync(join(root, bin), bundled.replaceAll(/(?<=from ")\.\.\/\.\.\/src\/([\w/-]+)\.ts(?=")/g, "../$1.js"))
  chmodSync(join(root, bin), 0o755)
  return errors.length === 0
}

if (import.meta.main) process.exitCode = build() ? 0 : 1
