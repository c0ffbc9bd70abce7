/**
 * Installs the official SDKs that the tests in `test/sdk` need, and the hosts of some recipes of the examples. Nothing else installs them:
 * each is a package of its own with a lock file of its own, outside of the workspace.
 *
 *   npm run sdk
 */
import { spawnSync } from "node:child_process"
import { createHash } from "node:crypto"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { root } from "./files.ts"
import { packageManager } from "./tools.ts"

/** Everything that decides what an installation gives. A heavy tool has the lock file of the workspace, another package its own. */
const wanted = (folder: string): string => {
  const hash = createHash("sha256").update(`${process.platform} ${process.arch} ${packageManager()}`)
  const own = join(folder, "pnpm-lock.yaml")
  const lock = existsSync(own) ? own : join(root, "pnpm-lock.yaml")
  for (const file of [join(folder, "package.json"), lock]) hash.update(readFileSync(file))
  return hash.digest("hex")
}

const stampOf = (folder: string): string => join(folder, "node_modules", ".kintsugi-installed")

/** Whether what a package needs that a plain installation leaves out is there, as the lock file has it; its folder is told from the root. */
export const isInstalledIn = (path: string): boolean => {
  const folder = join(root, path)
  const stamp = stampOf(folder)
  return existsSync(stamp) && readFileSync(stamp, "utf8") === wanted(folder)
}

/** Whether it is there, installed now if need be. */
export const installIn = (path: string): boolean => {
  if (isInstalledIn(path)) return true
  const { status } = spawnSync(process.execPath, [join(root, "scripts/launch.mjs"), "--install", path], {
    stdio: ["ignore", 2, 2]
  })
  const folder = join(root, path)
  if (status === 0) writeFileSync(stampOf(folder), wanted(folder))
  return status === 0
}

/** The recipes that have an installation of their own: the same agent in each host, and a page. */
export const hosts = ["express", "hono", "fastify"]
export const page = "react"

export const recipe = (name: string): string => `packages/examples/recipes/${name}`

if (import.meta.main && !["test/sdk", ...[...hosts, page].map(recipe)].every(installIn)) {
  process.stderr.write("could not install the SDKs and hosts: see the messages above; the network may be unreachable\n")
  process.exitCode = 1
}
