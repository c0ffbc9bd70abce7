/** The exports of a TypeScript source, as a parser reads them. */
import { posix } from "node:path"
import { type File, read } from "./files.ts"
import { type Node, nodeIn, nodesIn, parsed, textIn } from "./syntax.ts"

/** One name in one export statement. Overloads, and a type beside a value, are several statements with one name. */
export interface Entry {
  /** `undefined` for all names of `from`. */
  readonly name: string | undefined
  /** The specifier of the module that the name comes from, through an import too; `undefined` for a name of this source. */
  readonly from: string | undefined
  /** Its name there; `undefined` for the module itself. */
  readonly original: string | undefined
  /** `export type`, or a declaration that only the compiler sees. */
  readonly isOnlyType: boolean
  /** What declares the name in this source. */
  readonly declarations: ReadonlyArray<Node>
  /** The comments that stand right above the name in a list, above what declares it, and above the list. */
  readonly comments: ReadonlyArray<string>
}

const nameOf = (node: Node | undefined): string => textIn(node, "name") ?? textIn(node, "value") ?? "default"

/** The names that a statement declares, each with what declares it. */
export const declaredBy = (statement: Node): ReadonlyArray<readonly [name: string, declaration: Node]> => {
  const declaration = nodeIn(statement, "declaration") ?? statement
  const declarators = nodesIn(declaration, "declarations")
  return (declarators.length > 0 ? declarators : [declaration]).map((one) => [nameOf(nodeIn(one, "id")), declaration])
}

const onlyTypes = new Set(["TSInterfaceDeclaration", "TSTypeAliasDeclaration"])

export const isTypeDeclaration = ({ type }: Node): boolean => onlyTypes.has(type)

const isOnlyForCompiler = (node: Node): boolean => isTypeDeclaration(node) || node["declare"] === true

const unframed = (comment: string): string =>
  comment
    .replace(/^\*/, "")
    .replaceAll(/^ *\* ?/gm, "")
    .trim()

/** By the text of a source: several checks ask about the same sources. */
const cache = new Map<string, ReadonlyArray<Entry>>()

/** Every export of a source, statement by statement. */
export const entriesOf = (text: string): ReadonlyArray<Entry> => {
  const found = cache.get(text) ?? entriesIn(text)
  cache.set(text, found)
  return found
}

const entriesIn = (text: string): ReadonlyArray<Entry> => {
  const { comments, module, tree } = parsed(text)
  const statements = nodesIn(tree, "body")
  const imports = new Map(
    module.staticImports.flatMap(({ entries, moduleRequest }) =>
      entries.map(({ importName, isType, localName }) => [
        localName.value,
        { from: moduleRequest.value, original: importName.name ?? undefined, isType }
      ])
    )
  )
  /** The doc comment that nothing but blanks and words to the linter parts from an offset. */
  const commentBefore = (offset: number): ReadonlyArray<string> => {
    let limit = offset
    for (const { end, start, type, value } of comments.toReversed()) {
      if (end > limit) continue
      if (text.slice(end, limit).trim() !== "") return []
      if (type === "Block" && value.startsWith("*")) return [unframed(value)]
      limit = start
    }
    return []
  }
  const found = module.staticExports.flatMap(({ entries, start }) =>
    entries.map((entry): Entry => {
      const { exportName, importName, isType, localName, moduleRequest } = entry
      const name = exportName.kind === "Default" ? "default" : (exportName.name ?? undefined)
      const imported = localName.name === null ? undefined : imports.get(localName.name)
      const own = statements.filter((statement) => statement.start === start && nodeIn(statement, "declaration"))
      const declaring = (own.length > 0 ? own : statements).flatMap((statement) =>
        declaredBy(statement).flatMap(([declared, declaration]) =>
          declared === localName.name ? [{ statement, declaration }] : []
        )
      )
      const declarations = declaring.map(({ declaration }) => declaration)
      const offsets = new Set([entry.start, ...declaring.map(({ statement }) => statement.start), start])
      return {
        name,
        from: moduleRequest?.value ?? imported?.from,
        original: moduleRequest === null ? imported?.original : (importName.name ?? undefined),
        isOnlyType:
          isType || imported?.isType === true || (declarations.length > 0 && declarations.every(isOnlyForCompiler)),
        declarations,
        comments: [...offsets].flatMap(commentBefore)
      }
    })
  )
  // of a function with overloads, the last statement is none of them
  return found.filter(
    ({ declarations: [only], name }) =>
      only?.type !== "FunctionDeclaration" ||
      !found.some((other) => other.name === name && other.declarations[0]?.type === "TSDeclareFunction")
  )
}

