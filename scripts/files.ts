/** Where things are in this repository, and how to read them. */
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs"
import { join, relative, resolve, sep } from "node:path"
import { fileURLToPath } from "node:url"

/** The root of the repository. */
export const root = resolve(fileURLToPath(import.meta.url), "../..")

/** A file by its path from the root, with `/` on every platform. */
export interface File {
  readonly path: string
  readonly text: string
}

const skipped = new Set(["node_modules", "dist"])

/** Paths of all files below `folder`, relative to the root, sorted; dot files, `dist` and `node_modules` are left out. */
export const pathsIn = (folder: string, matches: (path: string) => boolean = () => true): ReadonlyArray<string> => {
  const absolute = join(root, folder)
  if (!existsSync(absolute)) return []
  if (statSync(absolute).isFile()) return matches(folder) ? [folder] : []
  return readdirSync(absolute)
    .filter((name) => !name.startsWith(".") && !skipped.has(name))
    .toSorted()
    .flatMap((name) => pathsIn(relative(root, join(absolute, name)).split(sep).join("/"), matches))
}

export const read = (path: string): File => ({ path, text: readFileSync(join(root, path), "utf8") })

/** The files below `folder` that match. */
export const filesIn = (folder: string, matches?: (path: string) => boolean): ReadonlyArray<File> =>
  pathsIn(folder, matches).map(read)
