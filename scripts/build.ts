/**
 * Builds the packages into their `dist`: core first, because the others compile against what core ships. The bin of view is one file:
 * the build bundles into it what it needs of Node's services, so that an installation of the package brings none of them.
 *
 *   node scripts/launch.mjs scripts/build.ts
 */
import { spawnSync } from "node:child_process"
import { chmodSync, existsSync, rmSync, statSync } from "node:fs"
import { join } from "node:path"
import { pathsBelow, pathsIn, root } from "./files.ts"
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
  const changed = Math.max(...["scripts/build.ts", "scripts/merge.ts", "scripts/pure.ts", ...sources].map(changedAt))
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
    const compiled = node(binary("typescript", "tsc"), ["-p", "tsconfig.build.json"], folder)
    if (!compiled) return false
    for (const path of pathsBelow(join(folder, "dist")).filter((path) =>
      /(?<!(?:^|\/)index)\.js(?:\.map)?$/.test(path)
    ))
      rmSync(join(folder, "dist", path))
    const merged = node(join(root, "scripts/merge.ts"), [name])
    if (merged && name === "view") chmodSync(join(root, bin), 0o755)
    return merged
  })

/** Whether a script of ours ended well. */
const node = (script: string, parameters: ReadonlyArray<string>, cwd = root): boolean =>
  spawnSync(process.execPath, [script, ...parameters], { cwd, stdio: "inherit" }).status === 0

if (import.meta.main) process.exitCode = build() ? 0 : 1
