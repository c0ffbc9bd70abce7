/** Packs the packages as a release would. */
import { spawnSync } from "node:child_process"
import { basename, join } from "node:path"
import { build, isBuilt } from "./build.ts"
import { root } from "./files.ts"
import { packages } from "./packages.ts"
import { packageManager } from "./tools.ts"

const windows = process.platform === "win32"

/** Packs every package into a folder. Gives the file of each, by the name of its package. */
export const packInto = (folder: string): ReadonlyMap<string, string> => {
  if (!isBuilt() && !build()) throw new Error("the packages do not build")
  return new Map(
    packages.map((name) => {
      const { error, status, stderr, stdout } = spawnSync(
        windows ? "npx.cmd" : "npx",
        ["--yes", packageManager(), "pack", "--pack-destination", folder],
        { cwd: join(root, "packages", name), encoding: "utf8", shell: windows }
      )
      const tarball = /\S+\.tgz/.exec(stdout ?? "")?.[0]
      if (error !== undefined) throw error
      if (status !== 0 || tarball === undefined)
        throw new Error(`@kintsugi/${name} cannot be packed\n${stdout}${stderr}`)
      return [`@kintsugi/${name}`, basename(tarball)]
    })
  )
}
