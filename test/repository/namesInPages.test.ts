/** Names of our modules in pages, changesets and doc comments: each is one that programs can import. */
import { assert, beforeAll, describe, it } from "vitest"
import { declaredBy, namesOf } from "../../scripts/exports.ts"
import { type File, pathsIn, read } from "../../scripts/files.ts"
import { modules } from "../../scripts/modules.ts"
import { lineAt, type Node, nodeIn, nodesIn, parse, parsed, textIn } from "../../scripts/syntax.ts"
import { withoutOldNames } from "./_support/oldNames.ts"

/** Namespaces of earlier versions: only the table of old names has them. */
const former = new Set(["Approver", "Composition", "Presets", "Price", "Problem", "Timeline", "Trail", "Verdict"])

/** Members that a name has, when a type or a value with members stands for it. */
type Members = ReadonlySet<string>

/** What may follow a dot behind a namespace or a class: each name, with its members where they are publicNames. */
const publicNames = new Map<string, Map<string, Members | undefined>>()

const isObject = (value: unknown): value is object =>
  (typeof value === "object" && value !== null) || typeof value === "function"

const keysOf = (value: unknown): ReadonlyArray<string> =>
  isObject(value) ? Object.getOwnPropertyNames(value).concat(keysOf(Object.getPrototypeOf(value))) : []

const isClass = (value: unknown): boolean => typeof value === "function" && /^class\b/.test(String(value))

const isNamespace = (value: unknown): boolean => isObject(value) && Object.hasOwn(value, Symbol.toStringTag)

/** The members of a namespace, and those of a class or a schema: static ones, those of an instance, and the fields. */
const membersOf = (value: unknown): ReadonlyArray<string> => {
  if (!isObject(value)) return []
  const prototype = "prototype" in value ? keysOf(value.prototype) : []
  return [...keysOf(value), ...prototype, ...("fields" in value ? keysOf(value.fields) : [])]
}

/** The fields that a declaration of a type writes out. */
const fieldsIn = (declaration: Node): ReadonlyArray<string> => {
  const body = nodeIn(declaration, "body") ?? nodeIn(declaration, "typeAnnotation")
  const members = body === undefined ? [] : [...nodesIn(body, "body"), ...nodesIn(body, "members")]
  return members.flatMap((member) => {
    const key = nodeIn(member, "key")
    return textIn(key, "name") ?? textIn(key, "value") ?? []
  })
}

const fieldsOf = (path: string, name: string): ReadonlyArray<string> =>
  path.startsWith("packages/")
    ? nodesIn(parse(read(path).text), "body").flatMap((statement) =>
        declaredBy(statement).flatMap(([declared, declaration]) => (declared === name ? fieldsIn(declaration) : []))
      )
    : []

const add = (owner: string, name: string, members: Members | undefined) =>
  publicNames.set(owner, (publicNames.get(owner) ?? new Map<string, Members | undefined>()).set(name, members))

beforeAll(async () => {
  for (const { imports, path, title } of modules) {
    const namespace = title.slice(title.lastIndexOf("/") + 1)
    const own = imports.find((one) => one === title)
    const whole: unknown = own === undefined ? undefined : await import(own)
    for (const { from, isInternal, isType, name } of namesOf(path)) {
      if (isInternal) continue
      const value: unknown = isObject(whole) ? Reflect.get(whole, name) : undefined
      const members = [...membersOf(value), ...(isType ? fieldsOf(from, name) : [])]
      add(namespace, name, isClass(value) || isNamespace(value) ? new Set(members) : undefined)
      // a class is written without its namespace too; a type with the name of its module cannot be told from the module
      if (isClass(value) || name === namespace) for (const member of members) add(name, member, undefined)
    }
  }
})

const docComments = ({ path, text }: File): File => {
  const blank = (part: string) => part.replaceAll(/[^\n]/g, " ")
  let end = 0
  const parts = parsed(text).comments.flatMap((comment) => {
    if (comment.type !== "Block" || !comment.value.startsWith("*")) return []
    const before = text.slice(end, comment.start)
    end = comment.end
    return [blank(before), text.slice(comment.start, end).replaceAll(/^( *)\*/gm, "$1 ")]
  })
  return { path, text: parts.join("") }
}

