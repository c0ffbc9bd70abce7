/**
 * Writes `docs/api.md`: every exported name of the published packages that is not `@internal`, with the first sentence of its doc
 * comment. The modules are those that `exports` of a package lists, and those that only an index of the package exports. Sources are
 * formatted alike, so a declaration begins a line, and its comment stands right above it.
 *
 *   npm run api
 */
import { writeFileSync } from "node:fs"
import { join, posix } from "node:path"
import { read, root } from "./files.ts"
import { exportsOf, packages } from "./packages.ts"

export const path = "docs/api.md"

/** An exported name. */
export interface Name {
  readonly name: string
  readonly kind: "value" | "type" | "class" | "namespace"
  /** Whether it names a type, alone or beside a value. */
  readonly isType: boolean
  readonly says: string
  /** Marked so: for the modules of its own package, and not in the declarations that are published. */
  readonly isInternal: boolean
  /** Where it is declared, from the root. */
  readonly from: string
}

const declaration = /^export (declare )?(const|function|class|abstract class|interface|type) (\w+)/
const star = /^export \* (?:as (\w+) )?from "(\.[^"]+)"/
const list = /^export (type )?\{([^}]*)\}(?: from "(\.[^"]+)")?/

/** The exported names of a module, sorted. A type and a value of one name are one name. */
export const namesOf = (path: string): ReadonlyArray<Name> => {
  const names = new Map<string, Name>()
  const add = (name: Name) => {
    const other = names.get(name.name)
    const kind = name.kind === "type" ? (other?.kind ?? name.kind) : name.kind
    const says = name.says === "" || (name.kind === "type" && other?.says) ? (other?.says ?? "") : name.says
    names.set(name.name, { ...name, kind, says, isType: name.isType || other?.isType === true })
  }
  const { text } = read(path)
  // a list may be longer than a line
  const lines = text.replaceAll(/^export (type )?\{\n([^}]*)\}/gm, (all) => all.replaceAll(/\s+/g, " ")).split("\n")
  for (const [index, line] of lines.entries()) {
    const declared = declaration.exec(line)
    const starred = star.exec(line)
    const listed = list.exec(line)
    if (declared !== null) {
      const [, declares, keyword = "", name = ""] = declared
      const isOnlyType = declares !== undefined || keyword === "interface" || keyword === "type"
      const kind = isOnlyType ? "type" : keyword.endsWith("class") ? "class" : "value"
      add({ name, kind, isType: kind !== "value", ...saidBy(commentAbove(lines, index)), from: path })
    } else if (starred !== null) {
      const [, namespace, from = ""] = starred
      const target = resolved(path, from)
      if (namespace === undefined) for (const name of namesOf(target)) add(name)
      else add({ name: namespace, kind: "namespace", isType: false, ...saidBy(headOf(target)), from: target })
    } else if (listed !== null) {
      const [, onlyTypes, members = "", from] = listed
      const own = saidBy(commentAbove(lines, index))
      for (const member of members.split(",").map((one) => one.trim())) {
        if (member === "") continue
        const [original = "", as = original] = member.replace(/^type /, "").split(" as ")
        const found = from === undefined ? localOf(lines, original, path) : declaredIn(resolved(path, from), original)
        const isType = onlyTypes !== undefined || member.startsWith("type ")
        const says = found.says === "" ? own.says : found.says
        const isInternal = found.isInternal || own.isInternal
        add({
          ...found,
          says,
          isInternal,
          name: as,
          kind: isType ? "type" : found.kind,
          isType: isType || found.isType
        })
      }
    }
  }
  return [...names.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1))
}

const resolved = (path: string, from: string): string => posix.join(posix.dirname(path), from)

const declaredIn = (path: string, name: string): Name =>
  namesOf(path).find((one) => one.name === name) ?? { name, kind: "value", isType: false, ...saidBy(""), from: path }

/** A name that is declared without `export`, and exported in a list. */
const localOf = (lines: ReadonlyArray<string>, name: string, path: string): Name => {
  const index = lines.findIndex((line) => new RegExp(`^(?:const|function|class|interface|type) ${name}\\b`).test(line))
  const isType = /^(?:class|interface|type) /.test(lines[index] ?? "")
  return { name, kind: "value", isType, ...saidBy(index < 0 ? "" : commentAbove(lines, index)), from: path }
}

/** The doc comment that ends right above a line, without its frame. */
const commentAbove = (lines: ReadonlyArray<string>, index: number): string => {
  let last = index - 1
  // overloads and words to the linter stand between a comment and what it is about
  while (/^(?:export )?function \w+|^ {2}|^\)|^\/\/ /.test(lines[last] ?? "")) last--
  if (!(lines[last] ?? "").trimEnd().endsWith("*/")) return ""
  let first = last
  while (first > 0 && !(lines[first] ?? "").startsWith("/**")) first--
  return unframed(lines.slice(first, last + 1).join("\n"))
}

