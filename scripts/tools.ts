/** How the tools of this repository are started: by their own scripts under this Node, so that no shell is in between. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { root } from "./files.ts"

const manifestIn = (folder: string) => JSON.parse(readFileSync(join(folder, "package.json"), "utf8"))

/** The pinned package manager, as `npx` takes it. */
export const packageManager = (): string => manifestIn(root).packageManager

/** The script of a program that a development dependency brings. */
export const binary = (dependency: string, program: string = dependency): string => {
  const folder = join(root, "node_modules", dependency)
  const { bin } = manifestIn(folder)
  const script: string | undefined = typeof bin === "string" ? bin : bin?.[program]
  if (script === undefined) throw new Error(`${dependency} has no program ${program}`)
  return join(folder, script)
}