/** An exported name of a module, its statements taken together. */
export interface Name {
  readonly name: string
  /** What it names at run time, if anything. */
  readonly value: "class" | "other" | undefined
  readonly isType: boolean
  /** Its doc comment without tags, that of the value before that of the type; `""` if it has none. */
  readonly comment: string
  /** Marked `@internal`: for the modules of its own package, and absent from the published declarations. */
  readonly isInternal: boolean
  /** Marked `@hidden`: the declarations of programs name it, and no page lists it. */
  readonly isHidden: boolean
  /** The source that declares it, from the root; of a name of another package, the specifier. */
  readonly from: string
}

export const isInternal = ({ comments }: Entry): boolean => comments.some((comment) => /^@internal$/m.test(comment))

const isHidden = ({ comments }: Entry): boolean => comments.some((comment) => /^@hidden$/m.test(comment))

/** Whether the pages list it. */
export const isListed = ({ isHidden, isInternal }: Name): boolean => !isHidden && !isInternal

/** The module at a specifier that a source of this repository names; `undefined` for a package. */
export const moduleAt = (path: string, specifier: string): string | undefined =>
  specifier.startsWith(".") ? posix.join(posix.dirname(path), specifier) : undefined

const headIn = (text: string): string => {
  const [first] = parsed(text).comments
  return first?.start === 0 && first.value.startsWith("*") ? unframed(first.value) : ""
}

/** The comment at the head of a module. */
export const headOf = (path: string): string => headIn(read(path).text)

/** The text of a comment before its tags. */
const described = (comment: string): string => comment.replace(/^@\w[^]*/m, "").trim()

/** The exported names of a module, sorted, with those that it passes on from other modules of the repository. */
export const namesOf = (path: string, source: (path: string) => File = read): ReadonlyArray<Name> => {
  const names = new Map<string, Name>()
  const entries = entriesOf(source(path).text)
  for (const entry of entries) {
    if (entry.name === undefined) continue
    const name = nameFrom(entry, entry.name, path, source)
    const other = names.get(name.name)
    names.set(name.name, other === undefined ? name : joined(other, name))
  }
  for (const { from, name } of entries) {
    const target = name === undefined && from !== undefined ? moduleAt(path, from) : undefined
    // a name of the module itself comes before one that it passes on with all others
    for (const one of target === undefined ? [] : namesOf(target, source))
      if (!names.has(one.name)) names.set(one.name, one)
  }
  return [...names.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1))
}

/** Two statements with one name. */
const joined = (one: Name, other: Name): Name => {
  const [first, second] = one.value === undefined ? [other, one] : [one, other]
  return {
    ...first,
    isType: one.isType || other.isType,
    comment: first.comment || second.comment,
    isInternal: one.isInternal && other.isInternal,
    isHidden: one.isHidden || other.isHidden
  }
}

const nameFrom = (entry: Entry, name: string, path: string, source: (path: string) => File): Name => {
  const { comments, declarations, from, isOnlyType, original } = entry
  const isClass = declarations.some(({ type }) => type === "ClassDeclaration")
  const target = from === undefined ? undefined : moduleAt(path, from)
  const own: Name = {
    name,
    value: isOnlyType ? undefined : isClass ? "class" : "other",
    isType: isOnlyType || isClass || declarations.some(isTypeDeclaration),
    comment: comments.map(described).find((text) => text !== "") ?? "",
    isInternal: isInternal(entry),
    isHidden: isHidden(entry),
    from: target ?? from ?? path
  }
  if (target === undefined) return own
  if (original === undefined) return { ...own, comment: headIn(source(target).text) || own.comment }
  const there = namesOf(target, source).find((one) => one.name === original)
  if (there === undefined) throw new Error(`${path} exports ${original} of ${target}, which has no such name`)
  return {
    name,
    value: isOnlyType ? undefined : there.value,
    isType: isOnlyType || there.isType,
    comment: there.comment || own.comment,
    isInternal: there.isInternal || own.isInternal,
    isHidden: there.isHidden || own.isHidden,
    from: there.from
  }
}