const saidBy = (comment: string): Pick<Name, "says" | "isInternal"> => ({
  says: firstSentence(comment),
  isInternal: /^@internal$/m.test(comment)
})

/** The comment at the head of a module. */
export const headOf = (path: string): string => unframed(/^\/\*\*[^]*?\*\//.exec(read(path).text)?.[0] ?? "")

const unframed = (comment: string): string =>
  comment
    .replace(/^\/\*\*/, "")
    .replace(/\*\/$/, "")
    .replaceAll(/^ *\* ?/gm, "")
    .trim()

const firstSentence = (text: string): string => {
  const [paragraph = ""] = text.split(/\n\s*\n|\n```/)
  const [sentence = ""] = paragraph.replaceAll(/\s+/g, " ").split(/(?<=[.!?])(?<!\b(?:e\.g|i\.e|etc)\.) (?=[A-Z`"'])/)
  return sentence.trim()
}

/** A module that users import. */
export interface Module {
  /** The section of the package, and the name of the module: the path under which it is imported by itself, if it has one. */
  readonly title: string
  /** Where it is, from the root. */
  readonly path: string
  /** The paths under which it is imported: that of the index that exports it, and its own. */
  readonly imports: ReadonlyArray<string>
}

/** A part of a package: what is below its name, or below `testing` of it. */
interface Section {
  readonly title: string
  readonly modules: ReadonlyArray<Module>
}

/** The modules that an index exports as a namespace, or some names of, by their paths. */
const namesInIndex = (index: string): ReadonlyMap<string, string> => {
  const exported = read(index).text.matchAll(/^export (?:type )?(?:\* as (\w+)|\{[^}]*\}) from "(\.[^"]+)"/gm)
  return new Map(
    [...exported].map(([, name, from = ""]) => [resolved(index, from), name ?? posix.basename(from, ".ts")] as const)
  )
}

const isIndex = (path: string): boolean => posix.basename(path) === "index.ts"

/** A module that only an index exports is listed under its name there. */
const sectionOf = (title: string, exports: ReadonlyMap<string, string>): Section => {
  const index = exports.get(title)
  const named = index === undefined ? new Map<string, string>() : namesInIndex(index)
  const own = [...exports].filter(([key, path]) => posix.dirname(key) === title && !isIndex(path))
  const byItself = own.map(([key, path]) => ({ title: key, path, imports: named.has(path) ? [title, key] : [key] }))
  const paths = new Set(own.map(([, path]) => path))
  const byIndex = [...named].flatMap(([path, name]) =>
    paths.has(path) ? [] : [{ title: `${title}/${name}`, path, imports: [title] }]
  )
  const modules = [...byItself, ...byIndex].toSorted((a, b) => (a.title < b.title ? -1 : 1))
  return { title, modules }
}

const sections: ReadonlyArray<Section> = packages.flatMap((name) => {
  const exports = exportsOf(name)
  const indexes = [...exports].filter(([, path]) => isIndex(path)).map(([title]) => title)
  return [...new Set([`@kintsugi/${name}`, ...indexes])].map((title) => sectionOf(title, exports))
})

/** All modules of all packages. */
export const modules: ReadonlyArray<Module> = sections.flatMap(({ modules }) => modules)

const marks = { value: "", class: " (class)", type: " (type)", namespace: "" } as const

/** The module of the same section that exports all names of this one as its own. */
const wholeOf = ({ path }: Module, { modules }: Section): Module | undefined =>
  modules.find((other) =>
    [...read(other.path).text.matchAll(/^export \* from "(\.[^"]+)"/gm)].some(
      ([, from = ""]) => resolved(other.path, from) === path
    )
  )

const linesOf = (module: Module, section: Section): ReadonlyArray<string> => {
  const head = firstSentence(headOf(module.path))
  const heading = `### ${posix.basename(module.title)}`
  const whole = wholeOf(module, section)
  if (whole !== undefined) return [heading, "", head, "", `All of it is in \`${posix.basename(whole.title)}\`.`, ""]
  const names = namesOf(module.path).filter(({ isInternal }) => !isInternal)
  return [
    heading,
    "",
    ...(head === "" ? [] : [head, ""]),
    ...names.map(({ kind, name, says }) => `- \`${name}\`${marks[kind]}${says === "" ? "" : `: ${says}`}`),
    ""
  ]
}

export const render = (): string =>
  [
    "# Every exported name",
    "",
    "Drawn from the sources by `npm run api`: the first sentence of each doc comment. The rest stands where you hover.",
    "",
    ...sections.flatMap((section) => [
      `## ${section.title}`,
      "",
      ...section.modules.flatMap((module) => linesOf(module, section))
    ])
  ].join("\n")

if (import.meta.main) {
  writeFileSync(join(root, path), render())
}
