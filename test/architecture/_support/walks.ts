/** Reads the walks of `docs/architecture.md`: lists of files in the order in which a value passes through them. */
import { posix } from "node:path"
import { type File } from "../../../scripts/files.ts"
import { importsOf } from "./imports.ts"

const sources = "packages/core/src"

/** A walk has at most this many steps. */
const MAX_STEPS = 12

/** A list of the section, by its heading. */
export interface Walk {
  readonly title: string
  /** The items. A walk of core names a file as `run/Run`. */
  readonly steps: ReadonlyArray<string>
}

/** The lists below each `###` of the section `## Four walks`. */
export const walksIn = (page: string): ReadonlyArray<Walk> => {
  const [, section = ""] = `${page}\n## `.split(/^## Four walks$/m)
  const [own = ""] = section.split(/^## /m)
  return own
    .split(/^### /m)
    .slice(1)
    .map((part) => ({
      title: part.slice(0, part.indexOf("\n")),
      steps: [...part.matchAll(/^\d+\. (.+)$/gm)].map(([, step = ""]) => step)
    }))
}

/** The paths that a source imports, types too. */
const targetsOf = (file: File): ReadonlySet<string> =>
  new Set(
    importsOf(file).flatMap(({ from }) => (from.startsWith(".") ? [posix.join(posix.dirname(file.path), from)] : []))
  )

/** Steps that name no source, and pairs of steps of which neither imports the other. */
export const walkViolations = ({ steps, title }: Walk, files: ReadonlyArray<File>): ReadonlyArray<string> => {
  const byPath = new Map(files.map((file) => [file.path, file]))
  const found = steps.map((step) => {
    const [, name] = /^`([\w-]+(?:\/[\w-]+)+)`/.exec(step) ?? []
    return { step, file: byPath.get(`${sources}/${name}.ts`) }
  })
  const unknown = found.flatMap(({ file, step }) =>
    file === undefined ? [`${title}: no source of core: ${step}`] : []
  )
  const apart = found.flatMap(({ file }, at) => {
    const before = found[at - 1]?.file
    if (file === undefined || before === undefined) return []
    const isTied = targetsOf(file).has(before.path) || targetsOf(before).has(file.path)
    return isTied ? [] : [`${title}: neither of ${before.path} and ${file.path} imports the other`]
  })
  const isShort = steps.length >= 2 && steps.length <= MAX_STEPS
  return [...(isShort ? [] : [`${title}: ${steps.length} steps, not 2 to ${MAX_STEPS}`]), ...unknown, ...apart]
}
