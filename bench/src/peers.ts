/**
 * Ours beside other libraries, each with the same work and the same model in the process. They are heavy, so that nothing else
 * installs them: `bench/peers` is a package of its own with a lock file of its own, outside of the workspace.
 *
 *   npm run bench:peers
 */
import { spawnSync } from "node:child_process"
import { createHash } from "node:crypto"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { root } from "../../scripts/files.ts"
import { packageManager } from "../../scripts/tools.ts"

const folder = join(root, "bench", "peers")
const stamp = join(folder, "node_modules", ".kintsugi-installed")
const windows = process.platform === "win32"

/** Everything that decides what an installation gives. */
const wanted = (): string => {
  const hash = createHash("sha256").update(packageManager())
  for (const file of ["package.json", "pnpm-lock.yaml"]) hash.update(readFileSync(join(folder, file)))
  return hash.digest("hex")
}

/** Whether they are there, installed now if need be. */
const install = (): boolean => {
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === wanted()) return true
  const { status } = spawnSync(
    windows ? "npx.cmd" : "npx",
    ["--yes", packageManager(), "install", "--ignore-workspace", "--frozen-lockfile"],
    { cwd: folder, stdio: ["ignore", 2, 2], shell: windows, env: { ...process.env, CI: process.env["CI"] ?? "true" } }
  )
  if (status === 0) writeFileSync(stamp, wanted())
  return status === 0
}

const scripts: ReadonlyArray<string> = ["turns", "wire", "weight"]

if (!install()) {
  process.stderr.write("could not install the peers: see the messages above; the network may be unreachable\n")
  process.exitCode = 1
} else {
  const { dependencies } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"))
  process.stdout.write(
    `Node ${process.version}; ${Object.entries(dependencies)
      .map((entry) => entry.join(" "))
      .join(", ")}\n`
  )
  const given = process.argv.slice(2)
  for (const script of scripts.filter((name) => given.length === 0 || given.includes(name))) {
    const flags = ["--expose-gc", "--max-semi-space-size=64", "--disable-warning=ExperimentalWarning"]
    const { status } = spawnSync(process.execPath, [...flags, join(folder, "src", `${script}.ts`)], {
      cwd: root,
      stdio: "inherit"
    })
    if (status !== 0) process.exitCode = 1
  }
}
