/** A project outside of the repository that has installed what a release would publish. */
import { spawnSync } from "node:child_process"
import { cpSync, mkdirSync, realpathSync, symlinkSync, writeFileSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import { build, isBuilt } from "../../../scripts/build.ts"
import { root } from "../../../scripts/files.ts"
import { dependencies, packages } from "../../../scripts/packages.ts"
import { packageManager } from "../../../scripts/tools.ts"
import { type Folder, temporaryFolder } from "./ending.ts"

const windows = process.platform === "win32"

const run = (command: string, args: ReadonlyArray<string>, cwd: string): string => {
  const { status, stderr, stdout } = spawnSync(command, args, {
    cwd,
    encoding: "utf8",
    shell: windows && command.endsWith(".cmd")
  })
  if (status !== 0) throw new Error(`${command} ${args.join(" ")} ended with exit code ${status}\n${stdout}${stderr}`)
  return stdout
}

/** Packs and installs the packages into a folder, with the files of `consumer` beside them. */
export const makeConsumer = (): Folder => {
  if (!isBuilt() && !build()) throw new Error("the packages do not build")
  const { path: outside, ...disposable } = temporaryFolder("system")
  const folder = join(outside, "consumer")
  for (const name of packages) {
    const args = ["--yes", packageManager(), "pack", "--pack-destination", outside]
    const packed = run(windows ? "npx.cmd" : "npx", args, join(root, "packages", name))
    const tarball = /[^\s/\\]+\.tgz/.exec(packed)?.[0]
    if (tarball === undefined) throw new Error(packed)
    const path = join(folder, "node_modules/@kintsugi", name)
    mkdirSync(path, { recursive: true })
    run("tar", ["-xzf", basename(tarball), "-C", path, "--strip-components=1"], outside)
  }
  for (const [name, from] of [["effect", "."] as const, ...dependencies()]) {
    const path = join(folder, "node_modules", name)
    mkdirSync(dirname(path), { recursive: true })
    symlinkSync(realpathSync(join(root, from, "node_modules", name)), path, windows ? "junction" : "dir")
  }
  for (const file of ["scenario.ts", "runtime.ts", "browser.ts"]) {
    cpSync(join(root, "tools/system/src/consumer", file), join(folder, file))
  }
  writeFileSync(join(folder, "package.json"), JSON.stringify({ name: "consumer", private: true, type: "module" }))
  return { path: folder, ...disposable }
}