const pages = [
  ...["README.md", "AGENTS.md", "llms.txt", ...pathsIn(".changeset"), ...pathsIn("docs")].filter(
    (path) => /\.(?:md|txt)$/.test(path) && !/^docs\/(?:decisions\/|reports\/mutation\.md)/.test(path)
  ),
  ...pathsIn("packages", (path) => /^packages\/[^/]+\/(?:README|AGENTS)\.md$/.test(path))
].map((path) => withoutOldNames(read(path)))

const sources = pathsIn("packages", (path) => /^packages\/[^/]+\/src\/.*\.ts$/.test(path)).map((path) =>
  docComments(read(path))
)

/** Code in backticks, and in fences of this language. */
const codes = /^ *```tsx?\b[^\n]*\n([^]*?)^ *```|(?<!`)`([^`]+)`(?!`)/gm

const dotted = /(?<![\w$./@"'#-])([A-Z]\w*)((?:\.[A-Za-z_$][\w$]*)+)/g

/** Names of spans, which no program imports. */
const spans = new Set(["Transport.send"])

/** What an example imports from other packages. */
const foreignIn = (code: string): ReadonlySet<string> =>
  new Set(
    [...code.matchAll(/^import (.*) from "(?!@kintsugi\/)/gm)].flatMap(([, names = ""]) => names.match(/\w+/g) ?? [])
  )

/** Names of files. */
const isFile = (rest: string): boolean => /^\.(?:ts|md|test)\b/.test(rest)

const unknownIn = ({ path, text }: File): ReadonlyArray<string> =>
  [...text.matchAll(codes)].flatMap(({ 0: code, index }) => {
    const foreign = foreignIn(code)
    return [...code.matchAll(dotted)].flatMap(({ 0: name, 1: owner = "", 2: rest = "", index: offset }) => {
      const names = publicNames.get(owner)
      if (isFile(rest) || foreign.has(owner) || spans.has(name) || (names === undefined && !former.has(owner)))
        return []
      const [first = "", second] = rest.slice(1).split(".")
      const members = names?.get(first)
      const isPublic = names?.has(first) === true && (second === undefined || members?.has(second) !== false)
      return isPublic ? [] : [`${path}:${lineAt(text, index + offset)} ${name}`]
    })
  })

describe("names of our modules", () => {
  it("are public wherever a page has them", () => {
    assert.deepStrictEqual(pages.flatMap(unknownIn), [])
  })

  it("are public wherever a doc comment has them", () => {
    assert.deepStrictEqual(sources.flatMap(unknownIn), [])
  })

  it.each([
    ["a name that no module has", "`Agent.makes`"],
    ["a namespace of an earlier version", "`Problem.fromError(error)`"],
    ["a name in a call", "`pipe(a, Tool.onErrors({}))`"],
    ["a name in code of several lines", "```ts\nconst a = 1\nRecovery.told()\n```"],
    ["a part of a namespace within a module", "`Recovery.presets.tellNone()`"],
    ["a member that a class does not have", "`ExecutionError.ofResult`"],
    ["the same, behind its module", "`ToolError.ExecutionError.ofResult`"]
  ])("are refused: %s", (_, text) => {
    assert.lengthOf(unknownIn({ path: "a.md", text }), 1)
  })

  it("are taken as listed and hidden names, members of classes and parts of namespaces", () => {
    const text =
      "`Agent.make(…)` `Agent.NeedsModel` `ToolError.ExecutionError.make` `ExecutionError.category` `Agent.ts` " +
      "`Recovery.presets.tellAll()` `Snapshot.version` Problem.fromError `a.Problem.b` `Transport.send`\n" +
      '```kt\nTool.nothing\n```\n```ts\nimport { Model } from "effect/ai"\nModel.make()\n```\n'
    assert.deepStrictEqual(unknownIn({ path: "a.md", text }), [])
  })
})
