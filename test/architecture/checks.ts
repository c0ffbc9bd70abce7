/** The checks of the architecture: each takes sources and gives the violations as lines of text, none if all is well. */
import { posix } from "node:path"
import { type File } from "../../scripts/files.ts"
import { type House } from "./doors.ts"
import { assignedFunctionsOf, castsOf, importsOf } from "./imports.ts"

/** Where modules stand, in import order, and where the files in `internal/` belong if their name does not tell. */
export interface Order {
  readonly folder: string
  readonly modules: ReadonlyArray<string>
  readonly internals: Readonly<Record<string, string>>
}

const camelCase = (name: string): string => name.charAt(0).toLowerCase() + name.slice(1)

/** `Tool` for `packages/core/src/tool/Tool.ts`, `internal/toolCall` for a file of a folder. */
const nameIn = (folder: string, path: string): string => posix.relative(folder, path).replace(/\.ts$/, "")

/** The module that owns a file, `testing/*` for all of `testing/`; `undefined` if none does. */
export const ownerOf = ({ folder, internals, modules }: Order, path: string): string | undefined => {
  const name = nameIn(folder, path)
  if (modules.includes(name)) return name
  if (name.startsWith("internal/")) {
    const file = name.slice("internal/".length)
    const listed = internals[file]
    if (listed !== undefined) return listed
    return modules
      .filter((module) => new RegExp(`^${camelCase(module)}(?![a-z0-9])`).test(file))
      .toSorted((a, b) => b.length - a.length)[0]
  }
  const wildcard = `${name.split("/")[0]}/*`
  return modules.includes(wildcard) ? wildcard : undefined
}

/** Imports against the order, as `Tool -> Agent`, and files that have no place in it. */
export const orderViolations = (files: ReadonlyArray<File>, order: Order): ReadonlyArray<string> =>
  files.flatMap((file) => {
    const own = ownerOf(order, file.path)
    const name = nameIn(order.folder, file.path)
    if (own === undefined) return [`${name} is missing in test/architecture/modules.ts`]
    const row = order.modules.indexOf(own)
    return importsOf(file)
      .filter(({ from }) => from.startsWith("."))
      .flatMap(({ from, line }) => {
        const path = posix.join(posix.dirname(file.path), from)
        if (path === file.path) return [`${name} -> itself (line ${line})`]
        const target = nameIn(order.folder, path)
        if (target.startsWith("..")) return [`${name} -> ${from}, outside of the package (line ${line})`]
        const owner = ownerOf(order, path)
        const allowed = owner !== undefined && (owner === own || order.modules.indexOf(owner) < row)
        return allowed ? [] : [`${name} -> ${target} (line ${line})`]
      })
  })

const isBehind = (door: string, from: string): boolean =>
  from === door || from.startsWith(door.endsWith(":") ? door : `${door}/`)

/** Imports from outside of the package that are neither open nor made at their door. */
export const doorViolations = (files: ReadonlyArray<File>, folder: string, house: House): ReadonlyArray<string> => {
  const topLevel = files.map((file) => nameIn(folder, file.path)).filter((name) => !name.includes("/"))
  const through = house.doors.flatMap((door) => door.through)
  const order: Order = { folder, modules: [...topLevel, ...through, "testing/*"], internals: {} }
  return files.flatMap((file) => {
    const own = ownerOf(order, file.path)
    const name = nameIn(folder, file.path)
    return importsOf(file)
      .filter(({ from }) => !from.startsWith("."))
      .flatMap(({ from, line }) => {
        if (house.open.some((pattern) => pattern.test(from))) return []
        const doors = house.doors.filter(({ to }) => isBehind(to, from))
        if (own !== undefined && doors.some((door) => door.through.includes(own))) return []
        const where = doors.flatMap((door) => door.through).join(", ")
        const why =
          from === "effect"
            ? "import its modules by their own paths"
            : where === ""
              ? "there is no door to it"
              : `only through ${where}`
        return [`${name} -> ${from}: ${why} (line ${line})`]
      })
  })
}

/** Tells the stability of an export of a module of Effect: `stable`, another word, or `undefined` for no such export. */
export interface StabilityOf {
  (module: string, name: string): string | undefined
}

/** Exports of Effect that are used and not tagged stable, but at a door. */
export const stabilityViolations = (
  files: ReadonlyArray<File>,
  stabilityOf: StabilityOf,
  { doors, folder }: Pick<House, "doors"> & { readonly folder: string } = { doors: [], folder: "" }
): ReadonlyArray<string> =>
  files.flatMap((file) =>
    importsOf(file)
      .filter(({ from }) => from.startsWith("effect/"))
      .filter(({ from }) => {
        const own = nameIn(folder, file.path).replace(/\/.*/, "/*")
        return !doors.some(({ through, to }) => isBehind(to, from) && through.includes(own))
      })
      .flatMap(({ from, line, names }) =>
        names.flatMap((name) => {
          const stability = name === "*" ? "more than its stable part" : stabilityOf(from, name)
          return stability === "stable"
            ? []
            : [`${file.path}:${line} uses ${name} of ${from}: ${stability ?? "no such export"}`]
        })
      )
  )

export const MAX_LINES = 400

/** One row for each file: how long it is and how many casts it makes. */
export const measure = (files: ReadonlyArray<File>) =>
  files.map((file) => ({
    path: file.path,
    lines: file.text.trimEnd().split("\n").length,
    casts: castsOf(file).length
  }))

/**
 * Functions that V8 makes among its old objects: it does so where one stands right behind the name of the property that takes it.
 * What such a function closes over stays until those are swept, which takes twice the time of a run that is heard.
 */
export const oldFunctionViolations = (files: ReadonlyArray<File>): ReadonlyArray<string> =>
  files.flatMap((file) =>
    assignedFunctionsOf(file).map(
      (line) => `${file.path}:${line} makes a function where a property takes it: name it first`
    )
  )

/** Files that are too long, and casts to `any`. */
export const sizeViolations = (files: ReadonlyArray<File>): ReadonlyArray<string> => [
  ...measure(files)
    .filter(({ lines }) => lines > MAX_LINES)
    .map(({ lines, path }) => `${path} has ${lines} lines, more than ${MAX_LINES}`),
  ...files.flatMap((file) =>
    castsOf(file)
      .filter(({ toAny }) => toAny)
      .map(({ line }) => `${file.path}:${line} casts to any`)
  )
]
