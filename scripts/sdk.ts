/**
 * Installs the official SDKs that the tests in `test/sdk` need. They are heavy, so that nothing else installs them: `test/sdk` is
 * a package of its own with a lock file of its own, outside of the workspace.
 *
 *   npm run sdk
 */
import { spawnSync } from "node:child_process"
import { createHash } from "node:crypto"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { root } from "./files.ts"
import { packageManager } from "./tools.ts"

const folder = join(root, "test", "sdk")
const stamp = join(folder, "node_modules", ".kintsugi-installed")
const windows = process.platform === "win32"

/** Everything that decides what an installation gives. */
const wanted = (): string => {
  const hash = createHash("sha256").update(packageManager())
  for (const file of ["package.json", "pnpm-lock.yaml"]) hash.update(readFileSync(join(folder, file)))
  return hash.digest("hex")
}

/** Whether they are there, as the lock file has them. */
export const isInstalled = (): boolean => existsSync(stamp) && readFileSync(stamp, "utf8") === wanted()

/** Whether they are there, installed now if need be. */
export const install = (): boolean => {
  if (isInstalled()) return true
  const { status } = spawnSync(
    windows ? "npx.cmd" : "npx",
    ["--yes", packageManager(), "install", "--ignore-workspace", "--frozen-lockfile"],
    { cwd: folder, stdio: ["ignore", 2, 2], shell: windows, env: { ...process.env, CI: process.env["CI"] ?? "true" } }
  )
  if (status === 0) writeFileSync(stamp, wanted())
  return status === 0
}

if (import.meta.main && !install()) {
  process.stderr.write("could not install the SDKs: see the messages above; the network may be unreachable\n")
  process.exitCode = 1
}
