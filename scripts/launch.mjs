// Runs a TypeScript file under the Node version that this repository pins, and installs the dependencies first if needed.
//
//   node scripts/launch.mjs <file.ts> [arguments…]   with --help, the comment at the head of the file
//   node scripts/launch.mjs --install <folder>       what this folder needs and nothing else does; `installIn` of sdk.ts calls it
//
// It needs Node 20 or newer and npm, nothing else. Standard output belongs to the program: what the installation prints
// goes to standard error.
import { spawn, spawnSync } from "node:child_process"
import { createHash } from "node:crypto"
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  rmdirSync,
  statSync,
  writeFileSync
} from "node:fs"
import { constants, homedir } from "node:os"
import { delimiter, dirname, join, resolve } from "node:path"
import { fileURLToPath } from "node:url"

const root = resolve(fileURLToPath(import.meta.url), "../..")
const windows = process.platform === "win32"
const stamp = join(root, "node_modules", ".kintsugi-installed")
const lock = join(root, ".cache", "install.lock")
const LOCK_IS_STALE_AFTER_MS = 10 * 60 * 1000

/** Members of the workspace whose dependencies are large: a plain installation leaves them out, and `--install` brings those of one. */
const heavy = ["tools/mutation", "tools/system"]

/** Everything that decides what an installation gives. */
const fingerprint = () => {
  const members = ["packages", "tools"].flatMap((folder) =>
    readdirSync(join(root, folder)).map((name) => join(folder, name))
  )
  const folders = [...members, "bench"]
  const packages = folders.map((folder) => join(folder, "package.json"))
  const hash = createHash("sha256").update(`${process.platform} ${process.arch}`)
  for (const file of ["pnpm-lock.yaml", "pnpm-workspace.yaml", "package.json", ...packages.toSorted()]) {
    if (existsSync(join(root, file))) hash.update(file).update(readFileSync(join(root, file)))
  }
  return hash.digest("hex")
}

/** The pinned Node: the binary itself, so that signals reach it without a shell in between. */
const localNode = () =>
  ["node", "node.exe"].map((name) => join(root, "node_modules", "node", "bin", name)).find((path) => existsSync(path))

const isInstalled = (wanted) =>
  localNode() !== undefined && existsSync(stamp) && readFileSync(stamp, "utf8").trim() === wanted

const fail = (message) => {
  process.stderr.write(`${message}\n`)
  process.exit(1)
}

const isAlive = (pid) => {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error.code === "EPERM"
  }
}

/** Whether this process now holds the lock; a lock whose owner is gone is taken away first. */
const takeLock = () => {
  mkdirSync(join(root, ".cache"), { recursive: true })
  try {
    writeFileSync(lock, String(process.pid), { flag: "wx" })
    return true
  } catch (error) {
    if (error.code !== "EEXIST") throw error
  }
  try {
    const owner = Number(readFileSync(lock, "utf8"))
    const age = Date.now() - statSync(lock).mtimeMs
    if (age > LOCK_IS_STALE_AFTER_MS || (owner > 0 && !isAlive(owner))) rmSync(lock, { force: true })
  } catch (error) {
    if (error.code !== "ENOENT") throw error
  }
  return false
}

/**
 * Whether this process can make a file in the folder, or make the folder first. It tries: for root the mode bits say nothing, and for
 * a folder below a file neither.
 */
const isWritable = (folder) => {
  if (!existsSync(folder) && dirname(folder) !== folder) return isWritable(dirname(folder))
  try {
    rmdirSync(mkdtempSync(join(folder, ".kintsugi-")))
    return true
  } catch {
    return false
  }
}

/** The name as the environment spells it: npm reads its variables in upper and in lower case. */
const spelled = (name) => Object.keys(process.env).find((key) => key.toLowerCase() === name.toLowerCase()) ?? name

/**
 * Where the home folder is read-only, npm, pnpm and other tools write to `.cache` instead. Every program that this one starts inherits
 * the variables, so every later installation does the same. A variable that is set may be npm's default: `npm run` sets it.
 */
