/**
 * Builds the packages into their `dist`: core first, because the others compile against what core ships. The bin of view is one file:
 * the build bundles into it what it needs of Node's services, so that an installation of the package brings none of them.
 *
 *   npm run build
 */
import { spawnSync } from "node:child_process"
import { createHash } from "node:crypto"
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { pathsWithin, pathsIn, root } from "./files.ts"
import { manifestOf, packages } from "./packages.ts"
import { binary } from "./tools.ts"

/** The bin `kintsugi`, from the root. */
export const bin = "packages/view/dist/cli/main.js"

const noted = join(root, ".cache/built")

/** Stands for all that the build reads, by its paths and its text. */
const fingerprint = (): string => {
  const hash = createHash("sha256")
  const own = ["build", "files", "merge", "packages", "pure"].map((name) => `scripts/${name}.ts`)
  const inputs = packages.flatMap((name) =>
    ["src", "package.json", "tsconfig.build.json"].flatMap((path) => pathsIn(`packages/${name}/${path}`))
  )
  for (const path of [...own, ...inputs, "tsconfig.base.json", "pnpm-lock.yaml"]) {
    hash
      .update(`${path}\0`)
      .update(readFileSync(join(root, path)))
      .update("\0")
  }
  return hash.digest("hex")
}

/** Whether every package was built as it is now. */
export const isBuilt = (): boolean => {
  const exported = packages.flatMap((name) =>
    Object.values(manifestOf(name).publishConfig.exports).map((path) => join(`packages/${name}`, path))
  )
  if (![...exported, bin].every((path) => existsSync(join(root, path)))) return false
  return existsSync(noted) && readFileSync(noted, "utf8") === fingerprint()
}

/** Builds all packages anew; whether that went well. The compiler's messages go to standard output. */
export const build = (): boolean => {
  rmSync(noted, { force: true })
  const before = fingerprint()
  const isDone = packages.every((name) => {
    const folder = join(root, "packages", name)
    // without its notes, the compiler takes for written what is in no folder any more
    for (const old of ["dist", "tsconfig.build.tsbuildinfo"])
      rmSync(join(folder, old), { recursive: true, force: true })
    const compiled = node(binary("typescript", "tsc"), ["-p", "tsconfig.build.json"], folder)
    if (!compiled) return false
    for (const path of pathsWithin(join(folder, "dist")).filter((path) =>
      /(?<!(?:^|\/)index)\.js(?:\.map)?$/.test(path)
    ))
      rmSync(join(folder, "dist", path))
    const merged = node(join(root, "scripts/merge.ts"), [name])
    if (merged && name === "view") chmodSync(join(root, bin), 0o755)
    return merged
  })
  if (isDone) {
    mkdirSync(dirname(noted), { recursive: true })
    writeFileSync(noted, before)
  }
  return isDone
}

/** Whether a script of ours ended well. */
const node = (script: string, parameters: ReadonlyArray<string>, cwd = root): boolean =>
  spawnSync(process.execPath, [script, ...parameters], { cwd, stdio: "inherit" }).status === 0

if (import.meta.main) process.exitCode = build() ? 0 : 1
