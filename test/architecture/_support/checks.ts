/** The checks of the architecture: each takes sources and gives the violations as lines of text, none if all is well. */
import { posix } from "node:path"
import { type File } from "../../../scripts/files.ts"
import { exportsOf } from "./exports.ts"
import { assignedFunctionsOf, castsOf, type Import, importsOf } from "./imports.ts"
import { type Package } from "./packages.ts"

const folderOf = (path: string): string => posix.dirname(path)

const sourcesOf = ({ name }: Package): string => `packages/${name}/src`

const isIndex = (path: string): boolean => posix.basename(path) === "index.ts"

/** A PascalCase file is a door of its folder; an index is neither a door nor private. */
const isDoor = (path: string): boolean => /^[A-Z]/.test(posix.basename(path))

const isPrivate = (path: string): boolean => /^[a-z]/.test(posix.basename(path)) && !isIndex(path)

interface Edge extends Import {
  readonly file: string
  /** The path of the imported file, from the root of the repository. */
  readonly to: string
}

/** The imports of a file by relative paths. */
const edgesOf = (file: File): ReadonlyArray<Edge> =>
  importsOf(file)
    .filter(({ from }) => from.startsWith("."))
    .map((found) => ({ ...found, file: file.path, to: posix.join(folderOf(file.path), found.from) }))

/** The folder of the file, if it has a place in the order; `.` is the root of the sources. */
const folderIn = (house: Package, path: string): string | undefined => {
  const folder = folderOf(posix.relative(sourcesOf(house), path))
  return house.folders.find((one) => one === folder)
}

/**
 * Imports against the order of the folders, files whose folder has no place in it, and files that no check reads. `isEntry` tells the
 * indexes that `package.json` names: they alone import everything of their package.
 */
export const orderViolations = (
  files: ReadonlyArray<File>,
  house: Package,
  isEntry: (path: string) => boolean
): ReadonlyArray<string> =>
  files.flatMap((file) => {
    if (!file.path.endsWith(".ts")) return [`${file.path}: a source is a .ts file`]
    const own = folderIn(house, file.path)
    if (isIndex(file.path) && !isEntry(file.path)) return [`${file.path}: package.json does not name this index`]
    if (own === undefined && !isIndex(file.path)) {
      return [`${file.path}: its folder is missing in test/architecture/_support/packages.ts`]
    }
    return edgesOf(file).flatMap(({ line, to }) => {
      if (to === file.path) return [`${file.path}:${line} imports itself`]
      if (!to.startsWith(`${sourcesOf(house)}/`)) return [`${file.path}:${line} imports ${to}, outside of its package`]
      if (own === undefined || isIndex(file.path)) return []
      if (isIndex(to)) return [`${file.path}:${line} imports an index: ${to}`]
      const target = folderIn(house, to)
      const isBefore = target !== undefined && house.folders.indexOf(target) <= house.folders.indexOf(own)
      if (!isBefore) return [`${file.path}:${line} imports ${to}: ${own} stands before ${target}`]
      const [room = ""] = target.split("/")
      const isAside = house.aside?.includes(room) === true && !["testing", room].includes(own.split("/")[0] ?? "")
      return isAside ? [`${file.path}:${line} imports ${to}: only an index and testing import ${room}`] : []
    })
  })

