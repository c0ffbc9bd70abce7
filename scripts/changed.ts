/** What changed since `main`, and which folders of tests stand for it. */
import { posix } from "node:path"

/** What git says of a checkout. */
export interface Checkout {
  /** `undefined` where no branch is checked out. */
  readonly branch: string | undefined
  /** Whether something changed that is not committed. */
  readonly isDirty: boolean
  readonly hasMain: boolean
  readonly hasOriginMain: boolean
}

/** The commit that the changes are counted from, as an argument of `git merge-base`. */
export const baseOf = ({ branch, hasMain, hasOriginMain, isDirty }: Checkout): string => {
  if (branch === "main") return isDirty ? "HEAD" : hasOriginMain ? "origin/main" : "HEAD~1"
  return hasMain ? "main" : hasOriginMain ? "origin/main" : "HEAD~1"
}

const tops = new Set([".", "test", "tools"])

/** The folder itself, or the nearest above it of which there are tests; nothing where none of them has any. */
const nearest = (folder: string, isTested: (folder: string) => boolean): string | undefined => {
  if (tops.has(folder)) return undefined
  return isTested(folder) ? folder : nearest(posix.dirname(folder), isTested)
}

const folderFor = (path: string, isTested: (folder: string) => boolean): string | undefined => {
  const folder = posix.dirname(path)
  const [top = "", second = "", third] = folder.split("/")
  if (top === "test") return nearest(folder.replace(/\/_support(\/.*)?$/, ""), isTested)
  if (top === "tools") return nearest(`tools/${second}/test`, isTested)
  if (top !== "packages" || (third !== "src" && third !== "recipes")) return nearest("test/repository", isTested)
  return nearest(posix.join("test", second, ...folder.split("/").slice(3)), isTested)
}

/** What stands for the changes. */
export interface Chosen {
  /** Folders of tests, none within another. */
  readonly folders: ReadonlyArray<string>
  /** Changed files that no folder of tests stands for: the types alone are checked. */
  readonly untested: ReadonlyArray<string>
  /** Changed tests of processes, which are not run. */
  readonly processes: ReadonlyArray<string>
}

/** The folders for changed paths; `isTested` tells the folders in or below which there are tests of one process. */
export const choose = (paths: ReadonlyArray<string>, isTested: (folder: string) => boolean): Chosen => {
  const processes = paths.filter((path) => path.endsWith(".process.test.ts"))
  const found = paths
    .filter((path) => !processes.includes(path))
    .map((path) => [path, folderFor(path, isTested)] as const)
  const all = new Set(found.flatMap(([, folder]) => (folder === undefined ? [] : [folder])))
  return {
    folders: [...all].filter((one) => ![...all].some((other) => one.startsWith(`${other}/`))).toSorted(),
    untested: found.filter(([, folder]) => folder === undefined).map(([path]) => path),
    processes
  }
}
