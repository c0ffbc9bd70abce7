/** The tools that programs need besides Node: how to find and install them. */
import { spawnSync } from "node:child_process"
import { existsSync } from "node:fs"
import { delimiter, join } from "node:path"
import { root } from "./files.ts"
import { installIn, isInstalledIn } from "./sdk.ts"

export interface Tool {
  readonly name: string
  /** Where it is, if it is there. */
  readonly find: () => string | undefined
  /** Tries to install it; what went wrong, in one line, or nothing. */
  readonly install: () => string | undefined
}

/** The path of a tool, or why it cannot be installed. */
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

const windows = process.platform === "win32"

/** A program of the search path; `undefined` where there is none. */
export const onPath = (...names: ReadonlyArray<string>): string | undefined =>
  (process.env["PATH"] ?? "")
    .split(delimiter)
    .flatMap((directory) => names.map((name) => join(directory, windows ? `${name}.exe` : name)))
    .find((path) => existsSync(path))

/** Installs what a folder needs that a plain installation leaves out. */
export const installFolder = (path: string) => (): string | undefined =>
  installIn(path) ? undefined : `npx could not install ${path}`

/** All that a folder needs. */
export const packagesOf = (path: string, name: string): Tool => ({
  name,
  find: () => (isInstalledIn(path) ? join(root, path, "node_modules") : undefined),
  install: installFolder(path)
})

/** Why a program did not end well; nothing if it did. Its messages go to standard error. */
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

let isListFresh = false

/** A package of Debian and its like; only root may install one. */
export const apt = (name: string) => (): string | undefined => {
  if (onPath("apt-get") === undefined) return "there is no apt-get"
  if (process.getuid?.() !== 0) return "only root may run apt-get"
  if (!isListFresh) {
    const fault = run("apt-get", ["update"])
    if (fault !== undefined) return fault
    isListFresh = true
  }
  return run("apt-get", ["install", "-y", "--no-install-recommends", name])
}
