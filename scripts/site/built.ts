/** Whether a site that is built is the one that its sources give. */
import { createHash } from "node:crypto"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { filesIn, root } from "../files.ts"

const stamp = join(root, "site", "dist", ".built")

/** What decides how the site looks, in short. */
const sources = (base: string): string => {
  const hash = createHash("sha256").update(base)
  const isSource = (path: string) => !/^site\/(?:pages|node_modules)\/|^packages\/[^/]+\/(?!src\/)/.test(path)
  for (const folder of [
    "README.md",
    "llms.txt",
    "package.json",
    "docs",
    "packages",
    "scripts",
    "site",
    "site/.vitepress"
  ])
    for (const { path, text } of filesIn(folder, isSource)) hash.update(JSON.stringify([path, text]))
  return hash.digest("hex")
}

export const isBuilt = (base = "/"): boolean => existsSync(stamp) && readFileSync(stamp, "utf8") === sources(base)

export const markBuilt = (base: string): void => writeFileSync(stamp, sources(base))
