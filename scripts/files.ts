/** Where things are in this repository, and how to read them. */
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs"
import { join, posix, resolve } from "node:path"
import { fileURLToPath } from "node:url"

/** The root of the repository. */
export const root = resolve(fileURLToPath(import.meta.url), "../..")

/** A file by its path from the root, with `/` on every platform. */
export interface File {
  readonly path: string
  readonly text: string
}

/** Paths of all files below an absolute folder, relative to it, sorted; dot files and `node_modules` are left out. */
export const pathsWithin = (folder: string, subfolder = ""): ReadonlyArray<string> =>
  readdirSync(join(folder, subfolder), { withFileTypes: true })
    .filter(({ name }) => !name.startsWith(".") && name !== "node_modules")
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const path = posix.join(subfolder, entry.name)
      return entry.isDirectory() ? pathsWithin(folder, path) : [path]
    })

/** Paths of the files below a folder of the repository, from its root, what is built left out; of a file, itself. */
export const pathsIn = (folder: string, matches: (path: string) => boolean = () => true): ReadonlyArray<string> => {
  const absolute = join(root, folder)
  if (!existsSync(absolute)) return []
  const paths = statSync(absolute).isFile() ? [folder] : pathsWithin(absolute).map((path) => posix.join(folder, path))
  return paths.filter((path) => !path.split("/").includes("dist") && matches(path))
}

export const read = (path: string): File => ({ path, text: readFileSync(join(root, path), "utf8") })

/** The files below `folder` that match. */
export const filesIn = (folder: string, matches?: (path: string) => boolean): ReadonlyArray<File> =>
  pathsIn(folder, matches).map(read)