/** The place in the sources that a file belongs to: of a test, the folder that it mirrors. */
const homeOf = (path: string): string => folderOf(path.replace(/^test\/([^/]+)\//, "packages/$1/src/"))

/** The inputs of the growth test are those of every function, private or not. */
const inputs = "test/_support/inputs/"

const mayImport = (path: string, privateFile: string): boolean => {
  if (path.startsWith(inputs)) return true
  const from = homeOf(path)
  const folder = folderOf(privateFile)
  return from === folder || from.startsWith(`${folder}/`) || folderOf(folder) === from
}

/**
 * Imports of private files from elsewhere: a file of the same folder, of a folder below it or of the folder directly above it may
 * import one, and so may a test of the folder that mirrors it, and the inputs of the growth test.
 */
export const privacyViolations = (files: ReadonlyArray<File>): ReadonlyArray<string> =>
  files
    .flatMap(edgesOf)
    .filter(({ file, to }) => /^packages\/(?!examples\/)/.test(to) && isPrivate(to) && !mayImport(file, to))
    .map(({ file, line, to }) => `${file}:${line} imports ${to}, which is private`)

/**
 * What doors and private files export without need. A door exports what users, tests, other folders and public doors import, and the
 * types that these exports name. An `@internal` export of a public module, and every export of a private file, is imported by some other file.
 * `isPublic` tells the modules that `package.json` names; `others` are the files that may import too, tests among them.
 */
export const exportViolations = (
  files: ReadonlyArray<File>,
  others: ReadonlyArray<File>,
  isPublic: (path: string) => boolean
): ReadonlyArray<string> => {
  const users = new Map<string, Map<string, Set<string>>>()
  // what is measured there is exported for others
  const importers = [...files, ...others].filter(({ path }) => !path.startsWith(inputs))
  for (const { file, names, to } of importers.flatMap(edgesOf)) {
    const ofFile = users.get(to) ?? new Map<string, Set<string>>()
    users.set(to, ofFile)
    for (const name of names) ofFile.set(name, (ofFile.get(name) ?? new Set()).add(file))
  }
  return files.flatMap((file) => {
    if (isIndex(file.path)) return []
    const { isOnlyReexports, names } = exportsOf(file)
    const lines = isOnlyReexports ? [`${file.path} consists of re-exports`] : []
    const unused = names.filter(({ isInternal, isNamedByOthers, name }) => {
      if (isPublic(file.path) && !isInternal) return false
      const importing = ["*", name].flatMap((one) => [...(users.get(file.path)?.get(one) ?? [])])
      const isElse = isElsewhere(file.path)
      const isEnough =
        isDoor(file.path) && !isPublic(file.path) ? (by: string) => isElse(by) || isPublic(by) : () => true
      return !importing.some(isEnough) && !isNamedByOthers
    })
    const why = isDoor(file.path) && !isPublic(file.path) ? "no other folder imports it" : "no other file imports it"
    return [...lines, ...unused.map(({ name }) => `${file.path} exports ${name}: ${why}`)]
  })
}

const isElsewhere = (path: string) => (other: string) => folderOf(other) !== folderOf(path)

/** Imports from outside of the package that its list does not name, and names of the list that nothing imports. */
export const foreignViolations = (
  files: ReadonlyArray<File>,
  house: Package,
  isOurs: (from: string) => boolean
): ReadonlyArray<string> => {
  const within = Object.entries(house.within ?? {})
  const used = new Set<string>()
  const violations = files.flatMap((file) => {
    const path = posix.relative(sourcesOf(house), file.path)
    return importsOf(file)
      .filter(({ from }) => !from.startsWith("."))
      .flatMap(({ from, line }) => {
        if (isOurs(from)) return []
        const own = within.filter(([folder]) => path.startsWith(`${folder}/`)).map(([folder]) => folder)
        const scopes = ["", ...own].filter((scope) => listOf(house, scope).includes(from))
        for (const scope of scopes) used.add(`${scope} ${from}`)
        if (scopes.length > 0) return []
        const elsewhere = within.filter(([, list]) => list.includes(from)).map(([folder]) => folder)
        const why =
          from === "effect"
            ? "modules of Effect are imported by their own paths"
            : elsewhere.length > 0
              ? `only ${elsewhere.join(" and ")} may`
              : "no list names it"
        return [`${file.path}:${line} imports ${from}: ${why}`]
      })
  })
  const idle = ["", ...within.map(([folder]) => folder)].flatMap((scope) =>
    listOf(house, scope)
      .filter((from) => !used.has(`${scope} ${from}`))
      .map((from) => `${house.name} lists ${from}${scope === "" ? "" : ` for ${scope}`}: no file imports it`)
  )
  return [...violations, ...idle]
}

const listOf = (house: Package, scope: string): ReadonlyArray<string> =>
  scope === "" ? house.everywhere : (house.within?.[scope] ?? [])

/** Tests that do not mirror the sources, are too long, or are no tests and stand outside of `_support`. */
export const testViolations = (
  paths: ReadonlyArray<string>,
  house: Package,
  folders: ReadonlySet<string>
): ReadonlyArray<string> =>
  paths.flatMap((path) => {
    const [folder = "", support] = folderOf(posix.relative(`test/${house.name}`, path)).split(/\/?(_support)(?:\/|$)/)
    const isMirrored = folders.has(folder === "" ? "." : folder)
    return [
      ...(isMirrored || (support !== undefined && folder === "")
        ? []
        : [`${path}: ${sourcesOf(house)} has no folder ${folder === "" ? "." : folder}`]),
      ...(support === undefined && !path.endsWith(".test.ts") ? [`${path}: a helper stands in _support/`] : []),
      ...(support !== undefined && path.endsWith(".test.ts") ? [`${path}: a test stands beside _support/`] : [])
    ]
  })

/** Tells the stability of an export of a module of Effect: `stable`, another word, or `undefined` for no such export. */
export interface StabilityOf {
  (module: string, name: string): string | undefined
}

/** Exports of Effect that are used and not tagged stable, except for modules that `isOpen` names. */
export const stabilityViolations = (
  files: ReadonlyArray<File>,
  stabilityOf: StabilityOf,
  isExempt: (path: string, from: string) => boolean = () => false
): ReadonlyArray<string> =>
  files.flatMap((file) =>
    importsOf(file)
      .filter(({ from }) => from.startsWith("effect/") && !isExempt(file.path, from))
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

/** Files that are too long. */
export const lengthViolations = (files: ReadonlyArray<File>): ReadonlyArray<string> =>
  files
    .map(({ path, text }) => ({ path, lines: text.trimEnd().split("\n").length }))
    .filter(({ lines }) => lines > MAX_LINES)
    .map(({ lines, path }) => `${path} has ${lines} lines, more than ${MAX_LINES}`)

/** Files that are too long, and casts to `any`. */
export const sizeViolations = (files: ReadonlyArray<File>): ReadonlyArray<string> => [
  ...lengthViolations(files),
  ...files.flatMap((file) =>
    castsOf(file)
      .filter(({ toAny }) => toAny)
      .map(({ line }) => `${file.path}:${line} casts to any`)
  )
]
