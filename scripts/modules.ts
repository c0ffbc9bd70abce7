/** The modules that users import: those that `exports` of a package lists, and those that only an index of the package exports. */
import { posix } from "node:path"
import { entriesOf, moduleAt } from "./exports.ts"
import { read } from "./files.ts"
import { exportsOf, packages } from "./packages.ts"

/** A module that users import. */
export interface Module {
  /** The section of the package, and the name of the module: the path under which it is imported by itself, if it has one. */
  readonly title: string
  /** Where it is, from the root. */
  readonly path: string
  /** The paths under which it is imported: that of the index that exports it, and its own. */
  readonly imports: ReadonlyArray<string>
  /** The module of the same section that exports all names of this one as its own. */
  readonly whole?: string
}

/** A part of a package: what is below its name, or below `testing` of it. */
export interface Section {
  readonly title: string
  readonly modules: ReadonlyArray<Module>
}

/** The modules that a source passes on, by their paths: each by the name of its namespace, or that of its file. */
const passedOn = (path: string): ReadonlyMap<string, string> =>
  new Map(
    entriesOf(read(path).text).flatMap(({ from, name, original }) => {
      const target = from === undefined ? undefined : moduleAt(path, from)
      if (target === undefined) return []
      return [[target, original === undefined && name !== undefined ? name : posix.basename(target, ".ts")] as const]
    })
  )

/** The modules whose names a source exports as its own, all of them. */
const wholesIn = (path: string): ReadonlyArray<string> =>
  entriesOf(read(path).text).flatMap(({ from, name }) =>
    from === undefined || name !== undefined ? [] : [moduleAt(path, from) ?? from]
  )

const isIndex = (path: string): boolean => posix.basename(path) === "index.ts"

/** A module that only an index exports is listed under its name there. */
const sectionOf = (title: string, exports: ReadonlyMap<string, string>): Section => {
  const index = exports.get(title)
  const named = index === undefined ? new Map<string, string>() : passedOn(index)
  const own = [...exports].filter(([key, path]) => posix.dirname(key) === title && !isIndex(path))
  const byItself = own.map(([key, path]) => ({ title: key, path, imports: named.has(path) ? [title, key] : [key] }))
  const paths = new Set(own.map(([, path]) => path))
  const byIndex = [...named].flatMap(([path, name]) =>
    paths.has(path) ? [] : [{ title: `${title}/${name}`, path, imports: [title] }]
  )
  const modules = [...byItself, ...byIndex].toSorted((a, b) => (a.title < b.title ? -1 : 1))
  const wholes = new Map(modules.flatMap(({ path, title }) => wholesIn(path).map((part) => [part, title] as const)))
  return {
    title,
    modules: modules.map((module) => {
      const whole = wholes.get(module.path)
      return whole === undefined ? module : { ...module, whole }
    })
  }
}

export const sections: ReadonlyArray<Section> = packages.flatMap((name) => {
  const exports = exportsOf(name)
  const indexes = [...exports].filter(([, path]) => isIndex(path)).map(([title]) => title)
  return [...new Set([`@kintsugi/${name}`, ...indexes])].map((title) => sectionOf(title, exports))
})

/** All modules of all packages. */
export const modules: ReadonlyArray<Module> = sections.flatMap(({ modules }) => modules)
