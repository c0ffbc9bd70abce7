/** What the tests of the whole need besides Node: whether it is there, and how it is installed. */
import { spawnSync } from "node:child_process"
import { existsSync, readdirSync } from "node:fs"
import { delimiter, join } from "node:path"
import { root } from "../files.ts"
import { installIn, isInstalledIn } from "../sdk.ts"

export interface Tool {
  readonly name: string
  /** Where it is, if it is there. */
  readonly find: () => string | undefined
  /** Tries to install it; what went wrong, in one line, or nothing. */
  readonly install: () => string | undefined
}

const windows = process.platform === "win32"

/** The runtimes and the bundler are a package of their own, with a lock file of its own. */
export const folder = join(root, "test", "system")

/** The output of a program, or why it did not end well. Its messages go to standard error. */
const run = (command: string, args: ReadonlyArray<string>): string | undefined => {
  const { error, signal, status } = spawnSync(command, args, {
    cwd: root,
    stdio: ["ignore", 2, 2],
    shell: windows,
    env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" }
  })
  if (error !== undefined) return `${command}: ${error.message}`
  return status === 0 ? undefined : `${command} ${args[0]} ended with ${signal ?? `exit code ${status}`}`
}

/** Installs a package of the repository that has a lock file of its own. */
const installPackage = (path: string) => (): string | undefined =>
  installIn(path) ? undefined : `npx could not install ${path}`

/** A program of the search path; `undefined` where there is none. */
const onPath = (...names: ReadonlyArray<string>): string | undefined =>
  (process.env["PATH"] ?? "")
    .split(delimiter)
    .flatMap((directory) => names.map((name) => join(directory, windows ? `${name}.exe` : name)))
    .find((path) => existsSync(path))

/** The one of its own package. */
const own = (name: string): string | undefined => {
  const path = join(folder, "node_modules", ".bin", windows ? `${name}.cmd` : name)
  return existsSync(path) ? path : undefined
}

/** The one of its own package, which is pinned; else any other. */
const fromPackage = (name: string): Tool => ({
  name,
  find: () => own(name) ?? onPath(name),
  install: installPackage("test/system")
})

let isListFresh = false

/** A package of Debian and its like; only root may install one. */
const apt = (name: string) => (): string | undefined => {
  if (onPath("apt-get") === undefined) return "there is no apt-get"
  if (process.getuid?.() !== 0) return "only root may run apt-get"
  if (!isListFresh) {
    const fault = run("apt-get", ["update"])
    if (fault !== undefined) return fault
    isListFresh = true
  }
  return run("apt-get", ["install", "-y", "--no-install-recommends", name])
}

/** Debian keeps the server where no search path leads. */
const postgres = (): string | undefined => {
  const versions = "/usr/lib/postgresql"
  const own = existsSync(versions)
    ? readdirSync(versions)
        .toSorted((one, other) => Number(other) - Number(one))
        .map((version) => join(versions, version, "bin", "postgres"))
    : []
  return own.find((path) => existsSync(path)) ?? onPath("postgres")
}

export const tools = {
  sdks: {
    name: "the official SDKs",
    find: () => (isInstalledIn("test/sdk") ? join(root, "test", "sdk", "node_modules") : undefined),
    install: installPackage("test/sdk")
  },
  durable: {
    name: "the clients of databases",
    find: () => (isInstalledIn("tools/durable-lab") ? join(root, "tools", "durable-lab", "node_modules") : undefined),
    install: installPackage("tools/durable-lab")
  },
  // any other would be another version
  oldestNode: { name: "the oldest Node", find: () => own("node"), install: installPackage("test/system") },
  bun: { ...fromPackage("bun"), name: "Bun" },
  deno: { ...fromPackage("deno"), name: "Deno" },
  esbuild: fromPackage("esbuild"),
  chromium: {
    name: "Chromium",
    find: () => onPath("chromium", "chromium-browser", "google-chrome"),
    install: apt("chromium")
  },
  postgres: { name: "PostgreSQL", find: postgres, install: apt("postgresql") }
} satisfies Readonly<Record<string, Tool>>

/** Where a tool is, or why it is not to be had. */
export type Found = { readonly path: string; readonly isNew: boolean } | { readonly why: string }

/** Finds a tool; installs it first where that is allowed and it is not there. */
export const provide = (tool: Tool, mayInstall: boolean): Found => {
  const there = tool.find()
  if (there !== undefined) return { path: there, isNew: false }
  if (!mayInstall) return { why: "it is not installed" }
  const fault = tool.install()
  const path = tool.find()
  return path === undefined ? { why: fault ?? "it was installed, and is not found" } : { path, isNew: true }
}
