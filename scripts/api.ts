/**
 * Writes `docs/api.md`: every exported name of the published packages that is not `@internal`, with the first sentence of its doc
 * comment. Sources are
 * formatted alike, so a declaration begins a line, and its comment stands right above it.
 *
 *   npm run api
 */
import { writeFileSync } from "node:fs"
import { join, posix } from "node:path"
import { pathsIn, read, root } from "./files.ts"

export const path = "docs/api.md"

/** An exported name. */
export interface Name {
  readonly name: string
  readonly kind: "value" | "type" | "class" | "namespace"
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
    names.set(name.name, { ...name, kind, says })
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
      const isType = declares !== undefined || keyword === "interface" || keyword === "type"
      const kind = isType ? "type" : keyword.endsWith("class") ? "class" : "value"
      add({ name, kind, ...saidBy(commentAbove(lines, index)), from: path })
    } else if (starred !== null) {
      const [, namespace, from = ""] = starred
      const target = resolved(path, from)
      if (namespace === undefined) for (const name of namesOf(target)) add(name)
      else add({ name: namespace, kind: "namespace", ...saidBy(headOf(target)), from: target })
    } else if (listed !== null) {
      const [, onlyTypes, members = "", from] = listed
      for (const member of members.split(",").map((one) => one.trim())) {
        if (member === "") continue
        const [original = "", as = original] = member.replace(/^type /, "").split(" as ")
        const found = from === undefined ? localOf(lines, original, path) : declaredIn(resolved(path, from), original)
        const isType = onlyTypes !== undefined || member.startsWith("type ")
        const says = found.says === "" ? firstSentence(commentAbove(lines, index)) : found.says
        add({ ...found, says, name: as, kind: isType ? "type" : found.kind })
      }
    }
  }
  return [...names.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1))
}

const resolved = (path: string, from: string): string => posix.join(posix.dirname(path), from)

const declaredIn = (path: string, name: string): Name =>
  namesOf(path).find((one) => one.name === name) ?? { name, kind: "value", ...saidBy(""), from: path }

/** A name that is declared without `export`, and exported in a list. */
const localOf = (lines: ReadonlyArray<string>, name: string, path: string): Name => {
  const index = lines.findIndex((line) => new RegExp(`^(?:const|function|class|interface|type) ${name}\\b`).test(line))
  return { name, kind: "value", ...saidBy(index < 0 ? "" : commentAbove(lines, index)), from: path }
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

/** The modules of a package that have a path of their own: those at the root of its sources that it does not keep to itself. */
const modulesOf = (folder: string): ReadonlyArray<string> => {
  const [owner = ""] = folder.split("/src")
  const { exports }: { readonly exports: Readonly<Record<string, unknown>> } = JSON.parse(
    read(`${owner}/package.json`).text
  )
  // of a folder that is entered by its index alone, what that exports
  const isClosed = exports[`./${folder.slice(`${owner}/src/`.length)}/*`] === null
  const index = isClosed ? read(posix.join(folder, "index.ts")).text : ""
  return pathsIn(folder, (path) => {
    if (isClosed && !index.includes(`"./${posix.basename(path)}"`)) return false
    const isAtRoot = path.endsWith(".ts") && !path.slice(folder.length + 1).includes("/")
    const name = path.slice(`${owner}/src/`.length, -".ts".length)
    return isAtRoot && !path.endsWith("/index.ts") && exports[`./${name}`] !== null
  })
}

const marks = { value: "", class: " (class)", type: " (type)", namespace: "" } as const

/** The module of the same folder that exports all names of this one as its own. */
const wholeOf = (path: string): string | undefined =>
  modulesOf(posix.dirname(path)).find((other) =>
    read(other).text.includes(`\nexport * from "./${posix.basename(path)}"`)
  )

const section = (title: string, path: string): ReadonlyArray<string> => {
  const head = firstSentence(headOf(path))
  const whole = wholeOf(path)
  if (whole !== undefined)
    return [`### ${title}`, "", head, "", `All of it is in \`${posix.basename(whole, ".ts")}\`.`, ""]
  const names = namesOf(path).filter(({ isInternal }) => !isInternal)
  return [
    `### ${title}`,
    "",
    ...(head === "" ? [] : [head, ""]),
    ...names.map(({ kind, name, says }) => `- \`${name}\`${marks[kind]}${says === "" ? "" : `: ${says}`}`),
    ""
  ]
}

const packages = [
  { name: "@kintsugi/core", folder: "packages/core/src" },
  { name: "@kintsugi/core/testing", folder: "packages/core/src/testing" },
  { name: "@kintsugi/providers", folder: "packages/providers/src" },
  { name: "@kintsugi/providers/testing", folder: "packages/providers/src/testing" },
  { name: "@kintsugi/view", folder: "packages/providers/src/view" }
]

/** All modules of all packages, by the path under which they are imported. */
export const modules: ReadonlyArray<{ readonly title: string; readonly path: string }> = packages.flatMap(
  ({ folder, name }) => modulesOf(folder).map((path) => ({ title: `${name}/${posix.basename(path, ".ts")}`, path }))
)

export const render = (): string =>
  [
    "# Every exported name",
    "",
    "Drawn from the sources by `npm run api`: the first sentence of each doc comment. The rest stands where you hover.",
    "",
    ...packages.flatMap(({ folder, name }) => [
      `## ${name}`,
      "",
      ...modulesOf(folder).flatMap((path) => section(posix.basename(path, ".ts"), path))
    ])
  ].join("\n")

if (import.meta.main) {
  writeFileSync(join(root, path), render())
}
