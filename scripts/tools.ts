/** How the tools of this repository are started: by their own scripts under this Node, so that no shell is in between. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { root } from "./files.ts"

/** The script of a program that a development dependency brings. */
export const binary = (dependency: string, program: string = dependency): string => {
  const folder = join(root, "node_modules", dependency)
  const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"))
  const bin: string | undefined = typeof manifest.bin === "string" ? manifest.bin : manifest.bin?.[program]
  if (bin === undefined) throw new Error(`${dependency} has no program ${program}`)
  return join(folder, bin)
}