const leaveReadOnlyHome = () => {
  const { PNPM_HOME, XDG_DATA_HOME } = process.env
  const data = PNPM_HOME || join(XDG_DATA_HOME || join(homedir(), ".local/share"), "pnpm")
  for (const [name, usual, instead] of [
    ["npm_config_cache", join(homedir(), ".npm"), "npm"],
    ["npm_config_store_dir", data, "pnpm-store"],
    ["XDG_CACHE_HOME", join(homedir(), ".cache"), "xdg-cache"],
    ["XDG_STATE_HOME", join(homedir(), ".local/state"), "xdg-state"]
  ]) {
    const variable = spelled(name)
    if (!isWritable(process.env[variable] || usual)) process.env[variable] = join(root, ".cache", instead)
  }
}

/** Runs something while no other process of this checkout installs. */
const alone = async (act) => {
  let hasSaid = false
  while (!takeLock()) {
    if (!hasSaid) process.stderr.write("waiting for another installation to finish …\n")
    hasSaid = true
    await new Promise((done) => setTimeout(done, 250))
  }
  process.once("exit", () => rmSync(lock, { force: true }))
  act()
  rmSync(lock, { force: true })
}

/** Runs the pinned package manager in a folder. */
const pnpmInstall = (folder, ...parameters) => {
  const { packageManager } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"))
  process.stderr.write(`installing dependencies with ${packageManager} (once) …\n`)
  return spawnSync(
    windows ? "npx.cmd" : "npx",
    ["--yes", packageManager.split("+")[0], "install", "--frozen-lockfile", ...parameters],
    { cwd: folder, stdio: ["ignore", 2, 2], shell: windows, env: { ...process.env, CI: process.env.CI ?? "true" } }
  )
}

const install = (wanted) =>
  alone(() => {
    if (isInstalled(wanted)) return
    const { status, error } = pnpmInstall(root, ...heavy.map((folder) => `--filter=!./${folder}`))
    if (status !== 0 || localNode() === undefined) {
      const reason = error?.message ?? (status === 0 ? "the pinned Node is missing" : `exit code ${status}`)
      fail(`could not install the dependencies: ${reason}. See the messages above; the network may be unreachable.`)
    }
    writeFileSync(stamp, `${wanted}\n`)
  })

/** What one folder needs and a plain installation leaves out: a heavy tool, or a package with a lock file of its own. */
const installFolder = (folder) =>
  alone(() => {
    const isOutside = existsSync(join(root, folder, "pnpm-lock.yaml"))
    const { status } = isOutside
      ? pnpmInstall(join(root, folder), "--ignore-workspace")
      : pnpmInstall(root, `--filter=./${folder}`)
    process.exitCode = status ?? 1
  })

const run = (node, file, parameters) => {
  const PATH = [join(root, "node_modules", ".bin"), process.env.PATH].join(delimiter)
  const child = spawn(node, [resolve(root, file), ...parameters], { stdio: "inherit", env: { ...process.env, PATH } })
  const onTerminal = process.stdin.isTTY || process.stdout.isTTY || process.stderr.isTTY
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
    // Ctrl-C on a terminal reaches the whole process group: the child has it already.
    process.on(signal, () => (signal === "SIGINT" && onTerminal ? undefined : child.kill(signal)))
  }
  child.on("error", (error) => fail(`could not start ${node}: ${error.message}`))
  child.on("exit", (code, signal) => process.exit(code ?? 128 + (constants.signals[signal] ?? 0)))
}

/** The comment at the head of a program that does not answer `--help` itself. */
const helpOf = (file) => {
  if (!existsSync(resolve(root, file))) return undefined
  const source = readFileSync(resolve(root, file), "utf8")
  const head = /^\/\*\*\n([^]*?)^ \*\//m.exec(source)?.[1].replaceAll(/^ \* ?/gm, "")
  return source.includes("--help") ? undefined : head
}

const [file, ...parameters] = process.argv.slice(2)
if (file === undefined) {
  process.stderr.write("usage: node scripts/launch.mjs <file.ts> [arguments…]\n")
  process.exit(2)
}
if (Number(process.versions.node.split(".")[0]) < 20) {
  fail(`Node 20 or newer is needed to start; this is ${process.version}`)
}
const help = parameters.includes("--help") ? helpOf(file) : undefined
if (help !== undefined) {
  process.stdout.write(help)
  process.exit()
}
leaveReadOnlyHome()
if (file === "--install") await installFolder(parameters[0])
else {
  const wanted = fingerprint()
  if (!isInstalled(wanted)) await install(wanted)
  // after the installation, which may bring it
  if (!existsSync(resolve(root, file))) fail(`${file} does not exist`)
  run(localNode(), file, parameters)
}
